"""Pictures that come inside a chat completion: kept with its thread, like those that are attached to a chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app.completions import Conversation
from app.errors import RequestInvalid
from app.openai_wire import ImageUrl
from app.pictures import PictureService, speaks_of_before


class KeptPictures(NamedTuple):
    """Ids of the pictures of a request.

    Attributes:
        asked: Those of the question.
        earlier: Those of earlier messages that it may be about, the latest first.
    """

    asked: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()


async def keep_pictures(service: PictureService, thread_id: str, asked: Conversation) -> KeptPictures:
    """Keep the pictures that a question needs; clients send all of a conversation each time, and most are not read.

    Raises:
        RequestInvalid: One is not base64.
        AttachmentRefused: One is damaged or too large, or the question has too many.
    """
    service.require_count(len(asked.pictures))
    room = service.most - len(asked.pictures)
    earlier = asked.earlier_pictures[:room] if speaks_of_before(asked.question) else ()
    return KeptPictures(
        await _keep(service, thread_id, asked.pictures, "picture"),
        await _keep(service, thread_id, earlier, "earlier picture"),
    )


async def _keep(service: PictureService, thread_id: str, pictures: Sequence[ImageUrl], name: str) -> tuple[str, ...]:
    kept: list[str] = []
    for number, picture in enumerate(pictures, start=1):
        try:
            data = picture.data()
        except ValueError as error:
            raise RequestInvalid(f"The {name} {number} is not base64; send data:image/png;base64,...") from error
        entry = await service.attach(thread_id, f"{name} {number}", data, waits=False)
        kept.append(entry.attachment_id)
    return tuple(kept)
