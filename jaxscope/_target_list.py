"""`jaxscope.targets`: the list of what can be compiled for, as an object that shows itself.

Input: a file of the user's own machines, or nothing. Output: `Targets`: a table, a data frame, and each target by name.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jaxscope import _jax_topology
from jaxscope._render.html import render_table, visible
from jaxscope._render.text import table_lines
from jaxscope._targets import Target, resolve_target
from jaxscope._targets.listing import list_targets, targets_frame
from jaxscope._view.targets import target_table
from jaxscope.errors import InputError, UnavailableError

if TYPE_CHECKING:
    import pandas as pd


class Targets:
    """What can be compiled for; shows itself as a table. ``targets["tpu:v5e:2x2"]`` gives one of them."""

    def __init__(self, path: str | None = None):
        self._path = path
        self._listed = list_targets(path)

    @property
    def frame(self) -> "pd.DataFrame":
        """The table as a data frame: name, machine, devices, memory_bytes (of one), state, missing."""
        return targets_frame(self._listed)

    def __getitem__(self, name: str) -> Target:
        """The target of that name, in any size; `Target.facts` holds its published figures.

        Raises:
            jaxscope.errors.InputError: There is none.
        """
        if not isinstance(name, str):
            raise InputError(
                f"Looking up the target {name!r}: names are strings. Write one that the list shows, "
                'such as targets["cuda:h100"].'
            )
        own = next((item.target for item in self._listed if item.target.name in (name, f"{self._path}#{name}")), None)
        return own or resolve_target(name)

    def devices(self, name: str) -> tuple[Any, ...]:
        """The JAX devices of a target, for `jax.sharding.Mesh` and ``jax.pmap(f, devices=...)``; loads its compiler.

        Raises:
            jaxscope.errors.InputError: There is no such target.
            jaxscope.errors.UnavailableError: Its compiler is not here.
        """
        target = self[name]
        if target.kind == "attached":
            import jax

            return tuple(jax.devices(target.name))
        if target.kind == "lower-only" or target.topology is None:
            raise UnavailableError(
                f"Making the devices of {target.name}: only its compiler can describe them. {target.reason} "
                "Without it, lay a mesh over it with mesh={...}."
            )
        return _jax_topology.topology_devices(target.topology)

    def __len__(self) -> int:
        return len(self._listed)

    def __iter__(self) -> Iterator[Target]:
        return (item.target for item in self._listed)

    def __str__(self) -> str:
        return "\n".join(map(visible, table_lines(target_table(self._listed))))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render_table(target_table(self._listed))


def targets(path: str | os.PathLike[str] | None = None) -> Targets:
    """Lists what can be compiled for: attached devices, and machines whose hardware need not be here.

    No compiler is loaded for it. Pass a name to ``jaxscope.show(f, ..., target=name)``.

    Args:
        path: A JSON file with machines of your own, listed under the names to pass: ``target="machines.json#mine"``.
            Its form is that of ``jaxscope/_targets/catalogue.json``.

    Returns:
        The list: a table with, for each machine that cannot be compiled for, the command that would change that.

    Raises:
        jaxscope.errors.InputError: The file cannot be read; the message names the entry and the field.
    """
    return Targets(os.fspath(path) if path is not None else None)
