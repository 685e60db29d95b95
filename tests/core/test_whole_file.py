"""Result files appear whole or not at all."""

import os
import stat
import sys
from pathlib import Path

import pytest

from lab.errors import InputError
from lab.files import whole_file

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="modes and links as POSIX has them")


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_the_block_ends(tmp_path):
    target = tmp_path / "out.json"
    with whole_file(str(target)) as out:
        out.write("ä\n")
        assert not target.exists()
    assert target.read_bytes() == "ä\n".encode()
    assert names_in(tmp_path) == ["out.json"]


@pytest.mark.parametrize("problem", [InputError("bad"), KeyboardInterrupt(), RuntimeError("fault")])
def test_nothing_changes_when_the_block_fails(tmp_path, problem):
    old = tmp_path / "old.json"
    old.write_text("before", "utf-8")
    for target in (old, tmp_path / "new.json"):
        with pytest.raises(type(problem)), whole_file(str(target)) as out:
            out.write("half")
            raise problem
    assert old.read_text("utf-8") == "before"
    assert names_in(tmp_path) == ["old.json"]


def test_a_path_in_no_folder(tmp_path):
    target = str(tmp_path / "none" / "out.json")
    with pytest.raises(InputError) as caught, whole_file(target):
        pass
    assert str(caught.value).startswith(f"{target}: cannot be written (")
    assert str(caught.value).endswith("; choose another path")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match="cannot be written"), whole_file(str(tmp_path)):
        pass
    assert names_in(tmp_path) == []


def test_a_path_that_no_system_takes():
    with pytest.raises(InputError, match="cannot be written"), whole_file("a\0b"):
        pass


@on_posix
def test_the_mode_of_a_replaced_file_is_kept(tmp_path):
    target = tmp_path / "out.json"
    target.write_text("before", "utf-8")
    target.chmod(0o640)
    with whole_file(str(target)) as out:
        out.write("after")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_text("utf-8") == "after"


@on_posix
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.json").write_text("before", "utf-8")
    (tmp_path / "link.json").symlink_to("real.json")
    with whole_file(str(tmp_path / "link.json")) as out:
        out.write("after")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text("utf-8") == "after"


@on_posix
def test_a_device_is_written_to_and_stays():
    before = Path(os.devnull).stat()
    with whole_file(os.devnull) as out:
        out.write("away")
    after = Path(os.devnull).stat()
    assert stat.S_ISCHR(after.st_mode)
    assert after.st_ino == before.st_ino
