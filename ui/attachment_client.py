"""Calls of the API about texts and pictures attached to a chat."""

from __future__ import annotations

from app.attachment_schema import (
    AttachDocument,
    AttachEmbedded,
    Attachment,
    AttachmentList,
    AttachmentText,
    AttachResource,
)
from ui.api_http import HttpApi, segment


class AttachmentCalls:
    """What is attached to threads. Errors as of ``HttpApi``."""

    def __init__(self, http: HttpApi) -> None:
        self._http = http

    def list(self, thread_id: str) -> list[Attachment]:
        """What is attached now, oldest first."""
        return self._http.get(_path(thread_id), AttachmentList).attachments

    def attach(self, thread_id: str, request: AttachResource | AttachEmbedded | AttachDocument) -> Attachment:
        """Attach a resource or a document; waits for a server that starts."""
        return self._http.send("POST", _path(thread_id), Attachment, body=request)

    def attach_file(self, thread_id: str, name: str, data: bytes) -> Attachment:
        """Attach a picture to the next question, or the text of any other file."""
        files = [("file", (name, data, "application/octet-stream"))]
        return self._http.send_files(f"{_path(thread_id)}/file", Attachment, files=files, form={})

    def read(self, thread_id: str, attachment_id: str) -> AttachmentText:
        """An attached text, also one that was removed."""
        return self._http.get(f"{_path(thread_id)}/{segment(attachment_id)}", AttachmentText)

    def picture(self, thread_id: str, attachment_id: str) -> bytes:
        """The file of a picture."""
        return self._http.get_bytes(f"{_path(thread_id)}/{segment(attachment_id)}/picture")

    def remove(self, thread_id: str, attachment_id: str) -> None:
        """Take a text off."""
        self._http.delete(f"{_path(thread_id)}/{segment(attachment_id)}")


def _path(thread_id: str) -> str:
    return f"/api/threads/{segment(thread_id)}/attachments"
