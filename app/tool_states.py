"""May a server's tool be offered? Pure functions from what servers list and what people said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.tool_schema import ToolInfo, ToolState
from tools.mcp.adapter import ServerTool
from tools.mcp.pool import Listing
from tools.registry import wire_name
from tools.reviews import Review, ToolKey
from tools.types import Tool

DOWN = "its server does not answer"


@dataclass(frozen=True, slots=True)
class Judged:
    """A tool, what was said of it, and what follows from both."""

    item: ServerTool
    review: Review | None
    state: ToolState
    reason: str = ""

    @property
    def name(self) -> str:
        """The name that models would use."""
        return wire_name(self.item.spec.qualified_name)

    @property
    def key(self) -> ToolKey:
        """Its server and name."""
        return ToolKey(self.item.spec.server, self.item.spec.name)


def judge(listings: Mapping[str, Listing], reviews: Mapping[ToolKey, Review], builtins: Sequence[Tool]) -> list[Judged]:
    """Every listed tool with its state, in the order of servers and their lists.

    A name goes to a built-in first, then to the first reviewed tool that has it; whoever comes later is disabled with
    a sentence. A tool that nobody has let in takes no name away.
    """
    judged = [
        _judge(item, reviews.get(ToolKey(item.spec.server, item.spec.name)), listing)
        for listing in listings.values()
        for item in listing.tools or ()
    ]
    owners = {wire_name(tool.spec.qualified_name): ToolKey(tool.spec.server, tool.spec.name) for tool in builtins}
    for entry in judged:
        if entry.state in ("offered", "unavailable"):
            owners.setdefault(entry.name, entry.key)
    # One server may list a name twice: the first of the two has it.
    seen: set[ToolKey] = set()
    return [_with_owner(entry, owners, seen) for entry in judged]


def tool_info(entry: Judged) -> ToolInfo:
    """The tool as the API shows it."""
    spec, review = entry.item.spec, entry.review
    return ToolInfo(
        server=spec.server,
        tool=spec.name,
        wire_name=entry.name,
        state=entry.state,
        reason=entry.reason,
        risk=spec.risk,
        risk_reason=entry.item.risk_reason,
        idempotent=spec.idempotent,
        fingerprint=spec.fingerprint,
        definition=dict(entry.item.definition),
        reviewed_definition=review.definition if review and entry.state == "changed" else None,
        reviewed_by=review.reviewed_by if review else "",
        reviewed_at=review.reviewed_at if review else None,
    )


def remembered_tools(reviews: Iterable[Review], listings: Mapping[str, Listing]) -> list[ToolInfo]:
    """Reviewed tools of servers that have not listed any since the start, so that nobody thinks them gone."""
    return [
        _remembered(review, listings[review.server])
        for review in reviews
        if review.server in listings and listings[review.server].tools is None
    ]


def _judge(item: ServerTool, review: Review | None, listing: Listing) -> Judged:
    if item.problem:
        return Judged(item, review, "disabled", item.problem)
    if review is None:
        return Judged(item, review, "needs_review", "nobody has reviewed it")
    if review.fingerprint != item.spec.fingerprint:
        return Judged(item, review, "changed", f"its definition changed since {review.reviewed_by} reviewed it")
    if not review.enabled:
        return Judged(item, review, "disabled", "a person switched it off")
    if not listing.current:
        return Judged(item, review, "unavailable", listing.reason or DOWN)
    return Judged(item, review, "offered")


def _with_owner(entry: Judged, owners: Mapping[str, ToolKey], seen: set[ToolKey]) -> Judged:
    owner = owners.get(entry.name, entry.key)
    if owner == entry.key and entry.key not in seen:
        seen.add(entry.key)
        return entry
    if owner == entry.key:
        return replace(entry, state="disabled", reason=f"its server lists {entry.key.tool!r} twice")
    reason = f"the name {entry.name!r} belongs to {owner.tool!r} of {owner.server!r}; rename one of the servers"
    return replace(entry, state="disabled", reason=reason)


def _remembered(review: Review, listing: Listing) -> ToolInfo:
    return ToolInfo(
        server=review.server,
        tool=review.tool,
        wire_name=wire_name(f"{review.server}__{review.tool}"),
        state="unavailable" if review.enabled else "disabled",
        reason=listing.reason or DOWN,
        risk="unknown",
        risk_reason=DOWN,
        idempotent=False,
        fingerprint=review.fingerprint,
        definition=review.definition,
        reviewed_by=review.reviewed_by,
        reviewed_at=review.reviewed_at,
    )
