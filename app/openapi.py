"""The OpenAPI document: every operation also says which problem documents it may answer with."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.problems import MEDIA_TYPE
from app.schema import Problem

_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_OPENAI_ERROR = {"$ref": "#/components/schemas/OpenAIErrorBody"}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:  # FastAPI's type for ``responses``
    """The ``responses`` of a route that may answer with these problem statuses."""
    return {status: {"model": Problem} for status in statuses}


def describe_api(app: FastAPI) -> None:
    """Make ``app.openapi()`` describe errors as problem documents instead of FastAPI's own shape."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                tags=app.openapi_tags,
            )
            for path, operations in schema["paths"].items():
                for operation in operations.values():
                    _describe_errors(operation["responses"], openai=path.startswith("/v1/"))
            for name in ("HTTPValidationError", "ValidationError"):
                schema["components"]["schemas"].pop(name, None)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = openapi


def _describe_errors(responses: dict[str, Any], *, openai: bool) -> None:
    for status, response in responses.items():
        references = [media.get("schema", {}).get("$ref", "") for media in response.get("content", {}).values()]
        if openai and int(status) >= HTTPStatus.BAD_REQUEST:
            response["content"] = {"application/json": {"schema": _OPENAI_ERROR}}
        elif any(reference.endswith(("/HTTPValidationError", "/Problem")) for reference in references):
            response["content"] = {MEDIA_TYPE: {"schema": _PROBLEM}}
