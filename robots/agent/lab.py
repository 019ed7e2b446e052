"""The lab's REST side as the agent uses it: checkpoints down, recordings and reports up; every call may be repeated."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from robots.agent.checkpoints import CheckpointError, file_sha256
from robots.agent.spool import SpooledTrial
from robots.config import to_json

TIMEOUT = httpx.Timeout(30.0, connect=5.0)


def fault(error: Exception) -> str:
    """What went wrong, without address or path: a checkpoint's has its hash, and the log is read beside the robot."""
    if isinstance(error, httpx.HTTPStatusError):
        return f"the lab answers {error.response.status_code}"
    if isinstance(error, httpx.HTTPError):
        return f"no answer from the lab ({type(error).__name__})"
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


class UploadRefusedError(Exception):
    """The lab will never take this upload (a 4xx); the text says why."""


class LabClient:
    """Blocking REST client with the agent's token."""

    def __init__(self, base_url: str, token: str, transport: httpx.BaseTransport | None = None) -> None:
        headers = {"Authorization": f"Agent {token}"}
        self._http = httpx.Client(base_url=base_url, headers=headers, timeout=TIMEOUT, transport=transport)

    def close(self) -> None:
        self._http.close()

    def get_json(self, url: str) -> Any:
        """Parsed JSON of a GET; raises CheckpointError when the lab has nothing there."""
        response = self._http.get(url)
        self._check_found(response)
        return response.json()

    def download(self, url: str, target: Path) -> None:
        """A file of the lab into `target`; raises CheckpointError when the lab has nothing there."""
        with self._http.stream("GET", url, follow_redirects=True) as response:
            self._check_found(response)
            with target.open("wb") as file:
                for part in response.iter_bytes():
                    file.write(part)

    def report(self, trial: SpooledTrial) -> None:
        """The proposal with all events of the trial; the lab takes it once."""
        body = {"proposal": trial.proposal.as_json(), "events": to_json(trial.events)}
        self._accepted(self._http.put(f"/api/agent/trials/{trial.trial}/report/", json=body))

    def send_episode(self, trial: SpooledTrial, videos: dict[str, str]) -> None:
        """Every file of the recording, then the list that makes it whole; files that the lab has are not sent again.

        Args:
            videos: camera name to the path of its video in the episode folder.
        """
        files = {path.as_posix(): file_sha256(trial.episode / path) for path in trial.episode_files()}
        if not files:
            return
        base = f"/api/agent/trials/{trial.trial}/episode/"
        here = self._accepted(self._http.get(base)).json()["files"]
        for path, sha256 in files.items():
            if here.get(path) != sha256:
                self._send_file(f"{base}{quote(path)}", trial.episode / path, sha256)
        self._accepted(self._http.put(base, json={"files": files, "videos": videos}))

    def _send_file(self, url: str, path: Path, sha256: str) -> None:
        headers = {"X-Content-SHA256": sha256, "Content-Type": "application/octet-stream"}
        with path.open("rb") as file:
            headers["Content-Length"] = str(path.stat().st_size)
            self._accepted(self._http.put(url, content=iter(lambda: file.read(1 << 20), b""), headers=headers))

    def _accepted(self, response: httpx.Response) -> httpx.Response:
        """Raises UploadRefusedError for what will not change by repeating, httpx.HTTPStatusError for the rest."""
        if response.is_client_error and response.status_code not in (408, 425, 429):
            raise UploadRefusedError(f"{response.status_code} from {response.url.path}: {response.text[:300]}")
        return response.raise_for_status()

    def _check_found(self, response: httpx.Response) -> None:
        if response.is_client_error:
            raise CheckpointError(f"The lab does not give out the checkpoint (status {response.status_code}).")
        response.raise_for_status()
