from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Sequence
from typing import Literal, cast

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import ChildFile, LoadOptions
from ingestion.loaders.select import load

MEBIBYTE = 1024 * 1024


def make_zip(members: Sequence[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name twice
        for name, data in members:
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def make_tar(members: Sequence[tuple[str, bytes | str]], mode: str = "w:gz") -> bytes:
    """Bytes are a file's, text is the target of a link."""
    buffer = io.BytesIO()
    with tarfile.TarFile.open(fileobj=buffer, mode=cast("Literal['w:gz']", mode)) as archive:
        for name, content in members:
            entry = tarfile.TarInfo(name)
            if isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
            else:
                entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)
    return buffer.getvalue()


def read(data: bytes, name: str = "a.bin", options: LoadOptions | None = None) -> tuple[ChildFile, ...]:
    loaded = load(data, name=name, options=options)
    assert loaded.document is None
    return loaded.children


def reasons(children: tuple[ChildFile, ...]) -> dict[str, str | None]:
    return {child.name: child.reason for child in children}


def reason(data: bytes, options: LoadOptions | None = None, name: str = "a.bin") -> str:
    with pytest.raises(LoadFailed) as raised:
        load(data, name=name, options=options)
    return raised.value.reason


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_is_a_folder_however_it_is_packed(mode: str) -> None:
    children = read(make_tar([("docs/a.md", b"# A"), ("b.txt", b"words")], mode))

    assert [(child.name, child.data) for child in children] == [("docs/a.md", b"# A"), ("b.txt", b"words")]


def test_zip_is_a_folder_without_what_systems_leave_behind() -> None:
    members = [("docs/", b""), ("docs/a.md", b"# A"), ("__MACOSX/docs/._a.md", b"x"), (".DS_Store", b"x")]

    assert [(child.name, child.data) for child in read(make_zip(members))] == [("docs/a.md", b"# A")]


def test_packed_file_is_one_file() -> None:
    assert [(child.name, child.data) for child in read(gzip.compress(b"words"), "notes.txt.gz")] == [
        ("notes.txt", b"words")
    ]


@pytest.mark.parametrize("name", ["../a.txt", "/etc/a.txt", "x/../../a.txt", "..\\a.txt", "C:\\a.txt"])
def test_paths_that_lead_outside_are_refused_and_the_rest_is_read(name: str) -> None:
    for data in (make_zip([(name, b"evil"), ("b.txt", b"words")]), make_tar([(name, b"evil"), ("b.txt", b"words")])):
        outside, inside = read(data)
        assert (outside.reason, outside.data) == ("unsafe_archive", b"")
        assert not outside.name.startswith("/")
        assert ".." not in outside.name.split("/")
        assert (inside.name, inside.reason) == ("b.txt", None)


def test_links_are_refused() -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16

    assert reasons(read(make_zip([(link, b"/etc/passwd")]))) == {"link": "unsafe_archive"}
    assert reasons(read(make_tar([("link", "/etc/passwd"), ("a", b"x")]))) == {"link": "unsafe_archive", "a": None}


def test_encrypted_member_is_named_and_the_rest_is_read() -> None:
    data = bytearray(make_zip([("secret.txt", b"secret"), ("open.txt", b"words")]))
    data[6] |= 1
    central = data.index(b"PK\x01\x02")
    data[central + 8] |= 1

    assert reasons(read(bytes(data))) == {"secret.txt": "encrypted", "open.txt": None}


def test_bomb_is_refused_by_its_ratio_also_when_it_lies_about_its_size() -> None:
    data = bytearray(make_zip([("bomb.txt", b"\0" * 8 * MEBIBYTE), ("a.txt", b"words")]))
    lying = bytearray(data)
    central = data.index(b"PK\x01\x02")
    lying[central + 24 : central + 28] = struct.pack("<I", 10)

    assert reasons(read(bytes(data))) == {"bomb.txt": "unsafe_archive", "a.txt": None}
    assert reasons(read(bytes(lying)))["bomb.txt"] in ("unsafe_archive", "corrupt")


def test_packed_bomb_is_refused() -> None:
    assert reason(gzip.compress(b"\0" * 64 * MEBIBYTE)) == "unsafe_archive"
    assert reason(make_tar([("bomb.txt", b"\0" * 64 * MEBIBYTE)])) == "unsafe_archive"


def test_limits_of_count_and_bytes_hold() -> None:
    members = [(f"{number}.txt", b"x" * 100) for number in range(5)]

    assert reason(make_zip(members), LoadOptions(max_children=4)) == "unsafe_archive"
    assert reason(make_tar(members), LoadOptions(max_children=4)) == "unsafe_archive"
    assert [child.reason for child in read(make_zip(members), options=LoadOptions(max_children_bytes=250))] == [
        None,
        None,
        *["unsafe_archive"] * 3,
    ]


def test_name_that_stands_twice_stays_unique() -> None:
    assert [child.name for child in read(make_zip([("a.txt", b"1"), ("a.txt", b"2")]))] == ["a.txt", "a (2).txt"]


def test_names_in_an_old_encoding_are_read() -> None:
    data = make_zip([("NAME1.txt", b"words")]).replace(b"NAME1", "отчёт".encode("cp866"))

    assert [child.name for child in read(data)] == ["отчёт.txt"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (make_zip([("a.txt", b"words" * 100)])[:-10], "corrupt"),
        (make_zip([]), "empty"),
        (gzip.compress(b"words" * 1000)[:20], "corrupt"),
        (make_tar([("a.txt", b"x" * 5000)], "w")[:1000], "corrupt"),
        (make_zip([("AndroidManifest.xml", b"x")]), "unsupported_type"),
    ],
)
def test_what_is_no_whole_archive_has_its_reason(data: bytes, expected: str) -> None:
    assert reason(data) == expected


def test_files_before_the_damage_are_kept() -> None:
    data = make_tar([("a.txt", b"words"), ("b.txt", b"y" * 5000)], "w")[:2000]

    assert list(reasons(read(data)).values()) == [None, "corrupt"]
