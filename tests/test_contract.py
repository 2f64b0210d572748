"""The browser's copy of the contract is the one that Python has now, and the screen's constants agree with it."""

import json
import re

import pytest

from jaxscope._view import model
from tests import contract
from tests.bench.recorded import RecordedSource
from tests.shared import ABSENT, SHARED


@pytest.mark.parametrize("name", contract.FILES)
def test_generated_file_is_fresh(name):
    found = (contract.SOURCES / name).read_text(encoding="utf-8")
    assert found == contract.FILES[name](), f"js/src/{name} is stale. Run: {contract.COMMAND}"


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (list[list[int | str | bool]], "(number | string | boolean)[][]"),
        (float | None, "number | null"),
        (model.Tone, '"" | "error" | "warning" | "muted" | "good"'),
        (list[model.Row], "Row[]"),
        (dict[str, list[int]], "Record<string, number[]>"),
    ],
)
def test_spelling(annotation, expected):
    assert contract.typescript_type(annotation) == expected


def test_unknown_annotation_is_refused():
    with pytest.raises(TypeError, match=r"teach tests/contract\.py"):
        contract.typescript_type(set[str])


@pytest.mark.parametrize("name", ["SCHEMA_VERSION", "LINE_WITHOUT_OP", "LINE_MADE_BY_COMPILER"])
def test_constants_agree(name):
    text = (contract.SOURCES / "constants.js").read_text(encoding="utf-8")
    # A sample line it matches: export const LINE_WITHOUT_OP = -1;
    found = re.search(rf"^export const {name} = (-?\d+);", text, re.MULTILINE)
    assert found and int(found[1]) == getattr(model, name)


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
def test_recorded_text_is_shown_with_all_that_the_browser_reads():
    source = RecordedSource(12)
    assert set(source.view) == set(model.View.__annotations__)
    for tab in source.view["tabs"]:
        assert model.Tab.__required_keys__ <= set(tab)
        index, text = source.listing(tab["key"])
        assert model.ListingIndex.__required_keys__ <= set(json.loads(index)) and text
