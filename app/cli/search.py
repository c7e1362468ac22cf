"""``groundwork search``: passages without an answer, and why they were found."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli import output
from app.cli.invocation import current, parse_filter, parse_request


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most hits.")] = 10,
    collection: Annotated[list[str] | None, typer.Option(help="Search here alone; may be repeated.")] = None,
    filter_: Annotated[
        list[str] | None, typer.Option("--filter", metavar="KEY=VALUE", help="Metadata that must match.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what put each hit where it stands.")] = False,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Search as the chat does, and show which hits its model would see.")
    ] = False,
    thread: Annotated[str, typer.Option(help="With --prompt: the thread that the query is asked in.")] = "",
    drop_filter: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Leave out a filter that was read from the words; may be repeated."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Read no filters from the words.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the hits as JSON.")] = False,
) -> None:
    """Find passages by meaning and by words.

    Words such as "in the runbooks collection" or "from 2024" narrow the search where there is such a collection or
    year; what was read is said, and can be left out.

    Example: groundwork search 'exit code 137' --limit 3 --explain
    """
    from app.cli.search_view import print_search
    from app.search_schema import SearchRequest

    if thread and not prompt:
        raise typer.BadParameter("a thread is for --prompt.", param_hint="--thread")
    request = parse_request(
        SearchRequest,
        query=query,
        collections=tuple(collection or ()),
        filter=parse_filter(filter_ or []),
        limit=limit,
        explain=explain,
        context=prompt,
        thread_id=thread,
        read_filters=not plain,
        drop_filters=tuple(drop_filter or ()),
    )
    response = current(context).call(lambda client: client.search(request))
    if as_json:
        output.write_json(response)
    else:
        print_search(response)
