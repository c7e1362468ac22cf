"""A cross-encoder on disk that nobody trained: real files, real code, two small layers, made in milliseconds."""

from __future__ import annotations

from pathlib import Path

_WORDS = [
    "the",
    "pod",
    "was",
    "oomkilled",
    "rotate",
    "certificates",
    "a",
    "quota",
    "limits",
    "memory",
    "exit",
    "code",
    "what",
    "which",
    "does",
    "have",
    "is",
]


def make_cross_encoder(folder: Path, *, outputs: int = 1) -> Path:
    """Write a BERT cross-encoder with random weights, the same each time, and return its folder."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification
    from transformers.models.bert.tokenization_bert import BertTokenizer

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(_WORDS), *map(str, range(10))]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    tokenizer = BertTokenizer(vocab_file=str(folder / "vocab.txt"), model_max_length=64)
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        id2label={place: f"LABEL_{place}" for place in range(outputs)},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
