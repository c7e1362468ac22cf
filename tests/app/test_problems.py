from __future__ import annotations

from collections.abc import AsyncGenerator

import httpx
import pytest
import pytest_asyncio

from app.main import MAX_BODY_BYTES, create_app
from app.schema import Problem, ProblemCode
from app.settings import ServerSettings, Settings
from app.wiring import Platform, open_platform
from retrieval.embedders.hashing import HashingEmbedder
from tests.fakes import GatedChatModel

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(home_path=tmp_path_factory.mktemp("problems"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(settings: Settings) -> AsyncGenerator[Platform]:
    """One platform for all: what is refused changes nothing."""
    async with open_platform(settings, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")) as platform:
        yield platform


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(settings: Settings, platform: Platform) -> AsyncGenerator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(settings, platform=platform), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nothing", None, 404, "route_unknown"),
        ("PUT", "/api/search", {}, 405, "method_not_allowed"),
        ("GET", "/api/threads/nothing", None, 404, "thread_unknown"),
        ("DELETE", "/api/threads/nothing", None, 404, "thread_unknown"),
        ("POST", "/api/threads/nothing/runs", {"question": "Why?"}, 404, "thread_unknown"),
        ("POST", "/api/threads/nothing/runs", {"question": "  \n "}, 422, "request_invalid"),
        ("POST", "/api/threads/nothing/runs", {"question": ""}, 422, "request_invalid"),
        ("POST", "/api/threads/nothing/runs", {"question": "x" * 8001}, 422, "request_invalid"),
        ("POST", "/api/threads/nothing/runs", {"question": "Why?", "surprise": 1}, 422, "request_invalid"),
        ("POST", "/api/threads", {"title": "x" * 201}, 422, "request_invalid"),
        ("GET", "/api/runs/nothing", None, 404, "run_unknown"),
        ("GET", "/api/runs/nothing/events", None, 404, "run_unknown"),
        ("GET", "/api/runs/nothing/events?after=-1", None, 422, "request_invalid"),
        ("GET", "/api/runs/nothing/events?after=x", None, 422, "request_invalid"),
        ("POST", "/api/runs/nothing/cancel", None, 404, "run_unknown"),
        ("GET", "/api/documents/nothing", None, 404, "document_unknown"),
        ("GET", "/api/documents/nothing/text", None, 404, "document_unknown"),
        ("GET", "/api/documents/nothing/chunks", None, 404, "document_unknown"),
        ("DELETE", "/api/documents/nothing", None, 404, "document_unknown"),
        ("GET", "/api/documents?status=odd", None, 422, "request_invalid"),
        ("POST", "/api/documents", {}, 422, "request_invalid"),
        ("GET", "/api/jobs/nothing", None, 404, "job_unknown"),
        ("POST", "/api/search", {"query": "   "}, 422, "request_invalid"),
        ("POST", "/api/search", {"query": "x", "limit": 0}, 422, "request_invalid"),
        ("POST", "/api/search", {"query": "x", "limit": 101}, 422, "request_invalid"),
        ("POST", "/api/ingestions", {"paths": ["/etc"]}, 403, "token_refused"),
        ("POST", "/api/ingestions", {"paths": []}, 422, "request_invalid"),
        ("POST", "/api/search", {"query": "x", "filter": {"a": "y" * MAX_BODY_BYTES}}, 413, "too_large"),
    ],
)
async def test_every_refusal_is_a_problem_document(
    http: httpx.AsyncClient, method: str, path: str, body: object, status: int, code: ProblemCode
) -> None:
    response = await http.request(method, path, json=body)
    assert response.headers["content-type"] == "application/problem+json"
    problem = Problem.model_validate_json(response.content)
    assert (response.status_code, problem.status, problem.code) == (status, status, code)
    assert problem.detail.endswith(".")


async def test_body_that_is_no_json_is_a_problem_document(http: httpx.AsyncClient) -> None:
    response = await http.post("/api/search", content=b"{", headers={"content-type": "application/json"})
    assert Problem.model_validate_json(response.content).code == "request_invalid"


async def test_wrong_token_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.post(
        "/api/ingestions", json={"paths": ["/etc"]}, headers={b"X-Groundwork-Token": "gü".encode()}
    )
    assert Problem.model_validate_json(response.content).code == "token_refused"


async def test_fault_of_ours_shows_no_traceback(settings: Settings, platform: Platform) -> None:
    app = create_app(settings, platform=platform)

    @app.get("/fault")
    async def fault() -> None:  # pyright: ignore[reportUnusedFunction] - FastAPI calls it
        raise RuntimeError("the secret is 42")

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.get("/fault")
    problem = Problem.model_validate_json(response.content)
    assert (problem.status, problem.code) == (500, "internal_error")
    assert "secret" not in response.text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:8080", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8080", 200),
        ("docs.example", 200),
        ("Docs.Example:443", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("", 400),
    ],
)
async def test_only_named_hosts_and_loopback_are_served(
    settings: Settings, platform: Platform, host: str, status: int
) -> None:
    named = settings.model_copy(update={"server": ServerSettings(allowed_hosts=("docs.example",))})
    transport = httpx.ASGITransport(create_app(named, platform=platform))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.get("/healthz", headers={"host": host})
    assert response.status_code == status
    if status != 200:
        assert Problem.model_validate_json(response.content).code == "host_refused"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"model": "gpt-none", "messages": [{"role": "user", "content": "Why?"}]}, 404, "model_not_found"),
        ({"model": "groundwork", "messages": []}, 422, "request_invalid"),
        ({"model": "groundwork", "messages": [{"role": "user", "content": " "}]}, 422, "request_invalid"),
        ({"model": "groundwork", "messages": [{"role": "assistant", "content": "Hm."}]}, 422, "request_invalid"),
        ({"model": "groundwork", "messages": [{"role": "user", "content": "Why?"}], "n": 2}, 422, "request_invalid"),
        (
            {
                "model": "groundwork",
                "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
            },
            422,
            "request_invalid",
        ),
    ],
)
async def test_refusals_under_v1_have_openais_shape(
    http: httpx.AsyncClient, body: object, status: int, code: str
) -> None:
    response = await http.post("/v1/chat/completions", json=body)
    assert response.status_code == status
    error = response.json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", code)
    assert error["message"]


async def test_openapi_names_every_operation_and_its_problems(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    operations = {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    ids = [operation["operationId"] for operation in operations.values()]
    assert len(ids) == len(set(ids))
    assert all(identifier.isidentifier() and "__" not in identifier for identifier in ids)
    for name, operation in operations.items():
        assert operation.get("description"), name
        for status, response in operation["responses"].items():
            if int(status) >= 400 and "/v1/" not in name and name != "GET /readyz":
                assert list(response["content"]) == ["application/problem+json"], (name, status)
    assert "HTTPValidationError" not in str(document)
    assert "409" in operations["POST /api/threads/{thread_id}/runs"]["responses"]
    assert set(document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]) >= {"run_active"}
