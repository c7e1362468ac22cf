"""Errors of starting a model server.

RequestInvalid
├── FamilyUnknown      operator: no parser is known for this model; name one, or none
├── KnobUnsupported    operator: the engine has no such knob, or the value does not fit another one
├── ModelTooLarge      operator: the memory that was asked for is not there
└── ProfileInvalid     operator: a profile is missing or does not fit
ProcessFailed
└── EngineMissing      operator: the engine's environment is not there, or could not be made
"""

from __future__ import annotations

from app.errors import ProcessFailed, RequestInvalid


class FamilyUnknown(RequestInvalid):
    """No parsers are known for this model, so tool calls would come as text."""


class KnobUnsupported(RequestInvalid):
    """The engine does not have this knob, or not with this value."""


class ModelTooLarge(RequestInvalid):
    """Weights, key-value cache and reserves are more than the machine has."""


class ProfileInvalid(RequestInvalid):
    """A profile cannot be read, or holds something that is no setting of serving."""


class EngineMissing(ProcessFailed):
    """The engine's own environment is not there, or could not be made."""
