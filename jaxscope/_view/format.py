"""Numbers as people read them; the only place where a number becomes a string.

Input: raw numbers in base units (bytes, FLOPs, seconds, counts). Output: short strings; three significant digits but
for times, whose last digits are noise.
"""

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SMALL = ("s", "ms", "µs", "ns", "ps")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E")


def format_bytes(size_bytes: float) -> str:
    """``1.50 MiB``; exact below 1 KiB."""
    return _scale(size_bytes, 1024, _BINARY) if abs(size_bytes) >= 1024 else f"{size_bytes:.0f} B"


def format_quantity(value: float, unit: str = "") -> str:
    """``34.6 MFLOP`` for a value and the unit ``FLOP``; whole numbers are exact below 1000."""
    if abs(value) >= 999.5:
        return _scale(value, 1000, _DECIMAL) + unit
    text = f"{value:.0f}" if float(value).is_integer() else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def format_seconds(seconds: float) -> str:
    """``4.1 ms``, ``212 ms``, ``6.0 s``, ``2 min 5 s``; the browser's own clock counts in the same words."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def format_duration(seconds: float) -> str:
    """``3.20 µs``, ``12.0 ms``, ``1.50 s``: times worked out, not measured, whose digits mean something."""
    if seconds <= 0:
        return "0 s"
    power = min((unit for unit in range(len(_SMALL)) if seconds * 1000**unit >= 0.9995), default=len(_SMALL) - 1)
    return f"{_digits(seconds * 1000**power)} {_SMALL[power]}"


def format_percent(share: float) -> str:
    """``48.5 %`` for 0.485."""
    return f"{100 * share:.1f} %"


def format_count(number: int, unit: tuple[str, str]) -> str:
    """``1 op``, ``31,204 ops``."""
    return f"{number:,} {unit[number != 1]}"


def format_exact(value: float) -> str:
    """All the digits, grouped: ``12,582,912``."""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,}"


def format_share(part: int, whole: int) -> str:
    """``94 %``; never rounds up to 100 nor down to 0."""
    if not whole:
        return "n/a"
    if part == whole:
        return "100 %"
    return f"{min(99, max(1 if part else 0, round(100 * part / whole)))} %"


def _scale(value: float, base: int, units: tuple[str, ...]) -> str:
    power = 0
    while abs(value) >= base * 0.9995 and power < len(units) - 1:
        value /= base
        power += 1
    return f"{_digits(value)} {units[power]}"


def _digits(value: float) -> str:
    """Three significant digits without an exponent."""
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"
