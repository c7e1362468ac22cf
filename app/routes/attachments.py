"""What is attached to a thread: resources of MCP servers, small files, documents as they are now, pictures."""

from __future__ import annotations

from pathlib import PurePosixPath

from fastapi import APIRouter, Response, UploadFile

from app.attachment_schema import Attachment, AttachmentList, AttachmentText, AttachRequest
from app.errors import RequestInvalid
from app.openapi import problems
from app.routes.platform import PlatformDep

_FORM_BYTES = 64 * 1024
"""Room for the borders of a form beside the file in it."""
_PICTURE_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}


def build_router(*, max_file_bytes: int) -> APIRouter:
    """Routes of attachments; a larger file is refused with 413 while it comes in."""
    router = APIRouter(prefix="/api/threads/{thread_id}/attachments", tags=["attachments"])
    router.add_api_route("", list_attachments, operation_id="list_attachments", responses=problems(404))
    router.add_api_route(
        "",
        attach,
        methods=["POST"],
        status_code=201,
        operation_id="attach",
        responses=problems(404, 413, 422, 503),
    )
    router.add_api_route(
        "/file",
        attach_file,
        methods=["POST"],
        status_code=201,
        operation_id="attach_file",
        responses=problems(404, 413, 422),
        max_body_size=max_file_bytes + _FORM_BYTES,
    )
    router.add_api_route("/{attachment_id}", get_attachment, operation_id="get_attachment", responses=problems(404))
    router.add_api_route(
        "/{attachment_id}/picture",
        get_picture,
        operation_id="get_picture",
        response_class=Response,
        responses={**problems(404), 200: {"content": {"image/png": {}, "image/jpeg": {}}}},
    )
    router.add_api_route(
        "/{attachment_id}",
        remove_attachment,
        methods=["DELETE"],
        status_code=204,
        operation_id="remove_attachment",
        responses=problems(404),
    )
    return router


async def list_attachments(thread_id: str, platform: PlatformDep) -> AttachmentList:
    """Texts that questions of the thread see beside documents, then pictures that wait for the next question."""
    await platform.threads.get(thread_id)
    return AttachmentList(attachments=await platform.attachments.listed(thread_id))


async def attach(thread_id: str, request: AttachRequest, platform: PlatformDep) -> Attachment:
    """Attach a resource, one that a prompt brought with it, or a document. The same one again takes its place."""
    return await platform.attachments.attach(thread_id, request)


async def attach_file(thread_id: str, file: UploadFile, platform: PlatformDep) -> Attachment:
    """Attach the text of a small file of any kind that is read; a large one belongs among the documents.

    A PNG, JPEG, WebP or GIF is kept as a picture and goes with the next question.
    """
    name = PurePosixPath((file.filename or "").replace("\\", "/")).name
    if name in ("", ".", ".."):
        raise RequestInvalid("The file has no name; send a file name with it.")
    return await platform.attachments.attach_file(thread_id, name, await file.read())


async def get_attachment(thread_id: str, attachment_id: str, platform: PlatformDep) -> AttachmentText:
    """An attached text whole, also one that was removed; offsets of citations count in it. Of a picture, its words."""
    return await platform.attachments.read(thread_id, attachment_id)


async def get_picture(thread_id: str, attachment_id: str, platform: PlatformDep) -> Response:
    """A picture as it is kept: upright, without metadata. It never changes."""
    media_type, data = await platform.attachments.pictures.store.data(thread_id, attachment_id)
    return Response(data, media_type=media_type, headers=_PICTURE_HEADERS)


async def remove_attachment(thread_id: str, attachment_id: str, platform: PlatformDep) -> None:
    """Take a text off: later questions do not see it, answers that cite it can still be opened.

    A picture that waits for a question is deleted.
    """
    await platform.attachments.store.remove(thread_id, attachment_id)
