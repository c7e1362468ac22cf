from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.citations import prove
from agents.events import EVENT_ADAPTER, ClaimsChecked
from agents.markers import strip_markers
from agents.observed import COLLECTION
from agents.proof.evidence import Evidence, prepare
from agents.proof_record import ProofRecord
from agents.proof_replay import prove_again, record_proof, rules_fingerprint
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.stream import Answerer
from agents.testing import ScriptedChatModel
from tests.agents.passages import CONFIG_MAP, JOB, OOM, WordSearch, chunk
from tests.agents.test_stream import QUESTION, REPLY, TEXTS

_SENTENCES = st.lists(
    st.sampled_from(
        [
            "The data stored in a ConfigMap cannot exceed 1 MiB. [1]",
            "A ConfigMap cannot exceed 2 MiB. [1]",
            "The replicas are 3. [4]",
            "Its limit is 1 MiB.",
            "The moon is made of cheese [7].",
            "- Raise the memory limit or look for a memory leak.\n",
            "```\nmount a volume\n```\n",
        ]
    ),
    max_size=6,
)


def passages() -> Evidence:
    table = replace(chunk("| small | 6 |", number=3, title="Sizes"), context="| size | delay |", page=2)
    headed = replace(chunk(CONFIG_MAP), heading_path=("Storage", "ConfigMap"), version="v1")
    result = replace(chunk("replicas: 3", number=9), collection=COLLECTION, document_id="call-1", source="tool:get")
    return prepare([headed, chunk(OOM, number=1), chunk(JOB, number=2), table, result])


@settings(deadline=None, max_examples=40)
@given(_SENTENCES, st.booleans())
def test_a_proof_is_made_again_from_the_json_of_its_record(sentences: list[str], remove: bool) -> None:
    draft, markers = strip_markers(" ".join(sentences))
    question = "What is the limit of a ConfigMap?"
    proved = prove(draft, passages(), question=question, markers=markers, remove_unsupported=remove)
    record = record_proof(draft, passages(), question=question, markers=markers, remove_unsupported=remove)
    assert prove_again(ProofRecord.model_validate_json(record.model_dump_json())) == proved


@pytest.mark.parametrize("unsupported", ["mark", "remove"])
async def test_the_event_of_a_checked_answer_carries_its_record(unsupported: str) -> None:
    answer = AnswerSettings.model_validate({"unsupported": unsupported})
    reply = f"{REPLY} The moon is made of cheese [2]."
    answerer = Answerer(retriever=WordSearch(TEXTS), chat_model=ScriptedChatModel([reply]), settings=answer)
    request = AnswerRequest(run_id="run-1", thread_id="thread-1", question=QUESTION)
    stored = [event.model_dump_json() async for event in answerer.run(request) if isinstance(event, ClaimsChecked)]
    checked = EVENT_ADAPTER.validate_json(stored[0])
    assert isinstance(checked, ClaimsChecked)
    assert checked.record is not None
    again = prove_again(checked.record)
    assert (again.claims, again.citations) == (checked.claims, checked.citations)
    assert again.dropped_markers == checked.dropped_markers


def test_the_rules_have_a_name_that_lasts_as_long_as_they_do() -> None:
    name = rules_fingerprint()
    rules_fingerprint.cache_clear()
    assert rules_fingerprint() == name
    assert len(name) == 16
