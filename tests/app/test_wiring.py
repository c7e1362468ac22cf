from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from agents.errors import ModelUnavailable
from app.errors import DatabaseUnavailable, HomeLocked
from app.schema import ThreadCreate
from app.search_schema import SearchRequest
from app.serve import serve_embedded
from app.settings import DatabaseSettings, Settings
from app.wiring import open_platform
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.errors import EmbeddingModelMismatch, ModelFilesMissing
from tests.app.conftest import ended
from tests.conftest import ROOT
from tests.fakes import GatedChatModel


async def test_second_platform_on_a_home_is_refused_until_the_first_has_closed(settings: Settings) -> None:
    embedder, chat_model = HashingEmbedder(), GatedChatModel("Yes.")
    async with open_platform(settings, embedder=embedder, chat_model=chat_model):
        with pytest.raises(HomeLocked):
            async with open_platform(settings, embedder=embedder, chat_model=chat_model):
                pass
    async with open_platform(settings, embedder=embedder, chat_model=chat_model):
        pass


async def test_everything_is_there_after_a_restart(database_settings: Settings, handbook: Path) -> None:
    embedder, chat_model = HashingEmbedder(), GatedChatModel("Yes.")
    async with serve_embedded(database_settings, embedder=embedder, chat_model=chat_model) as client:
        await ended(client, await client.upload([handbook]))
        thread = await client.create_thread(ThreadCreate(title="Kept"))
    async with serve_embedded(database_settings, embedder=embedder, chat_model=chat_model) as client:
        assert (await client.thread(thread.thread_id)).thread.title == "Kept"
        assert (await client.search(SearchRequest(query="OOMKilled"))).hits
        assert (await client.status()).consistent


async def test_uploads_of_a_killed_process_are_removed(settings: Settings) -> None:
    left = settings.home.uploads / "job" / "secret.txt"
    left.parent.mkdir(parents=True)
    left.write_text("left behind", encoding="utf-8")
    async with open_platform(settings, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")):
        assert list(settings.home.uploads.iterdir()) == []


async def test_store_of_another_embedding_model_is_refused(settings: Settings) -> None:
    chat_model = GatedChatModel("Yes.")
    async with open_platform(settings, embedder=HashingEmbedder(dim=256), chat_model=chat_model):
        pass
    with pytest.raises(EmbeddingModelMismatch):
        async with open_platform(settings, embedder=HashingEmbedder(dim=128), chat_model=chat_model):
            pass


async def test_missing_embedding_model_names_the_command_that_fetches_it(settings: Settings) -> None:
    with pytest.raises(ModelFilesMissing, match="groundwork models pull"):
        async with open_platform(settings):
            pass


async def test_failure_to_open_releases_the_home(settings: Settings) -> None:
    url = SecretStr("postgresql+asyncpg://nobody@127.0.0.1:1/none")
    elsewhere = settings.model_copy(update={"database": DatabaseSettings(url=url)})
    with pytest.raises(DatabaseUnavailable):
        async with open_platform(elsewhere, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")):
            pass
    async with open_platform(settings, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")):
        pass


async def test_missing_chat_model_fails_answers_and_not_the_start(settings: Settings) -> None:
    async with open_platform(settings, embedder=HashingEmbedder()) as platform:
        assert platform.model_server is None
        with pytest.raises(ModelUnavailable, match="groundwork models pull"):
            await platform.chat_model.check()


def test_process_of_the_api_never_loads_torch(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from app.settings import Settings\n"
        "from app.serve import serve_embedded\n"
        "from retrieval.embedders.hashing import HashingEmbedder\n"
        "async def main():\n"
        "    async with serve_embedded(Settings(home_path=Path(sys.argv[1])), embedder=HashingEmbedder()) as client:\n"
        "        await client.status()\n"
        "asyncio.run(main())\n"
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'streamlit', 'vllm'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "home")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
