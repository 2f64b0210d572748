"""Where to compile for.

Problem: the user names a backend, and a program compiled for another one would be worse than none. Input: what was
passed as ``target=``. Output: a `Target`, whose device every argument is placed on. Targets without their hardware have
their place here too; so far only what `jax.devices` offers is known.
"""

from typing import Any

import jax

from jaxscope._targets.model import Target, TopologySpec
from jaxscope.errors import InputError

__all__ = ["Target", "TopologySpec", "resolve_target"]


def resolve_target(target: Any = None) -> Target:
    """The target that the user means: None (JAX's own choice), a platform's name, or a `jax.Device`.

    Raises:
        InputError: There is no such backend here.
    """
    if target is None:
        default = jax.config.jax_default_device
        return _describe(default if isinstance(default, jax.Device) else jax.devices(default)[0], None)
    if isinstance(target, jax.Device):
        return _describe(target, target)
    try:
        device = jax.devices(target)[0]
    except (RuntimeError, TypeError, IndexError) as error:
        here = ", ".join(dict.fromkeys([jax.default_backend(), "cpu"]))
        raise InputError(
            f"Choosing the target {target!r}: no such backend is attached (attached: {here}). "
            "Pass one of these, a jax.Device, or leave target= out."
        ) from error
    return _describe(device, device if device.platform != jax.default_backend() else None)


def _describe(device: Any, chosen: Any) -> Target:
    kind = device.device_kind
    words = device.platform.upper() if kind.lower() == device.platform.lower() else f"{device.platform.upper()} {kind}"
    name = {"cuda": "gpu", "rocm": "gpu"}.get(device.platform, device.platform)
    return Target(name, f"{words} — this machine", device.platform, chosen)
