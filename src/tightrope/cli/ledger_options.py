"""Where a ledger is, whose key and token are used, and how answers are told: what all its commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .. import InvalidParameter
from ..extend import documents
from .output import say

if TYPE_CHECKING:
    from ..ledger import Ledger

Command = TypeVar("Command", bound=Callable[..., Any])

URL_VARIABLE, KEY_VARIABLE, TOKEN_VARIABLE = "TIGHTROPE_LEDGER", "TIGHTROPE_LEDGER_KEY", "TIGHTROPE_LEDGER_TOKEN"
FILE_ADDRESS = "sqlite:///"
SLACK_OPTION = click.option(
    "--slack", type=float, help="The part of delta that this job may use, where it has a choice."
)
NO_ADDRESS = f"where is the ledger? give --ledger budget.db, or set {URL_VARIABLE}"


@dataclass(frozen=True, slots=True)
class Access:
    """What the options say of a ledger."""

    given: str | None
    key_file: str | None
    token_file: str | None
    as_document: bool

    @property
    def url(self) -> str:
        """The address; a plain name is a file of SQLite."""
        text = self.given
        if not text or not text.strip():
            raise InvalidParameter(NO_ADDRESS)
        if "://" in text:
            return text
        if "?" in text or not text.isprintable():
            raise InvalidParameter(f"the file {text!r:.80} cannot be written as an address: take a name without ?")
        return f"{FILE_ADDRESS}{text}"

    @property
    def local(self) -> str:
        """The same, for what is done where the database is."""
        text = self.url
        if text.startswith(("http://", "https://")):
            raise InvalidParameter("this is done where the database is: give sqlite:///FILE or postgresql://...")
        return text

    @property
    def token(self) -> str | None:
        """From its file or the environment: on a command line others would see it."""
        if self.token_file is None:
            return os.environ.get(TOKEN_VARIABLE) or None
        try:
            text = Path(self.token_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidParameter(f"the token in {self.token_file!r:.100} cannot be read: {error!s:.100}") from None
        if not text or not text.isprintable():
            raise InvalidParameter(
                f"{self.token_file!r:.100} holds no token: one line, as tightrope ledger token gave it"
            )
        return text

    @contextmanager
    def opened(self, claimant: str | None = None) -> Iterator[Ledger]:
        """The ledger, closed again at the end."""
        from .. import ledger

        with ledger.open(self.url, token=self.token, key_file=self.key_file) as found:
            yield found if claimant is None else found.as_claimant(claimant)

    def tell(self, content: Mapping[str, Any], text: str) -> None:
        """The answer: one object on one line, or text for people."""
        say(documents.write(documents.plain(content)) if self.as_document else text)


def ledger_options(command: Command) -> Command:
    """The options of all commands; the command is given what they say as its first argument."""

    @wraps(command)
    def run(
        given: str | None, key_file: str | None, token_file: str | None, as_document: bool, **settings: Any
    ) -> object:
        return command(Access(given, key_file or None, token_file, as_document), **settings)

    found: Any = run
    # The last is shown first.
    for decorate in (
        click.option("--json", "as_document", is_flag=True, help="Answer as JSON, one object on one line."),
        click.option(
            "--token-file", metavar="FILE", help=f"The token for a server; default: that in {TOKEN_VARIABLE}."
        ),
        click.option("--key-file", envvar=KEY_VARIABLE, metavar="FILE", help=f"The ledger's key; or {KEY_VARIABLE}."),
        click.option(
            "--ledger",
            "given",
            envvar=URL_VARIABLE,
            metavar="URL",
            help=f"A file, sqlite:///FILE, postgresql://... or https://...; or {URL_VARIABLE}.",
        ),
    ):
        found = decorate(found)
    return found  # type: ignore[no-any-return]


def with_receipts(ledger: Ledger, content: Mapping[str, Any]) -> dict[str, Any]:
    """An answer with the receipts for what was written: shown again, they notice a ledger that went back."""
    return {**content, "receipts": list(ledger.receipts)}


def receipt_lines(ledger: Ledger) -> list[str]:
    """The same for people."""
    return [f"  receipt   {receipt}" for receipt in ledger.receipts]
