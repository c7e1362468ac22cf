from __future__ import annotations

from dataclasses import replace

import pytest

from agents.proof.evidence import keys_of, prepare
from agents.proof.tokens import tokenise
from agents.proof.verdicts import Judgement, judge
from tests.agents.passages import CONFIG_MAP, JOB, OOM, chunk, evidence

THRESHOLDS = (
    "The defaults are:\n\n- `memory.available<100Mi` (Linux nodes)\n- `memory.available<500Mi` (Windows nodes)\n"
)
TABLE = "| Probe | Timeout (seconds) |\n|---|---|\n| liveness | 5 |\n| startup | 30 |\n"
DENIED = "The kubelet does not restart a Pod that has finished. Feature gates are enabled by default."
PASSAGES = (CONFIG_MAP, OOM, JOB, THRESHOLDS, TABLE, DENIED)


def _judge(claim: str, question: str = "") -> Judgement:
    return judge(claim, evidence(*PASSAGES), given=keys_of(tokenise(question)))


@pytest.mark.parametrize(
    "claim",
    [
        "The data stored in a ConfigMap cannot exceed 1 MiB.",
        "A ConfigMap cannot exceed 1Mi of data.",
        "The kubelet then restarts the container.",
        "According to the documentation, the kubelet then restarts the container.",
        "The **backoffLimit** is set to six by default.",
        "The delay is capped at 6 minutes.",
        "On Linux nodes it is memory.available<100Mi and on Windows nodes it is memory.available<500Mi.",
        "The timeout of the startup probe is 30 seconds.",
        "The kubelet doesn't restart a Pod that has finished.",
        "Raise the memory limit or look for a memory leak.",
        "The maximum size of the data stored in one ConfigMap is 1 MiB.",
    ],
)
def test_true_claim_is_verified(claim: str) -> None:
    judgement = _judge(claim)
    assert (judgement.verdict, bool(judgement.supports)) == ("verified", True), judgement.explanation


@pytest.mark.parametrize(
    ("rule", "claim"),
    [
        ("figure", "The data stored in a ConfigMap cannot exceed 2 MiB."),
        ("figure", "The kernel stops it with exit code 139 and the reason OOMKilled."),
        ("unit", "The data stored in a ConfigMap cannot exceed 1 MB."),
        ("unit", "The delay is capped at six hours."),
        ("name", "The data stored in a Secret cannot exceed 1 MiB."),
        ("name", "The scheduler then restarts the container."),
        ("identifier", "The field `.spec.completions` is set to 6 by default."),
        ("negation", "The kubelet restarts a Pod that has finished."),
        ("negation", "The kubelet does not restart the container then."),
        ("bound", "The data stored in a ConfigMap can exceed 1 MiB."),
        ("bound", "The data stored in a ConfigMap is at least 1 MiB."),
        ("bound", "The minimum size of the data stored in one ConfigMap is 1 MiB."),
        ("opposite", "Feature gates are disabled by default."),
        ("opposite", "If a container uses less memory than its limit, the kernel stops it."),
        ("binding", "On Linux nodes it is memory.available<500Mi and on Windows nodes it is memory.available<100Mi."),
        ("binding", "The timeout of the liveness probe is 30 seconds."),
        ("sentences", "The kubelet then restarts the container. The scheduler deletes it."),
    ],
)
def test_altered_claim_is_not_verified(rule: str, claim: str) -> None:
    judgement = _judge(claim)
    assert judgement.verdict != "verified", f"{rule}: {judgement.explanation}"


def test_contradicted_claim_is_unsupported_and_says_what_differs() -> None:
    judgement = _judge("The data stored in a ConfigMap cannot exceed 2 MiB.")
    assert judgement.verdict == "unsupported"
    assert judgement.supports == ()
    assert "'1 MiB', not '2 MiB'" in judgement.explanation


@pytest.mark.parametrize(
    "claim", ["The kubelet then restarts the container within 73 seconds.", "Feature gates are enabled in 73 clusters."]
)
def test_figure_that_no_passage_has_is_no_support_however_near_the_rest(claim: str) -> None:
    judgement = _judge(claim)
    assert (judgement.verdict, judgement.supports) == ("unsupported", ())
    assert judgement.explanation.startswith("No passage has the figure '73")
    assert _judge(claim, question="Is it 73 seconds, or 73 clusters?").verdict == "partial"


@pytest.mark.parametrize("fenced", [True, False])
def test_entries_of_data_carry_names_and_figures_but_no_statement_of_plain_words(fenced: bool) -> None:
    lines = '"failSwapOn": false,\n"mergeDefaultSettings": true,\n"defaultValues": "used"\n'
    settings = evidence(f"```json\n{lines}```\n" if fenced else lines)
    plain = judge("If set to false, the default values are used as default settings.", settings, given=frozenset())
    assert (plain.verdict, plain.supports) == ("unsupported", ())
    assert judge("`failSwapOn` is set to false.", settings, given=frozenset()).verdict == "verified"


def test_words_of_a_heading_alone_are_no_support() -> None:
    only = prepare([chunk("Start the kubelet on the node.", number=1, title="Give a running instance more CPU live")])
    asked = keys_of(tokenise("Can I give a running instance more CPU?"))
    judgement = judge("You can give a running instance more CPU on the node live.", only, given=asked)
    assert (judgement.verdict, judgement.supports) == ("unsupported", ())
    assert "in headings and in the question alone" in judgement.explanation


def test_claim_with_something_not_found_is_partial() -> None:
    judgement = _judge(
        "If a container uses more memory than its limit, the kernel stops it within minutes and logs it."
    )
    assert judgement.verdict == "partial"
    assert judgement.supports


@pytest.mark.parametrize("claim", ["The moon is made of cheese.", "Velero keeps backups for thirty days.", "It is."])
def test_claim_about_something_else_is_unsupported(claim: str) -> None:
    assert _judge(claim).verdict == "unsupported"


def test_claim_over_two_passages_is_verified_by_both() -> None:
    judgement = _judge("A ConfigMap cannot exceed 1 MiB of data, and the kubelet then restarts the container.")
    assert judgement.verdict == "verified"
    assert {support.passage for support in judgement.supports} == {0, 1}


def test_a_contradicting_sentence_beats_a_looser_one_that_agrees() -> None:
    near = "The grace period of a Pod is 30 seconds."
    loose = "The grace period of a Pod may be changed. Some people set 60 seconds."
    judgement = judge("The grace period of a Pod is 60 seconds.", evidence(near, loose), given=frozenset())
    assert judgement.verdict != "verified"


def test_another_document_may_say_what_the_first_one_denies() -> None:
    passages = evidence("The limit is 5 Pods per user.", "The limit is 7 Pods per user.")
    judgement = judge("The limit is 7 Pods per user.", passages, given=frozenset())
    assert (judgement.verdict, judgement.supports[0].passage) == ("verified", 1)


def test_heading_may_name_the_subject() -> None:
    passage = chunk("It restarts failed containers with a delay of 10 seconds.", title="CrashLoopBackOff")
    judgement = judge(
        "CrashLoopBackOff restarts failed containers with a delay of 10 seconds.", prepare([passage]), given=frozenset()
    )
    assert judgement.verdict == "verified"


def test_header_of_a_cut_table_may_name_the_subject() -> None:
    row = chunk("| CrashLoopBackOff | 10 seconds |", title="Delays")
    with_header = replace(row, context="| state | restart delay |")
    claim = "The restart delay of CrashLoopBackOff is 10 seconds."
    assert judge(claim, prepare([with_header]), given=frozenset()).verdict == "verified"
    assert judge(claim, prepare([row]), given=frozenset()).verdict != "verified"


def test_words_of_the_question_do_not_prove_an_answer() -> None:
    judgement = _judge("The Velero hook is retried.", question="How often is the Velero hook retried?")
    assert judgement.verdict == "unsupported"


def _quotes(claim: str, text: str) -> list[str]:
    judgement = judge(claim, prepare([chunk(text)]), given=frozenset())
    return [text[support.start : support.end] for support in judgement.supports]


KILLED = "The output shows that the container was killed because it is out of memory:\n\n"


def test_quote_shows_the_sentence_before_a_block_that_the_claim_takes_words_from() -> None:
    text = f"{KILLED}```yaml\nlastState:\n  containerID: 65183c\n  exitCode: 137\n```\n"
    (quote,) = _quotes("The exit code 137 shows that the container was killed because it is out of memory.", text)
    assert quote.startswith("The output shows")
    assert quote.endswith("exitCode: 137")


HEADER = "| severity | what it means | acknowledged within |\n|---|---|---|\n"
ROWS = [
    f"| {number} | disturbance of kind {number} for the couriers | {5 * number} minutes |\n" for number in range(1, 9)
]


def test_quote_of_a_row_shows_the_header_that_the_claim_takes_words_from() -> None:
    (quote,) = _quotes("A disturbance of severity 1 is acknowledged within 5 minutes.", HEADER + ROWS[0])
    assert quote.startswith("| severity |")
    assert quote.endswith("5 minutes |")


def test_header_far_above_its_row_is_a_quote_of_its_own() -> None:
    quotes = _quotes("A disturbance of severity 8 is acknowledged within 40 minutes.", HEADER + "".join(ROWS))
    assert quotes == [HEADER.splitlines()[0], ROWS[7].strip()]


PROBES = """| Probe | Timeout (seconds) | Period (seconds) |
|---|---|---|
| liveness | 5 | 10 |
| startup | 30 | 20 |
"""
SEVERITIES = """| severity | meaning | acknowledge within | who works on it | customers hear within |
| --- | --- | --- | --- | --- |
| 1 | Data is lost | 5 minutes | on-call engineer, incident commander | 30 minutes |
| 2 | A main function is slow | 15 minutes | on-call engineer, incident commander | 20 minutes |
| 3 | A side function is down | next working morning | owning team | on request |
"""


@pytest.mark.parametrize(
    ("table", "claim"),
    [
        (PROBES, "The timeout of the startup probe is 30 seconds."),
        (PROBES, "The period of the startup probe is 20 seconds."),
        (PROBES, "The timeout of the startup probe is 30 seconds and its period is 20 seconds."),
        (SEVERITIES, "A severity 1 incident must be acknowledged within 5 minutes."),
        (SEVERITIES, "Severity 2 is acknowledged within 15 minutes."),
        (SEVERITIES, "Customers hear of severity 2 within 20 minutes."),
    ],
)
def test_figure_in_its_column_and_row_is_verified(table: str, claim: str) -> None:
    judgement = judge(claim, prepare([chunk(table)]), given=frozenset())
    assert judgement.verdict == "verified", judgement.explanation


@pytest.mark.parametrize(
    ("table", "claim", "reason"),
    [
        (
            PROBES,
            "The timeout of the startup probe is 20 seconds.",
            "under 'Period (seconds)', not 'Timeout (seconds)'",
        ),
        (PROBES, "The period of the startup probe is 30 seconds.", "under 'Timeout (seconds)', not 'Period (seconds)'"),
        (PROBES, "The period of the liveness probe is 20 seconds.", "not '20 seconds'"),
        (SEVERITIES, "Severity 2 is acknowledged within 20 minutes.", "under 'customers hear within'"),
        (SEVERITIES, "Customers hear of severity 2 within 15 minutes.", "under 'acknowledge within'"),
        (SEVERITIES, "Severity 1 is acknowledged within 15 minutes.", "in the row of '2', not of '1'"),
    ],
)
def test_figure_of_another_column_or_row_is_not_verified(table: str, claim: str, reason: str) -> None:
    judgement = judge(claim, prepare([chunk(table)]), given=frozenset())
    assert judgement.verdict != "verified"
    assert reason in judgement.explanation


OWNERS = """| Region | Zone | Owner | Backup owner | Who |
|---|---|---|---|---|
| north | a1 | Amber | Bruno | Dario |
| south | b2 | Bruno | Carla | Elena |
| east | c3 | payments team | search team | nobody |
"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The owner of north is Amber.", "verified"),
        ("The backup owner of north is Bruno.", "verified"),
        ("The owner of east is the payments team.", "verified"),
        ("The zone of south is b2.", "verified"),
        ("The owner of north is Bruno.", "partial"),
        ("The owner of north is Carla.", "partial"),
        ("The owner of south is the payments team.", "partial"),
        ("The zone of south is a1.", "partial"),
    ],
)
def test_word_of_another_column_or_row_is_not_verified(claim: str, verdict: str) -> None:
    judgement = judge(claim, prepare([chunk(OWNERS)]), given=frozenset())
    assert judgement.verdict == verdict, judgement.explanation


def test_columns_of_a_cut_table_are_those_of_its_header_further_up() -> None:
    header, _, *rows = PROBES.splitlines()
    cut = replace(chunk("\n".join(rows)), context=header)
    true, false = (f"The period of the startup probe is {value} seconds." for value in (20, 30))
    assert judge(true, prepare([cut]), given=frozenset()).verdict == "verified"
    assert judge(false, prepare([cut]), given=frozenset()).verdict != "verified"


def test_an_empty_title_keeps_its_column() -> None:
    table = "|| Timeout (seconds) | Period (seconds) |\n|---|---|---|\n| startup | 30 | 20 |\n| liveness | 5 | 10 |\n"
    true, false = (f"The period of startup is {value} seconds." for value in (20, 30))
    assert judge(true, prepare([chunk(table)]), given=frozenset()).verdict == "verified"
    assert judge(false, prepare([chunk(table)]), given=frozenset()).verdict != "verified"


def test_cells_beyond_the_header_are_under_no_title() -> None:
    table = PROBES + "| readiness | 7 | 9 | 11 | more |\n"
    claim = "The period of the readiness probe is 11 seconds."
    assert "under" not in judge(claim, prepare([chunk(table)]), given=frozenset()).explanation


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The maximum of booking-api is 12.", "verified"),
        ("The minimum of booking-api is 12.", "partial"),
    ],
)
def test_titles_of_bounds_are_titles(claim: str, verdict: str) -> None:
    table = "| Deployment | minimum | maximum |\n|---|---|---|\n| booking-api | 4 | 12 |\n| label-renderer | 3 | 8 |\n"
    assert judge(claim, prepare([chunk(table)]), given=frozenset()).verdict == verdict


def test_a_bound_before_its_figure_is_still_one() -> None:
    passage = chunk("A quota holds a maximum of 5 Pods.")
    for claim, verdict in (
        ("A quota holds at most 5 Pods.", "verified"),
        ("A quota holds at least 5 Pods.", "unsupported"),
    ):
        assert judge(claim, prepare([passage]), given=frozenset()).verdict == verdict


def test_a_line_of_code_and_the_table_behind_it_say_nothing_together() -> None:
    code = "```\nkubectl rollout status deployment/booking-api --timeout=10m\n```\n\n"
    text = (
        f"{code}| service | normal duration |\n|---|---|\n| booking-api | 4 minutes |\n| label-renderer | 5 minutes |\n"
    )
    judgement = judge("The normal duration of booking-api is 10 minutes.", prepare([chunk(text)]), given=frozenset())
    assert judgement.verdict != "verified"


def test_row_alone_is_the_quote_of_a_claim_that_takes_nothing_from_its_header() -> None:
    quotes = _quotes("A disturbance of kind 2 for the couriers takes 10 minutes.", HEADER + "".join(ROWS[:2]))
    assert quotes == [ROWS[1].strip()]


def test_sentence_far_above_its_entry_is_a_quote_of_its_own() -> None:
    entries = "".join(f"- Reason number {number} is told in the chapter on clocks.\n" for number in range(3, 12))
    text = f"{KILLED}\n{entries}- The last exit code was 137 with the signal SIGKILL.\n"
    quotes = _quotes("The last exit code was 137 with the signal SIGKILL because it is out of memory.", text)
    assert quotes == [KILLED.strip(), "The last exit code was 137 with the signal SIGKILL."]


def test_entry_that_says_it_alone_is_quoted_alone() -> None:
    text = "A node may be tainted for a reason:\n\n- The kubelet sets the taint memory-pressure at 100 MiB.\n"
    assert _quotes("The kubelet sets the taint memory-pressure at 100 MiB.", text) == [
        "The kubelet sets the taint memory-pressure at 100 MiB."
    ]


def test_name_in_parts_is_another_one_where_the_span_has_some_of_them() -> None:
    quotas = "| namespace | memory requests | memory limits |\n| --- | --- | --- |\n| `bookings` | 32Gi | 40Gi |\n"
    evidence = prepare([chunk(quotas, title="Quotas")])
    given = keys_of(tokenise("What is the memory limit of booking-api?"))
    judgement = judge("The memory limit of booking-api is 40Gi.", evidence, given=given)
    assert judgement.verdict != "verified"
    assert "'booking-api' does not stand in the passage" in judgement.explanation
    whole = prepare([chunk("The container `booking-api` has a memory limit of 40Gi.")])
    assert judge("The memory limit of booking-api is 40Gi.", whole, given=given).verdict == "verified"


def test_words_with_a_hyphen_stand_in_the_passage_without_it() -> None:
    evidence = prepare([chunk("The out of memory killer ends long running pods.")])
    claim = "The out-of-memory killer ends long-running pods."
    assert judge(claim, evidence, given=frozenset()).verdict == "verified"


def test_name_alone_states_nothing() -> None:
    passage = chunk("`pods/resource/cpu-request-limit.yaml`\n", title="Specify a CPU request and a CPU limit")
    judgement = judge(
        "The CPU request is the minimum and the CPU limit is the maximum.", prepare([passage]), given=frozenset()
    )
    assert judgement.verdict == "unsupported"
    assert "is a name and states nothing" in judgement.explanation
    named = judge("Use pods/resource/cpu-request-limit.yaml.", prepare([passage]), given=frozenset())
    assert named.verdict != "unsupported"


def test_part_of_a_claim_is_shown_by_the_span_that_holds_most_of_it() -> None:
    text = "Set `limits.cpu` to limit it.\n\nThe scheduler reserves the CPU that a container requests on the node.\n"
    passage = chunk(text, title="CPU requests and CPU limits of a container")
    judgement = judge(
        "A container requests CPU that the scheduler reserves, and a webhook audits it.",
        prepare([passage]),
        given=frozenset(),
    )
    assert judgement.verdict == "partial"
    assert [text[support.start : support.end] for support in judgement.supports] == [
        "The scheduler reserves the CPU that a container requests on the node."
    ]


def test_no_evidence_supports_nothing() -> None:
    assert judge("The kubelet restarts it.", prepare([]), given=frozenset()).verdict == "unsupported"


def test_same_claim_gets_the_same_judgement() -> None:
    claim = "The kernel stops it with exit code 137."
    assert _judge(claim) == _judge(claim)
