"""What is attached to threads, as runs read it: texts and pictures."""

from __future__ import annotations

from dataclasses import dataclass

from agents.attached import AttachedTexts, nothing_attached
from agents.pictures import PictureSource, no_pictures


@dataclass(frozen=True, slots=True)
class Attachments:
    """Readers of both kinds; without an argument there is nothing."""

    texts: AttachedTexts = nothing_attached
    pictures: PictureSource = no_pictures


NO_ATTACHMENTS = Attachments()
