"""Calls of the API about texts attached to threads, a part of ``app.client.ApiClient``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx

from app.attachment_schema import Attachment, AttachmentList, AttachmentText, AttachRequest
from app.client_wire import segment


class AttachmentCalls:
    """What is attached to threads; errors as of ``ApiClient``."""

    def __init__(self, http: httpx.AsyncClient, send: Callable[[httpx.Request], Awaitable[httpx.Response]]) -> None:
        self._http = http
        self._send = send

    async def list(self, thread_id: str) -> AttachmentList:
        """What is attached now, oldest first."""
        response = await self._send(self._http.build_request("GET", _path(thread_id)))
        return AttachmentList.model_validate_json(response.content)

    async def attach(self, thread_id: str, request: AttachRequest) -> Attachment:
        """Attach a resource or a document."""
        body = request.model_dump(mode="json")
        response = await self._send(self._http.build_request("POST", _path(thread_id), json=body))
        return Attachment.model_validate_json(response.content)

    async def attach_file(self, thread_id: str, name: str, data: bytes) -> Attachment:
        """Attach the text of a file."""
        files = {"file": (name, data)}
        response = await self._send(self._http.build_request("POST", f"{_path(thread_id)}/file", files=files))
        return Attachment.model_validate_json(response.content)

    async def read(self, thread_id: str, attachment_id: str) -> AttachmentText:
        """An attached text, also one that was removed."""
        response = await self._send(self._http.build_request("GET", f"{_path(thread_id)}/{segment(attachment_id)}"))
        return AttachmentText.model_validate_json(response.content)

    async def remove(self, thread_id: str, attachment_id: str) -> None:
        """Take a text off."""
        await self._send(self._http.build_request("DELETE", f"{_path(thread_id)}/{segment(attachment_id)}"))


def _path(thread_id: str) -> str:
    return f"/api/threads/{segment(thread_id)}/attachments"
