"""Trains the learned ranker and shows what it is worth on data sets that it was not trained on.

``python -m evals.train_ranker --model DIR --train DIR:SPLIT[:HALF] ... [--test DIR:SPLIT[:HALF] ...]``, where ``HALF``
is ``first`` or ``second``. Every judged query gives pairs of a relevant and another candidate of its pool; a logistic
regression over the differences of their features finds weights under which relevant ones stand first (Joachims,
"Optimizing search engines using clickthrough data", KDD 2002). Each query weighs the same.

No query is both trained on and reported: each training set is reported by a ranker of the other corpora, each test
set by the ranker that is written.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from evals.datasets import Dataset, read_dataset
from evals.retrieval import index_dataset
from retrieval.embedders.protocol import Embedder
from retrieval.lexical import LexicalEncoder
from retrieval.rerankers.features import FEATURES, feature_matrix
from retrieval.rerankers.learned import SHIPPED, RankerCoefficients
from retrieval.search import Retriever
from retrieval.settings import SearchSettings
from retrieval.store.edge import open_edge_store

_Grades: TypeAlias = Mapping[str, int]
_DEPTH = 10
_NEGATIVES = 20
"""Candidates that are not relevant, taken from the top of each pool: the mistakes that matter."""
_TRUST = 0.5
"""What is learned on some collections counts half on all others: each weight but that of the order before is halved."""
_PENALTY = 0.01
"""Inverse strength of the L2 penalty; results differ little from 0.001 to 0.1."""


@dataclass(frozen=True, slots=True)
class JudgedPool:
    """Candidates of one query in the fused order.

    Attributes:
        features: Shape ``(n, len(FEATURES))``.
        grades: Grade of each candidate, 0 for one that is not relevant; shape ``(n,)``.
        ideal: DCG at 10 of a perfect order of all judged documents, also those that no leg found.
    """

    features: NDArray[np.float64]
    grades: NDArray[np.float64]
    ideal: float


class Gain(NamedTuple):
    """Mean nDCG@10 of the fused order and of the ranker's, and the p-value of a paired t-test."""

    fused: float
    learned: float
    p_value: float


def judged_pools(
    retriever: Retriever, queries: Mapping[str, str], judgements: Mapping[str, _Grades]
) -> list[JudgedPool]:
    """The pool of each judged query; a chunk's source is the document that judgements name."""
    pools: list[JudgedPool] = []
    for query_id, grades in judgements.items():
        candidates = retriever.candidates(queries[query_id])
        pools.append(
            JudgedPool(
                features=feature_matrix(queries[query_id], candidates),
                grades=np.array([grades.get(candidate.chunk.source, 0) for candidate in candidates], dtype=np.float64),
                ideal=_dcg(sorted(grades.values(), reverse=True)),
            )
        )
    return pools


def fit(pools: Sequence[JudgedPool]) -> NDArray[np.float64]:
    """Weights of the features, shape ``(len(FEATURES),)``; that of the order before is 1.

    Args:
        pools: Training queries; those without a relevant and another candidate are left out.
    """
    from sklearn.linear_model import LogisticRegression

    differences: list[NDArray[np.float64]] = []
    weights: list[float] = []
    for pool in pools:
        better = np.flatnonzero(pool.grades > 0)
        others = np.flatnonzero(pool.grades == 0)[:_NEGATIVES]
        pairs = len(better) * len(others)
        for index in better:
            differences += list(pool.features[index] - pool.features[others])
            weights += [1 / pairs] * len(others)
    rows, sample = np.array(differences), np.array(weights)
    scale = np.maximum(rows.std(axis=0), 1e-9)
    # Every pair both ways round, so that there are two classes and no intercept.
    model = LogisticRegression(C=_PENALTY, fit_intercept=False, max_iter=2000)
    model.fit(
        np.concatenate([rows, -rows]) / scale,
        np.concatenate([np.ones(len(rows)), np.zeros(len(rows))]),
        sample_weight=np.concatenate([sample, sample]),
    )
    found = cast("NDArray[np.float64]", model.coef_[0]) / scale
    if found[0] <= 0:
        raise ValueError("the training queries say that the order of both legs is wrong; check the judgements")
    trusted = cast("NDArray[np.float64]", _TRUST * found / found[0])
    trusted[0] = 1.0
    return trusted


def gain(pools: Sequence[JudgedPool], weights: NDArray[np.float64]) -> Gain:
    """What the ranker does to queries; pair them with weights that have not seen them."""
    from scipy import stats

    fused = np.array([_ndcg(pool, pool.grades) for pool in pools])
    order = [np.argsort(-(pool.features @ weights), kind="stable") for pool in pools]
    learned = np.array([_ndcg(pool, pool.grades[places]) for pool, places in zip(pools, order, strict=True)])
    same = bool(np.array_equal(fused, learned))
    return Gain(
        float(fused.mean()),
        float(learned.mean()),
        1.0 if same else float(cast(Any, stats).ttest_rel(learned, fused).pvalue),
    )


def leave_one_out(sets: Mapping[str, Sequence[JudgedPool]]) -> dict[str, Gain]:
    """Each set by a ranker of the other corpora; what a set is named before its first colon is its corpus."""
    return {
        name: gain(pools, fit([pool for other, own in sets.items() if _corpus(other) != _corpus(name) for pool in own]))
        for name, pools in sets.items()
    }


def coefficients(sets: Mapping[str, Sequence[JudgedPool]], *, version: int) -> RankerCoefficients:
    """The ranker of all sets, as it is stored; weights keep four digits."""
    weights = fit([pool for pools in sets.values() for pool in pools])
    return RankerCoefficients(
        version=version,
        trained_on=tuple(sets),
        queries=sum(map(len, sets.values())),
        coefficients={name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)},
    )


@contextmanager
def indexed(dataset: Dataset, embedder: Embedder) -> Generator[Retriever]:
    """A search over the data set's corpus in a store of its own, without a reranker."""
    lexical = LexicalEncoder()
    with tempfile.TemporaryDirectory(prefix="groundwork-train-") as folder:
        store = open_edge_store(Path(folder), dim=embedder.dim, fingerprint=embedder.fingerprint)
        try:
            index_dataset(dataset, embedder=embedder, lexical=lexical, store=store)
            yield Retriever(embedder=embedder, store=store, lexical=lexical, settings=SearchSettings())
        finally:
            store.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, write the file, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", nargs="+", required=True, metavar="DIR:SPLIT")
    parser.add_argument("--test", nargs="*", default=[], metavar="DIR:SPLIT")
    parser.add_argument("--model", type=Path, required=True, help="Folder of the embedding model.")
    parser.add_argument("--version", type=int, default=1)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    options = parser.parse_args(arguments)
    from retrieval.embedders.onnx import load_onnx_embedder

    embedder = load_onnx_embedder(options.model, name=options.model.name)
    train = {_name(place): _pools(place, embedder) for place in options.train}
    test = {_name(place): _pools(place, embedder) for place in options.test}
    ranker = coefficients(train, version=options.version)
    options.out.write_text(ranker.model_dump_json(indent=2) + "\n", encoding="utf-8")
    weights = np.array([ranker.coefficients[name] for name in FEATURES])
    table = {**leave_one_out(train), **{name: gain(pools, weights) for name, pools in test.items()}}
    for name, found in table.items():
        sys.stdout.write(f"{name:28} {found.fused:.4f} {found.learned:.4f} p={found.p_value:.3f}\n")
    return 0


def _pools(place: str, embedder: Embedder) -> list[JudgedPool]:
    folder, split, half = _parts(place)
    dataset = read_dataset(Path(folder), split=split)
    with indexed(dataset, embedder) as retriever:
        return judged_pools(retriever, dataset.queries, in_half(dataset.judgements, half))


def in_half(judgements: Mapping[str, _Grades], half: str) -> dict[str, _Grades]:
    """Every other query, by the order of their ids: ``first``, ``second``, or all of them for an empty text."""
    names = sorted(judgements)
    chosen = {"first": names[0::2], "second": names[1::2], "": names}[half]
    return {name: judgements[name] for name in chosen}


def _parts(place: str) -> tuple[str, str, str]:
    match place.split(":"):
        case [folder, split]:
            return folder, split, ""
        case [folder, split, "first" | "second" as half]:
            return folder, split, half
        case _:
            raise SystemExit(f"{place!r} is not DIR:SPLIT, DIR:SPLIT:first or DIR:SPLIT:second")


def _name(place: str) -> str:
    folder, *rest = _parts(place)
    return ":".join(part for part in (Path(folder).resolve().name, *rest) if part)


def _corpus(name: str) -> str:
    return name.partition(":")[0]


def _ndcg(pool: JudgedPool, grades: NDArray[np.float64]) -> float:
    return _dcg(grades.tolist()) / pool.ideal if pool.ideal else 0.0


def _dcg(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(place + 1) for place, grade in enumerate(grades[:_DEPTH], start=1))


if __name__ == "__main__":
    sys.exit(main())
