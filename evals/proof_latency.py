"""How long the proof of one answer takes, ten claims over twenty passages: ``python -m evals.proof_latency FOLDER``.

Reading the passages is counted apart: the graph does it before the model is asked, the claims are judged after it. Each
answer has passages of its own, so nothing is remembered from the one before. Processor time, so that other work on the
machine does not count.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, NamedTuple

import numpy as np
import typer

from agents.proof.evidence import prepare
from agents.proof.verdicts import judge
from evals.proof import as_chunks, read_texts
from evals.seeded_faults import Case, generate, read_corpus

CLAIMS = 10
PASSAGES = 20


class Spread(NamedTuple):
    """Milliseconds of processor time."""

    p50: float
    p95: float


class ProofLatency(NamedTuple):
    """Time of one answer's proof."""

    answers: int
    read_passages: Spread
    judge_claims: Spread


def measure_latency(texts: Mapping[str, str], *, answers: int, seed: int = 7) -> ProofLatency:
    """Prove as many answers as are asked for, or as the documents give claims for.

    Args:
        texts: Documents by name.
        answers: Answers of ten claims, true and altered ones mixed.
        seed: Of the draw.
    """
    corpus = read_corpus(texts)
    cases = generate(corpus, corpus.passages, seed=seed, per_document=1)
    random.Random(seed).shuffle(cases)
    proofs = [_prove(cases[start : start + CLAIMS]) for start in range(0, min(answers * CLAIMS, len(cases)), CLAIMS)]
    return ProofLatency(len(proofs), _spread([read for read, _ in proofs]), _spread([judged for _, judged in proofs]))


def _prove(cases: Sequence[Case]) -> tuple[float, float]:
    """Seconds for the passages, seconds for the claims."""
    own = [case.passages[0] for case in cases]
    passages = list(dict.fromkeys([*own, *(passage for case in cases for passage in case.passages)]))[:PASSAGES]
    started = process_time()
    evidence = prepare(as_chunks(passages))
    read = process_time()
    for case in cases:
        judge(case.claim, evidence, given=frozenset())
    return read - started, process_time() - read


def _spread(seconds: Sequence[float]) -> Spread:
    p50, p95 = (round(1000 * float(np.percentile(seconds, share)), 1) for share in (50, 95))
    return Spread(p50, p95)


def main(
    folder: Annotated[Path, typer.Argument(help="Folder with Markdown files, or a corpus.jsonl in the BEIR layout.")],
    answers: Annotated[int, typer.Option(min=1)] = 100,
) -> None:
    """Print the times as JSON."""
    report = measure_latency(read_texts(folder), answers=answers)
    times = {"read_passages_ms": report.read_passages._asdict(), "judge_claims_ms": report.judge_claims._asdict()}
    typer.echo(json.dumps({"answers": report.answers, "claims": CLAIMS, "passages": PASSAGES, **times}, indent=2))


if __name__ == "__main__":
    typer.run(main)
