"""Which files of a folder are left out, by patterns in the form of ``.gitignore``. Opens ignore files alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

IGNORE_FILE = ".groundworkignore"
"""Holds patterns for the folder that it lies in and all below; a line with ``!`` takes files in again."""


class PatternRefused(ValueError):
    """A pattern cannot be understood; the message names it and says where it stands."""


def compile_patterns(patterns: Iterable[str], *, origin: str) -> GitIgnoreSpec:
    """Patterns, later ones over earlier ones.

    Args:
        patterns: One pattern each, in the form of ``.gitignore``.
        origin: Where they stand, for the message.

    Raises:
        PatternRefused: One of them cannot be understood.
    """
    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise PatternRefused(f"A pattern of {origin} cannot be understood ({error}).") from error


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """What is left out below a folder.

    Attributes:
        root: The folder that a run's own patterns are relative to.
        excluded: The run's own patterns; what they leave out stays out.
        layers: Each folder with an ignore file and its patterns, outermost first; inner ones win.
    """

    root: Path
    excluded: GitIgnoreSpec
    layers: tuple[tuple[Path, GitIgnoreSpec], ...] = ()

    @classmethod
    def of(cls, root: Path, exclude: Sequence[str]) -> IgnoreRules:
        """The run's own patterns alone.

        Raises:
            PatternRefused: One of them cannot be understood.
        """
        return cls(root, compile_patterns(exclude, origin="--exclude or ingestion.exclude"))

    def entered(self, folder: Path) -> IgnoreRules:
        """The rules inside a folder: those outside and its own.

        Raises:
            PatternRefused: Its ignore file cannot be understood.
            OSError: Its ignore file cannot be read.
        """
        file = folder / IGNORE_FILE
        if not file.is_file():
            return self
        lines = file.read_text("utf-8", errors="replace").lstrip("\ufeff").splitlines()
        spec = compile_patterns(lines, origin=str(file))
        return IgnoreRules(self.root, self.excluded, (*self.layers, (folder, spec)))

    def leaves_out(self, path: Path, *, is_folder: bool = False) -> bool:
        """Whether a path below the root is left out; a folder that is takes all below with it."""
        if _verdict(self.excluded, path, self.root, is_folder):
            return True
        left_out = False
        for folder, spec in self.layers:
            verdict = _verdict(spec, path, folder, is_folder)
            left_out = left_out if verdict is None else verdict
        return left_out


def _verdict(spec: GitIgnoreSpec, path: Path, folder: Path, is_folder: bool) -> bool | None:
    if not path.is_relative_to(folder):
        return None
    relative = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
    return spec.check_file(relative).include
