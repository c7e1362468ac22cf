from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.samples import RESTART
from tools.policy import DEFAULT_RULES, NEVER_GRANTED, Action, Grant, PolicyDecision, PolicyRule, decide
from tools.types import Arguments, Risk

RULES = st.lists(
    st.builds(
        PolicyRule,
        action=st.sampled_from(get_args(Action)),
        server=st.sampled_from(["*", "groundwork", "other"]),
        tool=st.sampled_from(["*", "restart_*", "get_*"]),
        risk=st.lists(st.sampled_from(get_args(Risk)), max_size=2).map(tuple),
        even_when_tainted=st.booleans(),
    ),
    max_size=6,
)
RISKS = st.sampled_from(get_args(Risk))
ANY_GRANT = Grant("g1", "chat", "groundwork", "restart_deployment")


def decision(
    risk: Risk = "write",
    *,
    rules: list[PolicyRule] | tuple[PolicyRule, ...] = (),
    grants: tuple[Grant, ...] = (),
    tainted: bool = False,
    arguments: Arguments | None = None,
) -> PolicyDecision:
    spec = replace(RESTART.spec, risk=risk)
    given_arguments = arguments if arguments is not None else {"name": "web"}
    return decide(spec, given_arguments, rules=rules, grants=grants, thread_id="t1", tainted=tainted)


@given(RULES, RISKS, st.booleans())
def test_a_matching_deny_wins_wherever_it_stands(rules: list[PolicyRule], risk: Risk, tainted: bool) -> None:
    for place in range(len(rules) + 1):
        with_deny = [*rules[:place], PolicyRule(action="deny"), *rules[place:]]
        assert decision(risk, rules=with_deny, grants=(ANY_GRANT,), tainted=tainted).action == "deny"


@given(RULES, st.booleans())
def test_a_destructive_call_is_never_allowed_without_a_person(rules: list[PolicyRule], tainted: bool) -> None:
    for risk in NEVER_GRANTED:
        assert decision(risk, rules=rules, grants=(ANY_GRANT,), tainted=tainted).action != "allow"


@given(RULES, RISKS)
def test_taint_never_loosens_a_decision(rules: list[PolicyRule], risk: Risk) -> None:
    order: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}
    clean = decision(risk, rules=rules, grants=(ANY_GRANT,)).action
    assert order[decision(risk, rules=rules, grants=(ANY_GRANT,), tainted=True).action] >= order[clean]


def test_an_unmatched_call_is_asked_for() -> None:
    assert decision("write", rules=DEFAULT_RULES).action == "ask"
    assert decision("read", rules=()).action == "ask"
    assert decision("read", rules=DEFAULT_RULES).action == "allow"


@pytest.mark.parametrize(("risk", "action"), [("write", "ask"), ("egress", "ask"), ("read", "allow")])
def test_a_saved_grant_holds_for_reads_alone_in_a_tainted_thread(risk: Risk, action: Action) -> None:
    assert decision(risk, grants=(ANY_GRANT,)).action == "allow"
    assert decision(risk, grants=(ANY_GRANT,), tainted=True).action == action


def test_a_grant_of_another_thread_or_argument_does_not_apply() -> None:
    elsewhere = replace(ANY_GRANT, thread_id="t2")
    web_only = replace(ANY_GRANT, scope="arguments", arguments={"name": "web*"})
    assert decision(grants=(elsewhere,)).action == "ask"
    assert decision(grants=(web_only,)).action == "allow"
    assert decision(grants=(web_only,), arguments={"name": "db"}).action == "ask"
    assert decision(grants=(web_only,), arguments={}).action == "ask"


def test_the_decision_names_the_line_that_made_it() -> None:
    rules = [PolicyRule(action="allow", tool="get_*"), PolicyRule(action="ask", arguments={"name": "w?b"})]
    assert decision(rules=rules) == PolicyDecision("ask", "policy line 2 says ask", 1)


@given(RULES, RISKS, st.booleans())
def test_a_grant_lifts_an_ask_and_changes_nothing_else(rules: list[PolicyRule], risk: Risk, tainted: bool) -> None:
    without = decision(risk, rules=rules, tainted=tainted).action
    with_grant = decision(risk, rules=rules, grants=(ANY_GRANT,), tainted=tainted).action
    assert with_grant == without or (without, with_grant) == ("ask", "allow")


@given(RULES, RISKS, st.booleans())
def test_a_grant_for_another_tool_changes_nothing(rules: list[PolicyRule], risk: Risk, tainted: bool) -> None:
    for other in (replace(ANY_GRANT, server="other"), replace(ANY_GRANT, tool="get_pod")):
        assert decision(risk, rules=rules, grants=(other,), tainted=tainted) == decision(
            risk, rules=rules, tainted=tainted
        )
