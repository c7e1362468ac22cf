"""Request and response bodies of the API: pydantic alone, also imported by the UI and the command line."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, field_validator

from agents.answer import Answer
from agents.picture_record import GivenPicture
from app.sampling_schema import SamplingChoice
from ingestion.engines.engine import EngineName
from ingestion.ignoring import compile_patterns
from ingestion.loaders.loader import OcrMode
from ingestion.types import DocumentRecord, IngestProgress, IngestReport

QUESTION_CHARACTERS = 8000
"""Longest question."""
Text: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=QUESTION_CHARACTERS)]
"""What a person asks: never blank."""

ProblemCode: TypeAlias = Literal[
    "request_invalid",
    "route_unknown",
    "method_not_allowed",
    "host_refused",
    "token_refused",
    "too_large",
    "thread_unknown",
    "attachment_unknown",
    "attachment_refused",
    "model_blind",
    "run_unknown",
    "document_unknown",
    "job_unknown",
    "collection_unknown",
    "model_unknown",
    "eval_unknown",
    "agent_unknown",
    "preset_unknown",
    "preset_invalid",
    "user_busy",
    "tokens_spent",
    "fact_unknown",
    "memory_full",
    "run_active",
    "run_unanswered",
    "approval_unknown",
    "approval_decided",
    "approval_expired",
    "arguments_changed",
    "arguments_invalid",
    "tool_not_offered",
    "tool_unknown",
    "tool_server_unavailable",
    "review_stale",
    "grant_refused",
    "grant_unknown",
    "question_unknown",
    "original_missing",
    "page_unknown",
    "user_unknown",
    "model_unavailable",
    "model_timeout",
    "model_error",
    "schema_invalid",
    "output_invalid",
    "store_unavailable",
    "embedding_failed",
    "database_unavailable",
    "home_unwritable",
    "http_error",
    "internal_error",
]
"""Closed set: why a request was refused or failed."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Problem(BaseModel):
    """RFC 9457 problem document; every error response has this shape."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: ProblemCode
    """Machine-readable reason."""


class DocumentList(BaseModel):
    """The JSON shape of ``documents list --json``."""

    documents: list[DocumentRecord]


class DocumentText(BaseModel):
    """The stored text of a document."""

    document_id: str
    text: str


class ChunkView(BaseModel):
    """A chunk with its offsets into the document's text."""

    chunk_id: str
    position: int
    char_start: int
    char_end: int
    page: int | None
    section: str
    token_count: int
    text: str


class ChunkList(BaseModel):
    """The JSON shape of ``documents show ID --chunks --json``."""

    document_id: str
    chunks: list[ChunkView]


class DocumentDeleted(BaseModel):
    """Receipt of a deletion; ``chunks_left`` was counted in the store after it."""

    document_id: str
    source: str
    chunks_left: int


class IngestRequest(_Body):
    """Ingest paths of this machine and addresses; only for callers that hold the home's local token."""

    paths: tuple[str, ...] = Field(min_length=1)
    """Files, folders, globs, ``http`` and ``https`` URLs of pages and sitemaps, ``s3://bucket/prefix``."""
    collection: str = "default"
    prune: bool = False
    dry_run: bool = False
    exclude: tuple[str, ...] = ()
    """Patterns in the form of ``.gitignore``, beside those of the settings."""
    engine: EngineName = "local"
    """Where files are parsed and embedded."""
    ocr: OcrMode | None = None
    """When text is read from pictures, for this ingest; None takes the settings."""

    @field_validator("exclude")
    @classmethod
    def _patterns_can_be_understood(cls, exclude: tuple[str, ...]) -> tuple[str, ...]:
        compile_patterns(exclude, origin="exclude")
        return exclude


class Job(BaseModel):
    """A background ingest."""

    job_id: str
    state: Literal["queued", "running", "done", "failed"]
    progress: IngestProgress
    report: IngestReport | None = None
    error: str | None = None


class JobList(BaseModel):
    """Jobs of this process, newest first."""

    jobs: list[Job]


class CollectionInfo(BaseModel):
    """A collection and its size."""

    name: str
    documents: int
    chunks: int
    description: str = ""


class CollectionList(BaseModel):
    """Collections that were created or hold a document, by name."""

    collections: list[CollectionInfo]


class StatusReport(BaseModel):
    """The JSON shape of ``status --json``; ``consistent`` compares ledger and store by chunk ids."""

    documents: int
    chunks: int
    points: int
    consistent: bool
    collections: list[CollectionInfo]
    failed: list[DocumentRecord]
    embedding_model: str
    store: str
    missing_chunks: int = 0
    """In the ledger, not in the store."""
    orphaned_points: int = 0
    """In the store, not in the ledger."""


class ThreadCreate(_Body):
    """A new thread; its title is taken from the first question when empty."""

    title: str = Field(default="", max_length=200)


class ThreadChange(_Body):
    """What changes of a thread; null leaves a field as it is."""

    preset: Annotated[str, StringConstraints(max_length=64)] | None = None
    """Preset of questions that name none; empty takes it off."""


class PromptChoice(_Body):
    """The prompt of an MCP server that a question was made from: its words are from outside."""

    server: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]

    @property
    def label(self) -> str:
        """Both on one line."""
        return f"{self.server}/{self.name}"


class RunRequest(_Body, SamplingChoice):
    """A question in a thread."""

    question: Text
    collections: tuple[str, ...] = ()
    filter: dict[str, str | int | float | bool] = Field(default_factory=dict)
    model: Annotated[str, StringConstraints(max_length=64)] = ""
    """Chat model that answers, of ``GET /api/models``; empty for the default one."""
    output_schema: dict[str, JsonValue] | None = None
    """JSON Schema of an object; the answer is then such an object with a proof for each value. Not for agents."""
    agent: Annotated[str, StringConstraints(max_length=64)] = ""
    """Agent that acts on it, of ``GET /api/agents``; empty for an answer from documents alone."""
    prompt: PromptChoice | None = None
    """Where the question was made from a prompt of a server, whether or not it was changed since."""
    drop_filters: tuple[Annotated[str, StringConstraints(max_length=200)], ...] = Field(default=(), max_length=20)
    """Names of filters that are read from the question's words and are not to act, see ``query_rewritten``."""
    replaces: Annotated[str, StringConstraints(max_length=64)] = ""
    """Run of the thread whose place this one takes: once it has an answer, the other is left out of the history. Not
    one of an agent."""
    continues: Annotated[str, StringConstraints(max_length=64)] = ""
    """Run of the thread whose answer is ``truncated`` and goes on with this one; its question is asked again, whatever
    ``question`` says. Not with ``agent`` or ``output_schema``."""
    pictures: tuple[Annotated[str, StringConstraints(max_length=64)], ...] | None = Field(default=None, max_length=20)
    """Pictures attached to the thread that go with the question, by id. Null takes those that wait, or those of the run
    that is named in ``replaces`` or ``continues``; an empty list takes none."""
    preset: Annotated[str, StringConstraints(max_length=64)] | None = None
    """Preset whose values stand where the request has none; null takes that of the thread, empty takes none."""
    preset_version: int | None = Field(default=None, ge=1)
    """Version of the preset; null takes the current one."""


RunState: TypeAlias = Literal["running", "waiting", "answered", "abstained", "failed", "cancelled"]
"""``waiting``: a person has to decide or settle calls of the run; it goes on then. The last four are ends."""


class RunInfo(BaseModel):
    """A run and, once it ended with one, its answer."""

    run_id: str
    thread_id: str
    question: str
    state: RunState
    created_at: str
    last_seq: int
    answer: Answer | None = None
    error: str | None = None
    agent: str = ""
    """Agent that acts on it; empty for an answer from documents alone."""
    replaces: str = ""
    """Run whose place this one takes; empty for a new turn of the thread."""
    continues: str = ""
    """Run whose answer this one goes on with; empty for a new answer."""
    pictures: tuple[GivenPicture, ...] = ()
    """Pictures beside the question; their bytes are at ``/api/threads/ID/attachments/ID/picture``."""
    preset: str = ""
    """Preset that it was asked with; empty without one."""
    preset_version: int = 0
    """Version of the preset; 0 without one."""


class AgentInfo(BaseModel):
    """An agent that runs can be given to."""

    name: str
    description: str
    members: tuple[str, ...] = ()
    """Agents that it hands work to."""
    workflow: bool = False
    """Goes through fixed steps."""


class AgentList(BaseModel):
    """The declared agents, by name."""

    agents: list[AgentInfo]


class ThreadInfo(BaseModel):
    """A thread as the list shows it."""

    thread_id: str
    title: str
    created_at: str
    updated_at: str
    runs: int
    preset: str = ""
    """Preset of questions that name none; empty without one."""


class ThreadList(BaseModel):
    """Threads, latest activity first."""

    threads: list[ThreadInfo]


class ThreadDetail(BaseModel):
    """A thread with its runs, oldest first."""

    thread: ThreadInfo
    runs: list[RunInfo]


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """State of each part; the response is 503 unless all are ``ready``."""

    ready: bool
    parts: dict[Literal["database", "store", "embedding", "model"], str]
    """``ready``, or one sentence that says what is wrong."""


class ModelFile(BaseModel):
    """A model of the model store, as ``models list --json`` shows it."""

    name: str
    kind: Literal["chat", "embedding"]
    licence: str
    size_bytes: int
    state: Literal["present", "missing", "partial"]
    path: str
    used: bool


class ModelList(BaseModel):
    """The JSON shape of ``models list --json``."""

    models: list[ModelFile]
