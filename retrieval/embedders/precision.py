"""In which numbers an embedding model runs, and how its fingerprint says so. Loads nothing."""

from __future__ import annotations

from typing import Literal, TypeAlias

Precision: TypeAlias = Literal["int8", "fp32"]
PrecisionChoice: TypeAlias = Literal["auto", "int8", "fp32"]
"""``auto``: int8 where the model has that variant, else fp32."""

INT8_NAME = "model.int8.onnx"
_INT8_SUFFIX = "-int8"


def with_precision(fingerprint: str, precision: Precision) -> str:
    """The fingerprint of a model's vectors in a precision, from that of its published weights."""
    return fingerprint + _INT8_SUFFIX if precision == "int8" else fingerprint


def precision_of(fingerprint: str) -> Precision:
    """The precision that a fingerprint names."""
    return "int8" if fingerprint.endswith(_INT8_SUFFIX) else "fp32"
