"""Settings as they may leave the home: without secrets, and without credentials inside addresses."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, JsonValue, SecretStr

_SECRET_ENDINGS = ("key", "token", "password", "secret", "credentials")


def public_settings(section: BaseModel) -> dict[str, JsonValue]:
    """A section of settings as JSON; secret fields are left out, at any depth, and unset ones."""
    hidden = {name for name in type(section).model_fields if _is_secret(name, getattr(section, name))}
    shown: dict[str, JsonValue] = section.model_dump(mode="json", exclude=hidden, exclude_none=True)
    for name, value in list(shown.items()):
        held = getattr(section, name)
        shown[name] = public_settings(held) if isinstance(held, BaseModel) else _public(value)
    return shown


def _is_secret(name: str, value: object) -> bool:
    return isinstance(value, SecretStr) or name.endswith(_SECRET_ENDINGS)


def _public(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return _without_credentials(value) if "://" in value else value
        case list():
            return [_public(entry) for entry in value]
        case dict():
            return {name: _public(entry) for name, entry in value.items() if not _is_secret(name, entry)}
        case _:
            return value


def _without_credentials(address: str) -> str:
    """Scheme, host, port and path of an address."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
