"""Pictures that a person puts beside a question: what of them goes into a prompt, and what an answer has from them.

A model that sees is sent the picture; any model is given the words that were read from it, in the question and quoted
line by line. They are what the person says, not what documents say: no passage, never cited, and no reason for a
verdict. Knows no file, no server and no database.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agents.answer import Claim, ContextReport
from agents.chat_model import ChatMessage, Image
from agents.citations import prove
from agents.picture_record import GivenPicture
from agents.prompting import fill_prompt, neutralise
from agents.proof.evidence import prepare
from retrieval.types import Chunk

TEXT_CHARACTERS = 2400
"""Most characters of all pictures together in one prompt: about 700 tokens, ten seconds of reading on a CPU."""
QUERY_CHARACTERS = 500
"""Most characters that are searched for beside the question; a screenshot says what it is about at its top."""
_NAME_LENGTH = 80


@dataclass(frozen=True, slots=True)
class PictureContent:
    """What is stored of a picture."""

    attachment_id: str
    name: str
    media_type: str
    data: bytes
    text: str
    """Words that were read from it, in lines; empty where there are none."""


PictureSource: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[PictureContent]]]
"""Pictures of these ids in their order; those that are gone are left out."""


async def no_pictures(_attachment_ids: Sequence[str]) -> Sequence[PictureContent]:
    """No pictures."""
    return ()


@dataclass(frozen=True, slots=True)
class PromptPictures:
    """The pictures of a question, ready for its prompt; the empty one changes nothing.

    Attributes:
        given: Those of this question, then those of earlier turns.
        contents: What is stored of them, in the same order; fewer where one is gone.
    """

    given: tuple[GivenPicture, ...] = ()
    contents: tuple[PictureContent, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.given)

    @property
    def images(self) -> tuple[Image, ...]:
        """What is sent of them as pictures."""
        seen = {picture.attachment_id for picture in self.given if picture.seen}
        return tuple(Image(one.media_type, one.data) for one in self.contents if one.attachment_id in seen)

    @property
    def tokens(self) -> int:
        """What the pictures that are sent take of the window."""
        return sum(picture.tokens for picture in self.given if picture.seen)

    @property
    def text(self) -> str:
        """All words that were read from them."""
        return "\n\n".join(one.text for one in self.contents if one.text)

    @property
    def query(self) -> str:
        """What to search for beside the question; empty where nothing was read."""
        return " ".join(self.text.split())[:QUERY_CHARACTERS]

    def behind(self, question: str) -> str:
        """The question with what was read from its pictures."""
        if not self.given:
            return question
        told: list[str] = []
        left = TEXT_CHARACTERS
        for number, one in enumerate(self.contents, start=1):
            text = one.text if len(one.text) <= left else f"{one.text[:left]} …"
            left -= min(left, len(one.text))
            name = " ".join(neutralise(one.name).split())[:_NAME_LENGTH]
            lines = [f"> {line}" for line in text.splitlines() if line.strip()]
            told.append("\n".join([f"Picture {number}, {name}: {_HOLDS if lines else _HOLDS_NOTHING}", *lines]))
        return "\n\n".join([question, *told, fill_prompt("picture")])

    def beside(self, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        """The messages with the pictures in the last one of the person."""
        if not self.images:
            return tuple(messages)
        place = max(place for place, message in enumerate(messages) if message.role == "user")
        shown = replace(messages[place], images=self.images)
        return (*messages[:place], shown, *messages[place + 1 :])

    def counted(self, report: ContextReport) -> ContextReport:
        """The report of a window that was filled without them."""
        if not self.tokens:
            return report
        used = report.used.model_copy(update={"pictures": self.tokens})
        return report.model_copy(update={"budget_tokens": report.budget_tokens + self.tokens, "used": used})

    def claims_in(self, claims: Sequence[Claim]) -> tuple[int, ...]:
        """Places of the claims that no document holds and that stand in words read from a picture."""
        lacking = [place for place, claim in enumerate(claims) if claim.verdict == "unsupported"]
        if not lacking or not self.text:
            return ()
        evidence = prepare([_chunk(one) for one in self.contents if one.text])
        return tuple(place for place in lacking if prove(claims[place].text, evidence, question="").supported)


NO_PICTURES = PromptPictures()
_HOLDS = "these words were read from it by a machine, with mistakes perhaps"
_HOLDS_NOTHING = "no words were read from it"


async def prompt_pictures(
    pictures: Sequence[GivenPicture], earlier: Sequence[GivenPicture], source: PictureSource
) -> PromptPictures:
    """Read what is stored of a question's pictures, and of those of earlier turns that go with it."""
    given = (*pictures, *earlier)
    if not given:
        return NO_PICTURES
    return PromptPictures(given, tuple(await source([picture.attachment_id for picture in given])))


def fitted(pictures: Sequence[GivenPicture], *, tokens: int) -> tuple[GivenPicture, ...]:
    """The pictures with those not to be sent that do not fit into so many tokens; the first ones go first."""
    kept: list[GivenPicture] = []
    for picture in pictures:
        fits = picture.seen and picture.tokens <= tokens
        tokens -= picture.tokens if fits else 0
        kept.append(picture.model_copy(update={"seen": fits}))
    return tuple(kept)


def _chunk(content: PictureContent) -> Chunk:
    return Chunk(
        chunk_id=content.attachment_id,
        document_id=content.attachment_id,
        collection="",
        source="",
        title=content.name,
        position=0,
        text=content.text,
        char_start=0,
        char_end=len(content.text),
    )
