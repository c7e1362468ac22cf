"""Which parsers of vLLM understand what a model writes, by model family. Data and its look-up.

Source: vLLM's guides "Tool calling" and "Reasoning outputs", its recipes, and the parsers that ``vllm.tool_parsers``
and ``vllm.reasoning`` register in 0.32; ``tests/vllm`` holds the names against the installed vLLM. A family that is
not here is refused instead of guessed: with a wrong parser, tool calls come as text without any error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.serving.errors import FamilyUnknown
from app.serving.settings import ServingSettings

NONE = "none"


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """Models that write calls and reasoning in one form.

    Attributes:
        name: What people call it.
        pattern: Regular expression on the lower-case name of the model or its folder.
        tool_call_parser: vLLM's parser of tool calls, or ``none``.
        reasoning_parser: vLLM's parser of reasoning, or ``none``.
        model_types: ``model_type`` in ``config.json`` that means this family whatever the model is called.
        remark: What else such a model wants; empty for nothing.
    """

    name: str
    pattern: str
    tool_call_parser: str
    reasoning_parser: str = NONE
    model_types: tuple[str, ...] = ()
    remark: str = ""


_TEMPLATE = "its own chat template does not show tools; set chat_template to vLLM's {}"

FAMILIES = (
    ModelFamily("hermes", r"hermes-(2-pro|2-theta|[3-9])", "hermes"),
    ModelFamily("xlam", r"xlam", "xlam"),
    ModelFamily("nemotron3", r"nemotron-3", "qwen3_coder", "nemotron_v3"),
    ModelFamily("deepseek-r1-distill", r"deepseek-r1-distill", NONE, "deepseek_r1"),
    ModelFamily(
        "deepseek-r1",
        r"deepseek-r1",
        "deepseek_v3",
        "deepseek_r1",
        remark=_TEMPLATE.format("tool_chat_template_deepseekr1.jinja"),
    ),
    ModelFamily("deepseek-v3.2", r"deepseek-v3\.2", "deepseek_v32", "deepseek_v3", ("deepseek_v32",)),
    ModelFamily(
        "deepseek-v3.1",
        r"deepseek-v3\.1",
        "deepseek_v31",
        "deepseek_v3",
        remark=_TEMPLATE.format("tool_chat_template_deepseekv31.jinja"),
    ),
    ModelFamily("deepseek-v4", r"deepseek-v4", "deepseek_v4", "deepseek_v4", ("deepseek_v4",)),
    ModelFamily(
        "deepseek-v3",
        r"deepseek-v3",
        "deepseek_v3",
        remark=_TEMPLATE.format("tool_chat_template_deepseekv3.jinja"),
    ),
    ModelFamily("qwen3-coder", r"qwen3-coder", "qwen3_coder"),
    ModelFamily("qwen3.5", r"qwen3\.[5-9]", "qwen3_coder", "qwen3", ("qwen3_5", "qwen3_5_moe", "qwen3_5_text")),
    ModelFamily("qwen3-instruct", r"qwen3-.*instruct", "hermes"),
    ModelFamily("qwen3", r"qwen3-", "hermes", "qwen3", ("qwen3", "qwen3_moe", "qwen3_next")),
    ModelFamily("qwq", r"qwq", "hermes", "deepseek_r1"),
    ModelFamily(
        "qwen2.5",
        r"qwen2",
        "hermes",
        NONE,
        ("qwen2", "qwen2_moe"),
        remark="small ones and Coder models often write a call as a code block; agents.tool_mode 'constrained' helps",
    ),
    ModelFamily("gpt-oss", r"gpt-oss", "openai", "openai_gptoss", ("gpt_oss",)),
    ModelFamily(
        "functiongemma",
        r"functiongemma",
        "functiongemma",
        remark=_TEMPLATE.format("tool_chat_template_functiongemma.jinja"),
    ),
    ModelFamily(
        "gemma4",
        r"gemma-4",
        "gemma4",
        "gemma4",
        ("gemma4", "gemma4_text"),
        remark=_TEMPLATE.format("tool_chat_template_gemma4.jinja"),
    ),
    ModelFamily("magistral", r"magistral", "mistral", "mistral"),
    ModelFamily("mistral", r"mistral|ministral|devstral", "mistral", NONE, ("mistral", "mistral3", "ministral3")),
    ModelFamily(
        "llama4",
        r"llama-4",
        "llama4_pythonic",
        NONE,
        ("llama4", "llama4_text"),
        remark=_TEMPLATE.format("tool_chat_template_llama4_pythonic.jinja"),
    ),
    ModelFamily(
        "llama3",
        r"llama-3\.[1-3]",
        "llama3_json",
        remark="one call at a time; " + _TEMPLATE.format("tool_chat_template_llama3.1_json.jinja"),
    ),
    ModelFamily("granite4", r"granite-4", "granite4", NONE, ("granitemoehybrid",)),
    ModelFamily("granite3", r"granite-3\.[1-9]", "granite"),
    ModelFamily("glm4.7", r"glm-(4\.7|5)", "glm47", "glm47"),
    ModelFamily("glm4.5", r"glm-4\.[56]", "glm45", "glm45", ("glm4_moe",)),
    ModelFamily("kimi-k2", r"kimi-k2", "kimi_k2", "kimi_k2"),
    ModelFamily("kimi-k3", r"kimi-k3", "kimi_k3", "kimi_k3"),
    ModelFamily("minimax-m2", r"minimax-m2", "minimax_m2", "minimax_m2", ("minimax_m2",)),
    ModelFamily("minimax-m3", r"minimax-m3", "minimax_m3", "minimax_m3"),
    ModelFamily("lfm2", r"lfm-?2", "lfm2", NONE, ("lfm2", "lfm2_moe")),
    ModelFamily("olmo3-think", r"olmo-3.*think", "olmo3", "olmo3"),
    ModelFamily("olmo3", r"olmo-3", "olmo3", NONE, ("olmo3",)),
    ModelFamily("phi4-mini", r"phi-4-mini", "phi4_mini_json"),
    ModelFamily("seed-oss", r"seed-oss", "seed_oss", "seed_oss", ("seed_oss",)),
    ModelFamily("ernie4.5", r"ernie-4\.5.*thinking", "ernie45", "ernie45"),
    ModelFamily("hunyuan-a13b", r"hunyuan-a13b", "hunyuan_a13b", "hunyuan_a13b"),
    ModelFamily("step3.5", r"step-3\.5", "step3p5", "step3p5", ("step3p5",)),
    ModelFamily(
        "apertus", r"apertus", "apertus", NONE, ("apertus",), _TEMPLATE.format("tool_chat_template_apertus.jinja")
    ),
    ModelFamily("internlm2.5", r"internlm2-5", "internlm"),
    ModelFamily("jamba", r"jamba", "jamba", NONE, ("jamba",)),
    ModelFamily("longcat", r"longcat", "longcat"),
)
"""Tried from first to last by name, then by ``model_type``: a name says more, since distilled and tuned models share
the ``model_type`` of what they were made from."""


@dataclass(frozen=True, slots=True)
class Parsers:
    """What a server is started with; empty names mean none."""

    family: str
    tool_call_parser: str
    reasoning_parser: str
    remark: str


def find_family(model: str, model_type: str) -> ModelFamily | None:
    """The family of a model, by its name first.

    Args:
        model: Name on the hub, or the folder's or file's name.
        model_type: ``model_type`` of its configuration; empty when that is not at hand.
    """
    name = model.lower().replace("_", "-")
    for family in FAMILIES:
        if re.search(family.pattern, name):
            return family
    return next((family for family in FAMILIES if model_type and model_type in family.model_types), None)


def choose_parsers(settings: ServingSettings, *, model: str, model_type: str) -> Parsers:
    """Parsers for a model: those the settings name, else those of its family.

    Raises:
        FamilyUnknown: A parser is to be found by family, and the family is unknown.
    """
    family = _named(settings.family) if settings.family else find_family(model, model_type)
    asked = (settings.tool_call_parser, settings.reasoning_parser)
    if family is None and "auto" in asked:
        raise FamilyUnknown(_advice(model, model_type))
    tool = settings.tool_call_parser
    reasoning = settings.reasoning_parser
    if family:
        tool = family.tool_call_parser if tool == "auto" else tool
        reasoning = family.reasoning_parser if reasoning == "auto" else reasoning
    return Parsers(
        family=family.name if family else "",
        tool_call_parser="" if tool == NONE else tool,
        reasoning_parser="" if reasoning == NONE else reasoning,
        remark=family.remark if family and not settings.chat_template else "",
    )


def _named(name: str) -> ModelFamily:
    for family in FAMILIES:
        if family.name == name:
            return family
    raise FamilyUnknown(f"There is no model family {name!r}; take one of {_names()}.")


def _advice(model: str, model_type: str) -> str:
    known_as = f" (model_type {model_type!r})" if model_type else ""
    return (
        f"It is not known how {model!r}{known_as} writes tool calls and reasoning, and a wrong parser hands calls on as"
        " text; look at the model's card, then set serving.tool_call_parser and serving.reasoning_parser to parsers of"
        f" vLLM or to 'none', or serving.family to one of {_names()}."
    )


def _names() -> str:
    return ", ".join(family.name for family in FAMILIES)
