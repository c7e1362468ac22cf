"""Request and response bodies of attachments: pydantic alone, also imported by the UI and the command line.

Texts and names are words from outside: shown as untrusted, never followed.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

AttachmentKind: TypeAlias = Literal["resource", "file", "document", "picture"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AttachResource(_Body):
    """Read a resource of an MCP server and attach it."""

    kind: Literal["resource"] = "resource"
    server: str = Field(min_length=1)
    uri: str = Field(min_length=1)
    name: str = Field(default="", max_length=200)
    """What to call it; empty takes the end of the address."""


class AttachEmbedded(_Body):
    """Attach a resource that a server's prompt brought with it, as it was shown."""

    kind: Literal["embedded"] = "embedded"
    server: str = Field(min_length=1)
    uri: str = Field(min_length=1)
    media_type: str = ""
    text: str = Field(min_length=1)


class AttachDocument(_Body):
    """Attach the text of a stored document as it is now."""

    kind: Literal["document"] = "document"
    document_id: str = Field(min_length=1)


AttachRequest: TypeAlias = Annotated[AttachResource | AttachEmbedded | AttachDocument, Field(discriminator="kind")]


class PictureFacts(BaseModel):
    """A picture as it is kept, which is smaller than what was attached where that was large."""

    width: int
    height: int
    size_bytes: int
    words: int
    """Words that were read from it."""


class Attachment(BaseModel):
    """A text or a picture that is attached to a thread."""

    attachment_id: str
    thread_id: str
    kind: AttachmentKind
    server: str
    """MCP server it came from; empty for files and documents."""
    uri: str
    """Address on that server, name of the file, or id of the document."""
    name: str
    media_type: str
    characters: int
    sha256: str
    """Hash of the text as UTF-8; of a picture, hash of its bytes as they are kept."""
    attached_at: str
    removed_at: str | None = None
    """When it was taken off; later questions do not see it, answers that cite it can still be opened. Of a picture,
    when a question took it."""
    picture: PictureFacts | None = None
    """For a picture; its ``characters`` are those that were read from it."""


class AttachmentList(BaseModel):
    """What is attached to a thread now, oldest first."""

    attachments: list[Attachment]


class AttachmentText(BaseModel):
    """An attached text with all of its words."""

    attachment: Attachment
    text: str
