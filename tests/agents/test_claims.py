from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.proof.claims import split_claims

ANSWER = """## Why it restarted

The container was **OOMKilled**. Its limit is 1 GiB, e.g. as set in `spec`.
Check these:

- the memory limit of the container
- leaks

| probe | timeout |
|---|---|
| startup | 30 s |

```bash
kubectl describe pod web
kubectl logs web
```

Does that help?
"""


def test_claims_of_a_markdown_answer() -> None:
    claims = [(claim.kind, ANSWER[claim.start : claim.end]) for claim in split_claims(ANSWER)]
    assert claims == [
        ("text", "The container was **OOMKilled**."),
        ("text", "Its limit is 1 GiB, e.g. as set in `spec`."),
        ("text", "the memory limit of the container"),
        ("text", "leaks"),
        ("row", "| startup | 30 s"),
        ("code", "```bash\nkubectl describe pod web\nkubectl logs web\n```"),
    ]


def test_short_item_is_judged_with_its_introduction() -> None:
    claims = split_claims("A Pod is restarted for these reasons:\n\n- leaks\n")
    assert claims[-1].judged == "A Pod is restarted for these reasons leaks"


def test_marker_of_code_goes_behind_the_fence_and_of_a_row_before_its_border() -> None:
    code, row = "```\na = 1\n```\n", "| a | b |\n|---|---|\n| x | 2 |\n"
    assert code[: split_claims(code)[0].marker_at] == "```\na = 1\n```"
    assert row[: split_claims(row)[-1].marker_at].endswith("| x | 2")


def test_greeting_and_question_are_no_claims() -> None:
    assert split_claims("It is. What else?") == []
    assert split_claims("") == []


@given(st.text(alphabet="ab Word. 12\n-|`#:*", max_size=160))
def test_claims_are_in_order_and_inside_the_answer(text: str) -> None:
    place = 0
    for claim in split_claims(text):
        assert place <= claim.start < claim.end <= len(text)
        assert claim.end <= claim.marker_at <= claim.removed_to <= len(text)
        place = claim.end
