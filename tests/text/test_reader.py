"""Text to mechanism: what is read, what is refused, and where."""

from __future__ import annotations

import math

import pytest

import tightrope as tr
from tightrope.core.text.registry import MECHANISMS, TRANSFORMS

READ = {
    "Gaussian(sigma=1)": tr.Gaussian(sigma=1),
    "Gaussian(2)": tr.Gaussian(sigma=2),
    "Gaussian(2, sensitivity=3)": tr.Gaussian(sigma=2, sensitivity=3),
    "Gaussian(sigma=1e-6)": tr.Gaussian(sigma=1e-6),
    "Gaussian(sigma=2**-3)": tr.Gaussian(sigma=0.125),
    "Gaussian(sigma=-(-2.5))": tr.Gaussian(sigma=2.5),
    "Gaussian(sigma=1 + 2 + 3 - 1)": tr.Gaussian(sigma=5),
    "Gaussian(sigma=2 * 200**0.5)": tr.Gaussian(sigma=2 * math.sqrt(200)),
    "Gaussian(sigma=1_000)": tr.Gaussian(sigma=1000),
    "  Gaussian(sigma=1)\n * 3 ": tr.Gaussian(sigma=1) * 3,
    "Gaussian(sigma=1) * 3": tr.Gaussian(sigma=1) * 3,
    "3 * Gaussian(sigma=1)": tr.Gaussian(sigma=1) * 3,
    "2 * 3 * Gaussian(sigma=1) * 2": tr.Gaussian(sigma=1) * 12,
    "Gaussian(sigma=1) * 1e3": tr.Gaussian(sigma=1) * 1000,
    "Gaussian(sigma=1) * 10**9": tr.Gaussian(sigma=1) * 10**9,
    "Gaussian(sigma=1) * 0": tr.PureDP(epsilon=0),
    "Gaussian(sigma=1).poisson(rate=256/60000)": tr.Gaussian(sigma=1).poisson(rate=256 / 60000),
    "Gaussian(sigma=1).poisson(0.5).poisson(rate=0.5)": tr.Gaussian(sigma=1).poisson(rate=0.5).poisson(rate=0.5),
    "(Gaussian(sigma=1) * 2).poisson(rate=0.5)": (tr.Gaussian(sigma=1) * 2).poisson(rate=0.5),
    "Laplace(scale=2) + Gaussian(sigma=1)": tr.Gaussian(sigma=1) + tr.Laplace(scale=2),
    "Laplace(scale=2) + (GDP(mu=1) + Laplace(scale=2)) * 2": tr.Laplace(scale=2) * 3 + tr.GDP(mu=1) * 2,
    "Finite(p=[0.75, 0.25], q=(1/4, 3/4))": tr.Finite(p=[0.75, 0.25], q=[0.25, 0.75]),
    "Gaussian(sigma=sqrt(2))": tr.Gaussian(sigma=math.sqrt(2)),
    "Gaussian(sigma=2*pi/log(10) + exp(0))": tr.Gaussian(sigma=2 * math.pi / 2.302585092994046 + 1),
    "Gaussian(sigma=10**-5)": tr.Gaussian(sigma=1e-5),
    "Gaussian(sigma=3.0**34)": tr.Gaussian(sigma=float(3**34)),
    "Gaussian(sigma=1) * (60000/256*256)": tr.Gaussian(sigma=1) * 60000,
    "RandomizedResponse(epsilon=1, categories=4)": tr.RandomizedResponse(epsilon=1, categories=4),
}

REFUSED = {
    "": "empty",
    " \n\t": "empty",
    "Gaussian": "needs its parameters: Gaussian(sigma",
    "Gausian(sigma=1)": "did you mean Gaussian?",
    "gaussian(sigma=1)": "did you mean Gaussian?",
    "Zzz(sigma=1)": "unknown mechanism 'Zzz'; tightrope mechanisms lists all",
    "NoisyMax(scale=1, monotone=true)": "write True for true",
    "NoisyMax(scale=1, monotone='yes')": "monotone takes True or False, no text",
    "MatrixMechanism(sigma=1, matrix='c.npy')": "matrix takes a list of rows, no text",
    "GaussianMixture(sigma=1, shifts='0,1', weights=[1])": "shifts takes a list of numbers, no text",
    "Gaussian(sgma=1)": "it takes sigma, sensitivity; did you mean sigma?",
    "Gaussian(sigma=1, sigma=2)": "twice",
    "Gaussian(1, sigma=2)": "'sigma' is given twice",
    "Gaussian()": "needs sigma",
    "ApproximateDP()": "needs epsilon and delta",
    "Gaussian(1, 2, 3)": "at most 2",
    "Gaussian(*[1])": "neither",
    "Gaussian(**1)": "keyword=value",
    "Gaussian(sigma=Gaussian(sigma=1))": "not a mechanism",
    "Gaussian(sigma=[[1]])": "takes no list of lists",
    "Gaussian(sigma=nan)": "nan is not a value",
    "Gaussian(sigma=?)": "calibration",
    "Gaussian(sigma=1e999)": "range of a double",
    "Gaussian(sigma=10**400)": "range of a double",
    "Gaussian(sigma=10**10**10)": "range of a double",
    "Gaussian(sigma=9.0**9**9)": "range of a double",
    "Gaussian(sigma=(-8)**0.5)": "range of a double",
    "Gaussian(sigma=1/0)": "division by zero",
    "Gaussian(sigma=0**-1)": "division by zero",
    "Gaussian(sigma=5//2)": "only + - * / **",
    "Gaussian(sigma=inf-inf)": "range of a double",
    "Gaussian(sigma=1j)": "not a decimal number",
    "Gaussian(sigma=0x10)": "not a decimal number",
    "Gaussian(sigma=" + "9" * 5000 + ")": "",
    "Gaussian(sigma=1": "'(' is never closed (column 9)",
    "Gaussian(sigma=1))": "')' closes nothing (column 18)",
    "Gaussian(sigma=[1)": "')' closes nothing",
    "Gaussian(sigma=1) +": "cannot be read",
    "Gaussian(sigma=1) Gaussian(sigma=1)": "cannot be read",
    "Gaussian(sigma=1) + 1": "not the number 1 (column 21)",
    "1 + Gaussian(sigma=1)": "not the number 1 (column 1)",
    "Gaussian(sigma=1) - Gaussian(sigma=1)": "a number is needed",
    "Gaussian(sigma=1) / 2": "a count stands in brackets",
    "Gaussian(sigma=1) * 15*60000/256": "* (15 * 60000 / 256), and whole: 3515.625 rounds up to 3,516",
    "Gaussian(sigma=1) * 10 / 5": "write the count in brackets, * (10 / 5) (column",
    "Gaussian(sigma=1) * 10 / 0": "a count stands in brackets",
    "10 * Gaussian(sigma=1) / 5": "a count stands in brackets",
    "Gaussian(sigma=sqrt)": "sqrt needs a number in brackets",
    "Gaussian(sigma=sqrt(-1))": "sqrt of -1 is not a number",
    "Gaussian(sigma=log(0))": "log of 0 is not a number",
    "Gaussian(sigma=exp(1e300))": "exp of 1e+300 is not a number",
    "Gaussian(sigma=exp(inf))": "exp of inf is not a number",
    "Gaussian(sigma=sqrt(1, 2))": "sqrt takes one number",
    "Gaussian(sigma=sqrt(x=1))": "sqrt takes one number",
    "Gaussian(sigma=sqrt(*1))": "sqrt takes one number",
    "Gaussian(sigma=log(Gaussian(sigma=1)))": "not a mechanism",
    "Gaussian(sigma=sqrt([1]))": "not a list",
    "sqrt(2)": "this is the number 1.414",
    "pi": "this is the number 3.14",
    "Gaussian(sigma=9**9**9)": "range of a double",
    "Gaussian(sigma=9.5**9**9**9)": "range of a double",
    "Gaussian(sigma=" + "(1+" * 98 + "1" + ")" * 98 + ") + 1": "not the number 1",
    "Gaussian(sigma=" + "(1/" * 98 + "1" + ")" * 98 + ") + 1": "not the number 1",
    "1" + "/1" * 300: "this is the number 1.0",
    "Gaussian(sigma=" + "sqrt(" * 5_000: "nested more than 100",
    "Gaussian(sigma=1) ** 2": "a number is needed",
    "-Gaussian(sigma=1)": "a number is needed",
    "Gaussian(sigma=1) * Gaussian(sigma=1)": "use + to compose",
    "Gaussian(sigma=1) * [2]": "a list cannot be multiplied",
    "Gaussian(sigma=1), Gaussian(sigma=1)": "a number is needed",
    "3": "this is the number 3",
    "[1, 2]": "this is a list",
    "Gaussian(sigma=1).sigma": "attribute",
    "Gaussian(sigma=1).__class__": "attribute",
    "Gaussian.poisson(rate=0.1)": "needs its parameters",
    "(3).poisson(rate=0.1)": "transforms a mechanism",
    "Gaussian(sigma=1).poison(rate=0.1)": "did you mean poisson?",
    "Gaussian(sigma=1).epsilon(delta=0.1)": "unknown transformation",
    "Gaussian(sigma=1).poisson(rat=0.1)": "it takes rate",
    "Gaussian(sigma=1).poisson(base=0.1)": "it takes rate",
    "Gaussian(sigma=1).poisson()": "needs rate",
    "__import__('os').system('true')": "unknown transformation 'system'",
    "__import__(os)": "unknown mechanism '__import__'",
    "lambda: 1": "'lambda' has no meaning",
    "lambda x=1": "'lambda' has no meaning",
    "[x for x in (1, 2)]": "'for' has no meaning",
    "Gaussian(sigma=True)": "takes no True",
    "Gaussian(sigma='2')": "takes a number, no text",
    "Gaussian(sigma=1).poisson(rate=0.1, neighbours=replace)": "a word stands in quotes: neighbours='replace'",
    "Gaussian(sigma=1).best_of(law=geometric, mean=2)": "a word stands in quotes: law='geometric'",
    "paralel(Gaussian(sigma=1))": "did you mean parallel",
    "Gaussian(sigma=1).parallel(Laplace(scale=1))": "cells stand beside each other",
    "compose(Gaussian(sigma=1), Laplace(scale=1))": "in a text mechanisms are added",
    "'Gaussian": "never closed",
    "f'{1}'": "no letter",
    "Gaussian(sigma=1, name=b'x')": "no letter",
    "Gaussian(sigma=1, name=rb'x')": "no letter",
    r"Gaussian(sigma=1, name='\x41')": "a backslash",
    r"Gaussian(sigma=1, name='\N{DIGIT ONE}')": "a backslash",
    r"Gaussian(sigma=1, name='x\')": "a quote that is never closed",
    "Gaussian(sigma=1, name='\u202e')": "printable",
    "Gaussian(sigma=1, name='é') + 1": "(column 31)",
    "Gaussian(sigma=1, name='x', name='y')": "twice",
    "Gaussian(1, 1, 'x')": "at most 2 values",
    "Gaussian(sigma=1).named()": "named takes one text",
    "Gaussian(sigma=1).named('x', 'y')": "named takes one text",
    "Gaussian(sigma=1).named(label='x')": "named takes one text",
    "Gaussian(sigma=1).named(**'x')": "named takes one text",
    "Gaussian(sigma=1).named(5)": "name must be a text",
    "Gaussian(sigma=1).named('')": "1 to 100 printable",
    "'x'.named('y')": "for the text",
    "Gaussian(sigma=1).name": "attribute",
    "Gaussian(sigma=1)[0]": "neither",
    "(x := 3)": "has no meaning",
    "Gaussian(sigma=1) # three": "has no meaning",
    "Gaussian(sigma=1)\x00": "has no meaning",
    "Gaussian(sigma=1)\\": "has no meaning",
    "Gaussiаn(sigma=1)": "has no meaning",  # a Cyrillic letter
    "Gaussian(sigma=٣)": "has no meaning",  # an Arabic-Indic digit
    "(" * 10_000 + ")" * 10_000: "nested more than 100",
    "Gaussian(sigma=" + "[" * 10_000: "nested more than 100",
    "Gaussian(sigma=" + "-" * 10_000 + "1)": "signs in a row",
    "Gaussian(sigma=" + "- " * 10_000 + "1)": "signs in a row",
    "Gaussian(sigma=1)" + " * 1" * 20_000: "chain of operators",
    "1" + "**1" * 30_000: "chain of operators",
    "1" + "+1" * 30_000: "(column 1)",  # too long a chain, or the number that Python 3.14 makes of it
    "Gaussian(sigma=1)" + ".poisson(rate=1)" * 5_000: "",
    "Gaussian(sigma=1) + " * 500_000: "longer than 100000",
    "é" * 10_000_000: "longer than 100000",
}

OUT_OF_DOMAIN = (
    "Gaussian(sigma=1, name=5)",
    "Gaussian(sigma=1, name=True)",
    "Gaussian(sigma=1, name='')",
    "Gaussian(sigma=1, name=' x')",
    f"Gaussian(sigma=1, name='{'x' * 101}')",
    "Gaussian(sigma=1).poisson(rate=0.1, name=2)",
    "Gaussian(sigma=0)",
    "Gaussian(sigma=-1)",
    "Gaussian(sigma=inf)",
    "Gaussian(sigma=[1])",
    "Laplace(scale=-inf)",
    "DiscreteGaussian(sigma=1, sensitivity=1.5)",
    "Gaussian(sigma=1).poisson(rate=1.5)",
    "Gaussian(sigma=1).poisson(rate=-0.1)",
    "Gaussian(sigma=1) * -1",
    "Gaussian(sigma=1) * 2.5",
    "Gaussian(sigma=1) * inf",
    "ApproximateDP(epsilon=1, delta=2)",
    "RandomizedResponse()",
    "RandomizedResponse(p=0.5, epsilon=1)",
    "Finite(p=[0.5, 0.6], q=[0.5, 0.5])",
    "Finite(p=[1.5, -0.5], q=[0.5, 0.5])",
    "Finite(p=[1], q=[0.5, 0.5])",
    "Finite(p=[], q=[])",
    "Finite(p=1, q=1)",
)


@pytest.mark.parametrize("text", READ)
def test_text_is_read(text: str) -> None:
    assert tr.parse(text) == READ[text]


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text[:40]))
def test_text_is_refused_with_one_line_and_a_column(text: str) -> None:
    with pytest.raises(tr.ExpressionError) as caught:
        tr.parse(text)
    message = str(caught.value)
    assert REFUSED[text] in message
    assert len(message) < 300
    assert len(message.splitlines()) == 1
    assert 1 <= caught.value.column <= min(len(text), 100_000) + 1
    assert message.endswith(f"(column {caught.value.column})")


@pytest.mark.parametrize("text", OUT_OF_DOMAIN)
def test_parameters_outside_their_domain_are_refused(text: str) -> None:
    with pytest.raises(tr.InvalidParameter) as caught:
        tr.parse(text)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("text", [make.example for make in (*MECHANISMS.values(), *TRANSFORMS.values())])
def test_examples_of_the_registry_parse_and_come_back(text: str) -> None:
    mechanism = tr.parse(text)
    assert tr.parse(repr(mechanism)) == mechanism


def test_the_column_counts_leading_blanks() -> None:
    with pytest.raises(tr.ExpressionError) as caught:
        tr.parse("   Gaussian(sigma=1) +\n 2")
    assert caught.value.column == 25


def test_infinity_is_a_number_but_not_a_noise() -> None:
    with pytest.raises(tr.InvalidParameter, match="sigma must be a finite number"):
        tr.parse("Gaussian(sigma=inf)")


def test_a_count_that_is_not_whole_says_what_to_round_to() -> None:
    with pytest.raises(tr.InvalidParameter, match=r"not 3515.625; round up to 3,516"):
        tr.parse("Gaussian(sigma=1) * (15*60000/256)")


def test_something_else_than_text_is_refused() -> None:
    with pytest.raises(tr.InvalidParameter, match="is a text"):
        tr.parse(3)  # type: ignore[arg-type]


def test_a_sum_of_a_thousand_distinct_mechanisms_is_read() -> None:
    total = tr.compose(tr.Gaussian(sigma=sigma) for sigma in range(1, 1001))
    assert tr.parse(repr(total)) == total


def test_parsing_leaves_no_warning_and_no_side_effect() -> None:
    # Python's own tokenizer would warn about a number that runs into a keyword.
    with pytest.raises(tr.ExpressionError):
        tr.parse("Gaussian(sigma=1if 1else 2)")


def test_a_long_chain_of_transformations_is_refused() -> None:
    """Its text would nest as deep, and Python's recursion ends before."""
    chain = "Gaussian(sigma=1)" + ".poisson(rate=0.99)" * 100
    assert tr.parse(repr(tr.parse(chain))) == tr.parse(chain)
    with pytest.raises(tr.ExpressionError, match="more than 100 transformations in a row"):
        tr.parse(f"{chain}.poisson(rate=0.99)")
