"""`python -m robots record CONFIG.json OUT`: demonstrations on a bench cell, as an episodes folder.

Attempt k draws everything from (seed, k), so a restarted recording goes on where it was stopped, and the number of
workers changes nothing but the time.
"""

import multiprocessing
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robots.cell.bench import BENCH_CELL
from robots.cell.description import CONTROL_HZ
from robots.cell.initial import InitialState, instruction, sample_initial_state
from robots.cell.judging import Verdict
from robots.config import save_config
from robots.episodes import EpisodesReader, EpisodesWriter, Feature
from robots.errors import ConfigError, DataError
from robots.perception.sighting import NothingSeenError
from robots.progress import Progress

if TYPE_CHECKING:
    from robots.demonstrator.session import Recording

MAX_ATTEMPTS_PER_EPISODE = 5


@dataclass(frozen=True)
class RecordConfig:
    """What to record.

    Attributes:
        n: demonstrations to keep. seed: of the attempts. bench_seed: of the cell's hidden truth.
        objects: taken in turn. belt_speed: range [m/s]. light: `white` or `red`.
        image_size: side of the square views [px]. camera_fps: frames a second. workers: bench cells at a time.
        keep_failed: keep failed attempts too; they do not count towards n.
    """

    n: int = 40
    seed: int = 0
    bench_seed: int = 0
    objects: tuple[str, ...] = BENCH_CELL.demonstrated_objects
    belt_speed: tuple[float, float] = (0.05, 0.20)
    light: str = "white"
    image_size: int = 256
    camera_fps: float = 25.0
    workers: int = 2
    keep_failed: bool = False

    def __post_init__(self) -> None:
        known = [o.name for o in BENCH_CELL.objects]
        lo, hi = self.belt_speed
        for field, is_right, wanted in (
            ("n", 1 <= self.n <= 100_000, "1 to 100000"),
            ("objects", bool(self.objects) and set(self.objects) <= set(known), f"some of {', '.join(known)}"),
            ("belt_speed", 0.02 <= lo <= hi <= BENCH_CELL.belt.max_speed, "two speeds 0.02 <= low <= high <= 0.25 m/s"),
            ("light", self.light in ("white", "red"), "white or red"),
            ("image_size", 32 <= self.image_size <= 640 and self.image_size % 2 == 0, "an even number in 32..640"),
            ("camera_fps", 1 <= self.camera_fps <= CONTROL_HZ, f"1 to {CONTROL_HZ} frames a second"),
            ("workers", 1 <= self.workers <= 64, "1 to 64"),
        ):
            if not is_right:
                raise ConfigError(f"must be {wanted}, not {getattr(self, field)}", field)


@dataclass(frozen=True)
class Attempt:
    """One attempted demonstration and its outcome; `recording` is None where nothing was seen on the belt."""

    index: int
    initial: InitialState
    verdict: Verdict
    recording: "Recording | None"


class Station:
    """A bench cell with a demonstrator at it."""

    def __init__(self, config: RecordConfig) -> None:
        from robots.cell.kinematics import ArmKinematics
        from robots.drivers.bench import BenchCell

        self.config = config
        self.bench = BenchCell.start(seed=config.bench_seed)
        self.kinematics = ArmKinematics(self.bench.cell)
        self.bench.operator.set_light(config.light)
        self.bench.drivers.stream(BENCH_CELL.policy_views, image_size=config.image_size, fps=config.camera_fps)

    def attempt(self, index: int) -> Attempt:
        """Lay out and demonstrate attempt `index`."""
        from robots.demonstrator.session import demonstrate

        config, bench = self.config, self.bench
        rng = np.random.default_rng([config.seed, index])
        name = config.objects[index % len(config.objects)]
        initial = sample_initial_state(bench.cell, rng, objects=(name,), belt_speed=config.belt_speed)
        bench.operator.place(initial)
        bench.drivers.refresh()
        try:
            recording = demonstrate(bench.drivers, bench.cell, self.kinematics, name, initial.bin, rng,
                                    views=BENCH_CELL.policy_views, is_over=bench.referee.is_over)  # fmt: skip
        except NothingSeenError:
            return Attempt(index, initial, Verdict(False, "approach", "missed_pick", 0.0), None)
        return Attempt(index, initial, bench.referee.verdict(), recording)


_station: Station | None = None


def _open_station(config: RecordConfig) -> None:
    global _station  # noqa: PLW0603  (one bench cell per worker process, kept between its attempts)
    _station = Station(config)


def _attempt(index: int) -> Attempt:
    if _station is None:
        raise RuntimeError("the worker has no bench cell")
    return _station.attempt(index)


@contextmanager
def _attempts(config: RecordConfig, start: int, stop: int) -> Iterator[Iterator[Attempt]]:
    """Attempts in order, made by one bench cell here or by several in worker processes."""
    if config.workers == 1:
        station = Station(config)
        try:
            yield map(station.attempt, range(start, stop))
        finally:
            station.bench.stop()
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(config.workers, _open_station, (config,)) as pool:
        yield pool.imap(_attempt, range(start, stop))


def run(config: RecordConfig, out: Path, progress: Progress) -> dict[str, Any]:
    """Record until `n` demonstrations are kept; returns counts. Resumes what is in `out`.

    Raises:
        DataError: too many attempts fail, or `out` holds something else.
    """
    save_config(config, out / "config.json")
    features = episode_features(config.image_size)
    outcomes: Counter[str] = Counter()
    with EpisodesWriter.open_or_create(
        out / "episodes", fps=CONTROL_HZ, robot_type=BENCH_CELL.name, features=features
    ) as writer:
        kept, start = _recorded(out / "episodes")
        limit = start + (config.n - kept) * MAX_ATTEMPTS_PER_EPISODE + 20
        progress.progress(kept, config.n, "demonstrations")
        if kept < config.n:
            with _attempts(config, start, limit) as attempts:
                for attempt in attempts:
                    outcomes[attempt.verdict.failure_mode or "success"] += 1
                    kept += _keep(writer, attempt, config)
                    progress.progress(kept, config.n, "demonstrations")
                    if kept == config.n:
                        break
    if kept < config.n:
        raise DataError(f"only {kept} of {config.n} demonstrations after {limit} attempts: {dict(outcomes)}")
    progress.artifact("episodes", "episodes")
    return {"episodes": kept, "attempts": sum(outcomes.values()), "outcomes": dict(outcomes)}


def episode_features(image_size: int) -> dict[str, Feature]:
    """Columns of a demonstration: state, action and the policy's views."""
    names = BENCH_CELL.joint_names
    vectors = {key: Feature.vector(names, units="rad") for key in ("observation.state", "action")}
    views = {f"observation.images.{view}": Feature.video(image_size, image_size) for view in BENCH_CELL.policy_views}
    return vectors | views


def _recorded(folder: Path) -> tuple[int, int]:
    """Successful episodes on disk, and the next attempt."""
    rows = [row.extra for row in EpisodesReader(folder).episodes]
    return sum(row["outcome"] == "success" for row in rows), 1 + max((row["attempt"] for row in rows), default=-1)


def _keep(writer: EpisodesWriter, attempt: Attempt, config: RecordConfig) -> bool:
    """Commit an attempt that is worth keeping; True for a success."""
    success, rec = attempt.verdict.success, attempt.recording
    if rec is not None and (success or config.keep_failed):
        with writer.episode(task=instruction(attempt.initial.object, attempt.initial.bin)) as episode:
            columns: dict[str, Any] = {"observation.state": rec.state, "action": rec.action}
            for view, images in rec.images.items():
                columns[f"observation.images.{view}"] = images[rec.frame_index[view]]
            episode.add_rows(columns)
            episode.commit(extra=_facts(attempt, rec, config))
    return success


def _facts(attempt: Attempt, rec: "Recording", config: RecordConfig) -> dict[str, Any]:
    """Extra columns of the episodes table. The seen pose is the demonstrator's, never the bench's truth."""
    initial, verdict = attempt.initial, attempt.verdict
    return {
        "object": initial.object,
        "bin": initial.bin,
        "belt_speed": initial.belt_speed,
        "light": config.light,
        "seed": config.seed,
        "attempt": attempt.index,
        "is_simulated": True,
        "source": "demonstration",
        "outcome": "success" if verdict.success else "failure",
        "failure_mode": verdict.failure_mode or "",
        "furthest_stage": verdict.furthest_stage,
        "is_corrected": rec.corrected,
        "object_position": rec.seen.position.tolist(),
        "object_yaw": rec.seen.yaw,
        "belt_top": rec.seen.belt_top,
        "phases": {name: list(ticks) for name, ticks in rec.phases.items()},
        "initial_state": asdict(initial),
    }
