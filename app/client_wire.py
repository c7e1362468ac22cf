"""What the API client writes into paths, and how it reads an error."""

from __future__ import annotations

from urllib.parse import quote

import httpx
from pydantic import ValidationError

from app.errors import ApiProblem
from app.schema import Problem


def segment(value: str) -> str:
    """An id as one segment of a path, whatever a person typed for it."""
    return quote(value, safe="")


def problem_of(response: httpx.Response) -> ApiProblem:
    """The error that a response reports, also where it is no problem document."""
    try:
        return ApiProblem(Problem.model_validate_json(response.content))
    except ValidationError:
        detail = f"The API answered with status {response.status_code} and no reason; see its log."
        return ApiProblem(
            Problem(title=response.reason_phrase, status=response.status_code, detail=detail, code="http_error")
        )
