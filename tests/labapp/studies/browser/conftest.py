"""Trials with a real recording, as the agent would have sent it."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from labapp.live import uploads
from labapp.live.trials import events_store
from labapp.services.embedded import EmbeddedServices
from labapp.studies.models import Trial
from robots.agent.protocol import TrialEvent
from robots.cell.bench import BENCH_CELL
from robots.episodes import EpisodesWriter, Feature
from tests.integration.web_server import web_server
from tests.scratch import child_environ

VIEWS = ("head", "right_wrist", "left_wrist")
SIZE = 128


def scene(x: float | None = None, *, size: int = SIZE) -> np.ndarray:
    """A drawn cell seen from the head: stripes of a belt, a bin, and a bright object at ``x`` (share of the width)."""
    down, right = np.mgrid[0:size, 0:size] / size
    grey = 90 + 35 * np.sin(22 * down) + 25 * np.cos(9 * right) + 50 * ((right > 0.7) & (down > 0.6))
    if x is not None:
        grey = np.where((abs(right - x) < 0.08) & (abs(down - 0.4) < 0.08), 235, grey)
    return np.stack([grey, grey * 0.95, grey * 0.8], axis=-1).clip(0, 255).astype(np.uint8)


def write_recording(
    root: Path,
    *,
    views: tuple[str, ...],
    rows: int,
    start_x: float,
    attributions: Mapping[str, Mapping[str, np.ndarray]] | None = None,
) -> None:
    """One episode in which the object travels to the right; attributions by name and component, a value a row."""
    attributed = {f"attribution.{name}": parts for name, parts in (attributions or {}).items()}
    vector = Feature.vector(BENCH_CELL.joint_names, units="rad")
    features = {"observation.state": vector, "action": vector}
    features |= {f"observation.images.{view}": Feature.video(SIZE, SIZE) for view in views}
    features |= {name: Feature.vector(parts) for name, parts in attributed.items()}
    phases = np.arange(len(BENCH_CELL.joint_names)) / 5
    with (
        EpisodesWriter.create(root, fps=50, robot_type=BENCH_CELL.name, features=features) as writer,
        writer.episode(task="pick up the box and place it in the left bin") as episode,
    ):
        for row in range(rows):
            values = np.sin(row / 12 + phases + start_x).astype(np.float32)
            frame = scene(start_x + 0.4 * row / rows)
            images = {f"observation.images.{view}": frame for view in views}
            shares = {name: np.array([part[row] for part in parts.values()]) for name, parts in attributed.items()}
            episode.add({"observation.state": values, "action": values + np.float32(0.05), **images, **shares})
        episode.commit(extra={"outcome": "success"})


def recorded(
    trial: Trial, folder: Path, *, views: tuple[str, ...] = VIEWS, rows: int = 10, start_x: float = 0.3, **also: Any
) -> Trial:
    """Send a small real recording of the trial: one episode with its videos."""
    root = folder / str(trial.pk)
    write_recording(root, views=views, rows=rows, start_x=start_x, **also)
    files, videos = {}, {}
    for path in sorted(file for file in root.rglob("*") if file.is_file()):
        name, content = path.relative_to(root).as_posix(), path.read_bytes()
        files[name] = hashlib.sha256(content).hexdigest()
        uploads.episode_file_store(trial=trial, path=name, sha256=files[name], chunks=[content])
        if path.suffix == ".mp4":
            videos[path.relative_to(root).parts[1].removeprefix("observation.images.")] = name
    return uploads.episode_complete(trial=trial, files=files, videos=videos)


def happened(trial: Trial, *events: tuple[str, float, dict]) -> None:
    """Events in the order in which the agent counted them."""
    rows = [
        TrialEvent(str(trial.pk), str(uuid4()), number, kind, time_s, payload)
        for number, (kind, time_s, payload) in enumerate(events, start=1)
    ]
    events_store(trial_id=trial.pk, events=rows)


@pytest.fixture(scope="module")
def url(
    services: EmbeddedServices, scratch: Path, django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Address of a web server on the test database, one for all tests of a module."""
    with web_server(child_environ(scratch), tmp_path_factory.mktemp("web") / "web.log") as (port, _):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., Trial]:
    def make(trial: Trial, **values) -> Trial:
        return recorded(trial, tmp_path, **values)

    return make
