from __future__ import annotations

from collections.abc import Sequence

import pytest

from agents.answer import Answer
from agents.attached import (
    AttachedPiece,
    AttachedText,
    Room,
    attached_hits,
    attachment_of,
    room_for_attached,
    with_attached,
)
from agents.attachments import Attachments
from agents.events import AnswerDone, HitsFound, RunEvent
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.stream import Answerer
from agents.testing import ScriptedChatModel
from tests.agents.passages import CONFIG_MAP, JOB, OOM, WordSearch

REPORT = (
    "The incident began at 03:12.",
    "The node pool burst-4 had 17 nodes when the pager rang.",
    "Nobody changed the quota of the team checkout.",
    "The second alarm came from the region eu-south.",
    "After an hour the traffic was back at what is usual on a Sunday.",
    "The quota of the team search was raised by a fifth in May.",
)
QUESTION = "How many nodes had the node pool burst-4?"
REPLY = "The node pool burst-4 had 17 nodes when the pager rang."
MODEL = ScriptedChatModel([REPLY])
WIDE = Room(tokens=1000, passages=4)


def attached(*parts: str, key: str = "a1", name: str = "report.md") -> AttachedText:
    """An attached text whose pieces are these parts."""
    text = "\n\n".join(parts)
    pieces: list[AttachedPiece] = []
    for part in parts:
        start = text.index(part)
        pieces.append(AttachedPiece(start, start + len(part), page=1, heading_path=("Findings",)))
    return AttachedText(key, name, f"file:{name}", text, tuple(pieces))


async def test_text_that_fits_enters_whole() -> None:
    (hit,) = await attached_hits([attached(*REPORT)], QUESTION, model=MODEL, room=WIDE)
    assert hit.chunk.text == "\n\n".join(REPORT)
    assert (hit.chunk.char_start, hit.chunk.char_end) == (0, len(hit.chunk.text))
    assert attachment_of(hit.chunk) == "a1"
    assert hit.chunk.title == "Attached: report.md"


async def test_longer_text_gives_the_pieces_nearest_to_the_question() -> None:
    text = attached(*REPORT)
    hits = await attached_hits([text], QUESTION, model=MODEL, room=Room(tokens=70, passages=2))
    assert hits[0].chunk.text == REPORT[1]
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[0].chunk.section == "Findings"
    for hit in hits:
        assert text.text[hit.chunk.char_start : hit.chunk.char_end] == hit.chunk.text


async def test_question_without_shared_words_gets_the_beginning() -> None:
    hits = await attached_hits([attached(*REPORT)], "Sum it up, please.", model=MODEL, room=Room(70, 2))
    assert [hit.chunk.text for hit in hits] == list(REPORT[:2])


async def test_piece_that_does_not_fit_leaves_its_place_to_a_smaller_one() -> None:
    long = "nodes " * 100
    hits = await attached_hits([attached(long, REPORT[1])], "nodes", model=MODEL, room=Room(60, 2))
    assert [hit.chunk.text for hit in hits] == [REPORT[1]]


async def test_pieces_of_several_texts_are_ranked_together() -> None:
    other = attached("The budget of burst-4 is 900 euros.", key="a2", name="budget.txt")
    hits = await attached_hits([attached(*REPORT), other], "budget of burst-4", model=MODEL, room=Room(70, 2))
    assert attachment_of(hits[0].chunk) == "a2"


async def test_nothing_attached_gives_no_passages() -> None:
    assert await attached_hits([], QUESTION, model=MODEL, room=WIDE) == ()


@pytest.mark.parametrize(
    ("beside", "window", "expected"),
    [(False, 4000, Room(1400, 6)), (True, 4000, Room(1050, 4)), (False, 1000, Room(500, 6))],
)
def test_room_leaves_a_share_to_what_was_found(beside: bool, window: int, expected: Room) -> None:
    room = room_for_attached(evidence_tokens=1400, evidence_passages=6, window_tokens=window, share=0.75, beside=beside)
    assert room == expected


async def _events(
    model: ScriptedChatModel, texts: Sequence[AttachedText], *, question: str = QUESTION, found: Sequence[str] = ()
) -> list[RunEvent]:
    async def read(ids: Sequence[str]) -> Sequence[AttachedText]:
        return [entry for entry in texts if entry.attachment_id in ids]

    answerer = Answerer(
        retriever=WordSearch(found), chat_model=model, settings=AnswerSettings(), attachments=Attachments(read)
    )
    request = AnswerRequest("run", "thread", question, attachments=tuple(entry.attachment_id for entry in texts))
    return [event async for event in answerer.run(request)]


def _answer(events: Sequence[RunEvent]) -> Answer:
    return next(event.answer for event in events if isinstance(event, AnswerDone))


async def test_answer_from_an_attached_text_is_proved_and_cited_without_any_document() -> None:
    text = attached(*REPORT)
    answer = _answer(await _events(ScriptedChatModel([REPLY]), [text]))
    assert answer.status == "answered"
    assert [claim.verdict for claim in answer.claims] == ["verified"]
    (citation,) = answer.citations
    assert citation.attachment_id == "a1"
    assert text.text[citation.char_start : citation.char_end] == citation.quote == REPORT[1]


async def test_figure_that_the_attached_text_does_not_hold_is_not_verified() -> None:
    answer = _answer(await _events(ScriptedChatModel([REPLY.replace("17", "71")]), [attached(*REPORT)]))
    assert not [claim for claim in answer.claims if claim.verdict == "verified" and "71" in claim.text]


async def test_attached_text_comes_before_documents_and_is_shown_among_what_was_found() -> None:
    model = ScriptedChatModel([REPLY])
    events = await _events(model, [attached(*REPORT)], found=(CONFIG_MAP, OOM, JOB))
    (found,) = [event for event in events if isinstance(event, HitsFound)]
    assert found.passages[0].attachment_id == "a1"
    assert [passage.rank for passage in found.passages] == [1, 2, 3, 4]
    assert REPORT[1] in model.prompts[0][-1].content
    assert 'from="Attached: report.md"' in model.prompts[0][-1].content


async def test_model_that_finds_nothing_in_the_attached_text_abstains_and_says_where_it_looked() -> None:
    model = ScriptedChatModel(["NOT_FOUND"])
    answer = _answer(await _events(model, [attached(*REPORT)], question="Who won?"))
    assert "NOT_FOUND" in model.prompts[0][-1].content
    assert answer.status == "abstained"
    assert answer.abstention is not None
    assert "and the attached text" in answer.abstention.searched


def test_attached_passages_are_numbered_before_the_others() -> None:
    found = WordSearch((OOM, JOB)).search("memory").hits
    assert [hit.rank for hit in with_attached(found[:1], found)] == [1, 2, 3]
