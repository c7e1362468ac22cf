"""Calls of the API about chat models."""

from __future__ import annotations

from app.model_schema import ChatModelInfo, ChatModelList
from ui.api_http import HttpApi


class ModelCalls:
    """Chat models and what they can. Errors as of ``HttpApi``."""

    def __init__(self, http: HttpApi) -> None:
        self._http = http

    def list(self) -> list[ChatModelInfo]:
        """Chat models, the default one first."""
        return self._http.get("/api/models", ChatModelList).models
