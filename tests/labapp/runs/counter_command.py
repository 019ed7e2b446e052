"""A small long command for the tests: counts, one shard a number, resumes by skipping the shards it finds.

python counter_command.py OUT N PAUSE_SECONDS [WHAT_ELSE]

With `held-2` it makes number 2 only once OUT/go-2 is there: a test decides how long it works, not a clock.
"""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path


def say(**event) -> None:
    print(json.dumps(event), flush=True)


def main(out: Path, n: int, pause: float, extra: str) -> int:
    asked_to_stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda signum, frame: asked_to_stop.append(signum))
    if "grandchild" in extra:
        grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        (out / "grandchild.pid").write_text(str(grandchild.pid))
    if "deaf" in extra:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for i in range(n):
        while f"held-{i}" in extra and not (out / f"go-{i}").exists() and not asked_to_stop:
            time.sleep(0.02)
        if asked_to_stop:
            return 143
        shard = out / f"shard-{i:03d}.txt"
        if not shard.exists():
            time.sleep(pause)
            with (out / "made.log").open("a") as made:
                made.write(f"{i}\n")
            partial = shard.with_suffix(".partial")
            partial.write_text(f"number {i}")
            partial.replace(shard)
            say(event="artifact", path=shard.name, kind="shard")
        say(event="progress", done=i + 1, total=n, unit="numbers")
        value = float("nan") if extra == "nan" and i == 1 else 1.0 / (i + 1)
        say(event="metric", step=i, name="loss", value=value)
        say(event="metric", step=i, name="accuracy", value=i / n)
    return ending(extra, n)


def ending(extra: str, n: int) -> int:
    if extra == "says no":
        say(event="error", message="n must be even", field="n")
        return 1
    if extra == "crash":
        sys.stderr.write("ValueError: the number is too round\n")
        return 7
    if extra == "silent":
        return 0
    say(event="log", level="warning", message="counted with a \x00 in it")
    print("not an event at all", flush=True)
    say(event="done", result={"count": n, "odd": float("nan")})
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), " ".join(sys.argv[4:])))
