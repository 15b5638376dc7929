"""The JSON documents: their fields as tables, read off the published schemas, which the site holds as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tightrope

from .words import escaped

SCHEMAS = Path(tightrope.__file__).parent / "schema"

OPENING = """# JSON documents

What `--json` writes and what `tr.dump` gives, as [JSON Schema](https://json-schema.org) (draft 2020-12).
`schema` is the number of the form: it grows when a document means something else, and earlier ones stay readable
([stability](../stability.md)). Infinite numbers are written as `"inf"`; all digits of a double are kept, so a document
that is read again is the same value. `tightrope verify FILE` proves an answer again ([why believe it](../trust.md)).
"""


def page() -> str:
    parts = [OPENING]
    for path in sorted(SCHEMAS.glob("*.json")):
        schema = json.loads(path.read_text("utf-8"))
        link = f'<a href="../_static/schema/{path.name}">{path.name}</a>'
        parts += [f"## {path.stem}\n", f"{escaped(schema['title'])}. The schema: {link}.\n"]
        parts += fields(schema)
        for name, part in schema.get("$defs", {}).items():
            described = list(fields(part))
            if described:
                parts += [f"### {path.stem}: {name}\n", *described]
    return "\n".join(parts)


def fields(schema: Mapping[str, Any]) -> Iterator[str]:
    """What is said of an object: its words, and a row for each of its fields."""
    if "description" in schema and "properties" in schema:
        yield escaped(schema["description"]) + "\n"
    rows = dict(rows_of(schema))
    for form in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())):
        for name, row in rows_of(form):
            rows.setdefault(name, row)
    if rows:
        yield "\n".join(["| field | type | meaning |", "|---|---|---|", *rows.values()]) + "\n"


def rows_of(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        if isinstance(field, Mapping):
            always = "" if name in required else " (optional)"
            yield name, f"| `{name}`{always} | {typed(field)} | {escaped(field.get('description', ''))} |"


def typed(field: Mapping[str, Any]) -> str:
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        values = [json.dumps(value) for value in field["enum"]]
        return ", ".join(f"`{value}`" for value in values) if len(values) <= 8 else f"one of {len(values)} names"
    if "$ref" in field:
        return escaped(str(field["$ref"]).rpartition("/")[2])
    for several in ("oneOf", "anyOf"):
        if several in field:
            return " or ".join(dict.fromkeys(typed(each) for each in field[several]))
    kind = field.get("type", "any")
    if kind == "array" and isinstance(field.get("items"), Mapping):
        return f"list of {typed(field['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
