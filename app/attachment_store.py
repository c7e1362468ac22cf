"""Attached texts in the database. Knows no server and no loader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from uuid import uuid4

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.attached import AttachedPiece, AttachedText
from app.attachment_schema import Attachment, AttachmentKind, AttachmentText
from app.attachment_table import attachments
from app.attachment_texts import PreparedText
from app.errors import AttachmentRefused, AttachmentUnknown, ThreadUnknown
from app.threads import utc_now

_PIECES: TypeAdapter[tuple[AttachedPiece, ...]] = TypeAdapter(tuple[AttachedPiece, ...])
_TEXTS = (attachments.c.kind != "picture",)
_SHOWN = [column for column in attachments.c if column.name not in ("text", "pieces")]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an attached text came from, see ``app.attachment_schema.Attachment``."""

    kind: AttachmentKind
    name: str
    uri: str
    server: str = ""


@dataclass(frozen=True, slots=True)
class AttachmentStore:
    """Attached texts by thread."""

    engine: AsyncEngine
    max_per_thread: int

    async def add(self, thread_id: str, origin: Origin, prepared: PreparedText) -> Attachment:
        """Attach a text; one that came from the same place and is attached already takes its place.

        Raises:
            ThreadUnknown: There is no such thread.
            AttachmentRefused: The thread has as many as it may have.
        """
        digest = sha256(prepared.text.encode("utf-8", "surrogatepass")).hexdigest()
        added = Attachment(
            attachment_id=uuid4().hex,
            thread_id=thread_id,
            media_type=prepared.media_type,
            characters=len(prepared.text),
            sha256=digest,
            attached_at=utc_now(),
            **asdict(origin),
        )
        pieces = _PIECES.dump_json(prepared.pieces).decode()
        there = *_current(thread_id), *_TEXTS
        same = attachments.c.kind == origin.kind, attachments.c.server == origin.server, attachments.c.uri == origin.uri
        try:
            async with self.engine.begin() as connection:
                replaced = attachments.update().where(*there, *same).values(removed_at=added.attached_at)
                await connection.execute(replaced)
                count = await connection.scalar(sa.select(sa.func.count()).select_from(attachments).where(*there)) or 0
                if count >= self.max_per_thread:
                    raise AttachmentRefused(
                        f"The chat has {count} attached texts, the most it may have ([attachments] max_per_thread); "
                        "remove one first."
                    )
                values = added.model_dump(exclude={"picture"}) | {"text": prepared.text, "pieces": pieces}
                await connection.execute(attachments.insert().values(values))
        except IntegrityError as error:
            raise ThreadUnknown(f"There is no thread {thread_id!r}; GET /api/threads lists them.") from error
        return added

    async def list(self, thread_id: str) -> list[Attachment]:
        """Texts that are attached now, oldest first; nothing for an unknown thread."""
        order = attachments.c.attached_at, attachments.c.attachment_id
        query = sa.select(*_SHOWN).where(*_current(thread_id), *_TEXTS).order_by(*order)
        async with self.engine.connect() as connection:
            rows = (await connection.execute(query)).mappings()
            return [Attachment.model_validate(dict(row)) for row in rows]

    async def read(self, thread_id: str, attachment_id: str) -> AttachmentText:
        """One text, also one that was removed; raises ``AttachmentUnknown``."""
        there = attachments.c.thread_id == thread_id, attachments.c.attachment_id == attachment_id
        async with self.engine.connect() as connection:
            row = (await connection.execute(sa.select(attachments).where(*there))).mappings().first()
        if row is None:
            raise AttachmentUnknown("This text is not attached to the chat; it went with a chat that was deleted.")
        return AttachmentText(attachment=Attachment.model_validate(dict(row)), text=row["text"])

    async def remove(self, thread_id: str, attachment_id: str) -> None:
        """Take a text off, or a picture that no question has; raises ``AttachmentUnknown`` when it is not attached.

        Answers may cite a text, so it is kept; of a picture that was never asked about nothing is.
        """
        there = *_current(thread_id), attachments.c.attachment_id == attachment_id
        removed = attachments.update().where(*there, *_TEXTS).values(removed_at=utc_now())
        async with self.engine.begin() as connection:
            done = await connection.execute(removed)
            deleted = await connection.execute(attachments.delete().where(*there, ~_TEXTS[0]))
        if not (done.rowcount or deleted.rowcount):
            raise AttachmentUnknown("This is not attached to the chat; it was removed before.")

    async def texts(self, attachment_ids: Sequence[str]) -> Sequence[AttachedText]:
        """Texts of these ids in their order, also removed ones; see ``agents.attached.AttachedTexts``."""
        if not attachment_ids:
            return ()
        query = sa.select(attachments).where(attachments.c.attachment_id.in_(attachment_ids), *_TEXTS)
        async with self.engine.connect() as connection:
            rows = {row["attachment_id"]: row for row in (await connection.execute(query)).mappings()}
        return [_attached(rows[key]) for key in attachment_ids if key in rows]


def _current(thread_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return attachments.c.thread_id == thread_id, attachments.c.removed_at.is_(None)


def _attached(row: sa.RowMapping) -> AttachedText:
    return AttachedText(
        attachment_id=row["attachment_id"],
        name=row["name"],
        source=_source(row),
        text=row["text"],
        pieces=_PIECES.validate_json(row["pieces"]),
    )


def _source(row: sa.RowMapping) -> str:
    if row["kind"] == "resource":
        return f"mcp:{row['server']}:{row['uri']}"
    return f"{row['kind']}:{row['uri']}"
