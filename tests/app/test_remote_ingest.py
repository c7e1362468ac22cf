from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from app.client import ApiClient
from app.schema import IngestRequest
from app.settings import Settings
from ingestion.settings import RemoteSettings
from tests.app.conftest import Served, ended
from tests.ingestion.web_server import Answer, WebServer, serve


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home_path=tmp_path / "home", remote=RemoteSettings(allow_private_addresses=True))


@pytest.fixture
def site() -> Generator[WebServer]:
    with serve() as server:
        pages = "".join(f"<url><loc>{server.url(f'/docs/{name}')}</loc></url>" for name in "ab")
        server.answers["/docs/sitemap.xml"] = Answer(f"<urlset>{pages}</urlset>".encode())
        for name in "ab":
            body = f"<h1>Page {name}</h1><p>The kernel kills the container.</p>".encode()
            server.answers[f"/docs/{name}"] = Answer(body, headers={"Content-Type": "text/html"})
        yield server


async def outcome(api: ApiClient, site: WebServer, request: IngestRequest) -> dict[str, str]:
    job = await ended(api, await api.ingest(request))
    assert job.report is not None
    return {file.source.removeprefix(site.url("")): file.status for file in job.report.files}


async def test_sitemap_is_kept_in_step_with_its_site(served: Served, site: WebServer, handbook: Path) -> None:
    request = IngestRequest(paths=(site.url("/docs/sitemap.xml"), str(handbook)), prune=True)

    first = await outcome(served.api, site, request)
    again = await outcome(served.api, site, request)
    site.answers["/docs/a"] = Answer(status=410)
    site.answers["/docs/b"] = Answer(status=503)
    later = await outcome(served.api, site, request)

    assert first == {"/docs/a": "indexed", "/docs/b": "indexed", str(handbook): "indexed"}
    assert again == dict.fromkeys(first, "unchanged")
    assert later == {"/docs/a": "deleted", "/docs/b": "failed", str(handbook): "unchanged"}
    assert not list(served.platform.home.uploads.glob("*"))


async def test_patterns_of_a_request_are_kept_to_and_checked(served: Served, site: WebServer, handbook: Path) -> None:
    (handbook.parent / "draft.md").write_text("# Draft", encoding="utf-8")
    request = IngestRequest(paths=(f"{handbook.parent}/*.md",), exclude=("draft*",))

    assert await outcome(served.api, site, request) == {str(handbook): "indexed"}
    with pytest.raises(ValueError, match="cannot be understood"):
        IngestRequest(paths=("x",), exclude=("!",))
