"""Words and marks that every page shares."""

import json
from datetime import datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from labapp.home.navigation import Item
from labapp.home.navigation import navigation as navigation_of

register = template.Library()

TONES = {
    "succeeded": "good", "confirmed": "good", "success": "good", "ready": "good", "finished": "good",
    "connected": "good",
    "running": "active", "queued": "", "draft": "", "locked": "active", "proposed": "active",
    "failed": "bad", "lost": "bad", "failure": "bad", "invalid": "warn", "cancelled": "warn", "lost connection": "bad",
}  # fmt: skip
UNITS = ("px", "mm", "deg", "ms")
MEASURED = {  # residuals of a registration whose names say too little
    "as described": "error as described",
    "as fisheye": "error as a fisheye",
    "as pinhole": "error as a pinhole",
    "boards found": "images with the board",
    "focal": "focal length",
    "leave one out": "error on images left out",
    "reprojection": "reprojection error",
}
GROUNDING_CLASS = {"grounded": "grounded", "partly grounded": "partly"}


@register.simple_tag(takes_context=True)
def navigation(context: dict[str, Any]) -> list[Item]:
    return navigation_of(context["request"])


@register.simple_tag
def icon(name: str) -> SafeString:
    use = format_html('<use href="{}#{}"></use>', static("icons.svg"), name)
    return format_html('<svg class="icon" width="16" height="16" aria-hidden="true">{}</svg>', use)


@register.simple_tag
def pill(status: str, label: str = "") -> SafeString:
    """A status with its colour: ``{% pill run.status %}``."""
    return format_html('<span class="pill {}">{}</span>', TONES.get(status, ""), label or status.replace("_", " "))


@register.simple_tag
def simulated(is_simulated: bool) -> SafeString | str:
    """The mark of everything that was made on the simulated bench cell."""
    if not is_simulated:
        return ""
    return format_html('<span class="simulated" title="{}">simulated</span>', "Made on the simulated bench cell")


@register.simple_tag
def grounded(grounding: str | bool) -> SafeString:
    """``{% grounded world.grounding %}``: filled when measured, hollow when not."""
    word = {True: "grounded", False: "ungrounded"}.get(grounding, grounding)
    return format_html('<span class="mark {}">{}</span>', GROUNDING_CLASS.get(word, "ungrounded"), word)


@register.simple_tag
def ago(moment: datetime | None) -> SafeString | str:
    if moment is None:
        return "—"
    return format_html('<time data-ago datetime="{}">{}</time>', moment.isoformat(), moment.strftime("%Y-%m-%d %H:%M"))


@register.filter
def duration(seconds: float | None) -> str:
    """``75`` as ``1 min 15 s``."""
    if seconds is None:
        return "—"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


@register.filter
def short_time(seconds: float | None) -> str:
    """Times far below a second: ``1.4 µs``, ``3.2 ms``."""
    if seconds is None:
        return "—"
    return f"{1e6 * seconds:.1f} µs" if seconds < 1e-3 else f"{1e3 * seconds:.1f} ms"


@register.filter
def percent(share: float | None) -> str:
    return "—" if share is None else f"{100 * share:.0f}%"


@register.filter
def size(count: int | None) -> str:
    """Bytes for people."""
    value = float(count or 0)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


@register.filter
def by_name(mapping: dict[str, Any] | None) -> list[tuple[str, Any]]:
    """Items in the order of their names: the database keeps none."""
    return sorted((mapping or {}).items())


@register.filter
def item(mapping: dict[str, Any], key: str) -> Any:
    return mapping.get(key) if mapping else None


@register.filter
def words(name: str) -> str:
    """A name as people write it: ``furthest_stage`` as ``furthest stage``, ``head.focal_px`` as ``head focal px``."""
    return str(name).removeprefix("observation.images.").replace("_", " ").replace(".", " ")


@register.filter
def measured(name: str) -> str:
    """A residual for people: ``head.leave_one_out_px`` as ``head error on images left out [px]``."""
    said = words(name)
    unit = next((unit for unit in UNITS if said.endswith(f" {unit}")), "")
    said = said.removesuffix(f" {unit}") if unit else said
    for key, plain in MEASURED.items():
        if said.endswith(f" {key}"):
            said = said.removesuffix(key) + plain
    return f"{said} [{unit}]" if unit else said


@register.filter
def parameter(value: Any) -> str:
    """A number, or a vector of numbers, with as many digits as carry meaning; yes and no; anything else as it is."""
    if value is None or value in ("", {}, []):
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{words(name)} {parameter(part)}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, list) and all(isinstance(entry, int | float) for entry in value):
        return ", ".join(f"{entry:.4g}" for entry in value)
    return json.dumps(value) if isinstance(value, list | dict) else str(value)


@register.filter
def signed(value: float | list[float] | None) -> str:
    if value is None:
        return ""
    return ", ".join(f"{entry:+.3g}" for entry in value) if isinstance(value, list) else f"{value:+.4g}"


@register.filter
def pretty_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def millimetres(lengths_m: list[float]) -> str:
    return " × ".join(f"{1000 * length:.0f}" for length in lengths_m)


@register.filter
def grams(mass_kg: float) -> str:
    return f"{1000 * mass_kg:.0f}"
