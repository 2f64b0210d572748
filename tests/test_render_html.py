"""HTML: nothing from a program becomes markup, the page makes no request, and what is left out says so."""

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser

import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._render import html
from jaxscope._render.text import render_text, short_listings
from jaxscope.errors import UnavailableError
from tests.ui import sample, sample_cost

FALLBACK_TAGS = {
    *("a", "div", "p", "strong", "small", "code", "pre", "ul", "li", "br", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
PAGE_TAGS = FALLBACK_TAGS | {"html", "head", "body", "meta", "title", "style", "script", "noscript", "link", "main"}


class Elements(HTMLParser):
    """Every element of a document with its attributes, and the text of each script and of all the rest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.scripts: list[str] = []
        self.preformatted: list[str] = []
        self.text = ""
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")
        if tag == "pre":
            self.preformatted.append("")

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        else:
            self.text += data
        if self._inside == "pre":
            self.preformatted[-1] += data

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def small_bundle(monkeypatch, tmp_path):
    """A bundle that ends a script element if it is put into the page as it is."""
    path = tmp_path / "widget.js"
    path.write_text('console.log("</script><!-- é");', encoding="utf-8")
    monkeypatch.setattr(html, "BUNDLE", path)


@pytest.mark.parametrize(
    "source", [sample.attention(), sample.failed(), sample.failed_in_a_loop(), sample.running(), sample.hostile()]
)
def test_fallback_has_only_elements_of_its_own(source):
    found = Elements(html.render_fallback(source.view))
    assert {tag for tag, _ in found.elements} <= FALLBACK_TAGS
    assert {name for _, attributes in found.elements for name in attributes} <= {
        *("align", "title", "nowrap", "style"),
        *("href", "target", "rel"),
    }
    assert {attributes.get("style", "text-align:left") for _, attributes in found.elements} == {"text-align:left"}


def test_hostile_texts_are_in_the_fallback_as_text():
    found = Elements(html.render_fallback(sample.hostile().view))
    for text in sample.HOSTILE:
        assert html.visible(text) in found.text
    assert not set(found.text) & set("\x1b\x07\u202e\u2066\u200f\u200b")


def test_fallback_says_what_the_screen_says():
    text = Elements(html.render_fallback(sample.attention().view, "Run it again for the live view.")).text
    for said in (
        "TPU v5e",
        "9 eqns",
        "4.1 ms",
        "The sample has no StableHLO.",
        "✕ dtype: float32 → float64",
        "XLA gave no figures.",
    ):
        assert said in text
    assert "Run it again for the live view." in text
    failed = html.render_fallback(sample.failed().view)
    assert "<code>jnp.where(mask, x, 0)</code>" in failed
    assert "attention.py:13" in failed and "NonConcreteBooleanIndexError" in failed


def test_short_listings_are_in_the_static_picture_as_the_report_has_them():
    def scale(x):
        return jnp.sin(x) * 2

    source = jaxscope.inspect(scale, "f32[8]")._source
    listings, report = short_listings(source), render_text(source)
    assert list(listings) == ["python", "jaxpr", "stablehlo", "hlo"]
    fragment = html.render_fallback(source.view, "", listings)
    assert Elements(fragment).preformatted == list(listings.values())
    assert all(text in report for text in listings.values()) and "stablehlo.sine" in listings["stablehlo"]


def test_long_listings_and_those_that_cannot_be_made_are_left_out(monkeypatch):
    def repeat(x):
        for _ in range(410):
            x = jnp.sin(x)
        return x

    source = jaxscope.inspect(repeat, "f32[8]")._source
    assert list(short_listings(source)) == ["python"]
    source = jaxscope.inspect(jnp.sin, "f32[8]")._source
    index = source.index

    def broken(key):
        if key == "jaxpr":
            raise ValueError("This listing is broken.")
        return index(key)

    monkeypatch.setattr(source, "index", broken)
    assert list(short_listings(source)) == ["python", "stablehlo", "hlo"]


def test_hostile_listings_stay_text():
    fragment = html.render_fallback(sample.hostile().view, "", {"hlo": "\n".join(sample.HOSTILE)})
    found = Elements(fragment)
    assert {tag for tag, _ in found.elements} <= FALLBACK_TAGS
    assert all(html.visible(line) in found.text for text in sample.HOSTILE for line in text.split("\n"))


def test_what_was_found_comes_first_and_the_original_words_are_folded_away():
    source = sample.failed_in_a_loop()
    failure = source.view["tabs"][1]["failure"]
    fragment = html.render_fallback(source.view)
    found = Elements(fragment)
    order = [
        failure["headline"],
        "What a loop carries changes its type",
        "What to do: Start from a carry",
        "In JAX’s documentation",
        "Goes in",
        "the dtypes do not match",
        "layers.py:4 in softmax",
        "x: f32[8,128,128]",
        "attention.py:14",
        "the exception's own words",
        failure["message"],
        "full traceback",
    ]
    at = [found.text.index(words) for words in order]
    assert at == sorted(at)
    (folded,) = re.findall(r"<details><summary>the exception's own words</summary>(.*?)</details>", fragment)
    assert failure["message"] in folded and found.text.count(failure["message"]) == 1
    (link,) = found.named("a")
    assert link == {"href": failure["page"], "target": "_blank", "rel": "noopener"}


@pytest.mark.parametrize("address", sample.NO_PAGES)
def test_only_an_address_of_jaxs_documentation_becomes_a_link(address):
    source = sample.failed_in_a_loop()
    source.view["tabs"][1]["failure"]["page"] = address
    assert Elements(html.render_fallback(source.view)).named("a") == []


@pytest.mark.parametrize("first, last", html.INVISIBLE)
def test_both_ends_of_every_invisible_range_are_shown_by_number(first, last):
    for code in (first, last):
        assert html.visible(f"a{chr(code)}b") == f"a⟨U+{code:04X}⟩b"


def test_escape_covers_quotes_and_leaves_letters_alone():
    assert html.escape("""<a b="c" d='e'>&""") == "&lt;a b=&quot;c&quot; d=&#x27;e&#x27;&gt;&amp;"
    assert html.escape("é 𝛼 日本 ❤️\t\n") == "é 𝛼 日本 ❤️\t\n"


@pytest.mark.usefixtures("small_bundle")
def test_page_allows_its_own_program_and_nothing_else():
    page = html.render_page(sample.hostile())
    found = Elements(page)
    assert {tag for tag, _ in found.elements} <= PAGE_TAGS
    (policy,) = [meta["content"] for meta in found.named("meta") if meta.get("http-equiv")]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy and "http" not in policy and "*" not in policy
    programs = [text for text, script in zip(found.scripts, found.named("script")) if script["type"] == "module"]
    assert programs == ['console.log("<\\/script><\\!-- é");']
    digest = base64.b64encode(hashlib.sha256(programs[0].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    assert {script["type"] for script in found.named("script")} == {"module", "application/octet-stream;base64"}
    assert not re.search(r'(?:src|href)="(?!data:,")', page)


@pytest.mark.usefixtures("small_bundle")
def test_page_holds_the_listings_exactly():
    source = sample.attention()
    found = Elements(html.render_page(source))
    payloads = {script.get("id"): text for text, script in zip(found.scripts, found.named("script"))}

    def payload(name):
        return zlib.decompress(base64.b64decode(payloads[name])).decode()

    head = json.loads(payload("jaxscope-view"))
    keys = ["python", "jaxpr", "stablehlo", "hlo"]
    assert head == {"view": source.view, "left_out": {"stablehlo": "'stablehlo'"}, "keys": keys}
    for key, (index, text) in source.listings.items():
        number = keys.index(key)
        assert payload(f"jaxscope-{number}-text") == text
        assert json.loads(payload(f"jaxscope-{number}-index")) == index


@pytest.mark.usefixtures("small_bundle")
def test_listings_over_the_limit_are_left_out_with_the_reason():
    found = Elements(html.render_page(sample.attention(), cap_bytes=1500))
    ids = [script.get("id") for script in found.named("script")]
    assert "jaxscope-3-text" not in ids
    head = json.loads(zlib.decompress(base64.b64decode(found.scripts[ids.index("jaxscope-view")])))
    assert "1,500" in head["left_out"]["hlo"] and "Export again with a larger limit" in head["left_out"]["hlo"]


def test_missing_bundle_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(html, "BUNDLE", tmp_path / "absent.js")
    with pytest.raises(UnavailableError, match=r"Preparing the interactive view\. .*no browser bundle.*npm run build"):
        html.render_page(sample.attention())
    (tmp_path / "absent.js").write_text("")
    with pytest.raises(UnavailableError, match="missing or empty"):
        html.bundle()


def test_fallback_of_a_long_table_counts_what_it_leaves_out_and_keeps_what_is_wrong():
    rows = [[f"params['layers'][{number}]", f"{number} B", ""] for number in range(500)]
    columns = [sample.column("path", "Argument"), sample.column("size", "Size", "right"), sample.column("note", "Note")]
    long = sample.table("arguments", "Arguments", columns, rows)
    long["rows"][400] = {"cells": ["params['bad']", "4 B", ""], "tone": "error", "marks": [0]}
    view = sample.view([sample.tab("types", "Types", "tables", tables=[long] * 3)])
    text = Elements(html.render_fallback(view)).text
    assert text.count(f"{500 - html.FALLBACK_ROWS} more rows are left out here") == 3
    assert text.count("✕ params['bad']") == 3 and "params['layers'][0]" in text and "[499]" not in text
    assert text.count("params[") == 3 * html.FALLBACK_ROWS
    assert len(html.render_fallback(view).encode()) < 60_000
    whole = Elements(html.render_table(long)).text
    assert whole.count("params[") == 500 and "left out" not in whole


def test_fallback_has_figures_and_the_sentences_of_pictures_and_few_rows_of_each_grouping():
    source = sample_cost.costs()
    found = Elements(html.render_fallback(source.view))
    assert "34.6 MFLOP" in found.text and "▲ memory-bound on v5e" in found.text and "✓ Memory" in found.text
    for key in ("cost", "memory"):
        (report,) = (tab for tab in source.view["tabs"] if tab["key"] == key)
        for table in report["tables"]:
            assert table["title"] in found.text
            if "chart" in table:
                assert table["chart"]["summary"] in found.text
    assert "kind_9" in found.text and "kind_10" not in found.text
    assert f"{40 - html.GROUP_ROWS} more rows are left out here" in found.text


@pytest.mark.usefixtures("small_bundle")
def test_page_holds_the_columns_of_charts_and_asks_for_nothing():
    source = sample_cost.costs(buffers=30, instants=50)
    found = Elements(html.render_page(source))
    payloads = {script.get("id"): text for text, script in zip(found.scripts, found.named("script"))}
    head = json.loads(zlib.decompress(base64.b64decode(payloads["jaxscope-view"])))
    number = head["keys"].index("live-columns")
    columns = json.loads(zlib.decompress(base64.b64decode(payloads[f"jaxscope-{number}-index"])))
    assert columns == source.listings["live-columns"][0]
    asked = sample_cost.on_request()
    assert "request" in asked.view["tabs"][5]["tables"][1]
    found = Elements(html.render_page(asked))
    payloads = {script.get("id"): text for text, script in zip(found.scripts, found.named("script"))}
    head = json.loads(zlib.decompress(base64.b64decode(payloads["jaxscope-view"])))
    table = head["view"]["tabs"][5]["tables"][1]
    assert "request" not in table
    assert table["notes"] == [f"The compiler's own account is made by compiling once more. {html.NOT_OPENED}"]
    assert "request" in asked.view["tabs"][5]["tables"][1]


def test_a_column_that_no_row_fills_is_left_out():
    columns = [sample.column("path", "Argument"), sample.column("note", "Note"), sample.column("size", "Size", "right")]
    table = sample.table("arguments", "Arguments", columns, [["x", "", "1 B"], ["y", "", "2 B"]])
    found = Elements(html.render_table(table))
    assert len(found.named("th")) == 2 and len(found.named("td")) == 4
    assert "Note" not in found.text and "2 B" in found.text


def test_a_long_traceback_keeps_both_its_ends_in_the_fallback():
    source = sample.failed()
    failure = source.view["tabs"][1]["failure"]
    failure["traceback"] = "Traceback: the beginning\n" + "  File …\n" * 100_000 + "ValueError: the end"
    failure["message"] = "m" * 100_000
    fragment = html.render_fallback(source.view)
    assert "Traceback: the beginning" in fragment and "ValueError: the end" in fragment
    assert "characters are left out here" in fragment and len(fragment) < 30_000
