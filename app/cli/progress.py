"""Progress on stderr: a bar on a terminal, a plain line now and then otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from app.cli import output

if TYPE_CHECKING:
    from app.models.files import PullProgress
    from ingestion.types import IngestProgress

_PLAIN_INTERVAL_SECONDS = 5.0

OnIngest: TypeAlias = "Callable[[IngestProgress], None]"
OnPull: TypeAlias = "Callable[[PullProgress], None]"
OnStep: TypeAlias = Callable[[str, int, int], None]


@contextmanager
def ingest_progress() -> Generator[OnIngest]:
    """Shows files, chunks, rate and time left of an ingest."""
    if not output.notes().is_terminal:
        yield _plain_ingest()
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("Ingesting"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files, {task.fields[chunks]} chunks, {task.fields[rate]:.0f}/s"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=output.notes(), transient=True) as bar:
        task = bar.add_task("", total=None, chunks=0, rate=0.0)
        started = time.monotonic()

        def show(moment: IngestProgress) -> None:
            rate = moment.chunks_done / max(time.monotonic() - started, 0.001)
            bar.update(
                task,
                completed=moment.files_done,
                total=moment.files_total or None,
                chunks=moment.chunks_done,
                rate=rate,
            )

        yield show


def _plain_ingest() -> OnIngest:
    started = time.monotonic()
    last = started

    def show(moment: IngestProgress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _PLAIN_INTERVAL_SECONDS:
            return
        last = now
        rate = moment.chunks_done / (now - started)
        output.write_error(
            f"{moment.files_done} of {moment.files_total} files, {moment.chunks_done} chunks, {rate:.0f} chunks/s"
        )

    return show


@contextmanager
def pull_progress(name: str) -> Generator[OnPull]:
    """Shows how much of a model has been fetched or checked, and by which step."""
    if not output.notes().is_terminal:
        yield _plain_pull()
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=output.notes(), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda moment: bar.update(
            task,
            description=f"{moment.model}: {moment.step}",
            completed=moment.done_bytes,
            total=moment.total_bytes or None,
        )


def _plain_pull() -> OnPull:
    last_time = 0.0
    last_step = ""

    def show(moment: PullProgress) -> None:
        nonlocal last_time, last_step
        now = time.monotonic()
        if now - last_time < _PLAIN_INTERVAL_SECONDS and moment.step == last_step:
            return
        last_time, last_step = now, moment.step
        done, total = output.size(moment.done_bytes), output.size(moment.total_bytes)
        output.write_error(f"{moment.model}: {moment.step}: {done} of {total}")

    return show


@contextmanager
def step_progress(title: str) -> Generator[OnStep]:
    """Shows how far the current step is: its name, what is done, what there is in all."""
    if not output.notes().is_terminal:
        yield _plain_step(title)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=output.notes(), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda step, done, total: bar.update(task, description=f"{title}: {step}", completed=done, total=total)


def _plain_step(title: str) -> OnStep:
    last = time.monotonic()

    def show(step: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PLAIN_INTERVAL_SECONDS:
            last = now
            output.write_error(f"{title}: {step}: {done} of {total}")

    return show
