from __future__ import annotations

from app.schema import RunInfo
from ui.turns import turns_of


def run(run_id: str, *, replaces: str = "", continues: str = "") -> RunInfo:
    return RunInfo(
        run_id=run_id, thread_id="t", question="Why?", state="answered", created_at="", last_seq=1,
        replaces=replaces, continues=continues,
    )  # fmt: skip


def shape(*runs: RunInfo) -> list[list[str]]:
    return [["".join(part.run_id for part in version) for version in turn.versions] for turn in turns_of(runs)]


def test_runs_without_names_are_turns_of_their_own() -> None:
    assert shape(run("a"), run("b")) == [["a"], ["b"]]


def test_answers_in_each_others_place_are_versions_of_one_turn() -> None:
    assert shape(run("a"), run("b", replaces="a"), run("c", replaces="b"), run("d")) == [["a", "b", "c"], ["d"]]


def test_answer_that_goes_on_is_one_version_and_its_end_can_be_replaced_alone() -> None:
    going = (run("a"), run("b", continues="a"))

    assert shape(*going) == [["ab"]]
    assert shape(*going, run("c", replaces="b", continues="a")) == [["ab", "ac"]]
    assert shape(*going, run("c", replaces="a")) == [["ab", "c"]]


def test_run_that_names_one_which_is_not_there_begins_a_turn() -> None:
    assert shape(run("a", replaces="gone"), run("b", continues="gone")) == [["a"], ["b"]]
