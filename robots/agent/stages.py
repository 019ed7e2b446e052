"""The referee's stages on the recording's clock, told without holding up the control loop."""

import logging
from bisect import bisect_left
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

from robots.agent.rollout import CONTROL_HZ

logger = logging.getLogger(__name__)
CLOCK_TOLERANCE_S = 1e-6


class StageLog:
    """Tells each stage once, with the time [s] of the recorded row that shows it first.

    A rig's clock may run ahead of the rows (a late tick by the clock), and videos have one frame a row: so a stage is
    told in rows. Writing an event down waits for the disk, which the control loop must not: a thread of its own does
    it. Leaving the context waits until everything is told.

    Args:
        tell: called in the thread with a stage and its time [s].
    """

    def __init__(self, tell: Callable[[str, float], object]) -> None:
        self._tell = tell
        self._rows_s: list[float] = []
        self._teller = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stages")
        self.reached: dict[str, float] = {}

    def __enter__(self) -> "StageLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._teller.shutdown(wait=True)

    def row(self, time_s: float) -> None:
        """One more recorded row, seen at `time_s` of the rig's clock."""
        self._rows_s.append(time_s)

    def update(self, stages: Mapping[str, float]) -> None:
        """What the referee has seen so far: stage to its time [s] on the rig's clock."""
        if len(stages) == len(self.reached):
            return
        for stage, time_s in stages.items():
            if stage not in self.reached:
                self.reached[stage] = bisect_left(self._rows_s, time_s - CLOCK_TOLERANCE_S) / CONTROL_HZ
                self._teller.submit(self._say, stage, self.reached[stage])

    def _say(self, stage: str, time_s: float) -> None:
        try:
            self._tell(stage, time_s)
        except OSError:  # the recording keeps the stages too: a full disk must not end the trial here
            logger.exception("stage %s at %.2f s was not written down", stage, time_s)
