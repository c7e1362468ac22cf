from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.proof.alignment import align, gaps
from agents.proof.tokens import tokenise

_WORDS = st.lists(st.sampled_from(["apple", "river", "stone", "cloud", "tiger"]), max_size=10)


def _longest(one: list[str], other: list[str]) -> int:
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(_WORDS, _WORDS)
def test_alignment_is_a_longest_common_subsequence(one: list[str], other: list[str]) -> None:
    left, right = tokenise(" ".join(one)), tokenise(" ".join(other))
    pairs = align(left, right)
    assert len(pairs) == _longest(one, other)
    assert all(left[pair.claim].key == right[pair.span].key for pair in pairs)
    assert pairs == sorted(pairs)
    assert len({pair.claim for pair in pairs}) == len({pair.span for pair in pairs}) == len(pairs)


def test_gap_holds_what_stands_in_place_of_what() -> None:
    claim, span = tokenise("stone river tiger"), tokenise("stone cloud tiger")
    (gap,) = gaps(claim, span, align(claim, span), 3)
    assert [token.text for token in gap.claim] == ["river"]
    assert [token.text for token in gap.span] == ["cloud"]


def test_figures_agree_by_value() -> None:
    assert len(align(tokenise("30s"), tokenise("half a minute is 30 seconds"))) == 1
