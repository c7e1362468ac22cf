"""Which pictures go with a question, and why one is refused."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.gateway.capabilities import Capabilities
from app.attachment_texts import TextMaker
from app.database import open_database
from app.errors import AttachmentRefused, ModelBlind
from app.picture_store import PictureStore
from app.pictures import PictureService, Sight, earlier_pictures, speaks_of_before
from app.schema import RunInfo, RunRequest
from app.settings import AttachmentSettings, Settings
from app.threads import ThreadStore
from ingestion.settings import IngestionSettings
from tests.pictures import blank

UNREAD = IngestionSettings(ocr="never")
SEES = Sight("eye", Capabilities(images=True, context_tokens=4096))


def service(engine: AsyncEngine, folder: Path, **limits: int) -> PictureService:
    settings = AttachmentSettings.model_validate(limits)
    return PictureService(PictureStore(engine), TextMaker(settings, UNREAD, lambda texts: [1 for _ in texts], folder))


@pytest.fixture
async def engine(database_settings: Settings) -> AsyncGenerator[AsyncEngine]:
    async with open_database(database_settings) as engine:
        yield engine


@pytest.fixture
async def thread(engine: AsyncEngine) -> str:
    return (await ThreadStore(engine).create()).thread_id


@pytest.mark.parametrize(
    ("sight", "told"),
    [
        (Sight("small", Capabilities(images=False)), "cannot see pictures, so 'a.png' would tell it nothing"),
        (Sight("small", Capabilities()), "does not say whether it sees pictures"),
        (Sight("small", Capabilities(images=True, context_tokens=64)), r"no room for 'a\.png' .* \(96 tokens\)"),
        (
            Sight("small", Capabilities(images=False), ("eye", "small")),
            r"Remove the picture, or choose one that sees \(eye\)",
        ),
        (Sight("small", Capabilities(images=False)), r"no words are read from pictures here \(ingestion\.ocr\)"),
    ],
)
async def test_refusal_says_why_and_what_to_do(
    engine: AsyncEngine, thread: str, tmp_path: Path, sight: Sight, told: str
) -> None:
    pictures = service(engine, tmp_path)
    entry = await pictures.attach(thread, "a.png", blank())
    with pytest.raises(ModelBlind, match=told):
        await pictures.choose(thread, [entry.attachment_id], (), sight)


async def test_earlier_pictures_fill_the_room_that_the_question_leaves(
    engine: AsyncEngine, thread: str, tmp_path: Path
) -> None:
    pictures = service(engine, tmp_path, max_pictures=2)
    ids = [
        (await pictures.attach(thread, f"{colour}.png", blank(colour=colour), waits=False)).attachment_id
        for colour in ("red", "green", "blue")
    ]

    chosen = await pictures.choose(thread, ids[:1], [ids[0], *ids[1:]], SEES)

    assert [one.name for one in chosen.given] == ["red.png"]
    assert [one.name for one in chosen.earlier] == ["green.png"]
    blind = Sight("small", Capabilities(images=False))
    assert (await pictures.choose(thread, [], ids, blind)).earlier == (), "what tells a model nothing is left out"
    with pytest.raises(AttachmentRefused, match=r"has 3 pictures, more than 2"):
        await pictures.choose(thread, ids, (), SEES)


async def test_server_that_takes_no_pictures_says_so(engine: AsyncEngine, thread: str, tmp_path: Path) -> None:
    with pytest.raises(AttachmentRefused, match=r"max_pictures\] is 0|max_pictures is 0"):
        await service(engine, tmp_path, max_pictures=0).attach(thread, "a.png", blank())


async def test_picture_waits_until_it_is_taken(engine: AsyncEngine, thread: str, tmp_path: Path) -> None:
    pictures = service(engine, tmp_path)
    entry = await pictures.attach(thread, "a.png", blank())
    await pictures.attach(thread, "b.png", blank(colour="red"), waits=False)
    question = RunRequest(question="Why?")

    assert await pictures.chosen_ids(thread, question, ()) == [entry.attachment_id]
    await pictures.store.take([entry.attachment_id])
    assert await pictures.chosen_ids(thread, question, ()) == []
    assert await pictures.chosen_ids(thread, RunRequest(question="Why?", pictures=("x",)), ()) == ("x",)


@pytest.mark.parametrize(
    ("question", "speaks"),
    [
        ("And what does it mean?", True),
        ("What else does the screenshot show?", True),
        ("Which memory limit may an on-call engineer set for orders-api?", False),
    ],
)
def test_question_that_stands_alone_has_no_earlier_picture(question: str, speaks: bool) -> None:
    assert speaks_of_before(question) is speaks
    run = RunInfo(run_id="r", thread_id="t", question="Q", state="answered", created_at="", last_seq=1)
    assert earlier_pictures(question, [run], without="") == []
