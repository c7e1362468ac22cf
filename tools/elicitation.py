"""A server's question to a person in the middle of a call, and who answers it. Knows no server and no inbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, relevance
from pydantic import JsonValue

from tools.errors import ArgumentsInvalid

ElicitationAction: TypeAlias = Literal["accept", "decline", "cancel"]
"""``decline`` is a no, ``cancel`` is no answer: the person closed the form, or nobody came."""


@dataclass(frozen=True, slots=True)
class Elicitation:
    """What a server asks. All texts are the server's own: shown as untrusted, never followed by themselves.

    Attributes:
        server: Name of the server.
        tool: Name of the tool within its server; empty where the server does not say which call it asks for.
        call_id: The call that waits for the answer; empty like ``tool``.
        message: Why it asks, for the person.
        mode: ``form`` asks for values, ``url`` asks the person to open an address and do something there.
        schema: JSON Schema of the values of a form: an object with flat properties.
        url: The address.
    """

    server: str
    tool: str
    call_id: str
    message: str
    mode: Literal["form", "url"] = "form"
    schema: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    url: str = ""


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    """What the person said; ``content`` holds the values of an accepted form."""

    action: ElicitationAction
    content: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


class ElicitationBroker(Protocol):
    """Brings questions to people and answers back."""

    async def ask(self, elicitation: Elicitation) -> ElicitationAnswer:
        """The answer, however long it takes; ``cancel`` when nobody answers in time.

        Called from several calls at once. When the caller is cancelled, the question is void.
        """
        ...


def fill_form(elicitation: Elicitation, content: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Values of an accepted form, with the schema's defaults for what was left out.

    Raises:
        ArgumentsInvalid: They do not fit the form; the sentence names the field.
    """
    filled: dict[str, JsonValue] = {**form_defaults(elicitation.schema), **content}
    validator = Draft202012Validator(dict(elicitation.schema))
    errors = sorted(cast(Iterable[ValidationError], validator.iter_errors(filled)), key=relevance)
    if errors:
        path = ".".join(str(part) for part in errors[-1].absolute_path)
        raise ArgumentsInvalid(f"{f'Field {path!r}' if path else 'The form'} does not fit: {errors[-1].message}.")
    return filled


def form_defaults(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The default of every property that has one."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        name: rules["default"] for name, rules in properties.items() if isinstance(rules, dict) and "default" in rules
    }
