"""From a request to a run: what may be searched, how words are drawn, what was said before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from agents.chat_model import ChatMessage, Sampling
from agents.errors import SchemaInvalid
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.structured import check_schema
from app.earlier import earlier_prompt
from app.model_gateway import sight_of
from app.pictures import ChosenPictures
from app.pictures import earlier_pictures as pictures_before
from app.presets import guidance_of, with_preset
from app.sampling_schema import SamplingChoice
from app.schema import RunInfo, RunRequest, ThreadInfo
from app.turns import Place, place_of
from app.wiring import Platform
from ingestion.errors import CollectionUnknown
from ingestion.ledger import Ledger
from retrieval.types import SearchFilter

LOCAL_USER = "local"
"""Everybody, while no proxy names people."""
SOURCE_KEY = "source"
"""Filter key that compares with the document's source instead of its metadata."""


async def ask(
    platform: Platform,
    thread: str | ThreadInfo,
    request: RunRequest,
    *,
    history: Sequence[ChatMessage] | None = None,
    earlier_pictures: Sequence[str] = (),
    user: str = LOCAL_USER,
) -> RunInfo:
    """Start a run in a thread.

    Args:
        platform: The open platform.
        thread: Id of the thread that the run belongs to, or a new one that is written with the run.
        request: Question, scope and sampling.
        history: What was said before, oldest first, in a thread that was made for this question; None takes the runs of
            the thread.
        earlier_pictures: Pictures of what was said before, the latest first; taken with ``history`` alone.
        user: Who asks, for memory and the audit of calls.

    Raises:
        CollectionUnknown: Documents exist, but none in a collection that is named.
        ThreadUnknown: There is no such thread.
        RunActive: The thread has a run that has not ended.
        AgentUnknown: There is no such agent.
        ModelUnknown: There is no such model.
        SchemaInvalid: The output schema is none, or an agent is asked with one.
        RunUnknown: The thread has no run that is to be replaced or continued.
        RequestInvalid: That run cannot be.
        PresetUnknown: There is no such preset.
        AttachmentUnknown: The thread has no such picture.
        AttachmentRefused: The question has too many pictures.
        ModelBlind: The model would be given nothing of a picture.
    """
    thread_id, completion = (thread, None) if isinstance(thread, str) else (thread.thread_id, thread)
    saved = await platform.presets.chosen(request, thread_id)
    request = with_preset(request, saved)
    platform.gateway.endpoint(request.model)
    if request.output_schema is not None:
        check_schema(request.output_schema)
        if request.agent:
            raise SchemaInvalid("An output schema is for answers from documents; leave it or the agent out.")
    search_filter = await search_scope(platform.ledger, request.collections, request.filter)
    earlier, runs = None, list[RunInfo]()
    if history is None:
        runs = await platform.runs.of_thread(thread_id)
        place = place_of(request, runs)
        if not request.agent:
            earlier = await earlier_prompt(runs, platform.runs.claims, without=request.replaces or request.continues)
    else:
        place = Place(request.question, tuple(history))
    if history is None:
        without = request.replaces or request.continues
        earlier_pictures = pictures_before(place.question, runs, without=without)
    pictures = await _pictures(platform, thread_id, request, runs, earlier_pictures)
    run = await platform.runs.start(
        AnswerRequest(
            run_id=uuid4().hex,
            thread_id=thread_id,
            question=place.question,
            history=place.history,
            search_filter=search_filter,
            sampling=_sampling(platform.settings.answer, request),
            model=request.model,
            output_schema=request.output_schema,
            agent=request.agent,
            user=user,
            attachments=await platform.attachments.current(thread_id) if history is None else (),
            prompt=request.prompt.label if request.prompt else "",
            drop_filters=request.drop_filters,
            so_far=place.so_far,
            replaces=request.replaces,
            continues=request.continues,
            guidance=guidance_of(saved),
            earlier=earlier,
            pictures=pictures.given,
            earlier_pictures=pictures.earlier,
        ),
        completion=completion,
    )
    if pictures.given:
        await platform.attachments.pictures.store.take([one.attachment_id for one in pictures.given])
    return run


async def _pictures(
    platform: Platform, thread_id: str, request: RunRequest, runs: Sequence[RunInfo], earlier: Sequence[str]
) -> ChosenPictures:
    """What the model is given of pictures; a server is asked whether its model sees only where there is one."""
    service = platform.attachments.pictures
    chosen = await service.chosen_ids(thread_id, request, runs)
    if not (chosen or earlier):
        return ChosenPictures()
    sight = await sight_of(platform.settings, platform.gateway, request.model)
    return await service.choose(thread_id, chosen, earlier, sight)


async def search_scope(
    ledger: Ledger, collections: Sequence[str], conditions: Mapping[str, str | int | float | bool]
) -> SearchFilter:
    """The filter for a search in these collections under these conditions.

    Raises:
        CollectionUnknown: Documents exist, but none in a collection that is named. Without any document there is
            nothing to be wrong about: the search is empty and the answer says so.
    """
    if collections:
        known = {collection.name for collection in await ledger.collections()}
        unknown = [name for name in collections if name not in known]
        if known and unknown:
            raise CollectionUnknown(
                f"No document is in the collection {unknown[0]!r}; there are {', '.join(sorted(known))}."
            )
    metadata = {key: value for key, value in conditions.items() if key != SOURCE_KEY}
    sources = (str(conditions[SOURCE_KEY]),) if SOURCE_KEY in conditions else ()
    return SearchFilter(collections=tuple(collections), sources=sources, metadata=metadata)


def _sampling(settings: AnswerSettings, *choices: SamplingChoice) -> Sampling:
    """What the earlier choices say stands over the later ones, and all over the settings."""
    values: dict[str, Any] = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
    for choice in reversed(choices):
        values |= choice.chosen()
    return Sampling(**values)
