"""``ask --image``, and what a terminal says of pictures and of a search that lost a step."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

from agents.events import PicturesGiven, SearchWarned
from agents.picture_record import GivenPicture
from app.cli.acting import tell
from app.cli.ask import run_question
from app.cli.attaching import attach_pictures
from app.client import ApiClient
from app.errors import ApiProblem
from app.schema import RunRequest, ThreadCreate
from tests.pictures import ERROR, blank, drawn, saved

STAMP = {"run_id": "r", "thread_id": "t", "seq": 1, "at": datetime.now(UTC)}


async def test_picture_goes_with_the_question_of_a_command(
    api: ApiClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shot.png").write_bytes(saved(drawn(ERROR)))
    (tmp_path / "scene.png").write_bytes(blank())
    thread = (await api.create_thread(ThreadCreate())).thread_id

    await attach_pictures(api, thread, [tmp_path / "shot.png"])
    ending = await run_question(api, thread, RunRequest(question="Why?"), lambda _: None)
    assert (await api.run(ending.answer.run_id)).pictures[0].words == 4
    told = capsys.readouterr().err
    assert "Attached the picture shot.png (4 words read from it)." in told
    assert "The model cannot see pictures; 4 words were read from shot.png." in told

    await attach_pictures(api, thread, [tmp_path / "scene.png"])
    with pytest.raises(ApiProblem, match=r"cannot see pictures, so 'scene\.png' would tell it nothing"):
        await run_question(api, thread, RunRequest(question="Why?"), lambda _: None)


@pytest.mark.parametrize(
    ("name", "told"), [("notes.md", "is no PNG, JPEG, WebP or GIF"), ("gone.png", "cannot be read")]
)
async def test_what_is_no_picture_is_refused_before_it_is_sent(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "notes.md").write_text("words", encoding="utf-8")
    async with ApiClient("http://127.0.0.1:9") as nobody:
        with pytest.raises(typer.BadParameter, match=told) as refused:
            await attach_pictures(nobody, "t", [tmp_path / name])
    assert refused.value.param_hint == "--image"


def test_terminal_tells_what_was_seen_and_what_a_search_lost(capsys: pytest.CaptureFixture[str]) -> None:
    picture = GivenPicture(
        attachment_id="a",
        name="shot\x1b[2J.png",
        media_type="image/png",
        width=9,
        height=9,
        sha256="",
        words=3,
        seen=True,
    )
    tell(PicturesGiven.model_validate({**STAMP, "pictures": [picture]}))
    tell(SearchWarned.model_validate({**STAMP, "code": "rerank_failed", "detail": "The reranker did not answer."}))

    told = capsys.readouterr().err
    assert "\x1b" not in told
    assert "3 words were read from shot" in told
    assert "Warning: The reranker did not answer." in told
