from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.errors import RerankFailed
from retrieval.rerankers.cross_encoder import CrossEncoderReranker
from tests.retrieval.ranked import passage, ranked
from tests.retrieval.rerankers.cross_encoder import make_cross_encoder

_CANDIDATES = ranked(passage("a", "the pod was oomkilled"), passage("b", "rotate certificates"))


def test_scores_are_those_of_the_library(tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    folder = str(make_cross_encoder(tmp_path))
    found = CrossEncoderReranker(folder, batch_size=1).rerank("which pod", _CANDIDATES, seconds=60)
    pairs = [("which pod", "A\nthe pod was oomkilled"), ("which pod", "B\nrotate certificates")]
    expected = CrossEncoder(folder, local_files_only=True).predict(pairs, show_progress_bar=False).tolist()
    assert [score.score for score in found] == pytest.approx(expected, abs=1e-5)


def test_a_folder_without_a_model_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(RerankFailed):
        CrossEncoderReranker(str(tmp_path)).rerank("which pod", _CANDIDATES, seconds=60)


def test_a_model_with_several_outputs_is_a_failure(tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path, outputs=3)
    with pytest.raises(RerankFailed):
        CrossEncoderReranker(str(folder)).rerank("which pod", _CANDIDATES, seconds=60)
