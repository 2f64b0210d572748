"""The values that a failing expression names, with their types.

Problem: "got incompatible shapes (3,), (4,)" does not say which variable is which. Input: the syntax tree of the
expression and the variables of its frame. Output: `Operand`s such as ``x: f32[8]``.

Names, constant subscripts of dicts, lists and tuples, and attributes that an object itself stores are followed by hand:
nothing is evaluated, and no method of anybody's class runs, not even a ``__repr__``.
"""

import ast
import types
from collections.abc import Iterator, Mapping
from typing import Any

from jaxscope import _jax_failures
from jaxscope._failures.records import Operand, shorten

_MAXIMUM_OPERANDS = 12
_MAXIMUM_LEAVES = 6
_MAXIMUM_DEPTH = 4
_OPTIMISED = 0x1  # inspect.CO_OPTIMIZED: a function's frame, whose variables are in no mapping of the user's
_MISSING = object()


def operands_of(node: ast.AST | None, frame: types.FrameType) -> tuple[Operand, ...]:
    """The operands of an expression in a frame, in the order in which they are written, each once."""
    found: dict[str, str] = {}
    variables = _variables(frame)
    for reference in _references(node, frozenset()) if node is not None else ():
        reference, value = _resolve(reference, variables)
        words = _in_words(value, _MAXIMUM_DEPTH)
        if words:
            found.setdefault(shorten(ast.unparse(reference), 60), words)
        if len(found) == _MAXIMUM_OPERANDS:
            break
    return tuple(Operand(expression, words) for expression, words in found.items())


def _variables(frame: types.FrameType) -> list[Mapping[str, Any]]:
    """Local and global variables, those that a plain dict of Python's keeps."""
    scopes = []
    if frame.f_code.co_flags & _OPTIMISED or type(frame.f_locals) is dict:
        scopes.append(frame.f_locals)
    if type(frame.f_globals) is dict:
        scopes.append(frame.f_globals)
    return scopes


def _references(node: ast.AST, bound: frozenset[str]) -> Iterator[ast.expr]:
    """The longest names, attributes and subscripts in an expression that can be looked up."""
    match node:
        case ast.Name(id=name):
            if name not in bound:
                yield node
        case ast.Attribute() | ast.Subscript() if _is_simple(node):
            if _root(node) not in bound:
                yield node
        case ast.Lambda(args=arguments, body=body):
            for default in (*arguments.defaults, *filter(None, arguments.kw_defaults)):
                yield from _references(default, bound)
            inner = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            yield from _references(body, bound | {argument.arg for argument in inner if argument is not None})
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            targets = {
                name.id
                for generator in node.generators
                for name in ast.walk(generator.target)
                if isinstance(name, ast.Name)
            }
            for child in ast.iter_child_nodes(node):
                yield from _references(child, bound | targets)
        case ast.Call(func=function):
            # A method's owner is an operand: `x.sum()`. In `jnp.sum(x)` it is a module, which has no type to show.
            if isinstance(function, ast.Attribute):
                yield from _references(function.value, bound)
            elif not isinstance(function, ast.Name):
                yield from _references(function, bound)
            for child in (*node.args, *node.keywords):
                yield from _references(child, bound)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _references(child, bound)


def _is_simple(node: ast.expr) -> bool:
    """Whether an expression is a name with attributes and constant subscripts only."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=value) | ast.Subscript(value=value, slice=ast.Constant()):
            return _is_simple(value)
        case ast.Subscript(value=value, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant())):
            return _is_simple(value)
    return False


def _root(node: ast.expr) -> str:
    while not isinstance(node, ast.Name):
        node = node.value  # type: ignore[attr-defined]
    return node.id


def _resolve(node: ast.expr, scopes: list[Mapping[str, Any]]) -> tuple[ast.expr, Any]:
    """The value of an expression; of ``x.at`` and ``x[0]`` on an array, that array and its own expression."""
    match node:
        case ast.Name(id=name):
            return node, next((scope[name] for scope in scopes if name in scope), _MISSING)
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            base, owner = _resolve(inner, scopes)
            if _jax_failures.type_in_words(owner):
                return base, owner
            if isinstance(node, ast.Attribute):
                return node, _attribute(owner, node.attr)
            return node, _item(owner, node.slice)
    return node, _MISSING


def _item(container: Any, key: ast.expr) -> Any:
    number = ast.literal_eval(key)  # a constant, by `_is_simple`
    if type(container) is dict and type(number) in (str, int):
        keys = (each for each in container if type(each) in (str, int) and each == number)
        return next((container[each] for each in keys), _MISSING)
    if type(container) in (list, tuple) and type(number) is int and -len(container) <= number < len(container):
        return container[number]
    return _MISSING


def _attribute(owner: Any, name: str) -> Any:
    """What an object, or a module, keeps under a name, past all of its own `__getattr__`s and properties."""
    try:
        stored = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return _MISSING
    return stored.get(name, _MISSING) if type(stored) is dict else _MISSING


def _in_words(value: Any, depth: int) -> str:
    """The type of an array, a number or a container of these; "" for what is left out."""
    if words := _jax_failures.type_in_words(value):
        return words
    kind = type(value)
    if kind in (bool, int, float, complex):
        return f"{kind.__name__} = {shorten(repr(value), 30)}" if kind is not int or value.bit_length() < 99 else "int"
    if kind is str:
        return "str"
    if value is None:
        return "None"
    if depth and kind in (list, tuple):
        parts = [_in_words(item, depth - 1) for item in value[:_MAXIMUM_LEAVES]]
        if any(parts):
            more = ", …" if len(value) > _MAXIMUM_LEAVES else ""
            inside = ", ".join(part or "…" for part in parts) + more
            return f"[{inside}]" if kind is list else f"({inside})"
    if depth and kind is dict:
        shown = [(key, item) for key, item in list(value.items())[:_MAXIMUM_LEAVES] if type(key) in (str, int)]
        parts = [f"{shorten(str(key), 30)}: {words}" for key, item in shown if (words := _in_words(item, depth - 1))]
        if parts:
            return "{" + ", ".join(parts) + (", …" if len(value) > len(parts) else "") + "}"
    return ""
