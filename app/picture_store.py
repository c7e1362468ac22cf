"""Pictures attached to threads in the database, beside the rows of attachments. Knows no format and no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.pictures import PictureContent
from app.attachment_schema import Attachment, PictureFacts
from app.attachment_table import attachment_pictures as pictures
from app.attachment_table import attachments
from app.errors import AttachmentRefused, AttachmentUnknown, ThreadUnknown
from app.picture_making import MadePicture
from app.threads import utc_now

_GONE = "This picture is not attached to the chat; it went with a chat that was deleted, or was removed."
_FACTS = (pictures.c.width, pictures.c.height, pictures.c.size_bytes)


@dataclass(frozen=True, slots=True)
class PictureStore:
    """Pictures by thread. One waits until a question takes it; then it stays with the thread."""

    engine: AsyncEngine

    async def add(
        self, thread_id: str, name: str, made: MadePicture, *, text: str, max_waiting: int | None
    ) -> Attachment:
        """Keep a picture; the same one takes the place of itself while it waits.

        Args:
            thread_id: Where.
            name: What people call it.
            made: The picture.
            text: Words that were read from it.
            max_waiting: Most pictures that may wait for a question; None keeps one that no question is to take by
                itself.

        Raises:
            ThreadUnknown: There is no such thread.
            AttachmentRefused: As many wait as one question may have.
        """
        now = utc_now()
        added = Attachment(
            attachment_id=uuid4().hex,
            thread_id=thread_id,
            kind="picture",
            server="",
            uri=name,
            name=name,
            media_type=made.media_type,
            characters=len(text),
            sha256=made.sha256,
            attached_at=now,
            removed_at=now if max_waiting is None else None,
            picture=PictureFacts(
                width=made.width, height=made.height, size_bytes=len(made.data), words=len(text.split())
            ),
        )
        there = _waiting(thread_id)
        values = added.model_dump(exclude={"picture"}) | {"text": text, "pieces": "[]"}
        points = {"attachment_id": added.attachment_id, "data": made.data, "width": made.width, "height": made.height}
        try:
            async with self.engine.begin() as connection:
                if max_waiting is not None:
                    await connection.execute(attachments.delete().where(*there, attachments.c.sha256 == added.sha256))
                    waiting = sa.select(sa.func.count()).select_from(attachments).where(*there)
                    if (await connection.scalar(waiting) or 0) >= max_waiting:
                        raise AttachmentRefused(
                            f"{max_waiting} pictures wait for your question, the most it may have ([attachments] "
                            "max_pictures); remove one first."
                        )
                await connection.execute(attachments.insert().values(values))
                await connection.execute(pictures.insert().values(points | {"size_bytes": len(made.data)}))
        except IntegrityError as error:
            raise ThreadUnknown(f"There is no thread {thread_id!r}; GET /api/threads lists them.") from error
        return added

    async def waiting(self, thread_id: str) -> list[Attachment]:
        """Pictures that wait for a question, oldest first."""
        return await self._select(*_waiting(thread_id))

    async def named(self, thread_id: str, attachment_ids: Sequence[str]) -> list[Attachment]:
        """Pictures of a thread in the order of these ids; raises ``AttachmentUnknown`` for one that is not its own."""
        wanted = dict.fromkeys(attachment_ids)
        if not wanted:
            return []
        found = await self._select(attachments.c.thread_id == thread_id, attachments.c.attachment_id.in_(wanted))
        known = {entry.attachment_id: entry for entry in found}
        if len(known) < len(wanted):
            raise AttachmentUnknown(_GONE)
        return [known[key] for key in wanted]

    async def data(self, thread_id: str, attachment_id: str) -> tuple[str, bytes]:
        """Media type and bytes of a picture of a thread; raises ``AttachmentUnknown``."""
        query = (
            sa.select(attachments.c.media_type, pictures.c.data)
            .join_from(attachments, pictures)
            .where(attachments.c.thread_id == thread_id, attachments.c.attachment_id == attachment_id)
        )
        async with self.engine.connect() as connection:
            row = (await connection.execute(query)).first()
        if row is None:
            raise AttachmentUnknown(_GONE)
        return row.media_type, row.data

    async def contents(self, attachment_ids: Sequence[str]) -> Sequence[PictureContent]:
        """Pictures of these ids in their order, see ``agents.pictures.PictureSource``."""
        if not attachment_ids:
            return ()
        columns = attachments.c.attachment_id, attachments.c.name, attachments.c.media_type, attachments.c.text
        query = sa.select(*columns, pictures.c.data).join_from(attachments, pictures)
        async with self.engine.connect() as connection:
            rows = (await connection.execute(query.where(attachments.c.attachment_id.in_(attachment_ids)))).all()
        known = {
            row.attachment_id: PictureContent(row.attachment_id, row.name, row.media_type, row.data, row.text)
            for row in rows
        }
        return [known[key] for key in attachment_ids if key in known]

    async def take(self, attachment_ids: Sequence[str]) -> None:
        """A question has these pictures: they wait no more, and stay with the thread."""
        taken = attachments.update().where(
            attachments.c.attachment_id.in_(attachment_ids), attachments.c.removed_at.is_(None)
        )
        async with self.engine.begin() as connection:
            await connection.execute(taken.values(removed_at=utc_now()))

    async def _select(self, *where: sa.ColumnElement[bool]) -> list[Attachment]:
        shown = [column for column in attachments.c if column.name != "pieces"]
        query = sa.select(*shown, *_FACTS).join_from(attachments, pictures).where(*where)
        order = attachments.c.attached_at, attachments.c.attachment_id
        async with self.engine.connect() as connection:
            return [_attachment(row) for row in (await connection.execute(query.order_by(*order))).mappings()]


def _waiting(thread_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        attachments.c.thread_id == thread_id,
        attachments.c.kind == "picture",
        attachments.c.removed_at.is_(None),
    )


def _attachment(row: sa.RowMapping) -> Attachment:
    facts = PictureFacts(
        width=row["width"], height=row["height"], size_bytes=row["size_bytes"], words=len(row["text"].split())
    )
    return Attachment.model_validate({**row, "picture": facts})
