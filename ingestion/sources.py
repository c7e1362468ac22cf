"""Finds what to ingest: files, folders and globs become sources, sorted, each once; ignore patterns are kept to."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, overload
from urllib.parse import unquote, urlsplit
from uuid import UUID, uuid5

from ingestion.ignoring import IgnoreRules, PatternRefused
from ingestion.types import DocumentIdentity, FileOutcome

_NAMESPACE = UUID("6d6f1f7a-3f0a-5c57-8a3c-7a3fd3b6e0b5")
"""Namespace of document ids; a change would orphan every document."""
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Source:
    """One file to ingest.

    Attributes:
        source: What it is called in reports and citations: an absolute path with ``/``, a URL, or ``upload:NAME``.
        path: Where its bytes are now.
        ending: Ending of its name where the source has none, with its dot; a web server names the type apart.
    """

    source: str
    path: Path
    ending: str = ""

    @classmethod
    def file(cls, path: Path) -> Source:
        """A file of this machine, named by its absolute path; symbolic links are not resolved."""
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
        return cls(absolute.as_posix(), absolute)

    @classmethod
    def upload(cls, path: Path, *, name: str) -> Source:
        """A file that came through the API; the same name replaces what it named before."""
        return cls(f"upload:{name}", path)

    @property
    def name(self) -> str:
        """The file's name, for its ending and as a last title."""
        if is_address(self.source):
            parts = urlsplit(self.source)
            return (unquote(parts.path).rstrip("/").rpartition("/")[2] or parts.netloc) + self.ending
        return self.source.removeprefix("upload:").rpartition("/")[2] + self.ending


@dataclass(frozen=True, slots=True)
class Discovery(Sequence[Source]):
    """What was found under some paths; as a sequence, the sources.

    Attributes:
        sources: Files in order of their names, each once.
        failures: Paths that do not exist or cannot be listed, with their reason.
        roots: Absolute files and folders that were looked at: what is gone from under them may be pruned.
        unreadable: Absolute folders that could not be listed: nothing is known to be gone from under them.
    """

    sources: tuple[Source, ...]
    failures: tuple[FileOutcome, ...] = ()
    roots: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.sources)

    @overload
    def __getitem__(self, index: int) -> Source: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Source]: ...

    def __getitem__(self, index: int | slice) -> Source | Sequence[Source]:
        return self.sources[index]

    def joined(self, other: Discovery) -> Discovery:
        """Both together, sources in order of their names."""
        sources = sorted({source.source: source for source in (*self.sources, *other.sources)}.items())
        return Discovery(
            tuple(source for _, source in sources),
            (*self.failures, *other.failures),
            (*self.roots, *other.roots),
            (*self.unreadable, *other.unreadable),
        )

    def may_prune(self, source: str) -> bool:
        """Whether a document's source lies where this discovery has looked, and would have found it."""
        return any(_lies_under(source, root) for root in self.roots) and not any(
            _lies_under(source, folder) for folder in self.unreadable
        )


def is_address(path: str) -> bool:
    """Whether a path names something outside this machine: a URL or a bucket."""
    return "://" in path


def discover(paths: Sequence[str], *, exclude: Sequence[str] = ()) -> Discovery:
    """Files under the paths: each path is a file, a folder (taken whole), or a glob (``**`` crosses folders).

    Hidden files and folders are left out unless a path names them. A folder that a link leads back to is taken once.

    Args:
        paths: What to look at.
        exclude: Patterns in the form of ``.gitignore``, relative to a folder that is taken, or to the part of a glob
            before its first wildcard; each folder's ``.groundworkignore`` holds more. A named file is always taken.

    Raises:
        PatternRefused: A pattern of ``exclude`` cannot be understood.
    """
    search = _Search(exclude)
    for given in paths:
        matches = _expand(given)
        rules = IgnoreRules.of(Path(os.path.abspath(_fixed_part(given))), exclude)  # noqa: PTH100 - as in Source.file
        for path in matches:
            source = Source.file(path)
            if matches == [Path(given).expanduser()] or not rules.leaves_out(
                source.path, is_folder=source.path.is_dir()
            ):
                search.take(source)
    ordered = sorted(search.found.values(), key=lambda source: source.source)
    return Discovery(tuple(ordered), tuple(search.failures), tuple(search.roots), tuple(search.unreadable))


def identity_of(source: str, collection: str) -> DocumentIdentity:
    """The document that a source is in a collection; always the same id."""
    return DocumentIdentity(str(uuid5(_NAMESPACE, f"{collection}\n{source}")), collection, source)


def _expand(given: str) -> list[Path]:
    path = Path(given).expanduser()
    if path.exists() or not glob.has_magic(given):
        return [path]
    return [Path(match) for match in sorted(_glob(str(path)))] or [path]


def _fixed_part(given: str) -> Path:
    """A path up to the folder that holds its first wildcard."""
    parts = Path(given).expanduser().parts
    fixed = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return Path(*parts[:fixed])


def _glob(pattern: str) -> list[str]:
    return glob.glob(pattern, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern


@dataclass(slots=True)
class _Search:
    """What was found so far."""

    exclude: Sequence[str] = ()
    found: dict[str, Source] = field(default_factory=dict[str, Source])
    failures: list[FileOutcome] = field(default_factory=list[FileOutcome])
    roots: list[str] = field(default_factory=list[str])
    unreadable: list[str] = field(default_factory=list[str])

    def take(self, source: Source) -> None:
        """Take in what a path names."""
        self.roots.append(source.source)
        if source.path.is_dir():
            self._walk(source.path)
        elif source.path.is_file():
            self._file(source)
        else:
            self._miss(source.source, "not_found", "There is no such file or folder.")

    def _walk(self, folder: Path) -> None:
        """Take in the files below a folder; real places of folders are remembered, so that loops of links end."""
        seen: set[tuple[int, int]] = set()
        stack = [(folder, 0, IgnoreRules.of(folder, self.exclude))]
        while stack:
            current, depth, outer = stack.pop()
            try:
                rules = outer.entered(current)
                status = current.stat()
                entries = [entry for entry in os.scandir(current) if not entry.name.startswith(".")]
            except OSError as error:
                self._miss(current.as_posix(), "unreadable", f"The folder cannot be listed ({error.strerror}).")
                continue
            except PatternRefused as error:
                self._miss(current.as_posix(), "unreadable", str(error))
                continue
            if (status.st_dev, status.st_ino) in seen or depth > _MAX_DEPTH:
                continue
            seen.add((status.st_dev, status.st_ino))
            for entry in sorted(entries, key=lambda entry: entry.name, reverse=True):
                path = current / entry.name
                if rules.leaves_out(path, is_folder=entry.is_dir()):
                    continue
                if entry.is_dir():
                    stack.append((path, depth + 1, rules))
                elif entry.is_file():
                    self._file(Source(path.as_posix(), path))

    def _file(self, source: Source) -> None:
        try:
            source.source.encode()
        except UnicodeEncodeError:
            shown = source.source.encode("utf-8", "replace").decode()
            self._miss(shown, "unreadable", "The file's name is not valid UTF-8; rename it.")
        else:
            self.found[source.source] = source

    def _miss(self, source: str, reason: Literal["not_found", "unreadable"], detail: str) -> None:
        self.failures.append(FileOutcome(source=source, status="failed", reason=reason, detail=detail))
        self.unreadable.append(source)


def _lies_under(source: str, root: str) -> bool:
    return source == root or source.startswith(root.rstrip("/") + "/")
