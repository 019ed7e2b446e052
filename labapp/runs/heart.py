"""The thread that keeps a run's lease while its command works."""

import logging
import threading
from types import TracebackType
from uuid import UUID

from django.db import DatabaseError, connection
from django.utils import timezone

from labapp.runs.services import Verdict, lease, run_heartbeat

logger = logging.getLogger(__name__)


class Heart:
    """Beats until left. ``verdict`` turns to CANCEL or LOST once; a database that is away is waited for."""

    def __init__(self, run_id: int, claim: UUID) -> None:
        self.run_id = run_id
        self.claim = claim
        self.verdict = Verdict.GO_ON
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heart of run {run_id}", daemon=True)

    def __enter__(self) -> "Heart":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        self._thread.join()

    def _beat(self) -> None:
        pause = min(1.0, lease().total_seconds() / 4)
        try:
            while self.verdict is Verdict.GO_ON and not self._left.wait(pause):
                self._beat_once()
        finally:
            connection.close()

    def _beat_once(self) -> None:
        try:
            self.verdict = run_heartbeat(run_id=self.run_id, claim=self.claim, now=timezone.now())
        except DatabaseError as error:
            logger.warning("Run %s: no heartbeat, the database is away: %s", self.run_id, error)
            connection.close()
