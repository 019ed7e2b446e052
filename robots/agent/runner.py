"""Runs one ordered trial from checkpoint to proposal; whatever happens, a proposal is left in the spool."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import httpx
import numpy as np
from numpy.typing import NDArray

from robots.agent.checkpoints import CheckpointError
from robots.agent.chunks import ChunkPlayer
from robots.agent.feed import LiveFeed
from robots.agent.lab import fault
from robots.agent.policy import PolicyError, PolicyPool, PolicyServer
from robots.agent.protocol import CheckpointRef, Proposal, TrialEvent, TrialStart
from robots.agent.recording import TrialRecording
from robots.agent.rig import Observation, Rig, RigStoppedError
from robots.agent.rollout import AbortedError, Planner, run_rollout
from robots.agent.spool import SpooledTrial
from robots.agent.stages import StageLog

logger = logging.getLogger(__name__)

BROKEN = "The agent failed during the trial; its log on the robot PC says why."


class Checkpoints(Protocol):
    """Where checkpoint folders come from."""

    def folder(self, ref: CheckpointRef) -> Path: ...


class TrialRunner:
    """Runs trials one after the other in the calling thread; `abort` may come from any thread.

    Args:
        emit: called with every event of the trial, after it is in the spool.
    """

    def __init__(
        self, rig: Rig, checkpoints: Checkpoints, pool: PolicyPool, feed: LiveFeed, emit: Callable[[TrialEvent], None]
    ) -> None:
        self._rig, self._checkpoints, self._pool, self._feed, self._emit = rig, checkpoints, pool, feed, emit
        self._lock = threading.Lock()
        self._abort_reason = ""
        self.current: str | None = None

    def run(self, trial: SpooledTrial) -> Proposal:
        """Run a trial that is in the spool and leave its proposal there."""
        with self._lock:
            self.current, self._abort_reason = trial.trial, ""
        try:
            proposal = self._attempt(trial)
        finally:
            self.current = None
        trial.finish(proposal)
        return proposal

    def abort(self, reason: str, trial: str | None = None) -> None:
        """End the running trial (or only the one named) as invalid, with this reason."""
        with self._lock:
            if self.current is not None and trial in (None, self.current):
                self._abort_reason = reason

    def _attempt(self, trial: SpooledTrial) -> Proposal:
        order = trial.order
        try:
            self._say(trial, "accepted")
            proposal = self._roll_out(trial, order)
            self._say(trial, "finished", proposal.time_s)
        except AbortedError as error:
            proposal = self._invalid(trial, "cancelled", str(error))
        except RigStoppedError:
            proposal = self._invalid(trial, "cancelled", self._abort_reason or "The software stop was engaged.")
        except (PolicyError, CheckpointError) as error:
            proposal = self._invalid(trial, "failed", str(error))
        except httpx.HTTPError as error:
            logger.warning("checkpoint not fetched: %s", fault(error))
            proposal = self._invalid(trial, "failed", "The lab could not be reached to fetch the checkpoint.")
        except Exception:  # a defect must not silence the agent: the trial is reported, the log has the traceback
            logger.exception("trial %s broke", trial.trial)
            proposal = self._invalid(trial, "failed", BROKEN)
        return proposal

    def _roll_out(self, trial: SpooledTrial, order: TrialStart) -> Proposal:
        self._say(trial, "loading")
        folder = self._checkpoints.folder(order.checkpoint)
        server = self._pool.server(folder)
        try:
            facts = server.ready(cancelled=lambda: bool(self._abort_reason))
            self._raise_if_aborted()
            start = self._rig.prepare(order, facts.image_size)
            self._check_fit(facts.views, facts.state_dim, start)
            self._say(trial, "started")
            return self._drive(trial, order, server, facts.views, start)
        except PolicyError:
            self._pool.discard(folder)
            self._raise_if_aborted()
            raise

    def _drive(
        self, trial: SpooledTrial, order: TrialStart, server: PolicyServer, views: tuple[str, ...], start: Observation
    ) -> Proposal:
        player = ChunkPlayer(hold=start.position, blend=0 if self._rig.is_lockstep else 3)
        planner = Planner(server, views, order.instruction, player, self._rig.is_lockstep)
        stages = StageLog(lambda stage, time_s: self._say(trial, "stage", time_s, stage=stage))
        with stages, TrialRecording(trial.episode, self._rig, start, order) as recording:

            def on_tick(seen: Observation, command: NDArray[np.float64]) -> None:
                recording.add(seen, command)
                stages.row(seen.time_s)
                stages.update(self._rig.stages())
                self._feed.show(seen.time_s, seen.position, seen.images, trial.trial)

            try:
                result = run_rollout(
                    self._rig,
                    planner,
                    start,
                    time_limit_s=order.time_limit_s,
                    on_tick=on_tick,
                    aborted=lambda: self._abort_reason,
                )
            except (AbortedError, RigStoppedError, PolicyError) as error:
                facts = self._rig.extra() | {"stages": stages.reached}
                recording.commit(Proposal(invalid_reason=str(error) or "stopped"), facts)
                raise
            proposal = self._judged(result.time_s, result.latency_ms)
            stages.update(self._rig.stages())
            recording.commit(proposal, self._rig.extra() | {"stages": stages.reached})
        return proposal

    def _judged(self, time_s: float, latency_ms: float | None) -> Proposal:
        verdict = self._rig.judge()
        return Proposal(
            success=verdict.success,
            failure_mode=verdict.failure_mode,
            furthest_stage=verdict.furthest_stage,
            time_s=time_s,
            latency_ms=latency_ms,
        )

    def _check_fit(self, views: tuple[str, ...], state_dim: int, seen: Observation) -> None:
        missing = [view for view in views if view not in seen.images]
        if missing:
            raise PolicyError(f"The policy wants the view {', '.join(missing)}, which this cell does not have.")
        if state_dim != seen.position.size:
            raise PolicyError(f"The policy wants {state_dim} joints, this cell has {seen.position.size}.")

    def _raise_if_aborted(self) -> None:
        if self._abort_reason:
            raise AbortedError(self._abort_reason)

    def _say(self, trial: SpooledTrial, kind: str, time_s: float = 0.0, **payload: object) -> None:
        self._emit(trial.log(kind, time_s, **payload))

    def _invalid(self, trial: SpooledTrial, kind: str, reason: str) -> Proposal:
        self._say(trial, kind, reason=reason)
        return Proposal(invalid_reason=reason)
