"""What a ledger's server and those who ask it agree on: addresses, headers, keys and limits of a request.

A header is written here as it is told to people; its letters' case means nothing to either side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

HEALTH, LIVE = "/v1/health", "/v1/live"  # need no token
ADDRESSES: Mapping[str, tuple[str, str]] = {
    "budgets": ("GET", "/v1/budgets"),
    "create": ("POST", "/v1/budgets"),
    "status": ("GET", "/v1/budgets/{name}"),
    "renew": ("POST", "/v1/budgets/{name}/renew"),
    "history": ("GET", "/v1/budgets/{name}/history"),
    "metrics": ("GET", "/v1/metrics"),
    "reservations": ("GET", "/v1/budgets/{name}/reservations"),
    "quote": ("POST", "/v1/quotes"),
    "reserve": ("POST", "/v1/reservations"),
    "reservation": ("GET", "/v1/reservations/{reservation}"),
    "claim": ("POST", "/v1/reservations/{reservation}/claim"),
    "commit": ("POST", "/v1/reservations/{reservation}/commit"),
    "cancel": ("POST", "/v1/reservations/{reservation}/cancel"),
    "audit": ("GET", "/v1/audit"),
    "anchor": ("GET", "/v1/anchor"),
}
PLACE = re.compile(r"\{(\w+)\}")  # of an address: what of the request stands there
KEY = "Idempotency-Key"
PROCESS = "Ledger-Process"
AT_LEAST = "Ledger-At-Least"
RECEIPT = "Ledger-Receipt"
JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"
RECEIPTS_MAX = 64  # in one header
KEY_MAX = 200  # letters
ENCODED = "UTF-8''"  # begins a key in percent signs, as RFC 8187 has it
KEY_WRITTEN_MAX = len(ENCODED) + 12 * KEY_MAX  # letters of its header: each at most four bytes in percent signs
SECRET_WORD = r"[!-~]{1,200}"  # what a token is made of
PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")  # what a header holds as it is


def written_key(key: str) -> str:
    """A key as a header holds it: as it is, or in percent signs where it is no plain ASCII."""
    if PLAIN.fullmatch(key) and not key.startswith(ENCODED):
        return key
    return ENCODED + quote(key, safe="", errors="surrogatepass")


def read_key(given: str) -> str | None:
    """The key that a header holds; None where it holds none. read_key(written_key(key)) == key for every good key."""
    text = given
    if given.startswith(ENCODED) and len(given) <= KEY_WRITTEN_MAX:
        try:
            text = unquote(given.removeprefix(ENCODED), errors="strict")
        except UnicodeDecodeError:
            return None
    return text if 0 < len(text) <= KEY_MAX and given.isascii() and text.isprintable() else None


def written_receipts(receipts: Sequence[str]) -> str:
    """Receipts as one header holds them."""
    return ", ".join(receipts)


def read_receipts(header: str) -> list[str]:
    """What written_receipts wrote; a text that is no receipt is one of them, and judged as such."""
    return [word.strip() for word in header.split(",")]
