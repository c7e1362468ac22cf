"""The built-in tools as one list, over what they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from tools.builtin.calculator import calculator_tool
from tools.builtin.current_time import current_time_tool
from tools.builtin.fetch_url import ReadPage, fetch_url_tool
from tools.builtin.forget import forget_tool
from tools.builtin.read_document import read_document_tool
from tools.builtin.read_output import read_output_tool
from tools.builtin.remember import remember_tool
from tools.builtin.review_text import review_text_tool
from tools.builtin.search_documents import search_documents_tool
from tools.builtin.shelf import ChunkShelf, DocumentShelf, Searcher
from tools.ledger import ExecutionLedger
from tools.memory import FactStore
from tools.types import Tool


@dataclass(frozen=True, slots=True)
class BuiltInNeeds:
    """What the built-in tools work on.

    Attributes:
        searcher: The search over the stored documents.
        shelf: The ledger of documents.
        chunks: The store that holds their chunks.
        facts: The memory; None leaves ``remember`` and ``forget`` out.
        read_page: How a web page is fetched and read; None leaves ``fetch_url`` out.
        ledger: Results of calls; None leaves ``read_output`` out.
        clock: The present moment.
    """

    searcher: Searcher
    shelf: DocumentShelf
    chunks: ChunkShelf
    facts: FactStore | None = None
    read_page: ReadPage | None = None
    ledger: ExecutionLedger | None = None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


def built_in_tools(needs: BuiltInNeeds) -> list[Tool]:
    """Every built-in tool whose needs are met."""
    tools = [
        search_documents_tool(needs.searcher, needs.shelf),
        read_document_tool(needs.shelf, needs.chunks),
        calculator_tool(),
        current_time_tool(clock=needs.clock),
        review_text_tool(),
    ]
    if needs.ledger is not None:
        tools.append(read_output_tool(needs.ledger))
    if needs.read_page is not None:
        tools.append(fetch_url_tool(needs.read_page))
    if needs.facts is not None:
        tools += [remember_tool(needs.facts), forget_tool(needs.facts)]
    return tools
