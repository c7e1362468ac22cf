"""The part of OpenAI's chat completions wire that we speak: shapes alone."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, field_validator

from agents.answer import AnswerStatus, Citation, Claim
from app.sampling_schema import SamplingChoice, StopText

GROUNDED_MODEL = "groundwork"
"""Model name that always works; the name of the chat model works too, and both answer from the documents."""


_DATA_URL = re.compile(r"data:image/(?:png|jpe?g|webp|gif);base64,", re.IGNORECASE)
_DATA_HEAD = 40
"""Characters in which the head of a picture's address ends."""


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TextPart(_Wire):
    """Words of a message."""

    type: Literal["text"]
    text: str


class ImageUrl(_Wire):
    """Where a picture is: in the request itself. This server fetches nothing from an address."""

    url: str

    @field_validator("url")
    @classmethod
    def _is_in_the_request(cls, url: str) -> str:
        if not url[:5].lower() == "data:":
            raise ValueError(
                "send the picture itself as data:image/png;base64,...; this server fetches nothing from an address"
            )
        if not _DATA_URL.match(url[:_DATA_HEAD]):
            raise ValueError("a picture is data:image/png;base64,... (or jpeg, webp, gif)")
        return url

    def data(self) -> bytes:
        """The file; raises ``ValueError`` when it is not base64."""
        return b64decode(self.url.partition(",")[2], validate=True)


class ImagePart(_Wire):
    """A picture of a message of the user."""

    type: Literal["image_url"]
    image_url: ImageUrl


Part: TypeAlias = Annotated[TextPart | ImagePart, Field(discriminator="type")]


def _as_parts(value: object) -> object:
    """OpenAI's ``content`` is a text, a list of parts, or null."""
    return () if value is None else ({"type": "text", "text": value},) if isinstance(value, str) else value


class Message(_Wire):
    """A message of a request; those of ``system``, ``developer`` and ``tool`` are not used."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[tuple[Part, ...], BeforeValidator(_as_parts)] = ()

    @property
    def text(self) -> str:
        """All text of the message."""
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def pictures(self) -> tuple[ImageUrl, ...]:
        """All pictures of a message of the user; those of others are not used."""
        if self.role != "user":
            return ()
        return tuple(part.image_url for part in self.content if isinstance(part, ImagePart))


class StreamOptions(_Wire):
    """Options of a streamed answer."""

    include_usage: bool = False


class TextFormat(_Wire):
    """An answer in prose."""

    type: Literal["text"]


class NamedSchema(_Wire):
    """OpenAI's wrapping of a schema."""

    name: str = "answer"
    schema_: Annotated[dict[str, JsonValue], Field(alias="schema")]


class SchemaFormat(_Wire):
    """An answer as one object."""

    type: Literal["json_schema"]
    json_schema: NamedSchema


def _as_tuple(value: object) -> object:
    """OpenAI's ``stop`` is a text or a list."""
    return (value,) if isinstance(value, str) else value


class CompletionRequest(_Wire, SamplingChoice):
    """A request for a completion. Fields of OpenAI's API that are not here are ignored."""

    model: str
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    stop: Annotated[tuple[StopText, ...] | None, BeforeValidator(_as_tuple), Field(max_length=8)] = None
    max_completion_tokens: int | None = Field(default=None, ge=1, le=8192)
    n: Literal[1] | None = None
    response_format: Annotated[TextFormat | SchemaFormat, Field(discriminator="type")] | None = None
    """With a schema the content is a JSON object that fits it."""
    collections: tuple[str, ...] = ()
    """Ours: search in these collections alone."""
    filter: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Ours: metadata that must match."""
    preset: str = Field(default="", max_length=64)
    """Ours: saved preset whose values stand where the request has none."""


class WireUsage(BaseModel):
    """Token counts in OpenAI's names."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class AnswerMessage(BaseModel):
    """The answer; ``citations``, ``claims`` and ``status`` are ours."""

    role: Literal["assistant"] = "assistant"
    content: str
    status: AnswerStatus
    citations: tuple[Citation, ...]
    claims: tuple[Claim, ...]


class Choice(BaseModel):
    """The only choice."""

    index: int = 0
    message: AnswerMessage
    finish_reason: Literal["stop", "length"] = "stop"


class Completion(BaseModel):
    """A whole completion."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: WireUsage


class Delta(BaseModel):
    """A piece of the answer; the last one carries ``citations``, ``claims``, ``status`` and the text with markers."""

    role: Literal["assistant"] | None = None
    content: str | None = None
    status: AnswerStatus | None = None
    answer: str | None = None
    citations: tuple[Citation, ...] | None = None
    claims: tuple[Claim, ...] | None = None


class ChunkChoice(BaseModel):
    """The only choice of a piece."""

    index: int = 0
    delta: Delta
    finish_reason: Literal["stop", "length"] | None = None


class CompletionChunk(BaseModel):
    """A piece of a streamed completion."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: tuple[ChunkChoice, ...]
    usage: WireUsage | None = None


class ModelCard(BaseModel):
    """A model that answers."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "groundwork"


class ModelCards(BaseModel):
    """Models that answer."""

    object: Literal["list"] = "list"
    data: tuple[ModelCard, ...]


class OpenAIError(BaseModel):
    """An error as OpenAI's clients expect it."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIErrorBody(BaseModel):
    """Body of every error under ``/v1``."""

    error: OpenAIError
