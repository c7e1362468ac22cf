"""What is attached to a thread: resources of MCP servers, files and documents become texts, pictures stay pictures.

Reads through the tools' service and the ledger of documents; decides nothing about answers.
"""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode
from dataclasses import dataclass
from typing import assert_never

from app.attachment_schema import (
    AttachDocument,
    AttachEmbedded,
    Attachment,
    AttachmentText,
    AttachRequest,
    AttachResource,
)
from app.attachment_store import AttachmentStore, Origin
from app.attachment_texts import PreparedText, TextMaker, file_name, short_name
from app.errors import AttachmentRefused, DocumentUnknown
from app.picture_making import is_picture
from app.picture_store import PictureStore
from app.pictures import PictureService
from app.settings import Settings
from app.threads import ThreadStore
from app.tool_schema import ResourcePiece
from app.tool_service import ToolService
from ingestion.ledger import Ledger
from ingestion.units import CountTokens
from retrieval.store.protocol import VectorStore
from retrieval.types import SearchFilter


@dataclass(frozen=True, slots=True)
class AttachmentNeeds:
    """Where texts come from."""

    tools: ToolService
    ledger: Ledger
    chunks: VectorStore
    threads: ThreadStore


def open_attachments(
    settings: Settings, store: AttachmentStore, needs: AttachmentNeeds, count_tokens: CountTokens
) -> AttachmentService:
    """The service of a home."""
    maker = TextMaker(settings.attachments, settings.ingestion, count_tokens, settings.home.uploads)
    return AttachmentService(store, PictureService(PictureStore(store.engine), maker), maker, needs)


class AttachmentService:
    """Attaches. Belongs to one event loop; ``store`` knows texts and removes, ``pictures`` knows pictures."""

    def __init__(
        self, store: AttachmentStore, pictures: PictureService, maker: TextMaker, needs: AttachmentNeeds
    ) -> None:
        self.store = store
        self.pictures = pictures
        self._maker = maker
        self._needs = needs

    async def attach(self, thread_id: str, request: AttachRequest) -> Attachment:
        """Attach what the request names.

        Raises:
            ThreadUnknown: There is no such thread.
            AttachmentRefused: It is no text, holds none, or is too large; or the thread has enough.
            ServerUnknown: No server of that name is configured.
            ServerUnavailable: The server does not answer, or knows no such resource.
            DocumentUnknown: There is no such document, or it is not in.
        """
        await self._needs.threads.get(thread_id)
        match request:
            case AttachResource():
                origin = Origin("resource", request.name or short_name(request.uri), request.uri, request.server)
                prepared = await self._resource(request)
            case AttachEmbedded():
                origin = Origin("resource", short_name(request.uri), request.uri, request.server)
                prepared = await asyncio.to_thread(
                    self._maker.from_text, request.text, name=origin.name, media_type=request.media_type
                )
            case AttachDocument():
                origin, prepared = await self._document(request.document_id)
            case _:
                assert_never(request)
        return await self.store.add(thread_id, origin, prepared)

    async def attach_file(self, thread_id: str, name: str, data: bytes) -> Attachment:
        """Attach a picture to the next question, or what the loaders read of any other file. Raises as ``attach``."""
        await self._needs.threads.get(thread_id)
        if is_picture(data):
            return await self.pictures.attach(thread_id, name, data)
        prepared = await asyncio.to_thread(self._maker.from_bytes, data, name=name)
        return await self.store.add(thread_id, Origin("file", name, name), prepared)

    async def listed(self, thread_id: str) -> list[Attachment]:
        """Texts that are attached and pictures that wait for a question, each oldest first."""
        return [*await self.store.list(thread_id), *await self.pictures.store.waiting(thread_id)]

    async def read(self, thread_id: str, attachment_id: str) -> AttachmentText:
        """A text, or what was read from a picture, also of one that was removed; raises ``AttachmentUnknown``."""
        read = await self.store.read(thread_id, attachment_id)
        if read.attachment.kind != "picture":
            return read
        (entry,) = await self.pictures.store.named(thread_id, [attachment_id])
        return AttachmentText(attachment=entry, text=read.text)

    async def current(self, thread_id: str) -> tuple[str, ...]:
        """Ids of the texts that are attached to a thread now, for a run that starts."""
        return tuple(entry.attachment_id for entry in await self.store.list(thread_id))

    async def _resource(self, request: AttachResource) -> PreparedText:
        read = await self._needs.tools.read_resource(request.server, request.uri)
        pieces = [piece for piece in read.pieces if piece.text is not None or piece.blob is not None]
        texts = [piece for piece in pieces if piece.text is not None]
        if texts:
            text = "\n\n".join(piece.text or "" for piece in texts)
            name, media_type = short_name(request.uri), texts[0].media_type
            return await asyncio.to_thread(self._maker.from_text, text, name=name, media_type=media_type)
        if not pieces:
            raise AttachmentRefused(f"The resource {request.uri!r} of {request.server!r} is empty.")
        return await asyncio.to_thread(self._binary, pieces[0], request)

    def _binary(self, piece: ResourcePiece, request: AttachResource) -> PreparedText:
        kind = piece.media_type or "of no stated type"
        if kind.partition("/")[0] in ("image", "audio", "video"):
            raise AttachmentRefused(
                f"The resource {request.uri!r} of {request.server!r} is {kind}; only what holds text can be attached."
            )
        try:
            data = b64decode(piece.blob or "", validate=True)
        except (binascii.Error, ValueError) as error:
            raise AttachmentRefused(
                f"The resource {request.uri!r} of {request.server!r} is not encoded as the protocol says."
            ) from error
        return self._maker.from_bytes(data, name=file_name(request.uri, piece.media_type))

    async def _document(self, document_id: str) -> tuple[Origin, PreparedText]:
        record, text = await self._needs.ledger.document(document_id), await self._needs.ledger.text(document_id)
        if record is None or record.status != "ready" or text is None:
            raise DocumentUnknown(f"There is no document {document_id!r} that is in; GET /api/documents lists them.")
        chunks = await asyncio.to_thread(self._needs.chunks.chunks, SearchFilter(document_ids=(document_id,)))
        if any(text[chunk.char_start : chunk.char_end] != chunk.text for chunk in chunks):
            raise AttachmentRefused(f"{record.title!r} is being replaced; attach it again in a moment.")
        name = record.title or short_name(record.source)
        prepared = self._maker.from_document(text, chunks, name=name, media_type=record.media_type)
        return Origin("document", name, document_id), prepared
