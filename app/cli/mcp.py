"""``groundwork mcp``: the servers whose tools agents may use, and Groundwork as a server for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import exits, output
from app.cli.approval_card import plain
from app.cli.invocation import Invocation, current
from app.cli.mcp_view import print_servers, print_tools

if TYPE_CHECKING:
    from app.client import ApiClient
    from app.tool_schema import ToolInfo, ToolListing

commands = typer.Typer(
    help="Use the tools of MCP servers, and serve this home to other programs.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the server.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Pairs = list[str] | None


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the servers of mcp.json, how they do, and how many of their tools are offered.

    Example: groundwork mcp list
    """
    listing = current(context).call(lambda client: client.tools())
    output.write_json(listing) if as_json else print_servers(listing)


@commands.command()
def test(context: typer.Context, name: Name, as_json: AsJson = False) -> int:  # noqa: PT028 - a command, no test
    """Connect to a server anew and show its tools: state, risk, fingerprint, and what changed since a review.

    Example: groundwork mcp test files
    """
    listing = current(context).call(lambda client: _tested(client, name))
    if as_json:
        output.write_json(listing)
    else:
        print_servers(listing)
        print_tools(listing.tools)
    return exits.DONE if all(server.state == "ready" for server in listing.servers) else exits.UNAVAILABLE


@commands.command()
def add(
    context: typer.Context,
    name: Name,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND ARGS...]", help="Program that speaks MCP on its streams.")
    ] = None,
    url: Annotated[str, typer.Option(help="Address of a streamable HTTP server, in place of a command.")] = "",
    env: Annotated[
        Pairs, typer.Option(metavar="KEY=VALUE", help="Environment of the program; ${NAME} takes yours at its start.")
    ] = None,
    header: Annotated[Pairs, typer.Option(metavar="KEY=VALUE", help="HTTP header; ${NAME} takes yours.")] = None,
    cwd: Annotated[str, typer.Option(help="Working folder of the program.")] = "",
    trusted: Annotated[
        bool, typer.Option("--trusted", help="Believe its hints: tools that only read run without being asked for.")
    ] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Let all its tools in as they are now.")] = False,
    as_json: AsJson = False,
) -> int:
    """Add a server to mcp.json, connect to it and show its tools. They are off until you review them.

    Example: groundwork mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
    """
    entry: dict[str, object] = {"url": url} if url else {}
    if command:
        entry |= {"command": command[0], "args": command[1:]}
    optional = {"env": _pairs(env, "--env"), "headers": _pairs(header, "--header"), "cwd": cwd, "trusted": trusted}
    entry |= {key: value for key, value in optional.items() if value}
    invocation = current(context)
    _write(invocation, name, entry)
    listing = invocation.call(lambda client: _accepted(client, name) if accept else _tested(client, name))
    if as_json:
        output.write_json(listing)
    else:
        print_servers(listing)
        print_tools(listing.tools)
        if any(tool.state == "needs_review" for tool in listing.tools):
            output.write_text(f"Its tools are off; let them in with: groundwork mcp review {name} --accept-all\n")
    return exits.DONE if all(server.state == "ready" for server in listing.servers) else exits.UNAVAILABLE


@commands.command()
def remove(context: typer.Context, name: Name) -> None:
    """Take a server out of mcp.json, and forget its login.

    Example: groundwork mcp remove files
    """
    from tools.mcp.config import SERVERS_KEY, read_entries, read_mcp_servers, write_entry
    from tools.mcp.oauth import TokenFile

    invocation = current(context)
    settings = invocation.settings()
    path = settings.mcp_config
    if name not in read_entries(path):
        raise typer.BadParameter(f"no server {name!r} stands under {SERVERS_KEY!r} in {str(path)!r}.")
    config = read_mcp_servers(path, invocation.environ).servers.get(name)
    if config and config.url:
        TokenFile(settings.home.mcp_logins, config.url).delete()
    write_entry(path, name, None)
    output.write_text(f"Removed {name} from {path}.\n")


@commands.command()
def review(
    context: typer.Context,
    name: Name,
    accept_all: Annotated[
        bool, typer.Option("--accept-all", help="Let in every tool that waits for a review.")
    ] = False,
    accept: Annotated[Pairs, typer.Option(metavar="TOOL", help="Let this tool in; may be repeated.")] = None,
    decline: Annotated[Pairs, typer.Option(metavar="TOOL", help="Keep this tool out; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the tools of a server that wait for a review, or let them in after you have looked.

    Example: groundwork mcp review files --accept read_file --decline write_file
    """
    listing = current(context).call(
        lambda client: _reviewed(client, name, everything=accept_all, accept=accept or [], decline=decline or [])
    )
    if as_json:
        output.write_json(listing)
    else:
        print_tools([tool for tool in listing.tools if tool.state in ("needs_review", "changed")], definitions=True)
        counts = {state: sum(tool.state == state for tool in listing.tools) for state in ("offered", "disabled")}
        waiting = sum(tool.state in ("needs_review", "changed") for tool in listing.tools)
        output.write_text(f"{counts['offered']} offered, {counts['disabled']} off, {waiting} to review.\n")


@commands.command()
def login(
    context: typer.Context,
    name: Name,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port that the browser is sent back to.")] = None,
    browser: Annotated[bool, typer.Option(help="Open the address in your browser.")] = True,
) -> None:
    """Log in to an HTTP server that asks for it; the tokens stay in the home.

    Example: groundwork mcp login tracker
    """
    from app.mcp_login import log_in

    invocation = current(context)

    def show(url: str) -> None:
        output.write_error(f"Open this address to log in: {plain(url)}")
        if browser:
            import webbrowser

            webbrowser.open(url)

    tools = log_in(invocation.settings(), invocation.environ, name, port=port, show=show)
    output.write_text(f"Logged in to {name}; it lists {tools} tools.\n")


@commands.command()
def serve(
    context: typer.Context,
    http: Annotated[
        bool, typer.Option("--http", help="Streamable HTTP on loopback instead of standard streams.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for --http; 0 takes a free one.")] = 8090,
    collection: Annotated[Pairs, typer.Option(help="Show these collections alone; may be repeated.")] = None,
) -> None:
    """Serve search, ask and the documents of this home to any MCP client, read only.

    Example: groundwork mcp serve --http --port 8090
    """
    from app.mcp_server.run import serve_http, serve_stdio

    invocation = current(context)
    scope = tuple(collection or ())
    if http:
        serve_http(invocation.settings(), invocation.connect, port=port, collections=scope)
    else:
        serve_stdio(invocation.settings(), invocation.connect, collections=scope)


async def _tested(client: ApiClient, name: str) -> ToolListing:
    listing = await client.tools(server=name)
    if any(server.state not in ("disabled", "invalid") for server in listing.servers):
        await client.restart_server(name)
        listing = await client.tools(server=name, wait=True)
    return listing


async def _accepted(client: ApiClient, name: str) -> ToolListing:
    await _tested(client, name)
    return await _reviewed(client, name, everything=True, accept=[], decline=[])


async def _reviewed(
    client: ApiClient, name: str, *, everything: bool, accept: list[str], decline: list[str]
) -> ToolListing:
    from app.tool_schema import ToolReview

    listing = await client.tools(server=name, wait=True)
    known = {tool.tool for tool in listing.tools}
    if missing := sorted({*accept, *decline} - known):
        raise typer.BadParameter(f"server {name!r} lists no tool {missing[0]!r}.")
    for tool in listing.tools:
        wanted = _wanted(tool, everything=everything, accept=accept, decline=decline)
        if wanted is not None:
            await client.review_tool(
                ToolReview(server=name, tool=tool.tool, fingerprint=tool.fingerprint, accept=wanted)
            )
    return await client.tools(server=name)


def _wanted(tool: ToolInfo, *, everything: bool, accept: list[str], decline: list[str]) -> bool | None:
    """Whether to let the tool in; None leaves it as it is."""
    if tool.tool in decline:
        return False
    if tool.tool in accept or (everything and tool.state in ("needs_review", "changed")):
        return True
    return None


def _write(invocation: Invocation, name: str, entry: dict[str, object]) -> None:
    from tools.mcp.config import check_name, parse_entry, read_entries, write_entry

    check_name(name)
    parse_entry(name, entry)
    path = invocation.settings().mcp_config
    if name in read_entries(path):
        raise typer.BadParameter(f"a server {name!r} stands in {str(path)!r} already; remove it first.")
    write_entry(path, name, entry)


def _pairs(pairs: Pairs, option: str) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs or []]
    if wrong := next((key for key, separator, _ in split if not key or not separator), None):
        raise typer.BadParameter(f"{wrong!r} is not KEY=VALUE.", param_hint=option)
    return {key: value for key, _, value in split}
