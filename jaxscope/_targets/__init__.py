"""Where to compile for: attached devices, machines that are not there, and what is published about both.

Input: what was passed as ``target=``. Output: a `Target`, which every argument is placed on.
"""

from jaxscope._targets.model import DeviceFacts, Figure, Source, Target, TopologySpec
from jaxscope._targets.resolve import resolve_target, resolve_targets

__all__ = ["DeviceFacts", "Figure", "Source", "Target", "TopologySpec", "resolve_target", "resolve_targets"]
