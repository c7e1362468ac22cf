"""``groundwork eval retrieval``: over a judged corpus in a store of its own, or over the documents of the home."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.invocation import current, parse_setting
from app.cli.progress import step_progress
from evals.cli_compare import print_comparison
from evals.cli_questions import SetOption, end, measure, print_questions, question_request

if TYPE_CHECKING:
    from app.eval_schema import EvalCase, EvalComparison
    from app.settings import Settings
    from evals.retrieval import RetrievalReport
    from retrieval.embedders.protocol import Embedder
    from retrieval.settings import SearchSettings


def retrieval(
    context: typer.Context,
    dataset: Annotated[
        Path | None, typer.Option(help="Folder with corpus.jsonl, queries.jsonl and qrels/test.tsv.")
    ] = None,
    questions: Annotated[Path | None, typer.Option(help="Questions over the home's documents instead.")] = None,
    collection: Annotated[list[str] | None, typer.Option(help="With --questions: search here alone.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="With --questions: only the first so many.")] = None,
    settings: SetOption = None,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Measure with this setting as well, and compare; may be repeated."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write JSON, Markdown and HTML into this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Score the search over a data set in the BEIR layout, or over questions that name the files with their answers.

    A data set is indexed in a store of its own; documents of the home are neither read nor changed. Questions are
    searched for in the home. With --against a second run differs in these settings, and both are compared in pairs.
    Exit code 2 when the folder or file is none.

    Example: groundwork eval retrieval --dataset data/scifact --against search.fusion=rrf
    """
    if (dataset is None) == (questions is None):
        raise typer.BadParameter("give either --dataset or --questions.")
    if questions is not None:
        _over_questions(
            context,
            questions,
            collection=collection,
            limit=limit,
            settings=settings or [],
            against=against,
            report=report,
            as_json=as_json,
        )
    elif dataset is not None:
        _over_dataset(context, dataset, settings=settings or [], against=against, report=report, as_json=as_json)


def _over_questions(
    context: typer.Context,
    questions: Path,
    *,
    collection: list[str] | None,
    limit: int | None,
    settings: list[str],
    against: list[str] | None,
    report: Path | None,
    as_json: bool,
) -> None:
    from evals.reports.write import write_report

    runs = [settings, [*settings, *against]] if against else [settings]
    reports = [
        measure(
            context,
            question_request(
                "retrieval",
                questions,
                collection=collection,
                limit=limit,
                only=None,
                limit_seconds=None,
                settings=chosen,
                fresh=True,
            ),
        )
        for chosen in runs
    ]
    comparison = _compare([item.cases for item in reports], against)
    if report is not None:
        write_report(report, reports[0], comparison)
    if comparison is not None:
        output.write_json(comparison) if as_json else print_comparison(comparison)
    elif as_json:
        output.write_json(reports[0])
    else:
        print_questions(reports[0])
    end(reports[-1])


def _over_dataset(
    context: typer.Context,
    dataset: Path,
    *,
    settings: list[str],
    against: list[str] | None,
    report: Path | None,
    as_json: bool,
) -> None:
    from evals.errors import DatasetUnreadable
    from evals.reports.write import write_report
    from evals.retrieval import run_retrieval_evals

    all_settings = current(context).settings()
    chosen = [_search_settings(all_settings, settings)]
    if against:
        chosen.append(_search_settings(all_settings, [*settings, *against]))
    try:
        with step_progress(f"Measuring {dataset.name}") as show:
            reports = run_retrieval_evals(
                dataset,
                embedder=_load_embedder(all_settings),
                settings=chosen,
                on_progress=lambda moment: show(moment.step, moment.done, moment.total),
            )
    except DatasetUnreadable as error:
        raise typer.BadParameter(str(error), param_hint="--dataset") from error
    comparison = _compare([item.cases for item in reports], against)
    if report is not None:
        from evals.answers_report import report_of_dataset

        write_report(report, report_of_dataset(reports[0]), comparison)
    if comparison is not None:
        output.write_json(comparison) if as_json else print_comparison(comparison)
    elif as_json:
        output.write_json(reports[0])
    else:
        _print(reports[0])


def _compare(cases: Sequence[Sequence[EvalCase]], against: list[str] | None) -> EvalComparison | None:
    if not against:
        return None
    from app.eval_compare import compare_cases

    return compare_cases(cases[0], cases[1], names=("as it is", ", ".join(against)))


def _search_settings(settings: Settings, pairs: list[str]) -> SearchSettings:
    from app.errors import RequestInvalid
    from app.evaluations import changed_settings

    try:
        return changed_settings(settings, dict(parse_setting(pair) for pair in pairs))[0]
    except RequestInvalid as error:
        raise typer.BadParameter(str(error)) from error


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
