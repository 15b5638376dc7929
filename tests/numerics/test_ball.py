"""The working precision of balls: one value for the process, put back whatever happens."""

from __future__ import annotations

import threading

import pytest
from flint import arb, ctx

from tightrope.core.numerics.balls import working_precision


def test_it_is_put_back_also_after_an_error_and_inside_another() -> None:
    before = ctx.prec
    with working_precision(300):
        assert ctx.prec == 300
        with pytest.raises(ZeroDivisionError), working_precision(77):
            assert ctx.prec == 77
            raise ZeroDivisionError
        assert ctx.prec == 300
    assert ctx.prec == before


def test_a_precision_that_is_refused_locks_nobody_out() -> None:
    before = ctx.prec
    with pytest.raises((ValueError, TypeError, OverflowError)), working_precision(-5):
        pass
    assert ctx.prec == before
    seen: list[int] = []

    def other() -> None:
        with working_precision(99):
            seen.append(ctx.prec)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join(30.0)
    assert seen == [99]


def test_threads_wait_for_each_other() -> None:
    wrong: list[int] = []

    def work(bits: int) -> None:
        for _ in range(300):
            with working_precision(bits):
                arb(2).sqrt()
                if ctx.prec != bits:
                    wrong.append(ctx.prec)

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (60, 120, 240)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert not wrong
