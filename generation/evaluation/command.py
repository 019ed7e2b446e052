"""`python -m generation evaluate`: block after block of rollouts, each kept as one file, so that a run resumes."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from generation.evaluation.config import EvaluateConfig, PolicyConfig
from generation.evaluation.evaluator import Evaluator
from generation.evaluation.policy import Policy
from generation.evaluation.recording import BlockRecorder
from generation.evaluation.served import served
from generation.evaluation.starts import RolloutOrder, rollout_orders
from generation.export import world_hash
from generation.folder import claim, load_world
from generation.physics import CpuEngine
from generation.rendering import MujocoRenderer
from robots.agent.rollout import REPLAN_TICKS
from robots.cell.bench import BENCH_CELL
from robots.cell.description import STEPS_PER_TICK
from robots.cell.initial import instruction
from robots.cell.scene import Scene
from robots.cell.world import WorldParameters
from robots.config import load_config, to_json, write_json
from robots.errors import ConfigError, DataError
from robots.progress import Progress, StopRequestedError

PLACES = {"world", "policies", "serve"}  # paths may change before a resumption, names and worlds may not
FRAME_TICKS = {"seen": REPLAN_TICKS, "smooth": 4, "none": REPLAN_TICKS}
Row = dict[str, Any]


def evaluate(config: EvaluateConfig, out: Path, progress: Progress) -> dict[str, Any]:
    """Run what is missing in `out` and write `result.json`, one row a rollout.

    Returns:
        `rollouts`, `successes`, `invalid`, `seconds`, and the same by policy under `policies`.

    Raises:
        ConfigError: a field that cannot be used, or a folder of another configuration.
        DataError: a policy server that fails.
    """
    began = time.monotonic()
    world = load_world(config.world)
    _check_names(out, config)
    claim(out, config, world, PLACES)
    run = _Run(config, world, out, progress)
    rows = [row for policy in config.policies for row in run.policy(policy)]
    write_json(out / "result.json", {"rollouts": rows})
    progress.artifact("result.json", "result")
    by_policy = {policy.name: _totals([r for r in rows if r["policy"] == policy.name]) for policy in config.policies}
    return {**_totals(rows), "policies": by_policy, "seconds": round(time.monotonic() - began, 2)}


class _Run:
    """One run's orders, files and progress; the scene is made when the first block is missing."""

    def __init__(self, config: EvaluateConfig, world: WorldParameters, out: Path, progress: Progress) -> None:
        self._config, self._world, self._out, self._progress = config, world, out, progress
        self._orders = rollout_orders(BENCH_CELL, config.conditions, config.seed)
        self._done = 0
        self._evaluator: Evaluator | None = None

    def policy(self, policy: PolicyConfig) -> list[Row]:
        """All rows of a policy; its server is started only if one is missing."""
        size = self._config.block
        blocks = [self._orders[i : i + size] for i in range(0, len(self._orders), size)]
        paths = [self._out / "blocks" / f"{policy.name}-{i:04d}.json" for i in range(len(blocks))]
        if not all(self._is_done(path) for path in paths):
            self._run(policy, list(zip(paths, blocks, strict=True)))
        else:
            self._count(len(self._orders))
        return [row for path in paths for row in json.loads(path.read_text())]

    def _run(self, policy: PolicyConfig, blocks: Sequence[tuple[Path, list[RolloutOrder]]]) -> None:
        if not policy.checkpoint.is_dir():
            raise ConfigError(f"{policy.name}: {policy.checkpoint} is no folder", "policies")
        log, serve = self._out / "policy-server.log", self._config.serve
        try:
            with served(policy.checkpoint, BENCH_CELL, log, serve, self._is_stopping) as asked:
                for path, orders in blocks:
                    if not self._is_done(path):
                        self._roll_out(asked, policy.name, path, orders)
                    self._count(len(orders))
        except DataError:
            if self._progress.stop_requested:
                raise StopRequestedError from None
            raise

    def _roll_out(self, asked: Policy, name: str, path: Path, orders: Sequence[RolloutOrder]) -> None:
        """One block: its episodes folder first, then its rows, which say that both are whole."""
        evaluator, folder = self._ready(), self._episodes(path)
        views = BENCH_CELL.policy_views if self._config.video != "none" else ()
        ticks = FRAME_TICKS[self._config.video]
        with BlockRecorder(folder, BENCH_CELL, views, self._config.image_size, ticks) as recorder:
            outcomes = evaluator.run(asked, orders, recorder)
            rows = [_row(name, order, asdict(outcome)) for order, outcome in zip(orders, outcomes, strict=True)]
            tasks = [instruction(order.initial.object, order.initial.bin) for order in orders]
            episodes = recorder.write(tasks, [self._facts(*pair) for pair in zip(orders, rows, strict=True)])
        place = folder.relative_to(self._out)
        self._progress.artifact(place, "episodes")
        write_json(path, [{**row, "episodes": str(place), "episode": n} for row, n in zip(rows, episodes, strict=True)])
        self._progress.artifact(path.relative_to(self._out), "shard")

    def _facts(self, order: RolloutOrder, row: Row) -> Row:
        ended = "invalid" if row["invalid"] else row["failure_mode"] or "success"
        lineage = {"is_simulated": True, "world_sha256": world_hash(self._world), "evaluation_seed": self._config.seed}
        return {**row, "outcome": ended, "initial_state": order.initial.to_dict(), **lineage}

    def _episodes(self, path: Path) -> Path:
        """Where the episodes of a block's rows lie."""
        return self._out / "episodes" / path.stem

    def _is_done(self, path: Path) -> bool:
        return path.exists() and self._episodes(path).is_dir()

    def _is_stopping(self) -> bool:
        return self._progress.stop_requested

    def _ready(self) -> Evaluator:
        if self._evaluator is None:
            config, scene = self._config, Scene(BENCH_CELL, self._world)
            self._evaluator = Evaluator(
                scene,
                CpuEngine(scene.model, config.block, STEPS_PER_TICK),
                MujocoRenderer(scene, config.image_size),
                seed=config.seed,
                time_limit_s=config.time_limit_s,
                between=self._progress.raise_if_stopped,
            )
        return self._evaluator

    def _count(self, rollouts: int) -> None:
        self._done += rollouts
        self._progress.progress(self._done, len(self._orders) * len(self._config.policies), "rollouts")


def _row(policy: str, order: RolloutOrder, outcome: Row) -> Row:
    start = to_json(order.start)
    return {"policy": policy, "condition": order.condition, **start, **outcome}


def _totals(rows: Sequence[Row]) -> dict[str, int]:
    return {
        "rollouts": len(rows),
        "successes": sum(row["success"] for row in rows),
        "invalid": sum(bool(row["invalid"]) for row in rows),
    }


def _check_names(out: Path, config: EvaluateConfig) -> None:
    """Rows are kept by the policies' names: a folder holds the same ones, in the same order."""
    path, names = out / "config.json", [policy.name for policy in config.policies]
    if path.exists() and names != [policy.name for policy in load_config(EvaluateConfig, path).policies]:
        raise ConfigError(f"{out} was begun with other policies; choose another folder", "policies")
