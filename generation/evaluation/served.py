"""A policy behind the server that the agent asks too: its process thinks, so that torch never loads here."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from generation.evaluation.policy import Seen
from robots.agent.policy import PolicyError, PolicyFacts, PolicyServer, serve_command
from robots.cell.description import CellDescription
from robots.errors import ConfigError, DataError


class ServedPolicy:
    """Asks a running policy server for a batch of chunks at once."""

    def __init__(self, server: PolicyServer, facts: PolicyFacts) -> None:
        self._server, self.views = server, facts.views

    def act(self, seen: Sequence[Seen]) -> NDArray[np.float32]:
        """Chunks (B, K, n); raises DataError when the server fails."""
        requests = [
            {"images": dict(one.images), "state": one.state, "instruction": one.instruction, "seed": one.seed}
            for one in seen
        ]
        try:
            return self._server.infer_many(requests)
        except PolicyError as error:
            raise DataError(f"{error} Its log is policy-server.log; the same command goes on.") from error


@contextmanager
def served(
    checkpoint: Path, cell: CellDescription, log: Path, serve: Sequence[str], cancelled: Callable[[], bool]
) -> Iterator[ServedPolicy]:
    """The policy of a checkpoint folder, its server running as long as the context.

    Raises:
        ConfigError: the policy is of another robot or looks at views that this cell lacks.
        DataError: no server came up.
    """
    server = PolicyServer(checkpoint, lambda folder, socket: _command(serve, folder, socket), log)
    try:
        try:
            facts = server.ready(cancelled=cancelled)
        except PolicyError as error:
            raise DataError(f"{checkpoint}: {error} Its log is {log.name}.") from error
        _check_fit(facts, cell)
        yield ServedPolicy(server, facts)
    finally:
        server.close()


def _command(serve: Sequence[str], folder: Path, socket: Path) -> list[str]:
    if not serve:
        return serve_command(folder, socket)
    return [part.format(checkpoint=folder, socket=socket) for part in serve]


def _check_fit(facts: PolicyFacts, cell: CellDescription) -> None:
    missing = [view for view in facts.views if view not in cell.policy_views]
    if facts.embodiment != cell.name or facts.state_dim != len(cell.joint_names):
        own = f"{facts.embodiment} with {facts.state_dim} joints"
        raise ConfigError(f"the policy drives {own}, the world holds {cell.name}", "checkpoint")
    if missing:
        raise ConfigError(f"the policy wants the view {', '.join(missing)}, which the cell does not have", "checkpoint")
