"""The runs of a thread as turns: a question with all answers that were asked for in each other's place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from app.schema import RunInfo

Version = tuple[RunInfo, ...]
"""An answer: the run that began it and those that went on with it, in order."""


class Turn(NamedTuple):
    """A question with its answers, oldest first; never empty."""

    versions: tuple[Version, ...]

    @property
    def turn_id(self) -> str:
        """The run that it began with."""
        return self.versions[0][0].run_id


def turns_of(runs: Iterable[RunInfo]) -> list[Turn]:
    """Runs of a thread, oldest first, as turns in the order they began.

    A run that names one which is not there begins a turn of its own.
    """
    turns: list[list[Version]] = []
    for run in runs:
        versions = _holding(turns, run.replaces or run.continues)
        if versions is None:
            turns.append([(run,)])
            continue
        named = _index(versions, run.continues or run.replaces)
        if not run.replaces:
            versions[named] = (*versions[named], run)
        elif run.continues:
            before = versions[named]
            kept = next(place for place, part in enumerate(before) if part.run_id == run.continues)
            versions.append((*before[: kept + 1], run))
        else:
            versions.append((run,))
    return [Turn(tuple(versions)) for versions in turns]


def _holding(turns: list[list[Version]], run_id: str) -> list[Version] | None:
    return next((turn for turn in turns if any(run_id == part.run_id for one in turn for part in one)), None)


def _index(versions: list[Version], run_id: str) -> int:
    """The newest version that has the run."""
    return max(place for place, one in enumerate(versions) if any(part.run_id == run_id for part in one))
