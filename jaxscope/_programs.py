"""The programs of one inspection: one function, compiled for one target or for several.

Problem: several targets share the Python and mostly the jaxpr, but nothing after that, and every listing and table
needs a name of its own. Input: the `Facts` of each target. Output: `Programs`, which knows what is shared, and which
facts a key such as ``hlo`` or ``hlo@tpu:v5e:2x2`` means.
"""

from collections.abc import Iterator, Sequence

from jaxscope._facts import Facts
from jaxscope._targets import Target
from jaxscope.errors import InputError


class Programs:
    """The facts of every target, in the order in which they were asked for.

    The keys of the first target's tabs stand alone; those of the others carry the target's name.
    """

    def __init__(self, first: Facts, *others: Facts):
        self._facts = {facts.target.name: facts for facts in (first, *others)}
        # What the kernel could compile the same function for; nothing where there is none.
        self.choices: Sequence[Target] = ()

    @property
    def first(self) -> Facts:
        """The facts of the first target."""
        return next(iter(self))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the targets."""
        return tuple(self._facts)

    def __iter__(self) -> Iterator[Facts]:
        return iter(self._facts.values())

    def __len__(self) -> int:
        return len(self._facts)

    def add(self, facts: Facts) -> None:
        """Takes another target; one of the same name makes room for it."""
        self._facts[facts.target.name] = facts

    def of(self, name: str) -> Facts:
        """The facts of a target.

        Raises:
            InputError: The program was not compiled for it.
        """
        if name not in self._facts:
            raise InputError(
                f"Looking up the target {name!r}: this inspection is for {', '.join(self.names)}. "
                "Pass one of these, or inspect the function for it with targets=[…]."
            )
        return self._facts[name]

    def key(self, facts: Facts, base: str) -> str:
        """What a tab of a target is called, such as ``hlo@cuda:h100``."""
        return base if facts is self.first else f"{base}@{facts.target.name}"

    def listing_key(self, facts: Facts, base: str) -> str:
        """What the listing is called that a target shows: one that it shares is the first target's."""
        return base if base == "jaxpr" and self.shares_trace(facts) else self.key(facts, base)

    def find(self, key: str) -> tuple[Facts, str]:
        """The facts and the plain key that a key of `key` stands for."""
        base, _, name = key.partition("@")
        return self._facts.get(name, self.first), base

    def shares_trace(self, facts: Facts) -> bool:
        """Whether the jaxpr is that of the first target.

        JAX keeps what it traced, so the same types give the same jaxpr; shardings can be part of the types.
        """
        if facts is self.first:
            return True
        own, first = (each.stages.get("trace") for each in (facts, self.first))
        if own is None or first is None:
            return True
        if own.product is None or first.product is None:
            return own.status == first.status and own.status != "failed"
        return getattr(own.product, "jaxpr", own) is getattr(first.product, "jaxpr", first)
