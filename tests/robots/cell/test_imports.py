"""Descriptions and clients are light: the web application may import them."""

import subprocess
import sys


def test_nothing_of_the_simulator_is_loaded_with_descriptions_worlds_judges_or_clients():
    modules = ("cell.bench", "cell.world", "cell.initial", "cell.judging", "perception.sighting", "drivers.protocols",
               "drivers.bench.client", "record")  # fmt: skip
    code = f"import sys; import {', '.join('robots.' + m for m in modules)}; print('mujoco' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
