from __future__ import annotations

import pytest

from app.serving.errors import FamilyUnknown
from app.serving.families import FAMILIES, choose_parsers, find_family
from app.serving.settings import ServingSettings


@pytest.mark.parametrize(
    ("model", "model_type", "tool", "reasoning"),
    [
        ("Qwen2.5-7B-Instruct", "qwen2", "hermes", ""),
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", "qwen2", "hermes", ""),
        ("Qwen3-8B", "qwen3", "hermes", "qwen3"),
        ("Qwen3-30B-A3B-Instruct-2507", "qwen3_moe", "hermes", ""),
        ("Qwen3-Coder-30B-A3B-Instruct", "qwen3_moe", "qwen3_coder", ""),
        ("Qwen3.8-27B-FP8", "qwen3_5", "qwen3_coder", "qwen3"),
        ("QwQ-32B", "qwen2", "hermes", "deepseek_r1"),
        ("DeepSeek-R1-Distill-Qwen-7B", "qwen2", "", "deepseek_r1"),
        ("DeepSeek-V3.1", "deepseek_v3", "deepseek_v31", "deepseek_v3"),
        ("gpt-oss-20b", "gpt_oss", "openai", "openai_gptoss"),
        ("Llama-3.3-70B-Instruct", "llama", "llama3_json", ""),
        ("Llama-4-Scout-17B-16E-Instruct", "llama4", "llama4_pythonic", ""),
        ("Hermes-3-Llama-3.1-8B", "llama", "hermes", ""),
        ("Hermes-2-Pro-Mistral-7B", "mistral", "hermes", ""),
        ("Qwen3-Next-80B-A3B-Thinking", "qwen3_next", "hermes", "qwen3"),
        ("gemma-4-12B-it", "gemma4", "gemma4", "gemma4"),
        ("Mistral-Small-4-24B", "mistral3", "mistral", ""),
        ("GLM-4.7-Flash", "glm4_moe_lite", "glm47", "glm47"),
        ("granite-4.0-h-small", "granitemoehybrid", "granite4", ""),
        ("internlm2_5-7b-chat", "internlm2", "internlm", ""),
        ("our-own-tune", "qwen2", "hermes", ""),
    ],
)
def test_family_is_found_by_name_and_then_by_type(model: str, model_type: str, tool: str, reasoning: str) -> None:
    parsers = choose_parsers(ServingSettings(), model=model, model_type=model_type)
    assert (parsers.tool_call_parser, parsers.reasoning_parser) == (tool, reasoning)


def test_type_that_many_families_share_says_nothing() -> None:
    assert find_family("our-own-tune", "llama") is None


def test_unknown_family_is_refused_with_the_ways_out() -> None:
    with pytest.raises(FamilyUnknown) as caught:
        choose_parsers(ServingSettings(), model="our-own-tune", model_type="llama")
    message = str(caught.value)
    assert "'our-own-tune' (model_type 'llama')" in message
    assert "serving.tool_call_parser" in message
    assert "serving.family" in message
    assert "hermes" in message


def test_named_parsers_need_no_family() -> None:
    settings = ServingSettings(tool_call_parser="pythonic", reasoning_parser="none")
    parsers = choose_parsers(settings, model="our-own-tune", model_type="llama")
    assert (parsers.family, parsers.tool_call_parser, parsers.reasoning_parser) == ("", "pythonic", "")


def test_named_family_wins_over_the_name_of_the_model() -> None:
    parsers = choose_parsers(ServingSettings(family="hermes"), model="gpt-oss-20b", model_type="gpt_oss")
    assert parsers.tool_call_parser == "hermes"
    with pytest.raises(FamilyUnknown, match="There is no model family 'herms'"):
        choose_parsers(ServingSettings(family="herms"), model="x", model_type="")


def test_one_named_parser_leaves_the_other_to_the_family() -> None:
    parsers = choose_parsers(ServingSettings(reasoning_parser="none"), model="Qwen3-8B", model_type="qwen3")
    assert (parsers.tool_call_parser, parsers.reasoning_parser) == ("hermes", "")


def test_remark_about_a_template_goes_when_one_is_set() -> None:
    asked = {"model": "Llama-3.1-8B-Instruct", "model_type": "llama"}
    assert "chat_template" in choose_parsers(ServingSettings(), **asked).remark
    assert choose_parsers(ServingSettings(chat_template="t.jinja"), **asked).remark == ""


def test_family_names_are_unique() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
