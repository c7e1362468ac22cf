from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.citations import ProvedAnswer, prove
from agents.markers import Marker, strip_markers
from agents.proof.evidence import prepare
from tests.agents.passages import CONFIG_MAP, JOB, OOM, chunk, evidence

_SENTENCES = st.lists(
    st.sampled_from(
        [
            "The data stored in a ConfigMap cannot exceed 1 MiB. [1]",
            "A ConfigMap cannot exceed 2 MiB. [1]",
            "The kubelet then restarts the container. [2, 9]",
            "- Raise the memory limit or look for a memory leak.\n",
            "The moon is made of cheese [7].",
            "```\nmount a volume\n```\n",
            "\n\n",
            "## Heading\n",
            "| a | b |\n|---|---|\n| delay | six minutes |\n",
        ]
    ),
    max_size=8,
)


def _prove(answer: str, *, remove: bool = False) -> ProvedAnswer:
    text, markers = strip_markers(answer)
    return prove(
        text, evidence(CONFIG_MAP, OOM, JOB), question="What is the limit?", markers=markers, remove_unsupported=remove
    )


def test_server_numbers_citations_in_order_of_first_use() -> None:
    proved = _prove(
        "The kubelet then restarts the container [2]. The data stored in a ConfigMap cannot exceed 1 MiB [1]."
    )
    assert proved.text == (
        "The kubelet then restarts the container. [1] The data stored in a ConfigMap cannot exceed 1 MiB. [2]"
    )
    assert [citation.chunk_id for citation in proved.citations] == ["chunk-1", "chunk-0"]
    assert [claim.citations for claim in proved.claims] == [(1,), (2,)]


def test_quote_is_a_slice_of_the_stored_document() -> None:
    document = f"Title page. {CONFIG_MAP}"
    passage = chunk(CONFIG_MAP, start=document.index(CONFIG_MAP))
    proved = prove("The data stored in a ConfigMap cannot exceed 1 MiB.", prepare([passage]), question="")
    (citation,) = proved.citations
    assert document[citation.char_start : citation.char_end] == citation.quote
    assert citation.quote == "The data stored in a ConfigMap cannot exceed 1 MiB."


def test_markers_to_nowhere_are_dropped_and_counted() -> None:
    proved = _prove("The kubelet then restarts the container [2, 9]. The moon is made of cheese [7].")
    assert proved.dropped_markers == 2
    assert "[9]" not in proved.text
    assert "[7]" not in proved.text


def test_same_quote_has_one_number() -> None:
    proved = _prove("The kubelet then restarts the container. So the kubelet then restarts the container.")
    assert [claim.citations for claim in proved.claims] == [(1,), (1,)]
    assert len(proved.citations) == 1


def test_unsupported_claim_is_kept_and_named_by_default() -> None:
    proved = _prove("The kubelet then restarts the container. The moon is made of cheese.")
    assert proved.text == "The kubelet then restarts the container. [1] The moon is made of cheese."
    assert [claim.verdict for claim in proved.claims] == ["verified", "unsupported"]
    assert proved.claims[1].citations == ()


def test_unsupported_claim_is_taken_out_on_request() -> None:
    proved = _prove("- The kubelet then restarts the container.\n- The moon is made of cheese.\n", remove=True)
    assert proved.text == "- The kubelet then restarts the container. [1]"
    assert [claim.verdict for claim in proved.claims] == ["verified", "unsupported"]


def test_code_of_a_passage_is_cited_behind_its_fence() -> None:
    passage = "Run this:\n\n```bash\nkubectl describe pod web\n```\n"
    proved = prove("```bash\nkubectl describe pod web\n```", evidence(passage), question="")
    assert proved.text == "```bash\nkubectl describe pod web\n```\n\n[1]"
    assert proved.citations[0].quote == "kubectl describe pod web"


def test_invented_code_is_unsupported() -> None:
    proved = prove("```bash\nkubectl delete pod web --force\n```", evidence(OOM), question="")
    assert [claim.verdict for claim in proved.claims] == ["unsupported"]


def test_invented_code_goes_with_its_fences_on_request() -> None:
    text = "The kubelet then restarts the container.\n\n```bash\nrm -rf /\n```\n"
    proved = prove(text, evidence(OOM), question="", remove_unsupported=True)
    assert proved.text == "The kubelet then restarts the container. [1]"


def test_passage_that_the_model_cites_goes_first_among_equals() -> None:
    proved = prove(
        "The kubelet then restarts the container.",
        evidence(OOM, OOM),
        question="",
        markers=[Marker(40, (2,))],
    )
    assert proved.citations[0].chunk_id == "chunk-1"


def test_bare_value_is_judged_with_its_question() -> None:
    right = prove("6", evidence(JOB), question="What is the field `.spec.backoffLimit` set to by default?")
    wrong = prove("6", evidence(JOB), question="How many replicas does a Deployment have by default?")
    assert [claim.verdict for claim in right.claims] == ["verified"]
    assert [claim.verdict for claim in wrong.claims] != ["verified"]


def test_number_before_a_sentence_belongs_to_it() -> None:
    text, markers = strip_markers(
        "[2] The kubelet then restarts the container. [1] The kubelet then restarts the container."
    )
    proved = prove(text, evidence(OOM, OOM), question="", markers=markers)
    assert [citation.chunk_id for citation in proved.citations] == ["chunk-1", "chunk-0"]


CLAIM = "The data stored in a ConfigMap cannot exceed 1 MiB."
CODE = "```\nmount a volume\n```\n"


@settings(deadline=None)
@given(sentences=_SENTENCES, remove=st.booleans())
@example(sentences=[CLAIM, CODE, CLAIM, "\n\n", CODE], remove=True)
def test_citations_never_invent(sentences: list[str], remove: bool) -> None:
    chunks = {passage.chunk_id: passage for passage in evidence(CONFIG_MAP, OOM, JOB).chunks}
    proved = _prove(" ".join(sentences), remove=remove)
    assert [citation.number for citation in proved.citations] == list(range(1, len(proved.citations) + 1))
    for citation in proved.citations:
        passage = chunks[citation.chunk_id]
        place = citation.char_start - passage.char_start
        assert citation.quote
        assert passage.text[place : place + len(citation.quote)] == citation.quote
        assert citation.char_end - citation.char_start == len(citation.quote)
    used = [number for claim in proved.claims for number in claim.citations]
    assert list(dict.fromkeys(used)) == list(range(1, len(proved.citations) + 1))
    for claim in proved.claims:
        assert (claim.verdict == "unsupported") == (not claim.citations)
        if claim.char_end > claim.char_start:
            assert proved.text[claim.char_start : claim.char_end] == claim.text
