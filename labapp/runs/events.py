"""The lines a command prints, as typed events. Pure: text in, values out."""

import json
import math
from dataclasses import dataclass, field
from typing import Any

LEVELS = ("info", "warning", "error")
MESSAGE_LIMIT = 4000


@dataclass(frozen=True)
class Progress:
    done: float
    total: float | None
    unit: str


@dataclass(frozen=True)
class Log:
    level: str
    message: str


@dataclass(frozen=True)
class Metric:
    """``value`` is None exactly when ``flag`` says nan, inf or -inf."""

    step: int
    name: str
    value: float | None
    flag: str = ""


@dataclass(frozen=True)
class Artifact:
    path: str
    kind: str


@dataclass(frozen=True)
class Done:
    result: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    message: str
    field: str = ""


Event = Progress | Log | Metric | Artifact | Done | Failure


def parse_line(line: str) -> Event:
    """A JSON event, or the line itself as a log entry: what a command prints is never lost and never fatal."""
    try:
        data = json.loads(line)
        return _PARSERS[data["event"]](data)
    except (ValueError, KeyError, TypeError):
        return Log("info", clean_text(line))


def clean_text(text: str) -> str:
    """Text as PostgreSQL takes it, of bounded length."""
    return text.replace("\x00", "").rstrip()[:MESSAGE_LIMIT]


def clean_json(value: Any) -> Any:
    """JSON as PostgreSQL takes it: numbers that are none become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): clean_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    return value.replace("\x00", "") if isinstance(value, str) else value


def _progress(data: dict[str, Any]) -> Progress:
    total = data.get("total")
    done = float(data["done"])
    if not math.isfinite(done) or done < 0:
        raise ValueError("progress is a number from 0")
    is_known = total is not None and math.isfinite(float(total)) and float(total) > 0
    return Progress(done, float(total) if is_known else None, str(data.get("unit", ""))[:40])


def _log(data: dict[str, Any]) -> Log:
    level = {"debug": "info", "critical": "error"}.get(data.get("level", "info"), data.get("level", "info"))
    return Log(level if level in LEVELS else "info", clean_text(str(data["message"])))


def _metric(data: dict[str, Any]) -> Metric:
    step, name = int(data["step"]), str(data["name"])[:80]
    if step < 0 or not name:
        raise ValueError("a metric has a step from 0 and a name")
    value = float("nan") if data.get("value") is None else float(data["value"])
    if math.isfinite(value):
        return Metric(step, name, value)
    flag = data.get("flag") or str(value)
    return Metric(step, name, None, flag if flag in ("nan", "inf", "-inf") else "nan")


def _artifact(data: dict[str, Any]) -> Artifact:
    return Artifact(str(data["path"])[:300], str(data.get("kind", "result"))[:20])


def _done(data: dict[str, Any]) -> Done:
    return Done(clean_json(dict(data.get("result") or {})))


def _failure(data: dict[str, Any]) -> Failure:
    return Failure(clean_text(str(data["message"])), str(data.get("field") or "")[:120])


_PARSERS = {
    "progress": _progress,
    "log": _log,
    "metric": _metric,
    "artifact": _artifact,
    "done": _done,
    "error": _failure,
}
