from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
from collections.abc import Generator, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ingestion.web import Fetched, FetchFailed, FetchLimits, fetch
from ingestion.web_address import Address, is_public, resolve
from tests.ingestion.web_server import Answer, WebServer, serve

HERE = FetchLimits(allow_private=True, seconds=10)


@pytest.fixture
def server() -> Generator[WebServer]:
    with serve() as running:
        yield running


async def refusal(url: str, limits: FetchLimits = HERE) -> str:
    with pytest.raises(FetchFailed) as raised:
        await fetch(url, limits=limits)
    return raised.value.reason


async def test_page_comes_with_what_its_server_says_of_it(server: WebServer) -> None:
    headers = {"Content-Type": "text/html; charset=ISO-8859-1", "ETag": '"7"', "Last-Modified": "Tue, 02 Jan 2024"}
    server.answers["/a?b=1"] = Answer(b"<p>Pods", headers=headers)

    fetched = await fetch(server.url("/a?b=1#part"), limits=HERE)

    assert fetched == Fetched(
        url=server.url("/a?b=1#part"),
        final_url=fetched.final_url,
        media_type="text/html",
        charset="iso-8859-1",
        data=b"<p>Pods",
        etag='"7"',
        last_modified="Tue, 02 Jan 2024",
    )
    assert "cookie" not in server.asked[0]
    assert "authorization" not in server.asked[0]


async def test_name_is_resolved_once_and_the_checked_address_is_asked_under_its_name(server: WebServer) -> None:
    server.answers["/"] = Answer(b"yes")
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> Sequence[Address]:
        asked.append(host)
        return [ip_address("127.0.0.1")] if len(asked) == 1 else []

    fetched = await fetch(server.url("/", host="docs.example"), limits=HERE, resolver=rebinding)

    assert (fetched.data, asked) == (b"yes", ["docs.example"])
    assert server.asked[0]["host"] == f"docs.example:{server.port}"
    assert fetched.final_url == server.url("/", host="docs.example")


async def test_certificate_is_that_of_the_name_and_not_of_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate("docs.example", tmp_path)))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")

    async def here(host: str, port: int) -> Sequence[Address]:
        return [ip_address("127.0.0.1")]

    with serve(tls=tls) as server:
        server.answers["/"] = Answer(b"yes")
        fetched = await fetch(server.url("/", host="docs.example"), limits=HERE, resolver=here)
        with pytest.raises(FetchFailed) as raised:
            await fetch(server.url("/", host="other.example"), limits=HERE, resolver=here)

    assert fetched.data == b"yes"
    assert raised.value.reason == "fetch_failed"


def certificate(name: str, folder: Path) -> Path:
    """Writes a certificate and its key; one that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    (folder / "certificate.pem").write_bytes(signed.public_bytes(pem))
    return folder / "certificate.pem"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"],
)
async def test_this_machine_is_refused_however_it_is_written(server: WebServer, host: str) -> None:
    server.answers["/"] = Answer(b"secret")

    assert await refusal(server.url("/", host=host), FetchLimits()) == "address_refused"
    assert server.asked == []


async def test_one_private_address_among_public_ones_refuses_the_name(server: WebServer) -> None:
    async def mixed(host: str, port: int) -> Sequence[Address]:
        return [ip_address("8.8.8.8"), ip_address("10.0.0.1")]

    with pytest.raises(FetchFailed) as raised:
        await fetch(server.url("/", host="docs.example"), limits=FetchLimits(), resolver=mixed)
    assert raised.value.reason == "address_refused"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700:4700::1111", True),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::808:808", True),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("127.9.9.9", False),
        ("169.254.169.254", False),
        ("100.100.100.200", False),
        ("168.63.129.16", False),
        ("192.0.0.192", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("0.0.0.0", False),
        ("198.18.0.1", False),
        ("::", False),
        ("::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("64:ff9b:1::808:808", False),
        ("2002:808:808::1", False),
        ("2001:0:808:808::1", False),
        ("fe80::1", False),
        ("fec0::1", False),
        ("fd00:ec2::254", False),
        ("ff02::1", False),
        ("2001:db8::1", False),
    ],
)
def test_only_public_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://docs.example/",
        "gopher://docs.example/",
        "http://user:word@docs.example/",
        "http://",
        "http://docs.example:99999/",
        "docs",
    ],
)
async def test_other_schemes_and_credentials_are_refused(url: str) -> None:
    assert await refusal(url) == "address_refused"


async def test_each_hop_of_a_redirect_is_checked(server: WebServer) -> None:
    server.answers["/start"] = Answer(status=302, headers={"Location": server.url("/secret", host="inside.example")})
    server.answers["/secret"] = Answer(b"secret")
    asked: list[str] = []

    async def names(host: str, port: int) -> Sequence[Address]:
        asked.append(host)
        if host == "inside.example":
            raise OSError("No such name.")
        return [ip_address("127.0.0.1")]

    with pytest.raises(FetchFailed) as raised:
        await fetch(server.url("/start", host="docs.example"), limits=HERE, resolver=names)

    assert raised.value.reason == "fetch_failed"
    assert asked == ["docs.example", "inside.example"]
    assert [request[":path"] for request in server.asked] == ["/start"]


async def test_redirects_are_followed_up_to_a_number(server: WebServer) -> None:
    server.answers["/a"] = Answer(status=301, headers={"Location": "b"})
    server.answers["/b"] = Answer(status=307, headers={"Location": "/c"})
    server.answers["/c"] = Answer(b"there")
    server.answers["/loop"] = Answer(status=302, headers={"Location": "/loop"})
    server.answers["/file"] = Answer(status=302, headers={"Location": "file:///etc/passwd"})

    fetched = await fetch(server.url("/a"), limits=HERE)

    assert (fetched.data, fetched.final_url) == (b"there", server.url("/c"))
    assert await refusal(server.url("/loop")) == "fetch_failed"
    assert await refusal(server.url("/file")) == "address_refused"


async def test_too_much_is_refused_stated_or_not_and_packed(server: WebServer) -> None:
    small = FetchLimits(allow_private=True, max_bytes=1000)
    server.answers["/stated"] = Answer(b"x" * 2000)
    server.answers["/chunked"] = Answer(
        b"".join(b"1f4\r\n" + b"x" * 500 + b"\r\n" for _ in range(4)) + b"0\r\n\r\n",
        headers={"Transfer-Encoding": "chunked"},
    )
    server.answers["/packed"] = Answer(gzip.compress(b"x" * 100_000), headers={"Content-Encoding": "gzip"})

    for path in server.answers:
        assert await refusal(server.url(path), small) == "too_large"


async def test_status_type_and_silence_have_their_reasons(server: WebServer) -> None:
    server.answers["/error"] = Answer(status=500)
    server.answers["/film"] = Answer(b"..", headers={"Content-Type": "video/mp4"})

    assert await refusal(server.url("/gone")) == "not_found"
    assert await refusal(server.url("/error")) == "fetch_failed"
    assert await refusal(server.url("/film"), FetchLimits(allow_private=True, media_types=("text/",))) == (
        "unsupported_type"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert await refusal(url, FetchLimits(allow_private=True, seconds=0.2)) == "timeout"
    assert await refusal(url) == "fetch_failed"


async def test_fetch_can_be_cancelled() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        task = asyncio.create_task(fetch(f"http://127.0.0.1:{silent.getsockname()[1]}/", limits=HERE))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_resolver_of_the_system_gives_each_address_once() -> None:
    found = await resolve("127.0.0.1", 80)

    assert found == (ip_address("127.0.0.1"),)
