"""A recorder killed at any moment loses at most its open episode."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robots.episodes import EpisodesReader, EpisodesWriter, check_episodes
from tests.robots.episodes.builders import CAMERA, make_folder, number_of, read_back, write_episode

REPOSITORY = Path(__file__).resolve().parents[3]
RECORDER = """
import sys
from robots.episodes import EpisodesWriter
from tests.robots.episodes.builders import FPS, features, write_episode
with EpisodesWriter.open_or_create(sys.argv[1], fps=FPS, robot_type="bench", features=features()) as writer:
    while True:
        print(len(writer), flush=True)
        write_episode(writer, len(writer), 12)
"""
STOPS_BEFORE_MOVE = """
import os, sys
from robots.episodes import EpisodesWriter, writer as writing
from tests.robots.episodes.builders import write_episode
move, left = writing._move, [int(sys.argv[2])]
def stop(source, target):
    if left[0] == 0:
        os._exit(9)
    left[0] -= 1
    move(source, target)
writing._move = stop
write_episode(EpisodesWriter.open(sys.argv[1]), 1, 3)
"""


def record_until_killed(root, episodes, extra_s):
    """Kill a recorder some moments after it has committed a number of episodes; returns what it announced."""
    command = [sys.executable, "-c", RECORDER, str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        for _ in range(episodes + 1):
            process.stdout.readline()
        time.sleep(extra_s)
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read().splitlines()
    return int(rest[-1]) if rest else 0


def test_kill_at_random_moments_loses_at_most_the_open_episode(tmp_path):
    root, moments, announced = tmp_path / "e", random.Random(7), 0
    for _ in range(3):
        announced = max(announced, record_until_killed(root, moments.randint(1, 2), moments.uniform(0, 0.06)))
        assert len(EpisodesReader(root)) >= announced
    with EpisodesWriter.open(root) as writer:
        write_episode(writer, len(writer), 5)
    report = check_episodes(root)
    assert report.ok, report.errors
    assert report.warnings == []
    reader = EpisodesReader(root)
    assert len(reader) > 2
    for row in reader.episodes:
        assert read_back(reader.video_frames(row.index, CAMERA)) == [number_of(row.index, r) for r in range(row.length)]


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_a_commit_stopped_before_any_of_its_moves_never_happened(tmp_path, moves):
    root = make_folder(tmp_path / "e", lengths=(4,))
    stopped = subprocess.run(
        [sys.executable, "-c", STOPS_BEFORE_MOVE, str(root), str(moves)], cwd=REPOSITORY, check=False, timeout=60
    )
    assert stopped.returncode == 9
    assert len(EpisodesReader(root)) == 1
    with EpisodesWriter.open(root) as writer:
        write_episode(writer, 1, 3)
    report = check_episodes(root)
    assert (report.ok, report.episodes, report.warnings) == (True, 2, [])
