"""Random mechanisms, from plain to strange."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import tightrope as tr

# The same examples in every run; a failure elsewhere is a failure here.
settings.register_profile(
    "tightrope",
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
steady = settings.get_profile("tightrope")
brief = settings(steady, max_examples=25)  # for properties that search in balls

positive = st.floats(min_value=1e-6, max_value=1e6, allow_nan=False)
noise = st.floats(min_value=0.05, max_value=50.0)
probability = st.floats(min_value=0.0, max_value=1.0)
whole = st.integers(min_value=1, max_value=9)


@st.composite
def masses(draw: st.DrawFn, size: int) -> tuple[float, ...]:
    """Dyadic masses that sum to 1 exactly, zeros included."""
    cuts = sorted(draw(st.lists(st.integers(0, 64), min_size=size - 1, max_size=size - 1)))
    return tuple((high - low) / 64 for low, high in zip([0, *cuts], [*cuts, 64], strict=True))


@st.composite
def finite(draw: st.DrawFn) -> tr.Mechanism:
    size = draw(st.integers(1, 4))
    return tr.Finite(p=draw(masses(size)), q=draw(masses(size)))


leaves: st.SearchStrategy[tr.Mechanism] = st.one_of(
    st.builds(tr.Gaussian, sigma=positive, sensitivity=positive),
    st.builds(tr.Gaussian, sigma=positive),
    st.builds(tr.Laplace, scale=positive, sensitivity=positive),
    st.builds(tr.DiscreteGaussian, sigma=positive, sensitivity=whole),
    st.builds(tr.DiscreteLaplace, scale=positive, sensitivity=whole),
    st.builds(tr.RandomizedResponse, p=probability, categories=st.integers(2, 9), neighbours=st.just("add_remove")),
    st.builds(lambda epsilon: tr.RandomizedResponse(epsilon=epsilon, neighbours="add_remove"), positive),
    st.builds(tr.PureDP, epsilon=st.floats(min_value=0.0, max_value=100.0)),
    st.builds(tr.ApproximateDP, epsilon=st.floats(min_value=0.0, max_value=100.0), delta=probability),
    st.builds(tr.GDP, mu=positive),
    finite(),
)
sampled = st.builds(lambda leaf, rate: leaf.poisson(rate=rate), leaves, probability)
parts = st.one_of(leaves, sampled)
mechanisms: st.SearchStrategy[tr.Mechanism] = st.one_of(
    parts,
    st.builds(
        lambda terms: tr.compose(part * count for part, count in terms),
        st.lists(st.tuples(parts, st.integers(0, 10**12)), min_size=0, max_size=4),
    ),
)
