"""The object store module against a real store."""

import hashlib
import threading
import time
from types import SimpleNamespace

import pytest

from labapp import storage
from labapp.services.object_store import ObjectStoreServer
from labapp.settings.backends import ObjectStore, object_store

pytestmark = pytest.mark.usefixtures("services")


def test_a_file_comes_back_with_its_hash(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"x" * 100_000)
    stored = storage.put_file(path, "files/a.bin")
    assert stored.sha256 == hashlib.sha256(b"x" * 100_000).hexdigest()
    storage.get_file("files/a.bin", tmp_path / "b.bin", sha256=stored.sha256)
    assert (tmp_path / "b.bin").read_bytes() == path.read_bytes()
    assert storage.stat("files/a.bin").size_bytes == 100_000


def test_other_bytes_than_were_stored_are_refused_and_nothing_is_left(tmp_path):
    storage.put_bytes(b"changed", "files/c.bin")
    with pytest.raises(storage.ObjectDamaged, match=r"files/c\.bin has SHA-256"):
        storage.get_file("files/c.bin", tmp_path / "c.bin", sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_object_is_said_to_be_missing():
    assert not storage.exists("no/such")
    with pytest.raises(storage.ObjectMissing):
        storage.get_bytes("no/such")


def test_a_folder_comes_back_file_by_file_and_its_hash_is_that_of_its_content(tmp_path):
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "one.txt").write_text("1")
    (source / "deep" / "two.txt").write_text("2")
    stored = storage.put_folder(source, "folders/x")
    assert (stored.file_count, stored.size_bytes) == (2, 2)
    fetched = storage.get_folder("folders/x", tmp_path / "target")
    assert fetched == stored
    assert (tmp_path / "target" / "deep" / "two.txt").read_text() == "2"
    assert storage.put_folder(source, "folders/y").sha256 == stored.sha256


def test_a_folder_without_manifest_was_never_finished(tmp_path):
    storage.put_bytes(b"1", "folders/open/one.txt")
    with pytest.raises(storage.ObjectMissing):
        storage.get_folder("folders/open", tmp_path / "target")


def test_a_prefix_is_deleted_without_its_neighbour():
    storage.put_bytes(b"1", "pre/fix/a")
    storage.put_bytes(b"1", "pre/fix2/a")
    assert storage.delete_prefix("pre/fix") == 1
    assert storage.list_keys("pre/") == ["pre/fix2/a"]


def test_a_range_of_bytes_is_read():
    storage.put_bytes(bytes(range(100)), "files/range")
    assert b"".join(storage.open_range("files/range", 10, 5)) == bytes(range(10, 15))


def test_a_wrong_key_is_an_error_at_once_and_not_waited_for(settings, monkeypatch):
    own = settings.OBJECT_STORE
    no_pause = SimpleNamespace(monotonic=time.monotonic, sleep=lambda pause_s: pytest.fail("it was tried again"))
    monkeypatch.setattr(storage, "time", no_pause)
    settings.OBJECT_STORE = ObjectStore(**{**vars(own), "secret_key": "wrong"})
    with pytest.raises(storage.StoreRefused, match="403"):
        storage.put_bytes(b"1", "files/refused")


def test_an_outage_is_waited_for(settings, own_service):
    """The store stops for a second while bytes are being put: the call returns with them stored."""
    server = own_service(ObjectStoreServer)
    settings.OBJECT_STORE = object_store(server.addresses())
    server.stop()
    restart = threading.Timer(1.0, lambda: server.start(lambda line: None))
    restart.start()
    storage.put_bytes(b"late", "files/late")
    restart.join()
    assert storage.get_bytes("files/late") == b"late"


def test_an_outage_without_end_is_named(settings):
    settings.OBJECT_STORE = ObjectStore("http://127.0.0.1:1", "a", "b", "bucket", 0.3)
    with pytest.raises(storage.StoreUnavailable, match=r"127\.0\.0\.1:1 did not answer for 0\.3 s"):
        storage.put_bytes(b"1", "x")
