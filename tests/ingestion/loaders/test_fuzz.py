"""Every loader of the registry against damaged files: a result or a reason, never another error."""

from __future__ import annotations

import contextlib
import gzip
import os
import random
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import Loaded, Loader, LoadOptions, Sample
from ingestion.loaders.select import all_loaders, load
from ingestion.types import FailureReason
from tests.ingestion.loaders.ole_builder import build_ole
from tests.ingestion.loaders.test_archives import make_tar, make_zip

DATA = Path(os.environ.get("GROUNDWORK_TEST_DATA") or Path(__file__).parents[4] / "shared" / "data") / "documents"
HANDBOOK = Path(__file__).parents[3] / "samples" / "handbook"
MAX_SAMPLE_BYTES = 60_000
OPTIONS = LoadOptions(ocr="never", max_children=50, max_children_bytes=5_000_000)
MAIL = b"From a@b Mon Mar  3 08:15:00 2025\nFrom: a@b\nMessage-ID: <1@b>\nMIME-Version: 1.0\n"
PARTS = b"Content-Type: multipart/related; boundary=x\n\n--x\nContent-Type: text/html\n\n<p>Words</p>\n--x--\n"
MADE: dict[str, bytes] = {
    "a.json": b'{"a": [1, {"b": null, "c": "words"}], "d": 1.5e3}',
    "a.jsonl": b'{"a": 1}\n{"b": [true]}\n',
    "a.yaml": b"# c\nkind: Pod\nmetadata:\n  name: a\n---\n- x: &y [1]\n- *y\n",
    "a.xml": b'<?xml version="1.0"?><a b="c"><title>T</title><p>x <i>y</i> z</p><d><e>1</e></d></a>',
    "a.rst": b"T\n=\n\n.. note:: x\n\n   y\n\n+---+---+\n| a | b |\n+---+---+\n\n* x\n\n::\n\n  code\n",
    "a.mbox": MAIL + b"Subject: =?utf-8?q?x=C3=BC?=\n\nWords\n\n" + MAIL + b"\nmore\n",
    "a.mhtml": MAIL.partition(b"\n")[2] + PARTS,
    "a.msg": build_ole({"__properties_version1.0": bytes(64), "__substg1.0_1000001F": "Words".encode("utf-16-le")}),
    "a.zip": make_zip([("a.txt", b"words" * 30), ("b/c.md", b"# x")]),
    "a.tar": make_tar([("a.txt", b"words" * 30), ("link", "a.txt")], "w"),
    "a.gz": gzip.compress(b"words" * 30),
    "a.go": b"package a\n\n// f\nfunc f() int {\n\treturn 1\n}\n",
    "a.rtf": rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\pard Words \'e4 \b bold\b0\par{\*\x y}}",
    "a.txt": "Wörter und Sätze.\n\n- eins\n- zwei\n".encode("cp1252"),
}


@cache
def samples() -> dict[str, bytes]:
    """Real files that are small enough, and made ones for the formats that have none."""
    found = dict(MADE)
    for folder in (DATA, HANDBOOK):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
            if path.is_file() and 0 < path.stat().st_size <= MAX_SAMPLE_BYTES and path.suffix != ".tsv":
                found.setdefault(path.name, path.read_bytes())
    return found


def mutate(data: bytes, seed: int) -> bytes:
    """A copy with some bytes changed, and perhaps a part cut out, doubled or left off."""
    chance = random.Random(seed)
    result = bytearray(data)
    for _ in range(chance.choice((0, 1, 3, 20))):
        result[chance.randrange(len(result))] = chance.choice((0, 0x20, 0x3C, 0x7B, 0xFF, chance.randrange(256)))
    start, length = chance.randrange(len(result)), chance.randrange(1, 200)
    match chance.randrange(4):
        case 0:
            del result[start : start + length]
        case 1:
            result[start:start] = result[start : start + length] * chance.choice((1, 3, 50))
        case 2:
            del result[start:]
        case _:
            pass
    return bytes(result)


def check(loaded: Loaded) -> None:
    assert loaded.document is not None or loaded.children
    for child in loaded.children:
        assert child.name
        assert not child.name.startswith("/")
        assert ".." not in child.name.split("/")
        assert child.reason is None or (child.data == b"" and child.detail)
    if (document := loaded.document) is None:
        return
    assert document.text.encode()
    position = 0
    for block in document.blocks:
        assert position <= block.char_start < block.char_end <= len(document.text)
        assert not any(map(str.isalnum, document.text[position : block.char_start]))
        position = block.char_end
    assert not any(map(str.isalnum, document.text[position:]))


def load_or_reason(data: bytes, name: str) -> None:
    failure: LoadFailed | None = None
    try:
        check(load(data, name=name, options=OPTIONS))
    except LoadFailed as error:
        failure = error
    assert failure is None or (failure.reason in get_args(FailureReason) and failure.detail.endswith("."))


FUZZ = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "150")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@FUZZ
@given(st.sampled_from(sorted(samples())), st.integers(min_value=0))
def test_damaged_file_gives_a_result_or_a_reason(name: str, seed: int) -> None:
    load_or_reason(mutate(samples()[name], seed), name)


@FUZZ
@given(st.sampled_from(sorted(samples())), st.sampled_from([loader.family for loader in all_loaders()]), st.integers(0))
def test_file_under_a_foreign_ending_gives_a_result_or_a_reason(name: str, family: str, seed: int) -> None:
    loader = next(loader for loader in all_loaders() if loader.family == family)
    ending = sorted(loader.endings)[seed % len(loader.endings)]

    load_or_reason(samples()[name], f"a{ending}")


@FUZZ
@given(st.binary(min_size=1, max_size=800), st.sampled_from(sorted(MADE)), st.integers(min_value=0, max_value=24))
def test_random_bytes_behind_a_real_head_give_a_result_or_a_reason(body: bytes, name: str, kept: int) -> None:
    load_or_reason(MADE[name][:kept] + body, name)


@pytest.mark.parametrize("loader", all_loaders(), ids=lambda loader: loader.family)
@settings(max_examples=25, deadline=None)
@given(data=st.one_of(st.binary(min_size=1, max_size=300), st.text(min_size=1, max_size=300).map(str.encode)))
def test_loader_that_gets_what_is_not_its_own_has_a_reason(loader: Loader, data: bytes) -> None:
    ending = min(loader.endings)

    assert loader.certainty(Sample(data, f"a{ending}")) in (0, 1, 2, 3)
    with contextlib.suppress(LoadFailed):
        loader.load(data, f"a{ending}", OPTIONS)
