"""What holds for every listing, whatever it was read from: used by the tests of each parser."""

from jaxscope._ir.model import NO_STACK, Listing


def assert_well_formed(listing: Listing, text: str) -> None:
    """Text exact; ops and blocks in order, within the text and properly nested; names, stacks and folds valid."""
    assert listing.text == text
    assert "\n".join(listing.lines) == text
    lines = len(listing.lines)
    for items in (listing.ops, listing.blocks):
        starts = [item.line for item in items]
        assert starts == sorted(starts)
        assert all(0 <= item.line <= item.end_line < lines for item in items)
    for index, block in enumerate(listing.blocks):
        assert -1 <= block.parent < index
        if block.parent >= 0:
            outer = listing.blocks[block.parent]
            assert outer.line <= block.line <= block.end_line <= outer.end_line
    open_ops = []
    for op in listing.ops:
        assert op.name
        assert -1 <= op.block < len(listing.blocks)
        if op.block >= 0:
            block = listing.blocks[op.block]
            assert block.line <= op.line <= op.end_line <= block.end_line
        assert op.stack == NO_STACK or 0 <= op.stack < len(listing.stacks.nodes)
        # Two ops are apart or one is inside the other; several may share a line.
        open_ops = [other for other in open_ops if other.end_line > op.line]
        assert all(op.end_line <= other.end_line for other in open_ops)
        open_ops.append(op)
    for index, (frame, caller) in enumerate(listing.stacks.nodes):
        assert 0 <= frame < len(listing.stacks.frames)
        assert NO_STACK <= caller < index
    for frame in listing.stacks.frames:
        assert frame.file
        assert frame.line >= 0 and frame.column >= 0
    visible = [fold.line for fold in listing.folds]
    assert visible == sorted(visible)
    assert len(set(visible)) == len(visible), "a line that two folds share cannot say which one to open"
    assert all(0 <= fold.line < fold.end_line < lines for fold in listing.folds)


def assert_names_resolve(listing: Listing) -> None:
    """Every operand is defined by an op, or is an argument of a block that the op sees."""
    for op in listing.ops:
        for name in op.operands:
            if (found := listing.definition(op.block, name)) is not None:
                assert name in listing.ops[found].results
                continue
            block = op.block
            while name not in listing.blocks[block].arguments:
                assert not listing.blocks[block].isolated, (name, op)
                block = listing.blocks[block].parent
                assert block >= 0, (name, op)
