"""Python's part of the public surface: names, signatures, fields and operators, asked of the package itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from enum import Enum
from functools import cache, cached_property
from inspect import Parameter
from pathlib import Path
from types import ModuleType
from typing import Any

import tightrope
from tightrope import documents, extend, ledger, result
from tightrope.core.values.calls import known_keywords
from tightrope.ledger.errors import LedgerError

OURS = "tightrope"
PLAIN = (str, int, float, tuple, type(None))
# The facade, the modules beside it whose names are shown on pages, and these names.
MODULES: Mapping[str, tuple[ModuleType, tuple[str, ...]]] = {
    "tightrope": (tightrope, ()),  # all
    "tightrope.ledger": (ledger, ("init", "open", "import_file", "migrate")),  # and its errors
    "tightrope.result": (result, ("Result", "read", "write")),
    "tightrope.documents": (documents, ("read", "digest_agrees")),
}
# Values that answers are: what they hold is promised, not how they are made.
GIVEN = frozenset(
    {
        *("BucketList", "Calibration", "Comparison", "Curve", "Epochs", "Frontier", "LossLaw", "Report", "Risk"),
        *("Samplings", "Sweep", "Tradeoffs", "Verification"),
    }
)
# The package's own business, such as how mechanisms tell engines about themselves: not promised.
INNER: Mapping[str, frozenset[str]] = {
    "Mechanism": frozenset(
        {
            *("attained", "attained_once", "witnesses", "witnesses_once", "group_pair", "group_tight", "group_witness"),
            *("needs_others", "remark"),
        }
    ),
    "TruncatedNoise": frozenset(["noise"]),
    "BucketList": frozenset(["made"]),
    "Buckets": frozenset(["name", "settings"]),
    "LossLaw": frozenset(["why_wide"]),
    "UnsupportedMechanism": frozenset(["rename"]),
    "WentBack": frozenset(["of"]),
    "Filing": frozenset(["of"]),
    "Quote": frozenset(["of"]),
}
ONLY: Mapping[str, frozenset[str]] = {
    "TailPair": frozenset(["above", "below", "ends", "infinite_mass", "lost_mass", "reversed"]),
}
WORKED_OUT = frozenset(["expanded"])  # a field that no call takes, and that pages show
NOT_FOLLOWED = frozenset(["Pair", "Self"])  # a type of ours that no user takes apart
OPERATORS: Mapping[str, str] = {
    "__add__": "+",
    "__mul__": "*",
    "__contains__": "in",
    "__getitem__": "[...]",
    "__iter__": "iter",
    "__len__": "len",
    "__format__": "format",
    "__enter__": "with",
}


def told(met: set[type] | None = None) -> Iterator[str]:
    """Module by module, then the values that answers hold; all classes that are met are added to the set."""
    met = set() if met is None else met
    for title in MODULES:
        yield f"\n[{title}]"
        for name, value in public(title).items():
            yield from _class(name, value, met) if inspect.isclass(value) else [_call(name, value, met)]
    yield "\n[values that these hold: promised by what they have, not by their names]"
    done = {value for title in MODULES for value in public(title).values() if inspect.isclass(value)}
    while waiting := met - done:
        done |= waiting
        for kind in sorted(waiting, key=lambda each: each.__name__):
            yield from _class(kind.__name__, kind, met, made=False)
    yield "\n[tightrope.extend: by their names, module by module; what they do may change with a minor version]"
    for title, names in extensions().items():
        yield title
        yield from (f"    {name}" for name in sorted(names))


def extensions() -> dict[str, list[str]]:
    """The names of each module of tightrope.extend, read off its text: some need an extra when they are imported."""
    found = {}
    for path in sorted(Path(extend.__path__[0]).glob("[!_]*.py")):
        assigned = (node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.Assign))
        found[path.stem] = next(
            ast.literal_eval(node.value) for node in assigned if ast.unparse(node.targets[0]) == "__all__"
        )
    return found


def public(title: str) -> dict[str, Any]:
    """The public names of a module, with what they are."""
    module, chosen = MODULES[title]
    found = {name: value for name, value in vars(module).items() if not name.startswith("_") and name != "annotations"}
    names = [name for name, value in found.items() if _is_error(value)] if module is ledger else []
    names += [name for name, value in found.items() if not chosen and not isinstance(value, ModuleType)]
    return {name: found[name] for name in (*chosen, *sorted(names, key=str.lower))}


def members(kind: type) -> dict[str, type]:
    """All that a class has of ours under a public name, with the class that defines it."""
    owners = {name: owner(kind, name) for name in dir(kind) if not name.startswith("_")}
    return {name: found for name, found in owners.items() if found is not None}


def owner(kind: type, name: str) -> type | None:
    """The class of ours that defines it."""
    found = next((each for each in kind.__mro__ if name in vars(each)), None)
    return found if found is not None and found.__module__.startswith(OURS) else None


def _class(name: str, kind: type, met: set[type], made: bool = True) -> Iterator[str]:
    above = next((each for each in kind.__mro__[1:] if _exported(each)), None)
    others = [each.__name__ for each in kind.__mro__[1:] if each in (ValueError, tuple, Sequence, Mapping)][:1]
    shown = [*([] if above is None else [above.__name__]), *others]
    call = _made(kind) if made and name not in GIVEN else ""
    yield f"class {name}{call}" + (f", a {' and '.join(shown)}" if shown else "")
    if issubclass(kind, Enum):
        yield from (f"    {member.name} = {member.value!r}" for member in kind)
        return
    hidden = set() if above is None else set(dir(above))
    hidden |= {each for base in kind.__mro__ for each in INNER.get(base.__name__, ())}
    held, owners = {**_fields(kind), **_attributes(kind)}, members(kind)
    for member in sorted(ONLY.get(name, held.keys() | owners.keys()) - hidden):
        line = held[member] if member in held else _member(kind, member, owners[member], met)
        if member in held and not issubclass(kind, tightrope.Leaf):
            _follow(line, owners.get(member, kind), met)
        yield from [f"    {line}"] if line else []
    signs = [sign for operator, sign in OPERATORS.items() if operator not in hidden and owner(kind, operator)]
    if signs:
        yield f"    operators: {', '.join(signs)}"
    if issubclass(kind, LedgerError):
        yield f"    exit code {kind.exit}, HTTP {kind.code}, urn:tightrope:{kind.urn}"


def _made(kind: type) -> str:
    """What its constructor takes; nothing of a class that is not called."""
    if issubclass(kind, Enum) or inspect.isabstract(kind):
        return ""
    if issubclass(kind, Exception) and owner(kind, "__init__") is None:
        return "(message)"
    return f"({_parameters(inspect.signature(kind).parameters.values(), kind.__init__)})"


def _fields(kind: type) -> dict[str, str]:
    """Of a dataclass or a named tuple, with their types; what a mechanism works out for itself is its own business."""
    mechanism = issubclass(kind, tightrope.Mechanism)
    if not is_dataclass(kind):
        types = {name: kind.__annotations__[name].__forward_arg__ for name in getattr(kind, "_fields", ())}
    else:
        given: tuple[Field[Any], ...] = fields(kind)
        shown = {each.name for each in given if each.init or not mechanism or each.name in WORKED_OUT}
        types = {each.name: str(each.type) if each.name in shown else "" for each in given}
        types |= {name: "" for name in inspect.signature(kind).parameters if mechanism and name not in types}
    return {name: f"{name}: {annotation}" if annotation else "" for name, annotation in types.items()}


def _attributes(kind: type) -> dict[str, str]:
    """What the constructor of an exception sets."""
    if not issubclass(kind, Exception) or "__init__" not in vars(kind):
        return {}
    return {name: name for name in re.findall(r"\bself\.([a-z]\w*)(?::[^=]*)? = ", inspect.getsource(kind.__init__))}


def _member(kind: type, name: str, where: type, met: set[type]) -> str:
    found = vars(where)[name]
    if isinstance(found, (property, cached_property)):
        inner: Any = found.fget if isinstance(found, property) else found.func
        returns = str(inspect.signature(inner).return_annotation)
        _follow(returns, where, met)
        return f"{name}: {returns}"
    if isinstance(found, (staticmethod, classmethod)):
        return f"{type(found).__name__} {_call(name, getattr(kind, name), met)}"
    if callable(found):
        return _call(name, found, met, bound=True)
    if inspect.ismemberdescriptor(found):
        return name
    texts = issubclass(kind, tightrope.Mechanism) and kind is not tightrope.Leaf  # for the listing
    return "" if texts else f"{name}: {type(found).__name__}"


def _call(name: str, function: Any, met: set[type], bound: bool = False) -> str:
    signature = inspect.signature(function)
    taken = list(signature.parameters.values())[1 if bound else 0 :]
    returns = str(signature.return_annotation)
    _follow(returns, inspect.unwrap(function), met)
    return f"{name}({_parameters(taken, function)}) -> {returns}"


def _parameters(taken: Iterable[Parameter], function: Any) -> str:
    """As a definition has them, without types; options by their names."""
    shown: list[str] = []
    for each in taken:
        if each.kind is Parameter.VAR_KEYWORD and "Unpack[" in str(each.annotation):
            known = [name for name in known_keywords(inspect.unwrap(function)) if name != "self"]
            named = {word.split("=")[0].strip("*") for word in shown}
            shown += [*([] if "*" in shown else ["*"]), *(f"{name}=..." for name in known if name not in named)]
            continue
        if each.kind is Parameter.KEYWORD_ONLY and not any(word.startswith("*") for word in shown):
            shown.append("*")
        stars = "**" if each.kind is Parameter.VAR_KEYWORD else "*" if each.kind is Parameter.VAR_POSITIONAL else ""
        shown.append(f"{stars}{each.name}{default(each)}")
    return ", ".join(shown)


def default(given: Parameter) -> str:
    """Its value where it is a plain one; ... for what the docstring tells."""
    if given.default is Parameter.empty:
        return ""
    return f"={given.default!r}" if isinstance(given.default, PLAIN) else "=..."


def _is_error(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, LedgerError)


def _exported(kind: type) -> bool:
    ours = kind.__module__.startswith(OURS)
    return ours and any(getattr(module, kind.__name__, None) is kind for module in (tightrope, ledger))


def _follow(annotation: str, where: Any, met: set[type]) -> None:
    """Notes the classes of ours that a type names, as the module that names them understands it."""
    inside = vars(importlib.import_module(where.__module__))
    for word in re.findall(r"\w+", annotation):
        found = inside.get(word, _classes().get(word))
        if inspect.isclass(found) and found.__module__.startswith(OURS) and word not in NOT_FOLLOWED:
            met.add(found)


@cache
def _classes() -> Mapping[str, type]:
    """Every class of the package by its name, of which no two have the same (benchmarks/house.py looks)."""
    found: dict[str, type] = {}
    for module in pkgutil.walk_packages(tightrope.__path__, "tightrope."):
        if ".interop" not in module.name and not module.name.endswith("__main__"):
            inside = vars(importlib.import_module(module.name))
            found |= {
                name: value
                for name, value in inside.items()
                if inspect.isclass(value) and value.__module__ == module.name and value.__name__ == name
            }
    return found
