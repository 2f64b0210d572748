"""The notebook widget: traits and messages that carry a view and its listings to the browser, no facts of its own.

Problem: a listing can be 50 MB of text, a Jupyter server drops output above 1 MB/s averaged over 3 s, and a saved
notebook should still show what fits into it. Input: a source (see `jaxscope._render.html.Source`). Output:
`InspectionWidget`, whose listings are either a deflated trait or sent in parts that the browser asks for one after the
other; the parts become traits too, and with them part of the saved notebook, up to a limit that the user can set.

anywidget is heavy and the bundle may be missing, so the class is made when it is first asked for:
``from jaxscope._render.widget import InspectionWidget`` raises UnavailableError where there is no bundle.
"""

import copy
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any

from jaxscope._render.html import NOT_OPENED, Source, bundle, data_keys
from jaxscope._view.model import View

PART_BYTES = 256_000
# One message carries all embedded listings, so together they stay well under what the server lets through in 3 s.
EMBED_LISTING_BYTES = 600_000
EMBED_TOTAL_BYTES = 1_500_000
# All listings that a notebook saves with one widget, deflated; in the notebook's base64 they take a third more.
SAVED_BYTES = 5_500_000
# The server's own numbers, with room for whatever else the cell prints.
RATE_WINDOW_S = 3.0
RATE_BYTES = 2_400_000
# When and how much was sent lately, by all widgets of this kernel: the server counts them together.
_sent: list[tuple[float, int]] = []
_KEPT_TRANSFERS = 2
_NAMES = ("index", "text")


def deflate_listing(source: Source, key: str) -> dict[str, bytes]:
    """The index and text of a listing, deflated (zlib), by name."""
    return dict(zip(_NAMES, (zlib.compress(data, 6) for data in source.listing(key))))


def split(data: bytes, part_bytes: int = PART_BYTES) -> list[bytes]:
    """The data in parts of at most `part_bytes`; one empty part when there is no data."""
    return [data[start : start + part_bytes] for start in range(0, len(data), part_bytes)] or [b""]


class Transfers:
    """Answers the browser's requests for listings.

    A request is ``{type: "listing", key}``, then ``{type: "next", key, name, part}`` for each further part. An answer
    is one part, ``{type: "part", key, name, part, parts}`` with its bytes, or ``{type: "failed", key, reason}``. The
    browser sets the pace. Every request can be answered on its own, so a repeated or late one does no harm.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._kept: OrderedDict[str, dict[str, list[bytes]]] = OrderedDict()

    def forget(self) -> None:
        """Drops what was prepared, because the source has changed."""
        self._kept.clear()

    def prepare(self, key: str, listing: dict[str, bytes]) -> None:
        """Takes a listing that has been deflated already."""
        self._kept[key] = {name: split(data) for name, data in listing.items()}
        while len(self._kept) > _KEPT_TRANSFERS:
            self._kept.popitem(last=False)

    def size_bytes(self, key: str) -> int:
        """The bytes of a listing, deflated."""
        return sum(len(part) for parts in self._parts(key).values() for part in parts)

    def _parts(self, key: str) -> dict[str, list[bytes]]:
        if key not in self._kept:
            self.prepare(key, deflate_listing(self._source, key))
        self._kept.move_to_end(key)
        return self._kept[key]

    def answer(self, message: object) -> tuple[dict[str, Any], list[bytes]] | None:
        """The answer to a message of the browser and its buffers, or None for a message that is not ours."""
        match message:
            case {"type": "listing", "key": str(key)}:
                name, part = "index", 0
            case {"type": "next", "key": str(key), "name": ("index" | "text") as name, "part": int(part)}:
                pass
            case _:
                return None
        try:
            parts = self._parts(key)[name]
        except KeyboardInterrupt:
            return {"type": "failed", "key": key, "reason": "Making this listing was interrupted. Open it again."}, []
        except Exception as error:  # whatever the reason is, the pane that asked shows it and the others stay
            return {"type": "failed", "key": key, "reason": str(error) or type(error).__name__}, []
        if not 0 <= part < len(parts):
            reason = f"The listing changed while it was being sent (part {part + 1} of {len(parts)}). Open it again."
            return {"type": "failed", "key": key, "reason": reason}, []
        return {"type": "part", "key": key, "name": name, "part": part, "parts": len(parts)}, [parts[part]]


def wait_for_rate(size_bytes: int) -> None:
    """Waits until so much can be sent without the server dropping it."""
    now_s = time.monotonic()
    _sent[:] = [(at_s, size) for at_s, size in _sent if now_s - at_s < RATE_WINDOW_S]
    if _sent and sum(size for _, size in _sent) + size_bytes > RATE_BYTES:
        time.sleep(RATE_WINDOW_S - (now_s - _sent[-1][0]))
        _sent.clear()
    _sent.append((time.monotonic(), size_bytes))


@cache
def widget_class() -> type:
    """The class `InspectionWidget`; UnavailableError when this installation has no browser bundle."""
    program = bundle()
    import anywidget
    import traitlets

    class InspectionWidget(anywidget.AnyWidget):
        """The interactive view of one inspection.

        Args:
            source: The facts to show; read again by `refresh`.
            compile_for: Compiles for one more target, which the browser asks for by its name.

        Attributes:
            saved_bytes: The most that all listings together may take in a saved notebook, deflated; counts from the
                next `refresh` on.
        """

        # Its text, which a line end tells from a path: a path is watched, and keeps every widget for as long as it is.
        _esm = f"{program}\n"
        view = traitlets.Dict().tag(sync=True)
        listings = traitlets.Dict().tag(sync=True)
        # For each listing that was sent in parts and is to be saved, the traits that hold the parts, by name.
        stored = traitlets.Dict().tag(sync=True)
        # Why a listing is not saved, by key.
        left_out = traitlets.Dict().tag(sync=True)
        selection = traitlets.Dict().tag(sync=True)

        def __init__(self, source: Source, compile_for: Callable[[str], object] | None = None, **traits: Any) -> None:
            self._source = source
            self._compile_for = compile_for
            self._transfers = Transfers(source)
            self.saved_bytes = SAVED_BYTES
            self._to_store: set[str] = set()
            # The listings of which it is known whether they are saved; none before the first is embedded.
            self._settled: set[str] | None = None
            self._room_bytes = 0
            self._part_traits: dict[tuple[str, str, int], str] = {}
            # Every widget brings the program with it.
            wait_for_rate(len(program))
            super().__init__(view=copy.deepcopy(dict(source.view)), **traits)
            self.on_msg(self._on_message)

        def refresh(self, embed: bool = True) -> None:
            """Shows what the source says now.

            Args:
                embed: Also put the listings that are small enough into the saved state.
            """
            self._transfers.forget()
            # A copy, because a source that changes its view in place would otherwise look unchanged to traitlets.
            view = copy.deepcopy(dict(self._source.view))
            listings, left_out = self._embedded(view) if embed else (self.listings, self.left_out)
            if listings != self.listings:
                wait_for_rate(sum(len(data) for listing in listings.values() for data in listing.values()))
            with self.hold_sync():
                self.view = view
                self.listings = listings
                self.left_out = left_out
                self.stored = {}
                for name in self._part_traits.values():
                    setattr(self, name, b"")

        def _embedded(self, view: View) -> tuple[dict[str, dict[str, bytes]], dict[str, str]]:
            """The listings to send at once, and the reasons of those that are not saved.

            The others are stored as the browser asks for them.
            """
            embedded: dict[str, dict[str, bytes]] = {}
            left_out: dict[str, str] = {}
            self._to_store.clear()
            self._settled = set()
            embedded_bytes = saved_bytes = 0
            for key, tab in data_keys(view):
                if tab["status"] == "on request":
                    left_out[key] = f"{tab['reason']} {NOT_OPENED}"
                    continue
                try:
                    listing = deflate_listing(self._source, key)
                except Exception:  # asked for again by the pane that shows it, which then gets the reason
                    continue
                self._settled.add(key)
                size_bytes = sum(map(len, listing.values()))
                if saved_bytes + size_bytes > self.saved_bytes:
                    left_out[key] = self._too_large(size_bytes)
                    continue
                saved_bytes += size_bytes
                if size_bytes <= EMBED_LISTING_BYTES and embedded_bytes + size_bytes <= EMBED_TOTAL_BYTES:
                    embedded[key] = listing
                    embedded_bytes += size_bytes
                else:
                    self._to_store.add(key)
                    self._transfers.prepare(key, listing)
            self._room_bytes = self.saved_bytes - saved_bytes
            return embedded, left_out

        def _store(self, message: dict[str, Any], data: bytes) -> str:
            """Puts a part into a trait, which the browser gets and a notebook saves; the trait's name."""
            key, name = message["key"], message["name"]
            places = [(key, name, part) for part in range(message["parts"])]
            for place in places:
                self._part_traits.setdefault(place, f"part_{len(self._part_traits)}")
            traits = [self._part_traits[place] for place in places]
            # All at once: every call makes a new class of the widget.
            if new := [trait for trait in traits if not self.has_trait(trait)]:
                self.add_traits(**{trait: traitlets.Bytes().tag(sync=True) for trait in new})
            setattr(self, traits[message["part"]], data)
            if name == "text" and message["part"] + 1 == message["parts"]:
                self.stored = {**self.stored, key: self._traits_of(key)}
            return traits[message["part"]]

        def _traits_of(self, key: str) -> dict[str, list[str]]:
            """The traits that hold a listing, in order; those of an earlier, longer one are empty by now."""
            found: dict[str, list[str]] = {name: [] for name in _NAMES}
            for (owner, name, _), trait in sorted(self._part_traits.items()):
                if owner == key and getattr(self, trait):
                    found[name].append(trait)
            return found

        def _make(self, tab: str, table: str) -> None:
            self._source.make(tab, table)
            self.view = copy.deepcopy(dict(self._source.view))

        def _check(self, tab: str, text: str | None) -> None:
            verdict = ""
            if text is not None:
                verdict = self._source.check(tab, text)
                self.view = copy.deepcopy(dict(self._source.view))
            self.send({"type": "checked", "request": f"check {tab}", "verdict": verdict})

        def _do(self, act: Callable[[], object], request: str) -> None:
            try:
                act()
            except Exception as error:  # Whatever the reason is, the reader who asked sees it.
                self.send({"type": "refused", "request": request, "reason": str(error) or type(error).__name__})

        def _on_message(self, _widget: object, content: object, _buffers: object) -> None:
            match content:
                case {"type": "compile", "target": str(target)} if self._compile_for is not None:
                    self._do(lambda: self._compile_for(target), target)
                    return
                case {"type": "make", "tab": str(tab), "table": str(table)}:
                    self._do(lambda: self._make(tab, table), f"{tab} {table}")
                    return
                # Without a text, the browser only asks whether a kernel answers.
                case {"type": "check", "tab": str(tab), "text": (str() | None) as text}:
                    self._do(lambda: self._check(tab, text), f"check {tab}")
                    return
            if (answer := self._transfers.answer(content)) is None:
                return
            message, buffers = answer
            opened = self._is_on_request(message["key"])
            if buffers and self._settled is not None and message["key"] not in self._settled:
                self._make_room(message["key"])
            if buffers and message["key"] in self._to_store:
                message["trait"] = self._store(message, buffers[0])
                buffers = []
            self.send(message, buffers)
            if opened:
                # Now it is known how much there is of it, or why there is none.
                self.view = copy.deepcopy(dict(self._source.view))

        def _is_on_request(self, key: str) -> bool:
            return any(tab["key"] == key and tab["status"] == "on request" for tab in self.view["tabs"])

        def _make_room(self, key: str) -> None:
            """Has a listing that was not there before saved with the others, where it fits."""
            self._settled.add(key)
            size_bytes = self._transfers.size_bytes(key)
            if size_bytes <= self._room_bytes:
                self._room_bytes -= size_bytes
                self._to_store.add(key)
                self.left_out = {other: reason for other, reason in self.left_out.items() if other != key}
            else:
                self.left_out = {**self.left_out, key: self._too_large(size_bytes)}

        def _too_large(self, size_bytes: int) -> str:
            return (
                f"This listing is not in the saved notebook: it takes {size_bytes:,} bytes, and all listings "
                f"together may take {self.saved_bytes:,}. Set the inspection's saved_bytes higher and save "
                "again, or keep the page that to_html(path) writes."
            )

    InspectionWidget.__module__ = __name__
    InspectionWidget.__qualname__ = "InspectionWidget"
    return InspectionWidget


def __getattr__(name: str) -> Any:
    if name == "InspectionWidget":
        return widget_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
