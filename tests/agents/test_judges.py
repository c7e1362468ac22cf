from __future__ import annotations

from pathlib import Path

import pytest

from agents.answer import Opinion
from agents.citations import lowered
from agents.errors import JudgeFailed
from agents.judges.nli import NliJudge
from agents.judges.protocol import Statement
from agents.proof.verdicts import Judgement, Support

pytestmark = pytest.mark.timeout(600)  # the first of them loads torch, which takes minutes on a busy machine
SUPPORT = (Support(0, 0, 4),)
STATEMENTS = [Statement("The limit is 1 MiB.", "It cannot exceed 1 MiB."), Statement("It is blue.", "It is red.")]
LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}


def _model(folder: Path, labels: dict[int, str]) -> str:
    """A cross-encoder of a few random weights on disk."""
    from transformers import BertConfig, BertForSequenceClassification
    from transformers.models.bert.tokenization_bert import BertTokenizer

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "it", "is", "red", "blue", "limit"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        id2label=labels,
        label2id={label: number for number, label in labels.items()},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def test_opinions_lower_verdicts_and_never_raise_them() -> None:
    verified = Judgement("verified", SUPPORT, "Found.")
    partial = Judgement("partial", SUPPORT, "Found in part.")
    unsupported = Judgement("unsupported", (), "Contradicted.")
    assert lowered(verified, "contradicts").verdict == "unsupported"
    assert lowered(verified, "contradicts").supports == ()
    assert lowered(verified, "unsure").verdict == "partial"
    assert lowered(partial, "contradicts").verdict == "unsupported"
    kept: list[tuple[Judgement, Opinion | None]] = [
        (verified, "supports"),
        (verified, None),
        (partial, "unsure"),
        (partial, "supports"),
    ]
    for judgement, opinion in kept:
        assert lowered(judgement, opinion) is judgement
    assert lowered(unsupported, "supports") is unsupported


async def test_cross_encoder_gives_an_opinion_for_each_statement(tmp_path: Path) -> None:
    opinions = await NliJudge(_model(tmp_path, LABELS)).judge(STATEMENTS)
    assert len(opinions) == len(STATEMENTS)
    assert set(opinions) <= {"supports", "unsure", "contradicts"}


async def test_model_with_other_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JudgeFailed, match="name a model for NLI"):
        await NliJudge(_model(tmp_path, {0: "bad", 1: "good", 2: "none"})).judge(STATEMENTS)


async def test_missing_model_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(JudgeFailed, match=r"set answer\.judge_model"):
        await NliJudge(str(tmp_path / "missing")).judge(STATEMENTS)


async def test_no_statements_load_nothing(tmp_path: Path) -> None:
    assert await NliJudge(str(tmp_path / "missing")).judge([]) == []
