"""Asking a served policy over its socket."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from robots.errors import ConfigError
from robots.messages import recv_frame, send_frame
from robots.progress import Progress
from tests.waiting import wait_until
from training.checkpoint import save_checkpoint
from training.config import ComponentConfig, TrainConfig
from training.inference import TrainedPolicy
from training.loop import train
from training.serve import PolicyServer, clear_stale_socket, warm_up


@pytest.fixture(scope="module")
def policy(toy_folder: Path, frame_cache: str, tmp_path_factory: pytest.TempPathFactory) -> TrainedPolicy:
    out = tmp_path_factory.mktemp("served")
    components = (ComponentConfig(str(toy_folder)),)
    config = TrainConfig(components, steps=2, image_size=16, batch_size=4, cache_dir=frame_cache)
    train(config, out, Progress(events=True))
    return TrainedPolicy.load(out / "final")


@pytest.fixture
def server(policy: TrainedPolicy, tmp_path: Path) -> Iterator[PolicyServer]:
    with PolicyServer(policy, tmp_path / "policy.sock") as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def client(server: PolicyServer) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(server.path))
        yield connection


def ask(client: socket.socket, request: Any) -> dict[str, Any]:
    send_frame(client, request)
    return recv_frame(client)


def observation(**changes: Any) -> dict[str, Any]:
    image = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    state = np.zeros((20, 8), np.float32)
    return {"images": {"head": image}, "state": state, "instruction": "go left", "embodiment": "toy"} | changes


def test_ping_says_what_is_served(client: socket.socket) -> None:
    answer = ask(client, {"ping": 1})
    assert (answer["pong"], answer["embodiment"], answer["views"], answer["state_dim"]) == (1, "toy", ["head"], 8)


def test_observation_gets_forty_commands_and_a_latency(client: socket.socket) -> None:
    answer = ask(client, observation())
    assert answer["actions"].shape == (40, 8)
    assert answer["actions"].dtype == np.float32
    assert np.isfinite(answer["actions"]).all()
    assert answer["latency_ms"] > 0


def test_several_requests_and_clients_are_answered(client: socket.socket, server: PolicyServer) -> None:
    with socket.socket(socket.AF_UNIX) as second:
        second.connect(str(server.path))
        answers = [ask(c, observation()) for c in (client, second, client)]
    assert all("actions" in answer for answer in answers)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"images": {}}, "view 'head' is missing"),
        ({"state": np.zeros((19, 8), np.float32)}, r"expected (20, 8)"),
        ({"state": np.full((20, 8), np.nan, np.float32)}, "not a finite number"),
        ({"embodiment": "other"}, "known: toy"),
        ({"images": {"head": np.zeros((4, 4), np.uint8)}}, "expected uint8 (height, width, 3)"),
        ({"images": {"head": "no image"}}, "view 'head'"),
    ],
)
def test_bad_request_is_answered_with_its_reason(client: socket.socket, changes: dict[str, Any], reason: str) -> None:
    assert reason in ask(client, observation(**changes))["error"]
    assert "actions" in ask(client, observation())


def test_missing_field_is_named(client: socket.socket) -> None:
    request = observation()
    del request["instruction"]
    assert "'instruction' is missing" in ask(client, request)["error"]


def test_held_joint_is_commanded_exactly(client: socket.socket) -> None:
    assert (ask(client, observation())["actions"][:, -1] == np.float32(0.123456789)).all()


def test_stale_socket_is_replaced_and_a_live_one_is_not(server: PolicyServer, tmp_path: Path) -> None:
    stale = tmp_path / "stale.sock"
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(stale))
    clear_stale_socket(stale)
    assert not stale.exists()
    with pytest.raises(ConfigError, match="another server listens"):
        clear_stale_socket(server.path)


def test_file_in_the_way_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="no socket"):
        clear_stale_socket(tmp_path / "notes.txt")


def test_warm_up_measures_an_answer(policy: TrainedPolicy) -> None:
    assert 0 < warm_up(policy) < 1000


def test_a_batch_is_answered_in_one_piece(client: socket.socket) -> None:
    asked = [observation(seed=1), observation(seed=2, instruction="go right")]
    answer = ask(client, {"batch": asked})
    assert answer["actions"].shape == (2, 40, 8)
    single = [ask(client, one)["actions"] for one in asked]
    assert np.allclose(answer["actions"], np.stack(single), atol=1e-4)


def test_the_same_seed_gives_the_same_commands(client: socket.socket) -> None:
    first, second, other = (ask(client, observation(seed=seed))["actions"] for seed in (7, 7, 8))
    assert (first == second).all()
    assert (first != other).any()


@pytest.mark.parametrize("batch", [[], "many", [1], [{"images": {}}]])
def test_a_batch_that_is_none_is_answered_with_its_reason(client: socket.socket, batch: Any) -> None:
    assert ask(client, {"batch": batch})["error"]


def test_a_seed_that_is_none_is_answered_with_its_reason(client: socket.socket) -> None:
    assert "seed" in ask(client, observation(seed=-1))["error"]


def test_a_server_ends_with_the_process_that_started_it(policy: TrainedPolicy, tmp_path: Path) -> None:
    folder, path = tmp_path / "checkpoint", tmp_path / "policy.sock"
    save_checkpoint(folder, policy.net.state_dict(), policy.facts)
    starter = (
        "import subprocess, sys, time; p = subprocess.Popen(sys.argv[1:]); print(p.pid, flush=True); time.sleep(60)"
    )
    serve = [sys.executable, "-m", "training", "serve", str(folder), "--socket", str(path), "--exit-with-parent"]
    parent = subprocess.Popen([sys.executable, "-c", starter, *serve], stdout=subprocess.PIPE, text=True)
    server = psutil.Process(int(parent.stdout.readline()))
    assert wait_until(path.exists), "the server did not come up"
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)
    assert not path.exists()
