"""The widget's side of the wire: what is embedded, how parts are answered, and what a bad request or listing gives."""

import json
import subprocess
import sys
import zlib

import pytest

from jaxscope._render import html, widget
from jaxscope._render.widget import PART_BYTES, Transfers, split
from jaxscope.errors import UnavailableError
from tests.ui import sample, sample_cost


@pytest.fixture
def bundle(monkeypatch, tmp_path):
    """A stand-in for the browser's program, so that these tests need no node."""
    path = tmp_path / "widget.js"
    path.write_text("export default {}")
    monkeypatch.setattr(html, "BUNDLE", path)
    widget.widget_class.cache_clear()
    yield
    widget.widget_class.cache_clear()


@pytest.fixture
def make_widget(bundle):
    return lambda source: widget.InspectionWidget(source)


def fetch(transfers, key):
    """Pulls a listing as the browser does; its (index, text)."""
    message, buffers = transfers.answer({"type": "listing", "key": key})
    whole = {"index": b"", "text": b""}
    for name in whole:
        for part in range(10_000):
            assert (message["type"], message["key"], message["name"], message["part"]) == ("part", key, name, part)
            assert len(buffers) == 1 and len(buffers[0]) <= PART_BYTES
            whole[name] += buffers[0]
            if part + 1 == message["parts"]:
                break
            message, buffers = transfers.answer({"type": "next", "key": key, "name": name, "part": part + 1})
        if name == "index":
            message, buffers = transfers.answer({"type": "next", "key": key, "name": "text", "part": 0})
    return json.loads(zlib.decompress(whole["index"])), zlib.decompress(whole["text"]).decode()


@pytest.mark.parametrize("size, parts", [(0, 1), (1, 1), (PART_BYTES, 1), (PART_BYTES + 1, 2), (3 * PART_BYTES, 3)])
def test_split(size, parts):
    data = bytes(size)
    assert len(split(data)) == parts and b"".join(split(data)) == data


def test_a_listing_arrives_whole():
    source = sample.attention()
    assert fetch(Transfers(source), "hlo") == source.listings["hlo"]


def test_a_large_listing_arrives_in_many_parts():
    source = sample.attention()
    text = "".join(f"{number * 2654435761 % 2**32:08x}" for number in range(400_000))
    source.listings["hlo"] = (source.listings["hlo"][0], text)
    seen = Transfers(source)
    assert fetch(seen, "hlo")[1] == text
    assert seen.answer({"type": "next", "key": "hlo", "name": "text", "part": 3})[0]["parts"] > 3


def test_listing_that_cannot_be_made_is_answered_with_the_reason():
    answer = Transfers(sample.hostile()).answer({"type": "listing", "key": sample.HOSTILE[2]})
    assert answer == ({"type": "failed", "key": sample.HOSTILE[2], "reason": " ".join(sample.HOSTILE)}, [])


@pytest.mark.parametrize("part", [-1, 1, 10**9])
def test_part_that_is_not_there_is_answered_with_the_reason(part):
    message, buffers = Transfers(sample.attention()).answer(
        {"type": "next", "key": "hlo", "name": "text", "part": part}
    )
    assert message["type"] == "failed" and "changed while it was being sent" in message["reason"] and buffers == []


@pytest.mark.parametrize(
    "message",
    [
        None,
        "listing",
        {},
        {"type": "listing"},
        {"type": "listing", "key": 3},
        {"type": "next", "key": "hlo", "name": "view", "part": 0},
    ],
)
def test_messages_of_others_are_left_alone(message):
    assert Transfers(sample.attention()).answer(message) is None


def test_late_request_after_a_change_gives_the_new_listing():
    source = sample.attention()
    transfers = Transfers(source)
    fetch(transfers, "hlo")
    source.listings["hlo"] = (source.listings["hlo"][0], "new")
    transfers.forget()
    message, (data,) = transfers.answer({"type": "next", "key": "hlo", "name": "text", "part": 0})
    assert message["parts"] == 1 and zlib.decompress(data) == b"new"


def test_refresh_embeds_what_is_small_enough(make_widget, monkeypatch):
    source = sample.attention()
    shown = make_widget(source)
    assert shown.view == source.view and shown.listings == {}
    limit = sum(map(len, widget.deflate_listing(source, "python").values()))
    monkeypatch.setattr(widget, "EMBED_LISTING_BYTES", limit)
    shown.refresh()
    assert "python" in shown.listings and "hlo" not in shown.listings
    assert zlib.decompress(shown.listings["python"]["text"]).decode() == sample.PYTHON


def test_refresh_without_embedding_sends_only_the_view(make_widget):
    source = sample.attention()
    shown = make_widget(source)
    shown.refresh()
    before = shown.listings
    source.listings["python"] = (source.listings["python"][0], "changed")
    source.view["title"] = "changed in place"
    shown.refresh(embed=False)
    assert shown.listings is before
    assert shown.view["title"] == "changed in place"


def test_a_change_in_place_reaches_the_browser(make_widget):
    source = sample.running()
    shown = make_widget(source)
    changes = []
    shown.observe(lambda change: changes.append(change["new"]["tabs"][3]["status"]), "view")
    source.view["tabs"][3]["status"] = "done"
    shown.refresh(embed=False)
    assert changes == ["done"]


def test_embedding_keeps_below_the_servers_rate(make_widget, monkeypatch):
    slept = []
    monkeypatch.setattr(widget.time, "sleep", slept.append)
    monkeypatch.setattr(widget, "RATE_BYTES", 2000)
    source = sample.attention()
    shown = make_widget(source)
    for turn in range(3):
        source.listings["hlo"] = (source.listings["hlo"][0], f"{turn}")
        shown.refresh()
    assert slept and all(0 < seconds <= widget.RATE_WINDOW_S for seconds in slept)


def test_requests_are_answered_over_the_comm(make_widget, monkeypatch):
    shown = make_widget(sample.attention())
    sent = []
    monkeypatch.setattr(shown, "send", lambda content, buffers=None: sent.append((content, buffers)))
    shown._handle_custom_msg({"type": "listing", "key": "python"}, [])
    shown._handle_custom_msg({"type": "somebody else's"}, [])
    assert [content["type"] for content, _ in sent] == ["part"]


def pull(shown, key, monkeypatch):
    """Asks a widget for a listing as the browser does; the messages and buffers that came back."""
    sent = []
    monkeypatch.setattr(shown, "send", lambda content, buffers=None: sent.append((content, buffers)))
    shown._handle_custom_msg({"type": "listing", "key": key}, [])
    for name in ("index", "text"):
        for part in range(name == "index", 10_000):
            if name == "text" or part < sent[-1][0]["parts"]:
                shown._handle_custom_msg({"type": "next", "key": key, "name": name, "part": part}, [])
            if sent[-1][0]["name"] == name and part + 1 >= sent[-1][0]["parts"]:
                break
    return sent


def stored(shown, key):
    """The index and text of a listing that a saved notebook would hold."""
    whole = {name: b"".join(getattr(shown, trait) for trait in traits) for name, traits in shown.stored[key].items()}
    return json.loads(zlib.decompress(whole["index"])), zlib.decompress(whole["text"]).decode()


def noise(characters):
    """Text that hardly deflates."""
    return "\n".join(f"{number * 2654435761 % 2**32:08x}" for number in range(characters // 9))


def test_what_is_too_large_to_embed_is_saved_as_it_is_asked_for(make_widget, monkeypatch):
    source = sample.attention()
    source.listings["hlo"] = (source.listings["hlo"][0], noise(3_000_000))
    shown = make_widget(source)
    shown.refresh()
    assert "hlo" not in shown.listings and shown.stored == {} and shown.left_out == {}
    sent = pull(shown, "hlo", monkeypatch)
    assert len(sent) > 4 and all(buffers == [] for _, buffers in sent)
    assert stored(shown, "hlo") == source.listings["hlo"]
    traits = {trait for traits in shown.stored["hlo"].values() for trait in traits}
    assert traits <= set(shown.keys) and traits <= set(shown.get_state())


def test_a_change_empties_what_was_saved_and_a_shorter_listing_takes_its_place(make_widget, monkeypatch):
    source = sample.attention()
    monkeypatch.setattr(widget, "EMBED_LISTING_BYTES", 0)
    shown = make_widget(source)
    for text in (noise(2_000_000), noise(900_000)):
        source.listings["hlo"] = (source.listings["hlo"][0], text)
        shown.refresh()
        assert shown.stored == {}
        pull(shown, "hlo", monkeypatch)
        assert stored(shown, "hlo")[1] == text


def test_columns_of_a_chart_are_saved_like_listings(make_widget, monkeypatch):
    source = sample_cost.costs(buffers=30, instants=50)
    shown = make_widget(source)
    shown.refresh()
    assert json.loads(zlib.decompress(shown.listings["live-columns"]["index"])) == source.listings["live-columns"][0]
    monkeypatch.setattr(widget, "EMBED_LISTING_BYTES", 0)
    shown.refresh()
    pull(shown, "live-columns", monkeypatch)
    assert stored(shown, "live-columns") == source.listings["live-columns"]


def test_what_a_card_asks_for_is_made_and_what_comes_with_it_saved(make_widget, monkeypatch):
    source, made = sample_cost.on_request(), []
    columns = source.listings.pop("live-columns")

    def make(tab, table):
        made.append((tab, table))
        source.view = sample_cost.costs().view
        source.listings["live-columns"] = columns

    source.make = make
    shown = make_widget(source)
    shown.refresh()
    shown._handle_custom_msg({"type": "make", "tab": "memory", "table": "live"}, [])
    assert made == [("memory", "live")] and shown.view == sample_cost.costs().view
    pull(shown, "live-columns", monkeypatch)
    assert stored(shown, "live-columns") == columns and "live-columns" not in shown.left_out


def test_what_cannot_be_made_is_refused_with_the_reason(make_widget, monkeypatch):
    source = sample_cost.on_request()

    def make(tab, table):
        raise UnavailableError("There is no room for it.")

    source.make = make
    shown, sent = make_widget(source), []
    monkeypatch.setattr(shown, "send", lambda content, buffers=None: sent.append(content))
    shown._handle_custom_msg({"type": "make", "tab": "memory", "table": "live"}, [])
    assert sent == [{"type": "refused", "request": "memory live", "reason": "There is no room for it."}]


def test_what_is_over_the_limit_is_sent_but_not_saved(make_widget, monkeypatch):
    source = sample.attention()
    shown = make_widget(source)
    shown.saved_bytes = sum(map(len, widget.deflate_listing(source, "python").values()))
    shown.refresh()
    assert list(shown.listings) == ["python"]
    assert f"{shown.saved_bytes:,}" in shown.left_out["hlo"] and "saved_bytes" in shown.left_out["hlo"]
    sent = pull(shown, "hlo", monkeypatch)
    assert all(len(buffers) == 1 for _, buffers in sent) and shown.stored == {}


def test_a_listing_is_deflated_once_for_saving_and_sending(make_widget, monkeypatch):
    source = sample.attention()
    monkeypatch.setattr(widget, "EMBED_LISTING_BYTES", 0)
    asked = []
    listing = source.listing
    monkeypatch.setattr(source, "listing", lambda key: asked.append(key) or listing(key))
    shown = make_widget(source)
    shown.refresh()
    pull(shown, "hlo", monkeypatch)
    assert asked.count("hlo") == 1


def test_no_bundle_is_an_error_that_can_be_caught(monkeypatch, tmp_path):
    monkeypatch.setattr(html, "BUNDLE", tmp_path / "absent.js")
    widget.widget_class.cache_clear()
    with pytest.raises(UnavailableError, match="no browser bundle"):
        from jaxscope._render.widget import InspectionWidget  # noqa: F401
    widget.widget_class.cache_clear()


def test_importing_the_module_does_not_import_anywidget():
    code = (
        "import sys, jaxscope._render.widget; "
        "print({name.split('.')[0] for name in sys.modules} & {'anywidget', 'ipywidgets'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
