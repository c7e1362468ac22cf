"""How well the proof tells true claims from altered ones on a corpus: ``python -m evals.proof FOLDER``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Annotated, Literal

import typer

from agents.proof.evidence import prepare
from agents.proof.verdicts import judge
from evals.seeded_faults import Rate, generate, read_corpus, score
from evals.seeded_tables import table_cases
from retrieval.types import Chunk

Half = Literal["even", "odd", "all"]


@dataclass(frozen=True, slots=True)
class ProofReport:
    """Shares of flagged claims by kind: ``altered`` and ``true`` sum up, faults of the passages stand apart."""

    documents: int
    cases: int
    rates: Mapping[str, Rate]
    milliseconds_per_claim: float
    """Processor time, the passages' share in it included."""


def measure(texts: Mapping[str, str], *, half: Half = "all", seed: int = 7, per_document: int = 3) -> ProofReport:
    """Draw claims from the documents of one half and lay them beside passages of all.

    Args:
        texts: Documents by name.
        half: Every other document by name; what was tuned on one half is reported on the other.
        seed: Of the generator.
        per_document: Sentences drawn per document, as many again that hold a figure, and as many cells of tables.
    """
    corpus = read_corpus(texts)
    names = sorted(corpus.passages)
    chosen = {"even": names[0::2], "odd": names[1::2], "all": names}[half]
    cases = generate(corpus, chosen, seed=seed, per_document=per_document)
    cases += table_cases(corpus, chosen, seed=seed, per_document=per_document)
    started = process_time()
    rates = score(cases, is_verified)
    spent = process_time() - started
    return ProofReport(len(chosen), len(cases), rates, 1000 * spent / max(1, len(cases)))


def is_verified(claim: str, passages: Sequence[str]) -> bool:
    """Whether the proof calls a claim verified by these passages."""
    return judge(claim, prepare(as_chunks(passages)), given=frozenset()).verdict == "verified"


def as_chunks(passages: Sequence[str]) -> list[Chunk]:
    """Texts as passages of documents of their own."""
    return [_chunk(number, text) for number, text in enumerate(passages)]


def _chunk(number: int, text: str) -> Chunk:
    return Chunk(
        chunk_id=str(number),
        document_id=str(number),
        collection="",
        source="",
        title="",
        position=number,
        text=text,
        char_start=0,
        char_end=len(text),
    )


def main(
    folder: Annotated[Path, typer.Argument(help="Folder with Markdown files, or a corpus.jsonl in the BEIR layout.")],
    half: Annotated[Half, typer.Option(help="Every other file, or all.")] = "all",
    per_document: Annotated[int, typer.Option(min=1)] = 3,
    seed: Annotated[int, typer.Option()] = 7,
) -> None:
    """Print the flagged shares by kind as JSON."""
    report = measure(read_texts(folder), half=half, seed=seed, per_document=per_document)
    shares = {kind: _as_json(rate) for kind, rate in report.rates.items()}
    typer.echo(json.dumps({**asdict(report), "rates": shares}, indent=2))


def _as_json(rate: Rate) -> dict[str, float]:
    return {"flagged": rate.flagged, "total": rate.total, "share": round(rate.share, 4)}


def read_texts(folder: Path) -> dict[str, str]:
    """Documents by name: the lines of a corpus in the BEIR layout, else all Markdown files."""
    corpus = folder / "corpus.jsonl"
    if corpus.is_file():
        rows = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
        return {str(row["_id"]): f"{row.get('title', '')}\n\n{row['text']}" for row in rows}
    files = sorted(folder.rglob("*.md"))
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in files}


if __name__ == "__main__":
    typer.run(main)
