"""The API as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TypedDict, Unpack

from fastapi import FastAPI
from starlette.middleware.body_limit import RequestBodyLimitMiddleware

from agents.chat_model import ChatModel
from app.middleware import HostGuard, RequestCounter, TooLargeProblem
from app.openapi import describe_api
from app.problems import add_error_handlers
from app.routes import (
    agents,
    approvals,
    attachments,
    completions,
    documents,
    eval_questions,
    evals,
    grants,
    health,
    ingestions,
    memory,
    models,
    pages,
    presets,
    questions,
    receipts,
    runs,
    search,
    threads,
    tools,
)
from app.settings import Settings
from app.wiring import Platform, open_platform
from retrieval.embedders.protocol import Embedder
from retrieval.store.protocol import VectorStore

MAX_BODY_BYTES = 2 * 1024 * 1024
"""Largest request that is no upload: a question with a long history."""


class Overrides(TypedDict, total=False):
    """Parts used instead of those of the settings, see ``open_platform``."""

    embedder: Embedder
    chat_model: ChatModel
    store: VectorStore
    start_model: bool


def create_app(settings: Settings, *, platform: Platform | None = None, **overrides: Unpack[Overrides]) -> FastAPI:
    """The application.

    Args:
        settings: All settings.
        platform: An open platform that the caller closes; None opens one for the application's lifetime.
        overrides: Parts used instead of those of the settings, when no platform is given.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        if platform is not None:
            yield
            return
        async with open_platform(settings, **overrides) as opened:
            app.state.platform = opened
            yield

    app = FastAPI(
        title="Groundwork",
        version=version("groundwork"),
        description="Answers over your own documents, each sentence checked against stored text.",
        lifespan=lifespan,
    )
    app.state.platform = platform
    acting = (runs, agents, approvals, grants, questions, memory, tools)
    answering = (presets, models, eval_questions, evals)
    routes = (health, search, threads, receipts, *acting, pages, ingestions, *answering)
    for module in routes:
        app.include_router(module.router)
    picture_bytes = settings.attachments.max_pictures * settings.attachments.max_bytes
    app.include_router(completions.build_router(max_picture_bytes=picture_bytes))
    app.include_router(attachments.build_router(max_file_bytes=settings.attachments.max_bytes))
    app.include_router(documents.build_router(max_upload_bytes=settings.server.max_upload_bytes))
    add_error_handlers(app)
    describe_api(app)
    # The last one added meets a request first.
    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=MAX_BODY_BYTES)
    app.add_middleware(TooLargeProblem)
    app.add_middleware(RequestCounter)
    app.add_middleware(HostGuard, allowed_hosts=settings.server.allowed_hosts)
    return app
