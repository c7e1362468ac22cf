"""The part of the small API that is about what is attached: pictures that wait, and the bytes of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.attachment_schema import Attachment, AttachmentList, AttachmentText, PictureFacts
from tests.pictures import blank
from tests.ui.stub_calls import json_response, problem

NOW = "2026-01-05T10:00:00.000000+00:00"


@dataclass
class AttachmentState:
    """What the API holds."""

    waiting: list[Attachment] = field(default_factory=list[Attachment])
    gone: bool = False
    """Whether the bytes of pictures cannot be read."""


def picture(thread_id: str, name: str = "shot.png", *, words: int = 4) -> Attachment:
    """A picture that waits."""
    return Attachment(
        attachment_id=name.partition(".")[0],
        thread_id=thread_id,
        kind="picture",
        server="",
        uri=name,
        name=name,
        media_type="image/png",
        characters=20,
        sha256="0" * 64,
        attached_at=NOW,
        picture=PictureFacts(width=320, height=200, size_bytes=900, words=words),
    )


def attachment_routes(state: AttachmentState) -> list[Route]:
    """The routes."""

    async def listed(_request: Request) -> Response:
        return json_response(AttachmentList(attachments=state.waiting))

    async def read(request: Request) -> Response:
        found = [one for one in state.waiting if one.attachment_id == request.path_params["attachment_id"]]
        return json_response(AttachmentText(attachment=found[0], text="exit code 137"))

    async def data(_request: Request) -> Response:
        if state.gone:
            return problem(404, "attachment_unknown", "This picture is not attached to the chat.")
        return Response(blank(), media_type="image/png")

    address = "/api/threads/{thread_id}/attachments"
    return [
        Route(address, listed),
        Route(f"{address}/{{attachment_id}}", read),
        Route(f"{address}/{{attachment_id}}/picture", data),
    ]
