from __future__ import annotations

import gzip
from collections.abc import Generator
from pathlib import Path

import pytest

from ingestion.remote import RemoteFetch, discover_remote
from ingestion.settings import RemoteSettings
from ingestion.sources import Discovery
from tests.ingestion.web_server import Answer, WebServer, serve

HTML = {"Content-Type": "text/html; charset=windows-1252"}


@pytest.fixture
def server() -> Generator[WebServer]:
    with serve() as running:
        yield running


def how(tmp_path: Path, *, exclude: tuple[str, ...] = (), **settings: object) -> RemoteFetch:
    remote = RemoteSettings.model_validate({"allow_private_addresses": True, **settings})
    return RemoteFetch(tmp_path / "fetched", remote, max_file_bytes=10_000, exclude=exclude)


def sitemap(*pages: str, inner: bool = False) -> Answer:
    kind, entry = ("sitemapindex", "sitemap") if inner else ("urlset", "url")
    entries = "".join(f"<{entry}><loc>\n {page} </loc></{entry}>" for page in pages)
    body = f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{kind}>'
    return Answer(body.encode())


def found(discovery: Discovery, server: WebServer) -> list[str]:
    return [source.source.removeprefix(server.url("")) for source in discovery]


def failed(discovery: Discovery, server: WebServer) -> list[tuple[str, str | None]]:
    return [(failure.source.removeprefix(server.url("")), failure.reason) for failure in discovery.failures]


async def test_page_becomes_a_file_named_by_its_url(server: WebServer, tmp_path: Path) -> None:
    server.answers["/docs/limits?lang=en"] = Answer(b"<p>Memory", headers=HTML)

    (source,) = await discover_remote([server.url("/docs/limits?lang=en#top")], how(tmp_path))

    assert source.source == server.url("/docs/limits?lang=en")
    assert (source.name, source.path.read_bytes()) == ("limits.html", b"<p>Memory")


async def test_encoding_that_only_the_server_states_is_kept(server: WebServer, tmp_path: Path) -> None:
    server.answers["/a.html"] = Answer("<p>Überlauf".encode("cp1252"), headers=HTML)

    (source,) = await discover_remote([server.url("/a.html")], how(tmp_path))

    assert source.path.read_bytes() == "<p>Überlauf".encode("utf-8-sig")


async def test_private_addresses_are_refused_unless_allowed(server: WebServer, tmp_path: Path) -> None:
    server.answers["/"] = Answer(b"secret")

    discovery = await discover_remote([server.url("/")], how(tmp_path, allow_private_addresses=False))

    assert failed(discovery, server) == [("/", "address_refused")]
    assert not discovery.may_prune(server.url("/"))
    assert server.asked == []


async def test_pages_of_nested_sitemaps_are_fetched_once_each(server: WebServer, tmp_path: Path) -> None:
    a, b, c = (server.url(f"/docs/{name}") for name in "abc")
    server.answers["/docs/index.xml"] = sitemap(server.url("/docs/1.xml"), server.url("/docs/2.xml.gz"), inner=True)
    server.answers["/docs/1.xml"] = sitemap(a, b, "http://other.example/x")
    server.answers["/docs/2.xml.gz"] = Answer(gzip.compress(sitemap(b, c, a).body))
    for name in "abc":
        server.answers[f"/docs/{name}"] = Answer(name.encode())

    discovery = await discover_remote([server.url("/docs/index.xml")], how(tmp_path))

    assert found(discovery, server) == ["/docs/a", "/docs/b", "/docs/c"]
    assert discovery.failures == ()
    assert [source.path.read_bytes() for source in discovery] == [b"a", b"b", b"c"]
    assert sum(request[":path"] == "/docs/b" for request in server.asked) == 1
    assert discovery.may_prune(server.url("/docs/old"))
    assert not discovery.may_prune(server.url("/blog/old"))


async def test_page_that_fails_is_not_pruned_and_one_that_is_gone_is(server: WebServer, tmp_path: Path) -> None:
    server.answers["/sitemap.xml"] = sitemap(*(server.url(f"/{name}") for name in ("ok", "broken", "gone")))
    server.answers["/ok"] = Answer(b"ok")
    server.answers["/broken"] = Answer(status=503)

    discovery = await discover_remote([server.url("/sitemap.xml")], how(tmp_path))

    assert failed(discovery, server) == [("/broken", "fetch_failed"), ("/gone", "not_found")]
    assert not discovery.may_prune(server.url("/broken"))
    assert discovery.may_prune(server.url("/gone"))


async def test_pages_that_robots_txt_forbids_are_skipped(server: WebServer, tmp_path: Path) -> None:
    server.answers["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /private/\n")
    server.answers["/sitemap.xml"] = sitemap(server.url("/open"), server.url("/private/page"))
    server.answers["/open"] = server.answers["/private/page"] = Answer(b"text")

    discovery = await discover_remote([server.url("/sitemap.xml")], how(tmp_path))

    assert found(discovery, server) == ["/open"]
    assert [failure.status for failure in discovery.failures] == ["skipped"]
    assert sum(request[":path"] == "/robots.txt" for request in server.asked) == 1


async def test_robots_txt_that_cannot_be_had_forbids_all(server: WebServer, tmp_path: Path) -> None:
    server.answers["/robots.txt"] = Answer(status=500)
    server.answers["/sitemap.xml"] = sitemap(server.url("/open"))
    server.answers["/open"] = Answer(b"text")

    assert (await discover_remote([server.url("/sitemap.xml")], how(tmp_path))).sources == ()


async def test_sitemap_is_cut_at_the_limit_and_says_so(server: WebServer, tmp_path: Path) -> None:
    server.answers["/sitemap.xml"] = sitemap(*(server.url(f"/{number}") for number in range(5)))
    for number in range(5):
        server.answers[f"/{number}"] = Answer(b"text")

    discovery = await discover_remote([server.url("/sitemap.xml")], how(tmp_path, max_files=2))

    assert found(discovery, server) == ["/0", "/1"]
    assert failed(discovery, server) == [("/sitemap.xml", "too_large")]
    assert not discovery.may_prune(server.url("/old"))


async def test_sitemaps_that_name_each_other_end(server: WebServer, tmp_path: Path) -> None:
    server.answers["/a.xml"] = sitemap(server.url("/b.xml"), inner=True)
    server.answers["/b.xml"] = sitemap(server.url("/a.xml"), inner=True)

    discovery = await discover_remote([server.url("/a.xml")], how(tmp_path))

    assert {reason for _, reason in failed(discovery, server)} == {"too_large"}


async def test_damaged_sitemap_and_entities_end_with_a_reason(server: WebServer, tmp_path: Path) -> None:
    server.answers["/cut.xml"] = Answer(sitemap(server.url("/a")).body[:-20])
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 100}">' for n in range(9))
    server.answers["/bomb.xml"] = Answer(
        f"<!DOCTYPE urlset [{bomb}]><urlset><url><loc>&e8;</loc></url></urlset>".encode()
    )

    discovery = await discover_remote([server.url("/cut.xml"), server.url("/bomb.xml")], how(tmp_path))

    assert ("/cut.xml", "corrupt") in failed(discovery, server)
    assert discovery.sources == ()


async def test_patterns_and_sizes_hold_for_pages(server: WebServer, tmp_path: Path) -> None:
    server.answers["/sitemap.xml"] = sitemap(*(server.url(path) for path in ("/a/x", "/b/y", "/b/large")))
    server.answers["/a/x"] = server.answers["/b/y"] = Answer(b"text")
    server.answers["/b/large"] = Answer(b"x" * 20_000)

    discovery = await discover_remote([server.url("/sitemap.xml")], how(tmp_path, exclude=("/a/",)))

    assert found(discovery, server) == ["/b/y"]
    assert failed(discovery, server) == [("/b/large", "too_large")]
