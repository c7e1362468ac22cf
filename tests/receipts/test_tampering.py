from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from agents.proof_replay import prove_again
from app.errors import ReceiptUnreadable
from app.receipts import signing
from app.receipts.digests import chain, part_digests, whole_digest
from app.receipts.integrity import open_receipt
from app.receipts.report import KeyCheck, VerifyReport
from app.receipts.schema import Signature
from app.receipts.sources import FoundDocument, FoundSources
from app.receipts.verify import verify
from tests.receipts.conftest import Exported


def intact(exported: Exported) -> FoundSources:
    """The documents as they were."""
    documents = zip(exported.receipt.documents, exported.texts, strict=True)
    found = [FoundDocument("unchanged", text, sha256=document.content_sha256) for document, text in documents]
    return FoundSources("originals", tuple(found))


def check(raw: Any, sources: FoundSources) -> VerifyReport:
    opened = open_receipt(json.dumps(raw).encode(), name="a.receipt.json")
    try:
        valid = signing.is_valid(Signature.model_validate(raw["signature"]), opened.whole)
    except ValueError:
        valid = False
    return verify(opened, sources, KeyCheck(public_key="", valid=valid, holder="unknown"))


def redigested(raw: Any) -> Any:
    """The file as a forger leaves it who knows the format and has no key."""
    parts = part_digests(raw)
    return raw | {"digests": {"parts": parts, "whole": whole_digest(parts)}}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        entries: Any = value.items() if isinstance(value, dict) else enumerate(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType, reportUnknownMemberType]
        for name, entry in entries:
            yield from leaves(entry, (*path, name))
    else:
        yield path


def edited(raw: Any, path: tuple[Any, ...]) -> Any:
    """The file with one leaf changed, its kind kept."""
    changed = copy.deepcopy(raw)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    match holder[path[-1]]:
        case bool() as value:
            holder[path[-1]] = not value
        case int() | float() as value:
            holder[path[-1]] = value + 1
        case str() as value:
            holder[path[-1]] = ("b" if value.startswith("a") else "a") + value[1:]
        case _:
            holder[path[-1]] = "something"
    return changed


def resting(raw: Any, path: tuple[Any, ...]) -> set[int]:
    """Numbers of the sentences that must be named for a change there: known from the untouched file."""

    def citing(places: set[int]) -> set[int]:
        return {n for n, claim in enumerate(raw["claims"], 1) if {c - 1 for c in claim["citations"]} & places}

    cited: list[Any] = raw["citations"]
    citations = list(enumerate(cited))
    match path:
        case ("claims", place, *_):
            return {place + 1}
        case ("citations", place, *_):
            return citing({place})
        case ("evidence", place, *_):
            return citing({at for at, entry in citations if entry["passage"] == place})
        case ("documents" | "texts" as section, place, *_):
            return citing({at for at, entry in citations if entry[section.removesuffix("s")] == place})
        case _:
            return set()


def named(report: VerifyReport) -> set[int]:
    return {entry.number for entry in report.sentences if entry.state == "altered"}


def test_a_receipt_holds_as_it_was_written(exported: Exported) -> None:
    report = check(exported.raw, intact(exported))
    assert report.state == "holds"
    assert report.findings == ()
    assert [entry.state for entry in report.sentences] == ["holds"] * 5 + ["unproved"]


def test_every_single_edit_is_found_and_placed(exported: Exported, monkeypatch: pytest.MonkeyPatch) -> None:
    # Most edits leave the proof's input alone: it is proved once, not once for each leaf.
    monkeypatch.setattr("app.receipts.proof_check.prove_again", cache(prove_again))
    raw, sources = exported.raw, intact(exported)
    paths = list(leaves(raw))
    assert {path[0] for path in paths} == set(raw)
    wrong: list[object] = []
    for path in paths:
        if path == ("format",):
            continue
        report = check(edited(raw, path), sources)
        expected = resting(raw, path)
        # The text shown is not part of any sentence's record, but a change in it is a change of what is said there.
        placed = named(report) == expected or (path == ("answer", "text") and named(report) == {1})
        if report.state != "altered" or not placed:
            wrong.append((path, report.state, named(report), expected))
    assert wrong == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (("claims", 1, "text"), "claim_altered"),
        (("claims", 1, "explanation"), "claim_altered"),
        (("citations", 1, "quote"), "quote_altered"),
        (("citations", 1, "char_start"), "citation_altered"),
    ],
)
def test_an_edit_with_new_digests_is_found_by_the_rules_themselves(
    exported: Exported, path: tuple[Any, ...], code: str
) -> None:
    forged = redigested(edited(exported.raw, path))
    report = check(forged, intact(exported))
    assert report.state == "altered"
    assert {finding.code for finding in report.findings} == {"signature_wrong"}
    assert named(report) == {2}
    assert code in {finding.code for finding in report.sentences[1].findings}


def test_a_verdict_that_does_not_follow_is_named(exported: Exported) -> None:
    raw = exported.raw
    raw["claims"][5]["verdict"] = "verified"
    report = check(redigested(raw), intact(exported))
    assert named(report) == {6}
    assert [finding.code for finding in report.sentences[5].findings] == ["verdict_altered"]


def test_words_changed_in_the_answer_shown_are_placed(exported: Exported) -> None:
    raw = exported.raw
    raw["answer"]["text"] = raw["answer"]["text"].replace("180 days", "365 days and more")
    assert named(check(raw, intact(exported))) == {2}
    assert named(check(redigested(raw), intact(exported))) == {2}


def test_evidence_made_up_for_a_sentence_is_not_in_its_document(exported: Exported) -> None:
    raw = exported.raw
    place = raw["citations"][1]["passage"]
    text = raw["evidence"][place]["text"]
    assert "180" in text
    for part, old, new in (("evidence", "180", "999"), ("citations", "180", "999")):
        for entry in raw[part]:
            for name in ("text", "quote"):
                if isinstance(entry.get(name), str):
                    entry[name] = entry[name].replace(old, new)
    for claim in raw["claims"]:
        claim["text"] = claim["text"].replace("180", "999")
    raw["proof"]["draft"] = raw["proof"]["draft"].replace("180", "999")
    raw["answer"]["text"] = raw["answer"]["text"].replace("180", "999")
    report = check(redigested(raw), intact(exported))
    assert [finding.code for finding in report.findings] == ["signature_wrong"]
    assert "quote_gone" in {finding.code for finding in report.sentences[1].findings}
    assert {entry.number for entry in report.sentences if entry.state in ("altered", "changed")} == {2}


def test_a_sentence_taken_out_is_missed(exported: Exported) -> None:
    raw = exported.raw
    del raw["claims"][-1]
    codes = [finding.code for finding in check(raw, intact(exported)).findings]
    assert codes.count("part_missing") == 2
    assert check(redigested(raw), intact(exported)).state == "altered"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"format": "groundwork-receipt/1"}',
        b"\xff\xfe",
        b'{"digests": {}, "digests": {}}',
        b'{"digests": {"parts": {}, "whole": NaN}}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_receipt_is_refused(data: bytes) -> None:
    with pytest.raises(ReceiptUnreadable):
        open_receipt(data, name="a.json")


def test_a_receipt_of_another_kind_is_refused_by_name(exported: Exported) -> None:
    raw = redigested(exported.raw | {"format": "groundwork-receipt/9"})
    with pytest.raises(ReceiptUnreadable, match="groundwork-receipt/9"):
        open_receipt(json.dumps(raw).encode(), name="a.json")


def test_a_chain_of_events_ends_otherwise_for_any_other_events() -> None:
    ends = {chain(events) for events in ([], ["a"], ["a", "b"], ["b", "a"], ["ab"], ["a\nb"], ["a", "b", ""])}
    assert len(ends) == 7
