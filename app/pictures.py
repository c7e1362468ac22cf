"""Pictures of a thread: attached, read, and chosen for a question with what its model is given of them.

Knows limits and capabilities; nothing of prompts.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agents.gateway.capabilities import Capabilities
from agents.history import leans_on_history
from agents.picture_record import GivenPicture
from agents.pictures import fitted
from app.attachment_schema import Attachment
from app.attachment_texts import TextMaker
from app.errors import AttachmentRefused, ModelBlind
from app.picture_making import make_picture
from app.picture_store import PictureStore
from app.schema import RunInfo, RunRequest
from app.turns import standing

WINDOW_PART = 2
"""Pictures that are sent take at most this part of the context window; passages, question and answer need the rest."""
_AT_ONCE = 2
"""Pictures that are decoded and read at the same time; each takes a process and up to 300 MB."""
_SPEAKS_OF_ONE = re.compile(r"\b(?:pictures?|screenshots?|images?|photos?|shown|shows)\b", re.IGNORECASE)


class ChosenPictures(NamedTuple):
    """What goes with a question.

    Attributes:
        given: Its pictures.
        earlier: Those of earlier turns that go with it, the latest first.
    """

    given: tuple[GivenPicture, ...] = ()
    earlier: tuple[GivenPicture, ...] = ()


@dataclass(frozen=True, slots=True)
class Sight:
    """What a model can be given.

    Attributes:
        model: What people call it.
        capabilities: What it can.
        seeing: Names of the models that see, for advice.
    """

    model: str
    capabilities: Capabilities
    seeing: tuple[str, ...] = ()


class PictureService:
    """Attaches pictures and chooses them. Belongs to one event loop."""

    def __init__(self, store: PictureStore, maker: TextMaker) -> None:
        self.store = store
        self._maker = maker
        self._room = asyncio.Semaphore(_AT_ONCE)

    @property
    def most(self) -> int:
        """Most pictures with one question, those of earlier turns included."""
        return self._maker.attachments.max_pictures

    def require_count(self, count: int) -> None:
        """Raises ``AttachmentRefused`` for more pictures than one question may have."""
        if count > self.most:
            raise AttachmentRefused(
                f"The question has {count} pictures, more than {self.most} ([attachments] max_pictures)."
            )

    async def attach(self, thread_id: str, name: str, data: bytes, *, waits: bool = True) -> Attachment:
        """Keep a picture for the next question of a thread, or, where it does not wait, for one that names it.

        Raises:
            AttachmentRefused: It is damaged or too large, or as many wait as one question may have.
            ThreadUnknown: There is no such thread.
        """
        settings = self._maker.attachments
        if not self.most:
            raise AttachmentRefused("This server takes no pictures ([attachments] max_pictures is 0).")
        async with self._room:
            made = await asyncio.to_thread(make_picture, data, name=name, settings=settings)
            text = await asyncio.to_thread(self._maker.words_of, data, name=name)
        limit = self.most if waits else None
        return await self.store.add(thread_id, name, made, text=text, max_waiting=limit)

    async def chosen_ids(self, thread_id: str, request: RunRequest, runs: Sequence[RunInfo]) -> Sequence[str]:
        """Ids of the pictures that a question is to have; see ``RunRequest.pictures``."""
        if request.pictures is not None:
            return request.pictures
        if before := request.replaces or request.continues:
            return [one.attachment_id for run in runs if run.run_id == before for one in run.pictures]
        return [entry.attachment_id for entry in await self.store.waiting(thread_id)]

    async def choose(
        self, thread_id: str, attachment_ids: Sequence[str], earlier: Sequence[str], sight: Sight
    ) -> ChosenPictures:
        """What the model is given of these pictures.

        Args:
            thread_id: Whose they are.
            attachment_ids: Those of the question.
            earlier: Those of earlier turns, the latest first; what does not fit beside the others is left out.
            sight: What the model can be given.

        Raises:
            AttachmentUnknown: The thread has no such picture.
            AttachmentRefused: They are more than one question may have.
            ModelBlind: The model would be given nothing of one of them.
        """
        self.require_count(len(attachment_ids))
        asked = await self.store.named(thread_id, attachment_ids)
        before = [one for one in dict.fromkeys(earlier) if one not in attachment_ids][: self.most - len(asked)]
        entries = [*asked, *await self.store.named(thread_id, before)]
        sees = sight.capabilities.images is True
        room = (sight.capabilities.context_tokens or 0) // WINDOW_PART
        given = fitted([_given(entry, seen=sees) for entry in entries], tokens=room)
        for picture in given[: len(asked)]:
            if not (picture.seen or picture.words):
                raise ModelBlind(_nothing_of(picture, sight, reads=self._maker.reads_pictures()))
        useful = tuple(picture for picture in given[len(asked) :] if picture.seen or picture.words)
        return ChosenPictures(given[: len(asked)], useful)


def earlier_pictures(question: str, runs: Sequence[RunInfo], *, without: str) -> list[str]:
    """Ids of the pictures of earlier turns that a question may be about, the latest first.

    A question that can be understood alone and speaks of no picture has none: what it asks is for the documents.

    Args:
        question: What is asked.
        runs: All runs of the thread, oldest first.
        without: A run that is about to be replaced.
    """
    if not speaks_of_before(question):
        return []
    return [one.attachment_id for run in reversed(standing(runs, without=without)) for one in run.pictures]


def speaks_of_before(question: str) -> bool:
    """Whether a question leans on earlier turns, or speaks of a picture."""
    return leans_on_history(question) or bool(_SPEAKS_OF_ONE.search(question))


def _given(entry: Attachment, *, seen: bool) -> GivenPicture:
    facts = entry.picture
    assert facts is not None, "only pictures are chosen"
    return GivenPicture(
        attachment_id=entry.attachment_id,
        name=entry.name,
        media_type=entry.media_type,
        width=facts.width,
        height=facts.height,
        sha256=entry.sha256,
        words=facts.words,
        seen=seen,
    )


def _nothing_of(picture: GivenPicture, sight: Sight, *, reads: str) -> str:
    match sight.capabilities.images:
        case True:
            why = f"has no room for {picture.name!r} in its context window ({picture.tokens:,} tokens)"
        case False:
            why = f"cannot see pictures, so {picture.name!r} would tell it nothing"
        case None:
            why = f"does not say whether it sees pictures such as {picture.name!r}, for its server does not answer"
    others = ", ".join(name for name in sight.seeing if name != sight.model)
    advice = f"choose one that sees ({others})" if others else "write what it shows"
    return f"The model {sight.model!r} {why}: {reads or 'no words were found in it'}. Remove the picture, or {advice}."
