"""``groundwork search``: passages without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.invocation import current, parse_filter, parse_request

if TYPE_CHECKING:
    from app.schema import SearchHit, SearchResponse

_EXCERPT_CHARACTERS = 300


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most hits.")] = 10,
    collection: Annotated[list[str] | None, typer.Option(help="Search here alone; may be repeated.")] = None,
    filter_: Annotated[
        list[str] | None, typer.Option("--filter", metavar="KEY=VALUE", help="Metadata that must match.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show ranks and scores of both legs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the hits as JSON.")] = False,
) -> None:
    """Find passages by meaning and by words.

    Example: groundwork search 'exit code 137' --limit 3 --explain
    """
    from app.schema import SearchRequest

    request = parse_request(
        SearchRequest,
        query=query,
        collections=tuple(collection or ()),
        filter=parse_filter(filter_ or []),
        limit=limit,
    )
    response = current(context).call(lambda client: client.search(request))
    if as_json:
        output.write_json(response)
    else:
        _print(response, explain=explain)


def _print(response: SearchResponse, *, explain: bool) -> None:
    for hit in response.hits:
        where = output.place(hit.page, hit.section)
        output.write_text(f"{hit.rank}. {hit.title}{f' ({where})' if where else ''}\n   {hit.source}\n")
        if explain:
            output.write_text(f"   {_explain(hit)}\n")
        excerpt = " ".join(hit.text.split())
        short = excerpt[:_EXCERPT_CHARACTERS] + ("..." if len(excerpt) > _EXCERPT_CHARACTERS else "")
        output.write_text(f"   {short}\n\n")
    timings = response.timings_ms
    output.write_text(
        f"{len(response.hits)} hits in {timings['total']:.1f} ms"
        f" (embed {timings['embed']:.1f}, search {timings['search']:.1f}, rerank {timings['rerank']:.1f})\n"
    )


def _explain(hit: SearchHit) -> str:
    scores = hit.scores
    legs = [
        f"fused {scores.fused:.3f}",
        f"dense {_leg(scores.dense, scores.dense_rank)}",
        f"bm25 {_leg(scores.bm25, scores.bm25_rank)}",
    ]
    if scores.rerank is not None:
        legs.append(f"rerank {scores.rerank:.3f}")
    if hit.matched_terms:
        legs.append(f"words {' '.join(hit.matched_terms)}")
    return "; ".join(legs)


def _leg(score: float | None, rank: int | None) -> str:
    return "not found" if score is None else f"{score:.3f} at rank {rank}"
