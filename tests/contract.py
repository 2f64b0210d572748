"""The types that Python and the browser share, written once.

Problem: the browser's type checker must see the view model exactly as Python defines it. Input: the TypedDicts of
`jaxscope._view.model` and the table of invisible characters of `jaxscope._render.html`. Output: `js/src/schema.d.ts`
and `js/src/invisible.json`; ``python -m tests.contract`` writes both, `tests/test_contract.py` fails while either is
stale.
"""

import inspect
import json
import types
import typing
from pathlib import Path

from jaxscope._render import html
from jaxscope._view import model

SOURCES = Path(__file__).resolve().parents[1] / "js" / "src"
COMMAND = "python -m tests.contract"

_NAMES = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


def typescript_type(annotation: object) -> str:
    """The TypeScript spelling of an annotation used in the view model."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _NAMES:
        return _NAMES[annotation]
    if typing.is_typeddict(annotation):
        return annotation.__name__
    if origin is typing.Literal:
        return " | ".join(json.dumps(value) for value in arguments)
    if origin is list:
        inner = typescript_type(arguments[0])
        return f"({inner})[]" if " | " in inner and not inner.endswith("[]") else f"{inner}[]"
    if origin is dict:
        key, value = map(typescript_type, arguments)
        return f"Record<{key}, {value}>"
    if origin in (types.UnionType, typing.Union):
        return " | ".join(dict.fromkeys(typescript_type(argument) for argument in arguments))
    raise TypeError(
        f"Writing the browser's types from jaxscope._view.model. Found {annotation!r}, which has no TypeScript "
        f"spelling here. Use another type or teach tests/contract.py this one."
    )


def _interface(record: type) -> str:
    lines = [f"export interface {record.__name__} {{"]
    for name, annotation in typing.get_type_hints(record).items():
        optional = "?" if name in record.__optional_keys__ else ""
        lines.append(f"  {name}{optional}: {typescript_type(annotation)};")
    return "\n".join([*lines, "}"])


def schema() -> str:
    """The text of `schema.d.ts`."""
    records = [value for _, value in inspect.getmembers(model, typing.is_typeddict)]
    records.sort(key=lambda record: inspect.getsourcelines(record)[1])
    parts = [f"// Generated from jaxscope/_view/model.py by `{COMMAND}`. Do not edit."]
    parts += [_interface(record) for record in records]
    return "\n\n".join(parts) + "\n"


def invisible() -> str:
    """The text of `invisible.json`: the ranges of characters that are shown by their number."""
    rows = ",\n".join(f"  {json.dumps(list(pair))}" for pair in html.INVISIBLE)
    return f"[\n{rows}\n]\n"


FILES = {"schema.d.ts": schema, "invisible.json": invisible}


if __name__ == "__main__":
    for file_name, text in FILES.items():
        (SOURCES / file_name).write_text(text(), encoding="utf-8")
        print(f"wrote js/src/{file_name}")
