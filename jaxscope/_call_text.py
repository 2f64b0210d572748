"""A call written as text: ``f32[8,128], {"w": bf16[128,64]}, n=3``.

Problem: whoever looks at a widget wants to try a call without leaving it, and what is typed there must not be
evaluated. Input: what stands between the parentheses of a call, or the arguments themselves. Output: the arguments, or
the text. Types may stand bare (``f32[8,@data 128]``, ``~f32[]``, ``key<fry>[]``) or as strings; all else is what Python
writes for numbers, strings, None and tuples, lists, dicts and sets of these.
"""

import ast
import keyword
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import jax
import numpy as np

from jaxscope import _jax, _jax_types
from jaxscope._specs import is_spec, parse_spec
from jaxscope.errors import InputError

MAXIMUM_LENGTH = 20_000
# Python's own parser refuses 200.
_MAXIMUM_NESTING = 100
_QUOTED_LENGTH = 40
# The pieces of `{"w": ~bf16[128,64]}, n=-3  # words`. A type is found where a word begins, and never inside a string.
_PIECE = re.compile(
    r"""(?P<string>'''(?:\\.|[^\\])*?'''|\"""(?:\\.|[^\\])*?\"""|'(?:\\.|[^\\'])*'|"(?:\\.|[^\\"])*")"""
    r"|(?P<comment>\#.*)"
    r"|(?P<type>~?(?:key<[a-z0-9]+>|(?!(?:and|else|for|if|in|is|not|or)\b)[a-z][a-z0-9_]*)\s*\[[^\[\]]*\])"
    r"|(?P<word>\w[\w.]*)"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<other>.)",
    re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WHAT_IS_READ = (
    "Write types such as f32[8,128], numbers, strings, None, and tuples, lists or dicts of these; "
    "inspection.check(...) in Python takes everything else."
)
# What is found where a value should be, for people; everything else is an expression.
_NAMES_OF_NODES: Mapping[type[ast.AST], str] = {
    ast.Name: "is a name, and nothing is looked up here",
    ast.Call: "is a call, and nothing is run here",
    ast.Attribute: "is an attribute, and nothing is looked up here",
    ast.Starred: "unpacks something, and nothing is evaluated here",
    ast.JoinedStr: "is a formatted string, and nothing is evaluated here",
    ast.Lambda: "is a function, and nothing is run here",
}


def read_call_text(text: str, mesh: Any = None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and keyword arguments that a text stands for; nothing of it is evaluated.

    Args:
        text: What stands between the parentheses of a call.
        mesh: A `jax.sharding.Mesh` for types that name its axes, or None for the mesh in context.

    Returns:
        The arguments; types have become `jax.ShapeDtypeStruct`.

    Raises:
        InputError: The text is no call of literal values and types; the message names the column.
    """
    return _Reader(text, mesh).read()


class _Reader:
    """One text being read. Offsets count characters from 0, the columns of messages from 1."""

    def __init__(self, text: str, mesh: Any):
        # The box has one line; a line break that got into it parts as a space does.
        self._text = text.replace("\r", " ").replace("\n", " ")
        self._mesh = mesh
        self._types: dict[int, str] = {}

    def read(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if len(self._text) > MAXIMUM_LENGTH:
            self._refuse(MAXIMUM_LENGTH, len(self._text), f"is where the first {MAXIMUM_LENGTH:,} characters end")
        try:
            self._text.encode()
        except UnicodeEncodeError as error:
            self._refuse(error.start, error.end, "is half a character")
        call = self._parse(self._without_types())
        args = tuple(map(self._value, call.args))
        kwargs: dict[str, Any] = {}
        for named in call.keywords:
            if named.arg is None:
                self._refuse_node(named, _NAMES_OF_NODES[ast.Starred])
            if named.arg in kwargs:
                self._refuse_node(named, "gives that argument a second time", "Give it once.")
            kwargs[named.arg] = self._value(named.value)
        for start, found in self._types.items():
            self._refuse(start, start + len(found), "is a type where no value can be")
        return args, kwargs

    def _without_types(self) -> str:
        """The text with a word of the same length in the place of each bare type, which is not Python."""
        parts, opened = [], []
        for piece in _PIECE.finditer(self._text):
            found, start = piece[0], piece.start()
            if piece["type"]:
                self._types[start] = found
                found = "_" * len(found)
            elif piece["open"]:
                opened.append((found, start))
                if len(opened) > _MAXIMUM_NESTING:
                    self._refuse(start, start + 1, f"is nested more than {_MAXIMUM_NESTING} deep")
            elif piece["close"] and (not opened or _CLOSING[opened.pop()[0]] != found):
                self._refuse(start, start + 1, "closes nothing that was opened", "Take it away, or open it before.")
            parts.append(found)
        if opened:
            bracket, start = opened[-1]
            self._refuse(start, start + 1, "is never closed", f"Write {_CLOSING[bracket]} where it ends.")
        return "".join(parts)

    def _parse(self, python: str) -> ast.Call:
        # The line break ends a comment, which would else reach over the parenthesis.
        self._source = f"f({python}\n)".encode()
        try:
            with warnings.catch_warnings():
                # Of strings such as "\d", which belong to whoever typed them.
                warnings.simplefilter("ignore")
                call = ast.parse(self._source.decode(), mode="eval").body
        except SyntaxError as error:
            # Its offset counts from 1 and knows of the two characters before the text.
            start = min(max((error.offset or 1) - 3, 0), len(self._text)) if error.lineno == 1 else len(self._text)
            words = f"({error.msg})"
        except (ValueError, MemoryError, RecursionError) as error:
            start, words = 0, f"({str(error) or 'too many expressions inside each other'})"
        else:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                return call
            start, words = 0, ""
        self._refuse(start, len(self._text), f"is not how arguments go on {words}".rstrip())

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str(text)) if is_spec(text):
                return self._type(node, text)
            case ast.Name() if self._type_at(node) is not None:
                return self._type(node, self._types.pop(self._place(node)[0]))
            case ast.Tuple():
                return tuple(map(self._value, node.elts))
            case ast.List():
                return list(map(self._value, node.elts))
            case ast.Set():
                # No container to JAX, so what stands in it stays as it is.
                return set(map(self._plain, node.elts))
            case ast.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    if key is None:
                        self._refuse_node(value, "is unpacked, and nothing is evaluated here")
                keys = [self._plain(key) for key in node.keys if key is not None]
                return dict(zip(keys, map(self._value, node.values), strict=True))
        return self._plain(node)

    def _plain(self, node: ast.expr) -> Any:
        """A value that no array stands for: a key, an element of a set, a number."""
        match node:
            case ast.Constant(value=value) if value is not ...:
                return value
            case ast.Tuple():
                return tuple(map(self._plain, node.elts))
            case ast.UnaryOp() if (number := _signed_number(node)) is not None:
                return number
            case ast.BinOp(op=ast.Add() | ast.Sub() as sign, right=ast.Constant(value=complex() as imaginary)):
                real = _signed_number(node.left)
                if real is not None and not isinstance(real, complex):
                    try:
                        return real - imaginary if isinstance(sign, ast.Sub) else real + imaginary
                    except OverflowError:
                        self._refuse_node(node, "is larger than a complex number can be")
        if self._type_at(node) is not None:
            self._refuse_node(node, "is a type where only plain values can be")
        if isinstance(node, ast.List | ast.Dict | ast.Set):
            self._refuse_node(node, "cannot be a key nor stand in a set")
        self._refuse_node(node, _NAMES_OF_NODES.get(type(node), "is an expression, and nothing is evaluated here"))

    def _type_at(self, node: ast.expr) -> str | None:
        """The bare type that a name stands for."""
        start, end = self._place(node)
        found = self._types.get(start)
        return found if found is not None and len(found) == end - start else None

    def _type(self, node: ast.expr, text: str) -> Any:
        try:
            return parse_spec(text, self._mesh)
        except InputError as error:
            message = str(error)
            start, _ = self._place(node)
            raise InputError(f"At column {start + 1} of the call: {message[0].lower()}{message[1:]}") from error

    def _place(self, node: Any) -> tuple[int, int]:
        """Where a node begins and ends in the text; Python counts bytes, and the two characters before it."""
        begin, end = (
            len(self._source[:offset].decode(errors="replace")) - 2 for offset in (node.col_offset, node.end_col_offset)
        )
        # A generator expression has the parentheses of the call for its own.
        return max(begin, 0), end

    def _refuse_node(self, node: Any, found: str, advice: str = _WHAT_IS_READ) -> NoReturn:
        self._refuse(*self._place(node), found, advice)

    def _refuse(self, start: int, end: int, found: str, advice: str = _WHAT_IS_READ) -> NoReturn:
        quoted = self._text[start : min(end, start + _QUOTED_LENGTH)]
        quoted = f"{quoted}…" if end > start + _QUOTED_LENGTH else quoted
        quoted = quoted.encode(errors="backslashreplace").decode()
        what = f"`{quoted}`" if quoted.strip() else "the end of it"
        raise InputError(f"Reading the call that was typed: at column {start + 1}, {what} {found}. {advice}")


def _signed_number(node: ast.expr) -> Any:
    """The number that is written there with at most one sign; None for everything else."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        sign, node = -1 if isinstance(node.op, ast.USub) else 1, node.operand
    value = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(value, int | float | complex) or isinstance(value, bool):
        return None
    return -value if sign < 0 else value


def write_call_text(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """The text that stands for a call, arrays as types; None where `read_call_text` could not read it back."""
    try:
        parts = [_written(value) for value in args]
        parts += [f"{_keyword(name)}={_written(value)}" for name, value in kwargs.items()]
    except (_NotWritten, RecursionError, ValueError):
        # Python refuses to write whole numbers of very many digits.
        return None
    text = ", ".join(parts)
    return text if len(text) <= MAXIMUM_LENGTH else None


class _NotWritten(Exception):
    """There is no text for a value."""


def _keyword(name: str) -> str:
    # What Python would read as another name, or as none.
    if not (name.isidentifier() and name.isascii()) or keyword.iskeyword(name):
        raise _NotWritten
    return name


def _written(value: Any, depth: int = 0) -> str:
    """The text of a value inside so many brackets."""
    kind = type(value)
    if kind is tuple:
        return _written_tuple(value, depth, _written)
    if kind is list:
        return f"[{', '.join(_written(item, _deeper(depth)) for item in value)}]"
    if kind is dict:
        inner = _deeper(depth)
        items = (f"{_plainly_written(key, inner)}: {_written(item, inner)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if kind is set and value:
        return f"{{{', '.join(sorted(_plainly_written(item, _deeper(depth)) for item in value))}}}"
    if kind is str and is_spec(value):
        raise _NotWritten  # It would be read as the type.
    if isinstance(value, jax.ShapeDtypeStruct | jax.Array | np.ndarray | np.generic) and not _jax.is_tracer(value):
        return _written_type(value)
    return _plainly_written(value, depth)


def _plainly_written(value: Any, depth: int) -> str:
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes):
        return repr(value)
    if kind in (float, complex) and np.isfinite(value):
        return repr(value).strip("()")
    if kind is tuple:
        return _written_tuple(value, depth, _plainly_written)
    raise _NotWritten


def _written_tuple(value: tuple[Any, ...], depth: int, write: Callable[[Any, int], str]) -> str:
    inner = ", ".join(write(item, _deeper(depth)) for item in value)
    return f"({inner},)" if len(value) == 1 else f"({inner})"


def _deeper(depth: int) -> int:
    if depth == _MAXIMUM_NESTING - 1:
        raise _NotWritten
    return depth + 1


def _written_type(value: Any) -> str:
    """``~bf16[8,@data 128]``, if that is all there is to say of an abstract or real array."""
    sharding = getattr(value, "sharding", None)
    is_free = sharding is None or (isinstance(value, jax.Array) and not value.committed)
    axes = list(_axes(None if is_free else sharding, len(value.shape)))
    dimensions = ",".join(
        f"@{axis} {size}" if axis else f"{size}" for axis, size in zip(axes, value.shape, strict=True)
    )
    weak_type = bool(getattr(getattr(value, "aval", value), "weak_type", False))
    if not (_jax_types.is_extended(value) or _jax.is_array_dtype(value.dtype)):
        raise _NotWritten
    text = f"{'~' * weak_type}{_jax_types.short_array_type((), value.dtype).removesuffix('[]')}[{dimensions}]"
    try:
        found = parse_spec(text, None if is_free else sharding.mesh)
    except InputError:
        raise _NotWritten from None
    same = (found.shape, found.dtype, found.weak_type) == (tuple(value.shape), value.dtype, weak_type)
    placed = is_free or found.sharding.is_equivalent_to(sharding, len(value.shape))
    if not (same and placed):
        raise _NotWritten
    return text


def _axes(sharding: Any, rank: int) -> Iterator[str | None]:
    """The mesh axis that each dimension is split over, at most one."""
    if sharding is None:
        yield from [None] * rank
        return
    if not isinstance(sharding, jax.sharding.NamedSharding) or not isinstance(sharding.mesh, jax.sharding.Mesh):
        raise _NotWritten
    spec = [*sharding.spec, *[None] * rank][:rank]
    if not any(spec):
        # Nothing would say that it is on the mesh at all.
        raise _NotWritten
    for entry in spec:
        names = entry if isinstance(entry, tuple) else (entry,)
        if len(names) > 1 or not all(name is None or isinstance(name, str) for name in names):
            raise _NotWritten
        yield names[0] if names else None
