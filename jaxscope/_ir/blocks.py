"""What the parsers of nested modules share: blocks still being read, and folds where there are several modules.

Input: blocks and folds as a parser finds them. Output: frozen blocks, and the folds that are worth having.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from jaxscope._ir.model import Block, Fold


@dataclass(slots=True)
class OpenBlock:
    """A block whose end has not been read yet; the fields are those of `Block`."""

    kind: str
    name: str
    line: int
    parent: int
    arguments: list[str] = field(default_factory=list)
    end_line: int = -1

    def close(self, *, isolated: bool) -> Block:
        """The block, which ends on its own line where no end was found."""
        end_line = max(self.line, self.end_line)
        return Block(self.kind, self.name, self.line, end_line, self.parent, tuple(self.arguments), isolated)


def fold_modules(folds: Iterable[Fold], blocks: Iterable[Block]) -> tuple[Fold, ...]:
    """The folds in the order of their lines; one around a module only where there is another module."""
    several = sum(block.kind == "module" for block in blocks) > 1
    kept = (fold for fold in folds if several or fold.kind != "module")
    return tuple(sorted(kept, key=lambda fold: (fold.line, -fold.end_line)))
