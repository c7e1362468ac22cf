"""Tokens counted by the server as far as it can, and estimated where it cannot."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.model_stub import OpenModel, Stub


@pytest.mark.parametrize(
    "answer", [{"tokens": [1, 2, 3]}, {"count": 3, "max_model_len": 4096, "tokens": [1, 2, 3], "token_strs": None}]
)
async def test_tokens_are_counted_by_llama_cpp_and_by_vllm(
    stub: Stub, open_model: OpenModel, answer: dict[str, Any]
) -> None:
    stub.pieces = [b"{", json.dumps(answer).encode()[1:]]

    assert await open_model().count_tokens(["some text", "more"]) == [3, 3]
    assert {path for path, _ in stub.requests} == {"/tokenize"}
    assert stub.requests[0][1] == {
        "model": "small",
        "prompt": "some text",
        "content": "some text",
        "add_special_tokens": False,
    }


async def test_llama_cpp_counts_all_texts_in_one_request(stub: Stub, open_model: OpenModel) -> None:
    stub.pieces = [b"{", b'"tokens": [5, 6, 7, -1, -1, 8, -1]}']
    model = open_model(llama_cpp=True)

    assert await model.count_tokens(["three of them", "", "one"]) == [3, 0, 1]
    assert await model.count_tokens(["one"]) == [1]
    assert await model.count_tokens([]) == []

    assert stub.requests == [("/tokenize", {"content": ["three of them", -1, "", -1, "one", -1]})]


async def test_older_llama_cpp_is_asked_text_by_text(stub: Stub, open_model: OpenModel) -> None:
    stub.refuses_many = True
    stub.pieces = [b"{", b'"tokens": [5, 6, 7]}']
    model = open_model(llama_cpp=True)

    assert await model.count_tokens(["three of them"]) == [3]
    assert await model.count_tokens(["three again"]) == [3]

    assert [body["content"] for _, body in stub.requests] == [["three of them", -1], "three of them", "three again"]


@pytest.mark.parametrize("tokens", ["[5, 6]", "[5, -1, 6]", "[5, -1, 6, -1, -1]"])
async def test_counts_without_their_borders_are_estimated(stub: Stub, open_model: OpenModel, tokens: str) -> None:
    stub.pieces = [b"{", f'"tokens": {tokens}}}'.encode()]

    assert await open_model(llama_cpp=True).count_tokens(["pod", "node"]) == [1, 2]


async def test_text_is_counted_once(stub: Stub, open_model: OpenModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.token_count._KEPT", 2)
    stub.pieces = [b"{", b'"tokens": [1, 2, 3]}']
    model = open_model()

    assert await model.count_tokens(["one", "other", "one"]) == [3, 3, 3]
    assert await model.count_tokens(["other", "third"]) == [3, 3]
    assert await model.count_tokens(["one"]) == [3]

    assert [body["content"] for _, body in stub.requests] == ["one", "other", "third", "one"]


async def test_server_without_a_tokenizer_is_asked_once(stub: Stub, open_model: OpenModel) -> None:
    stub.status = 404
    stub.pieces = [b"{}"]
    model = open_model()

    first = await model.count_tokens(["kernel kills 137"])
    again = await model.count_tokens(["kernel kills 137", ""])

    assert first == [7]
    assert again == [7, 0]
    assert len(stub.requests) == 1
