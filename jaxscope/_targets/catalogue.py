"""The machines that are known by name, read from a file.

Problem: what a plugin has to be told of a machine, and what vendors publish about it, are data, and users add their
own. Input: a JSON file (the one beside this module, or a user's). Output: `Entry` records, every number of them with
the document it stands in. A file that cannot be read is refused with the entry and the field.
"""

import functools
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from jaxscope._analysis.unavailable import Unavailable
from jaxscope._targets.model import NO_FACTS, DeviceFacts, Figure, Source
from jaxscope.errors import InputError

# Fields of the target configuration whose values are names of the proto's own, printed without quotes.
_ENUM_FIELDS = frozenset({"feature_extension"})
_FIGURES = (
    "memory_bytes",
    "memory_bandwidth_bytes_per_second",
    "interconnect_bandwidth_bytes_per_second",
    "on_chip_memory_bytes",
)
_FACT_FIELDS = frozenset({"source", "note", "peak_flop_per_second", *_FIGURES})
_COMMON_FIELDS = frozenset({"label", "platform", "device_kind", "examples", "facts"})
_FIELDS = {
    "tpu": _COMMON_FIELDS | {"topology_name", "dimensions", "smallest", "devices_per_chip", "options"},
    "cuda": _COMMON_FIELDS | {"topology_name", "target_config"},
    "rocm": _COMMON_FIELDS | {"lower_only"},
}
_REQUIRED = {
    "tpu": ("label", "topology_name", "dimensions", "smallest"),
    "cuda": ("label", "topology_name", "target_config"),
    "rocm": ("label", "lower_only"),
}


@dataclass(frozen=True)
class Entry:
    """One kind of machine.

    Attributes:
        name: What the user passes, without a size: ``tpu:v5e``, ``cuda:h100``.
        label: The device in words.
        platform: ``tpu``, ``cuda`` or ``rocm``.
        device_kind: What JAX calls one device; "" when the file does not say.
        topology_name: The plugin's name.
        dimensions: For TPUs, of the torus: sizes are given as that many numbers.
        smallest: For TPUs, the size of one whole host.
        devices_per_chip: For TPUs, JAX devices on a chip.
        options: For TPUs, what else the plugin is told.
        target_config: For CUDA, the plugin's own description of the GPU, as a text proto.
        target_config_fields: The same as data.
        examples: Sizes worth listing.
        facts: What is published.
        lower_only: Why there is no compiling for it; "" when there is.
    """

    name: str
    label: str
    platform: str
    device_kind: str = ""
    topology_name: str = ""
    dimensions: int = 0
    smallest: str = ""
    devices_per_chip: int = 1
    options: tuple[tuple[str, Any], ...] = ()
    target_config: str = ""
    target_config_fields: Mapping[str, Any] = field(default_factory=dict, hash=False)
    examples: tuple[str, ...] = ()
    facts: DeviceFacts | Unavailable = NO_FACTS
    lower_only: str = ""


@functools.cache
def built_in_entries() -> Mapping[str, Entry]:
    """The machines that come with jaxscope, by name."""
    path = resources.files("jaxscope") / "_targets" / "catalogue.json"
    return _read("the catalogue of jaxscope", path.read_text(encoding="utf-8"))


def read_entries(path: str) -> Mapping[str, Entry]:
    """The machines of a user's own file, by the names it gives them.

    Raises:
        InputError: The file is not there, is no JSON, or an entry cannot be understood.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"Reading the targets in {path}: {error.__class__.__name__}: {error}. Pass the path of a JSON file."
        ) from error
    return _read(path, text)


def _read(where: str, text: str) -> Mapping[str, Entry]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InputError(
            f"Reading the targets in {where}: it is no JSON ({error}). Correct it; jaxscope/_targets/catalogue.json "
            "shows the form."
        ) from error
    reader = _Reader(where, document)
    return reader.entries()


class _Reader:
    """Reads one document; `_refuse` says where in it something is wrong."""

    def __init__(self, where: str, document: Any):
        self._where = where
        if not isinstance(document, dict) or not isinstance(document.get("targets"), dict):
            raise InputError(
                f"Reading the targets in {where}: there is no object 'targets' at the top. "
                'Write {"sources": {...}, "targets": {"my-gpu": {...}}}.'
            )
        self._document = document
        self._entry = ""

    def entries(self) -> dict[str, Entry]:
        return {name: self._read_entry(name, value) for name, value in self._document["targets"].items()}

    def _refuse(self, path: str, found: str, advice: str) -> InputError:
        place = f"target {self._entry!r}" + (f", field {path!r}" if path else "")
        return InputError(f"Reading the targets in {self._where}, {place}: {found}. {advice}")

    def _read_entry(self, name: str, value: Any) -> Entry:
        self._entry = name
        if not isinstance(value, dict):
            raise self._refuse("", f"it is a {type(value).__name__}", "Write an object.")
        platform = value.get("platform")
        if platform not in _FIELDS:
            raise self._refuse("platform", f"it is {platform!r}", f"Write one of {', '.join(_FIELDS)}.")
        if unknown := sorted(value.keys() - _FIELDS[platform]):
            raise self._refuse(unknown[0], "there is no such field", f"Known: {', '.join(sorted(_FIELDS[platform]))}.")
        if missing := [key for key in _REQUIRED[platform] if key not in value]:
            raise self._refuse(missing[0], "it is missing", "Add it; jaxscope.targets() shows what it is for.")
        config = self._target_config(value["target_config"]) if "target_config" in value else {}
        options = value.get("options", {})
        if not isinstance(options, dict):
            raise self._refuse("options", f"it is a {type(options).__name__}", "Write an object.")
        return Entry(
            name=name,
            label=self._text(value, "label"),
            platform=platform,
            device_kind=self._text(value, "device_kind"),
            topology_name=self._text(value, "topology_name"),
            dimensions=self._count(value, "dimensions", 0),
            smallest=self._text(value, "smallest"),
            devices_per_chip=self._count(value, "devices_per_chip", 1),
            options=tuple(sorted((key, tuple(v) if isinstance(v, list) else v) for key, v in options.items())),
            target_config=text_proto(config),
            target_config_fields=config,
            examples=tuple(self._texts(value, "examples")),
            facts=self._facts(value.get("facts", [])),
            lower_only=self._text(value, "lower_only"),
        )

    def _text(self, value: Mapping[str, Any], key: str) -> str:
        text = value.get(key, "")
        if not isinstance(text, str):
            raise self._refuse(key, f"it is {text!r}", "Write a string.")
        return text

    def _texts(self, value: Mapping[str, Any], key: str) -> list[str]:
        texts = value.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise self._refuse(key, f"it is {texts!r}", "Write a list of strings.")
        return texts

    def _count(self, value: Mapping[str, Any], key: str, default: int) -> int:
        count = value.get(key, default)
        if isinstance(count, bool) or not isinstance(count, int) or count < default:
            raise self._refuse(key, f"it is {count!r}", "Write a whole number from 1 on.")
        return count

    def _source(self, value: Any, path: str) -> Source:
        sources = self._document.get("sources", {})
        key = value.get("source") if isinstance(value, dict) else None
        found = sources.get(key) if isinstance(sources, dict) and isinstance(key, str) else None
        if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in ("title", "url")):
            raise self._refuse(
                f"{path}.source",
                f"{key!r} is not among the file's 'sources'",
                'Every figure names a document: "sources": {"sheet": {"title": ..., "url": ...}}.',
            )
        return Source(found["title"], found["url"])

    def _groups(self, value: Any, path: str) -> Iterable[tuple[str, Mapping[str, Any], Source]]:
        if not isinstance(value, list):
            raise self._refuse(path, f"it is a {type(value).__name__}", "Write a list, one object for each source.")
        for number, group in enumerate(value):
            place = f"{path}[{number}]"
            yield place, group, self._source(group, place)

    def _target_config(self, value: Any) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for place, group, _ in self._groups(value, "target_config"):
            fields = group.get("fields")
            if not isinstance(fields, dict):
                raise self._refuse(f"{place}.fields", "it is no object", "Write the proto's fields as an object.")
            _merge(merged, fields)
        return merged

    def _facts(self, value: Any) -> DeviceFacts | Unavailable:
        figures: dict[str, Figure] = {}
        peaks: dict[str, Figure] = {}
        for place, group, source in self._groups(value, "facts"):
            if unknown := sorted(group.keys() - _FACT_FIELDS):
                raise self._refuse(f"{place}.{unknown[0]}", "there is no such fact", f"Known: {', '.join(_FIGURES)}.")
            note = group.get("note", "")
            if not isinstance(note, str):
                raise self._refuse(f"{place}.note", f"it is {note!r}", "Write a sentence for people.")
            for key in _FIGURES:
                if key in group:
                    figures[key] = Figure(self._number(group[key], f"{place}.{key}"), source, note)
            given = group.get("peak_flop_per_second", {})
            if not isinstance(given, dict):
                raise self._refuse(f"{place}.peak_flop_per_second", "it is no object", 'Write {"bf16": 1e12}.')
            for dtype, peak in given.items():
                peaks[dtype] = Figure(self._number(peak, f"{place}.peak_flop_per_second.{dtype}"), source, note)
        if not figures and not peaks:
            return NO_FACTS
        return DeviceFacts(peak_flop_per_second=peaks, **figures)

    def _number(self, value: Any, path: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise self._refuse(path, f"it is {value!r}", "Write a positive number in the unit that the name gives.")
        return value


def _merge(into: dict[str, Any], fields: Mapping[str, Any]) -> None:
    for key, value in fields.items():
        if isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


def text_proto(fields: Mapping[str, Any], indent: str = "") -> str:
    """Fields as Protocol Buffers prints them as text (protobuf.dev, "Text Format Language Specification").

    Raises:
        InputError: A value is neither text, number, truth value nor object.
    """
    lines = []
    for name, value in fields.items():
        if isinstance(value, dict):
            lines.append(f"{indent}{name} {{\n{text_proto(value, indent + '  ')}{indent}}}\n")
        elif isinstance(value, bool):
            lines.append(f"{indent}{name}: {'true' if value else 'false'}\n")
        elif isinstance(value, int | float):
            lines.append(f"{indent}{name}: {value}\n")
        elif isinstance(value, str):
            quoted = value if name in _ENUM_FIELDS and value.isidentifier() else json.dumps(value)
            lines.append(f"{indent}{name}: {quoted}\n")
        else:
            raise InputError(
                f"Writing the target configuration: the field {name!r} is a {type(value).__name__}. "
                "Write text, a number, true, false or an object."
            )
    return "".join(lines)
