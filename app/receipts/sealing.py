"""Keeps what was true when an answer was given: the documents it rests on, what was said before, model and settings.

Documents and settings may have changed by the time somebody asks for a receipt, so this is written with the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib.metadata import version

from pydantic import JsonValue, TypeAdapter

from agents.answer import Citation
from agents.chat_model import Sampling
from agents.events import AnswerDone, ClaimsChecked, RunEvent
from agents.guidance import Guidance
from agents.proof_record import EvidencePassage
from agents.proof_replay import rules_fingerprint
from agents.request import AnswerRequest
from app.models.catalog import CATALOG
from app.receipts.digests import digest
from app.receipts.public_settings import public_settings
from app.receipts.schema import RunSeal, SealedDocument, SealedModel
from app.settings import Settings
from ingestion.ledger import Ledger
from ingestion.preparing import RECIPE_VERSION
from retrieval.embedders.protocol import Embedder

_GROUNDWORK = version("groundwork")
_SAMPLING: TypeAdapter[Sampling] = TypeAdapter(Sampling)
_GUIDANCE: TypeAdapter[Guidance] = TypeAdapter(Guidance)


@dataclass(frozen=True, slots=True)
class Sealer:
    """Makes seals with the settings of one open platform."""

    settings: Settings
    ledger: Ledger
    embedder: Embedder

    async def __call__(self, request: AnswerRequest, events: Sequence[RunEvent]) -> str:
        """The seal of a run that ends now, as JSON.

        Raises:
            LedgerUnavailable: The database cannot be read.
        """
        record = next((event.record for event in reversed(events) if isinstance(event, ClaimsChecked)), None)
        names = (event.answer.model for event in reversed(events) if isinstance(event, AnswerDone))
        history: list[dict[str, str]] = [
            {"role": message.role, "content": message.content} for message in request.history
        ]
        if request.so_far:
            history.append({"role": "assistant", "content": request.so_far})
        return RunSeal(
            groundwork=_GROUNDWORK,
            rules=rules_fingerprint(),
            chunking=str(RECIPE_VERSION),
            embedding=self.embedder.fingerprint,
            model=self._model(next(names, self.settings.model.name)),
            settings=self._settings(request),
            history_messages=len(history),
            history_sha256=digest([dict(message) for message in history]),
            collections=request.search_filter.collections,
            filter=_filter(request),
            documents=await sealed_documents(self.ledger, record.passages if record else ()),
        ).model_dump_json()

    def _model(self, name: str) -> SealedModel:
        """The model that answered, by the name the answer gives it."""
        endpoint = self.settings.endpoints.get(name)
        if endpoint is not None:
            return SealedModel(name=name, server="by_url", context_tokens=endpoint.context_tokens)
        model = self.settings.model
        embedded = model.base_url is None
        pinned = next((entry for entry in CATALOG if entry.name == name), None)
        weights = ""
        if embedded and pinned is not None and self.settings.models.chat_path is None:
            weights = next(file.sha256 for file in pinned.files if file.path == pinned.weights)
        return SealedModel(
            name=name,
            server="embedded" if embedded else "by_url",
            context_tokens=model.context_tokens,
            weights_sha256=weights,
        )

    def _settings(self, request: AnswerRequest) -> dict[str, dict[str, JsonValue]]:
        sections = {
            "answer": public_settings(self.settings.answer),
            "search": public_settings(self.settings.search),
            "ingestion": public_settings(self.settings.ingestion),
        }
        if request.agent:
            sections["agents"] = public_settings(self.settings.agents)
        if request.sampling is not None:
            drawn = _SAMPLING.dump_python(request.sampling, mode="json")
            sections["sampling"] = {name: value for name, value in drawn.items() if value is not None}
        if request.output_schema is not None:
            sections["output"] = {"schema": dict(request.output_schema)}
        if request.guidance.preset:
            sections["preset"] = _GUIDANCE.dump_python(request.guidance, mode="json")
        return sections


async def sealed_documents(
    ledger: Ledger, passages: Sequence[EvidencePassage | Citation]
) -> tuple[SealedDocument, ...]:
    """The documents of these passages as the ledger has them now, in order of first use; those it has not are left out.

    A document that does not hold its passages any more has no hash: its bytes now are not those that were read then.

    Raises:
        LedgerUnavailable: The database cannot be read.
    """
    ids = list(dict.fromkeys(passage.document_id for passage in passages))
    if not ids:
        return ()
    records = {record.document_id: record for record in await ledger.documents(document_ids=ids)}
    versions = frozenset(await ledger.versions(ids))
    found: list[SealedDocument] = []
    for document_id in ids:
        record = records.get(document_id)
        if record is None:
            continue
        own = [passage for passage in passages if passage.document_id == document_id]
        same = await _stands(ledger, document_id, own, versions)
        found.append(
            SealedDocument(
                document_id=document_id,
                version=next((entry.version for entry in own if isinstance(entry, EvidencePassage)), ""),
                source=record.source,
                title=record.title,
                collection=record.collection,
                media_type=record.media_type,
                size_bytes=record.size_bytes if same else 0,
                content_sha256=record.content_sha256 if same else "",
            )
        )
    return tuple(found)


async def _stands(
    ledger: Ledger, document_id: str, passages: Sequence[EvidencePassage | Citation], versions: AbstractSet[str]
) -> bool:
    """Whether the document still holds these passages; its text is read only where they name no version of it."""
    named = {passage.version if isinstance(passage, EvidencePassage) else "" for passage in passages}
    if "" not in named:
        return named <= versions
    text = await ledger.text(document_id) or ""
    return all(text[passage.char_start : passage.char_end] == _text(passage) for passage in passages)


def _text(passage: EvidencePassage | Citation) -> str:
    return passage.text if isinstance(passage, EvidencePassage) else passage.quote


def _filter(request: AnswerRequest) -> dict[str, str | int | float | bool]:
    """The filter as the API takes it."""
    chosen: dict[str, str | int | float | bool] = dict(request.search_filter.metadata)
    if request.search_filter.sources:
        chosen["source"] = request.search_filter.sources[0]
    return chosen
