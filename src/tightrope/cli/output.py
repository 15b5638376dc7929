"""Answers as text, and a sign of life for questions that take long."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from .. import Bound
from ..extend.questions import stated
from ..extend.result import Result, notes, spoken_of, why_wide
from ..extend.wording import short, timed

if TYPE_CHECKING:
    from rich.status import Status

LINE_MAX = 400
INTERRUPTED = 130
PIPE_CLOSED = 141
PATIENCE = 1.0  # seconds, before the spinner shows


def say(text: str) -> None:
    """Writes to standard output; a reader that went away ends the program quietly."""
    try:
        click.echo(text)
    except BrokenPipeError:
        # Python flushes standard output once more at exit: give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(PIPE_CLOSED) from None


def complain(message: str) -> None:
    """One line on standard error, whatever the message holds."""
    line = " ".join(message.split())
    click.echo(f"tightrope: {line if len(line) <= LINE_MAX else line[:LINE_MAX] + ' ...'}", err=True)


def page_width(most: int) -> int:
    """Of the terminal, up to so many columns, which it is where there is none."""
    if not sys.stdout.isatty():
        return most
    return max(min(shutil.get_terminal_size((most, 24)).columns, most), 40)


def as_text(result: Result) -> str:
    """The interval first; how it came about, dimmed, beneath."""
    return "\n".join([stated_result(result), *beneath(result)])


def stated_result(result: Result) -> str:
    """The interval, what was asked, for which neighbours, and whether the clock ended it."""
    about = result.bound.certificate
    told = "" if about is None else about.beside
    return f"{result.quantity} in {result.bound}{stated(result.quantity, result.arguments)}{told}"


def beneath(result: Result) -> list[str]:
    """How an answer came about, and what it leaves open."""
    certificate, lines = result.bound.certificate, []
    about = [timed(result.seconds)]
    if certificate is not None:
        about = [certificate.engine, certificate.arithmetic, *certificate.directed, *about]
    if certificate is not None and certificate.label:
        lines.append(f"  of {certificate.label}")
    lines.append(click.style("  " + ", ".join(about), dim=True))
    wide = why_wide(result.bound, as_option)
    if wide is not None:
        lines.append(f"  wide: {wide}")
    told = notes(result.quantity, result.bound, result.direction)
    if certificate is not None and not certificate.tight and "real neighbours" in (wide or ""):
        told.remove(spoken_of(result.quantity, certificate))
    return lines + [f"  note: {note}" for note in told] + assured(result.bound)


def as_option(name: str, value: object) -> str:
    """An argument of a Python call as an option."""
    if value is True:
        return f"--{name}"
    return f"--{name} {short(value) if isinstance(value, float) else value}"


def assured(bound: Bound) -> list[str]:
    """A line on how sure the bound is, where it rests on draws."""
    words = "" if bound.certificate is None else bound.certificate.assurance
    return [f"  {words}"] if words else []


@contextmanager
def spinner(text: str) -> Iterator[Callable[[str], None]]:
    """Shown on standard error after a second, and only if that is a terminal; what it gives back changes the text."""
    if not sys.stderr.isatty():
        yield lambda words: None
        return
    shown: list[Status] = []
    texts = [text]

    def show() -> None:
        from rich.console import Console

        status = Console(stderr=True).status(texts[-1])
        status.start()
        shown.append(status)

    def change(words: str) -> None:
        texts.append(words)
        for status in shown:
            status.update(words)

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield change
    finally:
        timer.cancel()
        timer.join()
        for status in shown:
            status.stop()
