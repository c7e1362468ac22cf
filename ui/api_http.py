"""HTTP to the API: one place that sends, reads bodies as wire types, and names what went wrong."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from agents.events import EVENT_ADAPTER, RunEvent
from app.schema import Problem
from ui.errors import ApiRefused, ApiUnreachable
from ui.event_stream import read_events

Body = TypeVar("Body", bound=BaseModel)
Query = Mapping[str, str | int | Sequence[str]]

CONNECT_SECONDS = 3.0
REQUEST_SECONDS = 60.0
"""Longest wait for an answer; a search waits for the embedding model, an upload for its bytes, a tool list for a
server that starts."""


class HttpApi:
    """Requests to one address; may be shared by threads.

    Every method raises ``ApiUnreachable`` when the API does not answer and ``ApiRefused`` with the problem's sentence
    when it refuses.
    """

    def __init__(self, base_url: str, *, transport: httpx.BaseTransport | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._http = httpx.Client(
            base_url=self.base_url,
            transport=transport,
            timeout=httpx.Timeout(REQUEST_SECONDS, connect=CONNECT_SECONDS),
            trust_env=False,
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def get(self, path: str, kind: type[Body], *, query: Query | None = None, accept: Container[int] = ()) -> Body:
        """The body of a GET; statuses of errors in ``accept`` have one of that kind too."""
        return self._parse(self._send(self._http.build_request("GET", path, params=query), accept=accept), kind)

    def get_bytes(self, path: str, *, query: Query | None = None) -> bytes:
        """The body of a GET as it is."""
        return self._send(self._http.build_request("GET", path, params=query)).content

    def send(self, method: str, path: str, kind: type[Body], *, body: BaseModel | None = None) -> Body:
        """The body of the answer to a request with a JSON body, or without one."""
        json = None if body is None else body.model_dump(mode="json")
        return self._parse(self._send(self._http.build_request(method, path, json=json)), kind)

    def send_changes(self, method: str, path: str, kind: type[Body], *, body: BaseModel) -> Body:
        """As ``send``, with the fields alone that were set."""
        json = body.model_dump(mode="json", exclude_unset=True)
        return self._parse(self._send(self._http.build_request(method, path, json=json)), kind)

    def send_files(self, path: str, kind: type[Body], *, files: Sequence[Any], form: Mapping[str, str]) -> Body:
        """The body of the answer to a form with files."""
        return self._parse(self._send(self._http.build_request("POST", path, files=files, data=form)), kind)

    def post(self, path: str, *, body: BaseModel) -> None:
        """Send a JSON body where no answer is expected."""
        self._send(self._http.build_request("POST", path, json=body.model_dump(mode="json")))

    def delete(self, path: str) -> None:
        """Delete what stands there."""
        self._send(self._http.build_request("DELETE", path))

    def events(self, path: str, *, after: int, idle_seconds: float) -> Iterator[RunEvent | None]:
        """One connection's events; None first, when the API has accepted. Raises httpx's errors as they are."""
        wait = httpx.Timeout(idle_seconds, connect=CONNECT_SECONDS)
        with self._http.stream("GET", path, params={"after": after}, timeout=wait) as response:
            if response.is_error:
                response.read()
                raise _refusal(response)
            yield None
            for data in read_events(response.iter_bytes()):
                try:
                    yield EVENT_ADAPTER.validate_json(data)
                except ValidationError as error:
                    raise ApiUnreachable(self._strange()) from error

    def down(self) -> str:
        """The sentence for an API that does not answer."""
        return f"Groundwork's API does not answer at {self.base_url}; start it with: groundwork up"

    def _send(self, request: httpx.Request, *, accept: Container[int] = ()) -> httpx.Response:
        try:
            response = self._http.send(request)
        except httpx.TimeoutException as error:
            raise ApiUnreachable(f"The API at {self.base_url} takes too long to answer; try again.") from error
        except httpx.HTTPError as error:
            raise ApiUnreachable(self.down()) from error
        if response.is_error and response.status_code not in accept:
            raise _refusal(response)
        return response

    def _parse(self, response: httpx.Response, kind: type[Body]) -> Body:
        try:
            return kind.model_validate_json(response.content)
        except ValidationError as error:
            raise ApiUnreachable(self._strange()) from error

    def _strange(self) -> str:
        return f"What answers at {self.base_url} is not the Groundwork API of this version; check GROUNDWORK_API_URL."


def segment(identifier: str) -> str:
    """An id as one segment of a path, whatever characters a hand-edited address may hold."""
    return quote(identifier, safe="")


def _refusal(response: httpx.Response) -> ApiRefused:
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        detail = f"The API answered with the status {response.status_code}; see its log."
        return ApiRefused(detail, status=response.status_code, code="unknown")
    return ApiRefused(problem.detail, status=problem.status, code=problem.code)
