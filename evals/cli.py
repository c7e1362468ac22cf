"""``groundwork eval``: measurements from the command line. ``app.cli.main`` finds this module by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.invocation import current
from app.cli.progress import step_progress

if TYPE_CHECKING:
    from app.settings import Settings
    from evals.retrieval import RetrievalReport
    from retrieval.embedders.protocol import Embedder

commands = typer.Typer(help="Measure how good retrieval and answers are.", no_args_is_help=True)


@commands.callback()
def _group() -> None:
    """Measure how good retrieval and answers are."""


@commands.command()
def retrieval(
    context: typer.Context,
    dataset: Annotated[Path, typer.Option(help="Folder with corpus.jsonl, queries.jsonl and qrels/test.tsv.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Index a data set in the BEIR layout in a store of its own, and score the search over its test queries.

    Documents of the home are neither read nor changed. Exit code 2 when the folder is no such data set.

    Example: groundwork eval retrieval --dataset data/scifact --json
    """
    from evals.errors import DatasetUnreadable
    from evals.retrieval import run_retrieval_eval

    settings = current(context).settings()
    try:
        with step_progress(f"Measuring {dataset.name}") as show:
            report = run_retrieval_eval(
                dataset,
                embedder=_load_embedder(settings),
                settings=settings.search,
                on_progress=lambda moment: show(moment.step, moment.done, moment.total),
            )
    except DatasetUnreadable as error:
        raise typer.BadParameter(str(error), param_hint="--dataset") from error
    if as_json:
        output.write_json(report)
    else:
        _print(report)


def _load_embedder(settings: Settings) -> Embedder:
    from app.models.store import ModelStore
    from retrieval.embedders.onnx import load_onnx_embedder

    embedding = settings.embedding
    return load_onnx_embedder(
        ModelStore(settings.home, settings.models).embedding_folder(embedding.model),
        name=embedding.model,
        threads=embedding.threads,
        batch_tokens=embedding.batch_tokens,
    )


def _print(report: RetrievalReport) -> None:
    lines = [
        f"{report.dataset}: {report.queries} queries over {report.config.documents} documents",
        f"  nDCG@10     {report.ndcg_at_10:.4f}",
        f"  recall@10   {report.recall_at_10:.4f}",
        f"  recall@100  {report.recall_at_100:.4f}",
        f"  MRR@10      {report.mrr_at_10:.4f}",
        f"  MAP         {report.map:.4f}",
        f"  latency     p50 {report.latency_ms.p50:.1f} ms, p95 {report.latency_ms.p95:.1f} ms",
    ]
    output.write_text("\n".join(lines) + "\n")
