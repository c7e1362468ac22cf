from __future__ import annotations

from evals.seeded_faults import PASSAGE_FAULTS, generate, read_corpus, score

TEXTS = {
    "limits.md": (
        "# Limits\n\nThe memory limit of each container is 512 MiB by default. "
        "The kubelet does not restart a Pod that has finished within 30 seconds.\n\n"
        "The field `maxSurge` is rounded up, before the field `maxUnavailable` is set to 25 percent of the Pods."
    ),
    "teams.md": (
        "# Teams\n\nThe Platform team answers within 15 minutes at night. "
        "The Network team keeps 3 engineers on call during each week of the year."
    ),
    "costs.md": "# Costs\n\nEach node of the cluster costs about 120 euros and holds at most 110 running Pods at once.",
}


def test_same_seed_gives_the_same_cases() -> None:
    corpus = read_corpus(TEXTS)
    assert generate(corpus, TEXTS, seed=1) == generate(corpus, TEXTS, seed=1)


def test_true_claims_are_made_of_the_stored_sentence_and_altered_ones_differ_from_it() -> None:
    for case in generate(read_corpus(TEXTS), TEXTS, seed=3):
        stored = any(case.original in passage for passage in case.passages)
        if case.kind in PASSAGE_FAULTS:
            assert not stored
        else:
            assert stored
        if case.kind == "verbatim":
            assert case.claim == case.original
        if not case.true and case.kind not in PASSAGE_FAULTS:
            assert case.claim.replace("`", "") != case.original.replace("`", "")


def test_every_kind_of_fault_is_made() -> None:
    cases = [case for seed in range(5) for case in generate(read_corpus(TEXTS), TEXTS, seed=seed)]
    kinds = {case.kind for case in cases}
    assert {"figure", "unit", "name", "negation", "comparison", "order", *PASSAGE_FAULTS} <= kinds
    assert {"verbatim", "plain", "reworded", "joined"} <= kinds


def test_borrowed_figure_stands_in_the_passage_and_no_longer_in_its_sentence() -> None:
    cases = [case for seed in range(5) for case in generate(read_corpus(TEXTS), TEXTS, seed=seed)]
    (passage,) = {case.passages[0] for case in cases if case.kind == "borrowed" and "512 MiB" in case.claim}
    lent, own = passage.split("512 MiB")
    assert "memory limit" not in lent
    assert "The memory limit of each container is  by default." in own


def test_spliced_sentence_stands_in_the_passage_in_halves_that_other_sentences_part() -> None:
    cases = [case for seed in range(5) for case in generate(read_corpus(TEXTS), TEXTS, seed=seed)]
    (passage,) = {case.passages[0] for case in cases if case.kind == "spliced" and case.claim.startswith("Each node")}
    assert passage.startswith("Each node of the cluster costs about 120")
    assert passage.endswith("holds at most 110 running Pods at once.")


def test_score_counts_what_a_verifier_flags() -> None:
    cases = generate(read_corpus(TEXTS), TEXTS, seed=1)
    believes_all = score(cases, lambda claim, passages: True)
    believes_nothing = score(cases, lambda claim, passages: False)
    assert believes_all["altered"].share == 0.0
    assert believes_nothing["true"].share == 1.0
    apart = sum(believes_all[kind].total for kind in PASSAGE_FAULTS)
    assert believes_all["true"].total + believes_all["altered"].total + apart == len(cases)
