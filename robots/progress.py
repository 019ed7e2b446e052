"""What a long command says while it runs: a bar on a terminal, or one JSON object a line with `--events`.

Events: progress, log, metric, artifact, done, error. `run_command` turns anticipated errors and SIGTERM into exit
statuses: 0 done, 1 the data says no, 2 bad usage, 143 stopped on request (the folder can be resumed).
"""

import argparse
import json
import math
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from tqdm import tqdm

from robots.errors import ConfigError, DataError

EXIT_DONE, EXIT_DATA, EXIT_USAGE, EXIT_STOPPED = 0, 1, 2, 143


class StopRequestedError(Exception):
    """Somebody asked the command to stop (SIGTERM); raised at the next safe point."""


class Progress:
    """Reports of one command.

    Args:
        events: True prints JSON lines on `stream`; False shows a bar and readable lines on `stream`'s terminal.
        stream: where reports go; standard output for events, standard error for a person.
    """

    def __init__(self, *, events: bool = False, stream: TextIO | None = None) -> None:
        self.events = events
        self.stop_requested = False
        self._stream = stream or (sys.stdout if events else sys.stderr)
        self._bar: tqdm[Any] | None = None
        self._unit = ""

    def progress(self, done: int, total: int | None, unit: str) -> None:
        """Say how far the work is. This is a safe point: raises StopRequestedError once a stop was asked for."""
        if self.events:
            self._emit({"event": "progress", "done": done, "total": total, "unit": unit})
        else:
            self._advance_bar(done, total, unit)
        self.raise_if_stopped()

    def log(self, message: str, level: str = "info") -> None:
        """One line for people; `level` is debug, info, warning or error."""
        self._say({"event": "log", "level": level, "message": message}, f"{level}: {message}")

    def metric(self, step: int, name: str, value: float) -> None:
        """One number of a curve; a value JSON has no word for becomes null with a flag (nan, inf, -inf)."""
        event: dict[str, Any] = {"event": "metric", "step": step, "name": name, "value": value}
        if not math.isfinite(value):
            event |= {"value": None, "flag": str(float(value))}
        self._say(event, f"step {step}: {name} = {value:.6g}")

    def artifact(self, path: str | Path, kind: str) -> None:
        """Something finished and kept: kind is shard, checkpoint, episodes or result; path relative to the output."""
        self._say({"event": "artifact", "path": str(path), "kind": kind}, f"wrote {kind} {path}")

    def done(self, result: dict[str, Any]) -> None:
        """The last word of a command that succeeded."""
        self._say({"event": "done", "result": result}, f"done: {json.dumps(_finite(result))}")

    def error(self, message: str, field: str | None = None) -> None:
        """The last word of a command that failed."""
        self._say({"event": "error", "message": message, "field": field}, f"error: {message}")

    def raise_if_stopped(self) -> None:
        """Raise StopRequestedError when a stop was asked for; call it wherever stopping leaves a resumable folder."""
        if self.stop_requested:
            raise StopRequestedError

    def close(self) -> None:
        """Finish the bar, so that what follows starts on its own line."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _advance_bar(self, done: int, total: int | None, unit: str) -> None:
        if self._bar is None or self._unit != unit:
            self.close()
            self._bar, self._unit = tqdm(total=total, unit=f" {unit}", file=self._stream, disable=None), unit
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def _say(self, event: dict[str, Any], line: str) -> None:
        if self.events:
            self._emit(event)
        elif self._bar is not None:
            self._bar.write(line, file=self._stream)
        else:
            print(line, file=self._stream, flush=True)

    def _emit(self, event: dict[str, Any]) -> None:
        print(json.dumps(_finite(event), default=str), file=self._stream, flush=True)


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """The options every long command shares: `--events` and `--json OUT`."""
    parser.add_argument("--events", action="store_true", help="print one JSON object a line instead of a bar")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the result to this file")


def run_command(
    body: Callable[[Progress], dict[str, Any] | None], *, events: bool = False, json_out: str | Path | None = None
) -> int:
    """Run a command's body and return the exit status.

    The body reports through the Progress it gets and returns its result, which ends as the `done` event and, with
    `json_out`, in that file. A result with `"ok": false` means that the data says no (status 1). SIGTERM asks for a
    stop at the next safe point; a second one ends the process at once.
    """
    progress = Progress(events=events)
    previous = signal.signal(signal.SIGTERM, _stop_handler(progress))
    try:
        return _finish(progress, body(progress) or {}, json_out)
    except ConfigError as error:
        progress.close()
        progress.error(str(error), error.field)
        return EXIT_USAGE
    except DataError as error:
        progress.close()
        progress.error(str(error))
        return EXIT_DATA
    except (StopRequestedError, KeyboardInterrupt):
        progress.close()
        progress.log("stopped on request; the same command resumes", "warning")
        return EXIT_STOPPED
    except Exception as error:
        progress.close()
        traceback.print_exc()
        progress.error(f"unexpected {type(error).__name__}: {error}")
        return EXIT_DATA
    finally:
        progress.close()
        signal.signal(signal.SIGTERM, previous)


def _finish(progress: Progress, result: dict[str, Any], json_out: str | Path | None) -> int:
    progress.close()
    if json_out is not None:
        try:
            Path(json_out).write_text(json.dumps(_finite(result), indent=2, default=str) + "\n")
        except OSError as error:
            raise ConfigError(f"cannot write the result: {error}", "json") from error
    progress.done(result)
    return EXIT_DATA if result.get("ok") is False else EXIT_DONE


def _stop_handler(progress: Progress) -> Callable[[int, FrameType | None], None]:
    def on_signal(_signum: int, _frame: FrameType | None) -> None:
        if progress.stop_requested:
            raise SystemExit(EXIT_STOPPED)
        progress.stop_requested = True

    return on_signal


def _finite(value: Any) -> Any:
    """The same structure with every non-finite number as None, so that strict JSON readers accept it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return _finite(value.tolist())
    return value
