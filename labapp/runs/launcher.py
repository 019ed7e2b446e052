"""Runs a command in a process group of its own and ends the whole group when its parent goes away.

    python launcher.py WORKDIR GRACE_SECONDS COMMAND...

The parent holds this process's standard input open. When it closes, whether on purpose or because the parent was
killed, the group gets SIGTERM and, after the grace time, SIGKILL. Nothing of the group outlives the command either.
What the command says of finished artifacts is also written down in the working folder: a parent that dies before it
could store them loses no word. Only the standard library: it starts in a few milliseconds.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PID_FILE = ".group"
ARTIFACTS_FILE = ".artifacts"


def main() -> int:
    workdir, grace_s, command = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, process_group=0)
    (workdir / PID_FILE).write_text(str(child.pid))
    signal.signal(signal.SIGTERM, lambda *_: stop_in_background(child, grace_s))
    threading.Thread(target=stop_at_end_of_input, args=(child, grace_s), daemon=True).start()
    passing_on = threading.Thread(target=pass_on, args=(child, workdir / ARTIFACTS_FILE))
    passing_on.start()
    status = child.wait()
    kill_group(child.pid, signal.SIGKILL)
    passing_on.join()
    (workdir / PID_FILE).unlink(missing_ok=True)
    return status if status >= 0 else 128 - status


def pass_on(child: subprocess.Popen[bytes], artifacts: Path) -> None:
    """Hand the command's lines to the parent, as long as there is one."""
    has_parent = True
    with artifacts.open("ab", buffering=0) as journal:
        for line in child.stdout:
            if b'"artifact"' in line:
                journal.write(line)
            if has_parent:
                has_parent = write(line)


def write(line: bytes) -> bool:
    try:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except OSError:
        return False
    return True


def stop_at_end_of_input(child: subprocess.Popen[bytes], grace_s: float) -> None:
    while os.read(0, 1024):
        pass
    stop(child, grace_s)


def stop_in_background(child: subprocess.Popen[bytes], grace_s: float) -> None:
    threading.Thread(target=stop, args=(child, grace_s), daemon=True).start()


def stop(child: subprocess.Popen[bytes], grace_s: float) -> None:
    kill_group(child.pid, signal.SIGTERM)
    time.sleep(grace_s)
    kill_group(child.pid, signal.SIGKILL)


def kill_group(group: int, signum: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signum)


if __name__ == "__main__":
    status = main()
    sys.stdout = None  # the parent may be gone: nothing is left to flush
    os._exit(status)
