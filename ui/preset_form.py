"""The editor of a preset: an input for each field; saving makes a new version."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from pydantic import JsonValue, ValidationError

from app.preset_schema import MAX_EXAMPLES, PROMPT_CHARACTERS, Preset, PresetExample
from ui.sampling_form import draw_sampling, filled_in

_EXAMPLES = "examples_of_preset"


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to choose from, by name."""

    models: Sequence[str]
    collections: Sequence[str]
    agents: Sequence[str]


class FormInvalid(Exception):
    """What was filled in makes no preset; the message is one sentence that says why."""


def draw_form(preset: Preset, choices: Choices, *, key: str) -> None:
    """Draw the inputs; ``filled_preset`` reads them.

    Args:
        preset: What they hold at first.
        choices: Models, collections and agents of the API.
        key: Sets these inputs apart; another key begins anew.
    """
    st.text_input(
        "What it is for", value=preset.description, key=f"{key}-description", max_chars=500,
        placeholder="Short answers for the one on call",
    )  # fmt: skip
    st.text_area(
        "System prompt", value=preset.system_prompt, key=f"{key}-system", max_chars=PROMPT_CHARACTERS, height=120,
        help="Told to the model behind the standing rules: it cannot lift grounding and citations.",
    )  # fmt: skip
    st.text("Examples")
    _draw_examples(preset, key)
    with st.expander("Model and sampling", icon=":material/tune:"):
        _choose("Model", choices.models, preset.model, f"{key}-model", none="As set")
        draw_sampling(preset.sampling, key=key)
    with st.expander("What is searched, who acts", icon=":material/search:"):
        st.multiselect(
            "Collections", sorted({*choices.collections, *preset.collections}), default=list(preset.collections),
            key=f"{key}-collections", placeholder="All documents", accept_new_options=True,
        )  # fmt: skip
        _choose("Agent", choices.agents, preset.agent, f"{key}-agent", none="None: answers from documents")
        st.text_area(
            "Tools", value="\n".join(preset.tools), key=f"{key}-tools", height=80, placeholder="cluster__get_*",
            help="Patterns, one a line: the agent keeps only those of its tools that match. Empty keeps all.",
        )  # fmt: skip
    with st.expander("Answer as an object", icon=":material/data_object:"):
        st.text_area(
            "JSON Schema of the object",
            value="" if preset.output_schema is None else json.dumps(preset.output_schema, indent=2),
            key=f"{key}-schema", height=160, help="Empty asks for prose. Not together with an agent.",
        )  # fmt: skip


def forget_draft() -> None:
    """The inputs begin anew when they are drawn again."""
    st.session_state.pop(_EXAMPLES, None)


def filled_preset(preset: Preset, *, key: str) -> Preset:
    """What the inputs hold; ``preset`` where one was not drawn yet.

    Raises:
        FormInvalid: It makes no preset.
    """
    state = st.session_state
    try:
        return Preset(
            description=state[f"{key}-description"],
            system_prompt=state[f"{key}-system"],
            model=state[f"{key}-model"],
            sampling=filled_in(preset.sampling, key=key),
            collections=tuple(state[f"{key}-collections"]),
            agent=state[f"{key}-agent"],
            tools=tuple(line.strip() for line in state[f"{key}-tools"].splitlines() if line.strip()),
            output_schema=_schema(state[f"{key}-schema"]),
            examples=tuple(
                PresetExample(
                    question=state[_part(key, number, "question")], answer=state[_part(key, number, "answer")]
                )
                for number in _numbers(preset, key)
            ),
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise FormInvalid(f"{field}: {first['msg']}; an example needs a question and an answer.") from error


def _draw_examples(preset: Preset, key: str) -> None:
    numbers = _numbers(preset, key)
    for number in numbers:
        known = preset.examples[number] if number < len(preset.examples) else None
        with st.container(border=True, gap="small"):
            st.text_area(
                "Question", value=known.question if known else "", key=_part(key, number, "question"), height=68,
                max_chars=4000,
            )  # fmt: skip
            st.text_area(
                "Answer it is to get", value=known.answer if known else "", key=_part(key, number, "answer"),
                height=68, max_chars=4000,
            )  # fmt: skip
            st.button(
                "Remove", key=_part(key, number, "remove"), icon=":material/delete:", type="tertiary",
                on_click=_set_numbers, args=(key, [one for one in numbers if one != number]),
            )  # fmt: skip
    st.button(
        "Add an example", key=f"{key}-add-example", icon=":material/add:", disabled=len(numbers) >= MAX_EXAMPLES,
        help="The model sees it as an earlier turn of the chat.", on_click=_set_numbers,
        args=(key, [*numbers, max([*numbers, len(preset.examples) - 1]) + 1]),
    )  # fmt: skip


def _choose(label: str, names: Sequence[str], chosen: str, key: str, *, none: str) -> None:
    options = ["", *names] if chosen in ("", *names) else ["", *names, chosen]
    st.selectbox(label, options, index=options.index(chosen), format_func=lambda name: name or none, key=key)


def _schema(text: str) -> dict[str, JsonValue] | None:
    if not text.strip():
        return None
    try:
        value: JsonValue = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormInvalid(f"The schema is no JSON: {error.msg} in line {error.lineno}.") from error
    if not isinstance(value, dict):
        raise FormInvalid('The schema is to be a JSON object, such as {"type": "object"}.')
    return value


def _numbers(preset: Preset, key: str) -> list[int]:
    """Which examples are there; a new one gets a number that none had."""
    return st.session_state.get(_EXAMPLES, {}).get(key, list(range(len(preset.examples))))


def _set_numbers(key: str, numbers: list[int]) -> None:
    st.session_state[_EXAMPLES] = {key: numbers}


def _part(key: str, number: int, part: str) -> str:
    return f"{key}-example-{number}-{part}"
