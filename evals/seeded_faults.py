"""Claims with labels by construction: true sentences of a corpus, the same altered, and a score for a verifier.

Nothing is drawn from a verifier's own word lists; alterations are made on the text alone, with a seeded generator.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple, TypeAlias

FaultKind: TypeAlias = Literal[
    "figure", "unit", "name", "negation", "comparison", "order", "borrowed", "spliced", "column", "row", "wrong_passage"
]
PASSAGE_FAULTS: frozenset[FaultKind] = frozenset({"borrowed", "spliced", "wrong_passage"})
"""Kinds whose claim is as it was, laid beside passages that do not carry it."""
TruthKind: TypeAlias = Literal["verbatim", "plain", "reworded", "joined", "cell"]
Alteration: TypeAlias = Callable[[str, random.Random], str | None]

PASSAGE_CHARACTERS = 1000
"""Passages are paragraphs packed up to this length."""
DISTRACTORS = 5
"""Other passages beside the right one: two of the same document, the rest of others."""


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, the passages it is laid beside, and whether they carry it."""

    claim: str
    original: str
    passages: tuple[str, ...]
    true: bool
    kind: FaultKind | TruthKind
    document: str


@dataclass(frozen=True)
class Corpus:
    """Passages by document, the names that stand in them, and their sentences, each with its document."""

    passages: Mapping[str, tuple[str, ...]]
    names: tuple[str, ...]
    sentences: tuple[tuple[str, str], ...]

    @cached_property
    def counted(self) -> tuple[tuple[str, str], ...]:
        """Sentences with one figure, each with its document."""
        return tuple((name, sentence) for name, sentence in self.sentences if _only_figure(sentence))


class Rate(NamedTuple):
    """Cases that a verifier did not call verified, of all."""

    flagged: int
    total: int

    @property
    def share(self) -> float:
        """In [0, 1]; 0 for no cases."""
        return self.flagged / self.total if self.total else 0.0


_SENTENCE = re.compile(
    r"(?:(?<=\n\n)|(?<=[.:]\s)|\A)(?![^\n]*[|])[A-Z`][^\n|#{}<>]{25,}?(?:\n(?!\s*(?:\d+\.|[*-])\s)[^\n|#{}<>]+?){0,4}?[a-z`)]\.(?=\s|$)"
)
_FUNCTION_WORDS = """
    From This That When With Your They Then There These What Where Which While Each Using Before After Once Some Note
    Make Here Into Only Also Both Such Than Other Another Have Will Should Must Does Show Shows List Create Getting
    Through Themselves Between During Without Within Under Over Against Upon Whether Because Although
"""
_FUNCTION_NAMES = frozenset(_FUNCTION_WORDS.split())
_NAME = re.compile(
    r"\b(?:[A-Z][a-z]+(?:[A-Z][a-zA-Z]+)+|[a-z]+(?:[A-Z][a-z]+)+)\b|(?<=[a-z,] )[A-Z][a-z]{3,}\b|--[a-z][a-z-]{3,}\b"
)
_COMPONENTS = (
    "kubelet", "kube-proxy", "kube-apiserver", "kube-scheduler", "etcd", "containerd", "kubeadm", "kubectl",
    "scheduler", "controller manager",
)  # fmt: skip
FIGURE = re.compile(
    r"(?<![\w./:$-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w./:-]*[a-zA-Z]?\d|\.\d)(?=\s|%|[smhKMG]\b|[KMG]i?B?\b|[,.;:)]|$)"
)
_WORD_FIGURES = {"two": "four", "three": "five", "four": "seven", "five": "three", "six": "nine", "ten": "twelve"}
_UNITS = {
    "seconds": "minutes", "second": "minute", "minutes": "hours", "minute": "hour", "hours": "days", "hour": "day",
    "days": "hours", "MiB": "GiB", "GiB": "MiB", "Mi": "Gi", "Gi": "Mi", "KiB": "MiB", "MB": "GB", "GB": "MB",
    "milliseconds": "seconds", "ms": "s", "bytes": "kilobytes", "megabytes": "gigabytes", "percent": "seconds",
    "s": "m", "h": "s", "m": "s",
}  # fmt: skip
_FIGURE_UNIT = re.compile(rf"(?<![\w./:-])(\d+(?:\.\d+)?[ -]?)({'|'.join(sorted(_UNITS, key=len, reverse=True))})\b")
_AUXILIARY = re.compile(r"\b(is|are|can|will|must|should|may|does|was|has been|have been)\b(?! not\b|n't\b|not\b)")
_NEGATED = re.compile(
    r"\b(?:(is|are|does|do|will|must|should|may|can|was) not|(is|are|does|do|would|was)n't|cannot|never)\b"
)
_COMPARISONS = (
    ("at least", "at most"), ("at most", "at least"), ("more than", "less than"), ("less than", "more than"),
    ("greater than", "less than"), ("before", "after"), ("after", "before"), ("enabled", "disabled"),
    ("disabled", "enabled"), ("enables", "disables"), ("enable", "disable"), ("disable", "enable"),
    ("increase", "decrease"), ("higher", "lower"), ("lower", "higher"), ("maximum", "minimum"),
    ("minimum", "maximum"), ("allows", "prevents"), ("prevent", "allow"), ("allow", "prevent"),
    ("created", "deleted"), ("deleted", "created"), ("add", "remove"), ("without", "with"), ("always", "never"),
    ("first", "last"), ("succeeds", "fails"), ("older", "newer"),
)  # fmt: skip
_LEADS = ("According to the documentation, ", "In short, ", "Note that ", "As described in the passage, ", "")
_DIGITS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "ten": "10"}
_SPELLED = {
    "30 seconds": "30s",
    "10 seconds": "10 s",
    "5 minutes": "five minutes",
    "1 MiB": "1Mi",
    "1 hour": "60 minutes",
}
_OPENERS = re.compile(r"^(?:However|For example|Therefore|In addition|Additionally|Also|Similarly|Typically),\s+")


def read_corpus(texts: Mapping[str, str]) -> Corpus:
    """Passages and names of documents by name; front matter is left out."""
    packed = {name: tuple(_pack(text)) for name, text in sorted(texts.items())}
    passages = {name: parts for name, parts in packed.items() if parts}
    names = {match for parts in passages.values() for part in parts for match in _NAME.findall(part)} - _FUNCTION_NAMES
    sentences = tuple(
        (name, sentence) for name, parts in passages.items() for part in parts for sentence in _sentences(part)
    )
    return Corpus(passages, tuple(sorted(names)), sentences)


def generate(corpus: Corpus, documents: Iterable[str], *, seed: int, per_document: int = 3) -> list[Case]:
    """Cases from these documents: every drawn sentence in each true form and each alteration that it allows."""
    generator = random.Random(seed)
    cases: list[Case] = []
    for document in sorted(set(documents) & set(corpus.passages)):
        sentences = [(place, s) for place, p in enumerate(corpus.passages[document]) for s in _sentences(p)]
        drawn = generator.sample(sentences, min(per_document, len(sentences)))
        counted = [pair for pair in sentences if FIGURE.search(pair[1]) and pair not in drawn]
        drawn += generator.sample(counted, min(per_document, len(counted)))
        for place, sentence in drawn:
            cases.extend(_cases(sentence, document, place, generator, corpus))
    return cases


def score(cases: Sequence[Case], is_verified: Callable[[str, Sequence[str]], bool]) -> dict[str, Rate]:
    """How many cases of each kind a verifier flags; ``altered`` and ``true`` sum up, faults of the passages apart."""
    flagged: dict[str, list[bool]] = {}
    for case in cases:
        flag = not is_verified(case.claim, case.passages)
        group = "true" if case.true else "altered"
        names = [case.kind] if case.kind in PASSAGE_FAULTS else [case.kind, group]
        for name in names:
            flagged.setdefault(name, []).append(flag)
    return {name: Rate(sum(flags), len(flags)) for name, flags in sorted(flagged.items())}


def _cases(sentence: str, document: str, place: int, generator: random.Random, corpus: Corpus) -> list[Case]:
    right = passages_beside(document, place, generator, corpus)
    truths: list[tuple[TruthKind, str | None]] = [
        ("verbatim", sentence),
        ("plain", plain(sentence)),
        ("reworded", _reword(plain(sentence), generator)),
        ("joined", _join(sentence, right[0])),
    ]
    cases = [Case(text, sentence, right, True, kind, document) for kind, text in truths if text]
    alterations: dict[FaultKind, Alteration] = {**ALTERATIONS, "name": partial(_alter_name, names=corpus.names)}
    for kind, alter in alterations.items():
        # A link's target is no part of what is said, so nothing is altered in it.
        base = plain(sentence) if "](" in sentence or generator.random() < 0.5 else sentence
        altered = alter(base, generator)
        if altered and altered != base:
            cases.append(Case(altered, sentence, right, False, kind, document))
    beside: list[tuple[FaultKind, str | None]] = [
        ("borrowed", _borrow(sentence, document, corpus)),
        ("spliced", _splice(sentence, document, corpus)),
    ]
    if not any(_squeeze(sentence) in _squeeze(passage) for passage in right[1:]):
        cases.extend(
            Case(plain(sentence), sentence, (first, *right[1:]), False, kind, document)
            for kind, first in beside
            if first
        )
    others = [name for name in corpus.passages if name != document]
    wrong = tuple(
        generator.choice(corpus.passages[name]) for name in generator.sample(others, min(DISTRACTORS + 1, len(others)))
    )
    if wrong and not any(_squeeze(sentence) in _squeeze(passage) for passage in wrong):
        cases.append(Case(sentence, sentence, wrong, False, "wrong_passage", document))
    return cases


def passages_beside(document: str, place: int, generator: random.Random, corpus: Corpus) -> tuple[str, ...]:
    """A passage with others: two of its document, the rest of others."""
    own = corpus.passages[document]
    same = [passage for number, passage in enumerate(own) if number != place]
    near = generator.sample(same, min(2, len(same)))
    others = [name for name in corpus.passages if name != document]
    far = [
        generator.choice(corpus.passages[name])
        for name in generator.sample(others, min(DISTRACTORS - len(near), len(others)))
    ]
    return (own[place], *near, *far)


def _alter_figure(text: str, generator: random.Random) -> str | None:
    found = list(FIGURE.finditer(text))
    if not found:
        words = [match for match in re.finditer(r"\b[a-z]+\b", text) if match.group() in _WORD_FIGURES]
        if not words:
            return None
        match = generator.choice(words)
        return _replace(text, match, _WORD_FIGURES[match.group()])
    match = generator.choice(found)
    number = match.group().replace(",", "")
    value = float(number)
    others = [
        value * 2 + 1,
        value + generator.randint(1, 5),
        value * 10 + 5,
        abs(value - 1) + 0.5 if "." in number else value + 7,
    ]
    return _replace(
        text, match, f"{generator.choice(others):g}" if "." in number else f"{int(generator.choice(others))}"
    )


def _alter_unit(text: str, generator: random.Random) -> str | None:
    found = list(_FIGURE_UNIT.finditer(text))
    if not found:
        return None
    match = generator.choice(found)
    return _replace(text, match, match[1] + _UNITS[match[2]])


def _alter_name(text: str, generator: random.Random, names: Sequence[str]) -> str | None:
    found = [match for match in _NAME.finditer(text) if match.group() not in _FUNCTION_NAMES]
    parts = [match for part in _COMPONENTS for match in re.finditer(rf"(?<![\w-]){part}(?![\w-])", text)]
    if parts and (not found or generator.random() < 0.5):
        match = generator.choice(parts)
        return _replace(text, match, generator.choice([c for c in _COMPONENTS if c not in text]))
    if not found:
        return None
    match = generator.choice(found)
    like = [name for name in names if _shape(name) == _shape(match.group()) and name.lower() not in text.lower()]
    return _replace(text, match, generator.choice(like)) if like else None


def _alter_negation(text: str, generator: random.Random) -> str | None:
    negated = list(_NEGATED.finditer(text))
    if negated:
        match = generator.choice(negated)
        word = match[1] or match[2] or ("can" if match.group() == "cannot" else "always")
        return _replace(text, match, word)
    found = list(_AUXILIARY.finditer(text))
    if not found:
        return None
    match = generator.choice(found)
    return _replace(
        text,
        match,
        "cannot"
        if match.group() == "can"
        else f"{match.group().replace(' been', ' not been')}"
        if " been" in match.group()
        else f"{match.group()} not",
    )


def _alter_comparison(text: str, generator: random.Random) -> str | None:
    found = [(m, new) for old, new in _COMPARISONS for m in re.finditer(rf"(?<![\w-]){old}(?![\w-])", text)]
    if not found:
        return None
    match, new = generator.choice(found)
    return _replace(text, match, new)


def _alter_order(text: str, generator: random.Random) -> str | None:
    """Two figures, or two names, change places."""
    for pattern in (FIGURE, _NAME):
        found = {match.group(): match for match in pattern.finditer(text) if match.group() not in _FUNCTION_NAMES}
        if len(found) >= 2 and not re.search(r"\b(?:and|or|both|between)\b", text):
            first, second = sorted(
                generator.sample(sorted(found.values(), key=lambda m: m.start()), 2), key=lambda m: m.start()
            )
            return (
                text[: first.start()]
                + second.group()
                + text[first.end() : second.start()]
                + first.group()
                + text[second.end() :]
            )
    return None


def _borrow(sentence: str, document: str, corpus: Corpus) -> str | None:
    """The sentence without its only figure, behind one of another document that has this figure in place of its own."""
    figure = _only_figure(sentence)
    others = [lender for name, lender in corpus.counted if name != document] if figure else []
    if figure is None or not others:
        return None
    lender = random.Random(sentence).choice(others)  # a draw of its own, so that the others stay as they were
    own = _only_figure(lender)
    assert own is not None
    return f"{_replace(lender, own, figure.group())} {_replace(sentence, figure, '')}"


def _splice(sentence: str, document: str, corpus: Corpus) -> str | None:
    """The halves of a sentence in two: its first goes on as one of another document, and a third ends in its second."""
    generator = random.Random(sentence)  # a draw of its own, so that the others stay as they were
    others = [other for name, other in corpus.sentences if name != document]
    if len(others) < 2:
        return None
    (head, tail), (_, end), (start, _) = (_halves(plain(one)) for one in (sentence, *generator.sample(others, 2)))
    return f"{head} {end} {start} {tail}"


def _halves(sentence: str) -> tuple[str, str]:
    words = sentence.split()
    middle = len(words) // 2
    return " ".join(words[:middle]), " ".join(words[middle:])


def _only_figure(sentence: str) -> re.Match[str] | None:
    """The figure with its unit of a sentence that has no other figure."""
    figures = list(_FIGURE_UNIT.finditer(sentence))
    return figures[0] if len(figures) == 1 and len(FIGURE.findall(sentence)) <= 1 else None


ALTERATIONS: dict[FaultKind, Alteration] = {
    "figure": _alter_figure,
    "unit": _alter_unit,
    "negation": _alter_negation,
    "comparison": _alter_comparison,
    "order": _alter_order,
}


def plain(sentence: str) -> str:
    """A sentence without markup, on one line."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|\[([^\]]*)\]\[[^\]]*\]", lambda m: m[1] or m[2] or "", sentence)
    return " ".join(re.sub(r"[`*]|(?<!\w)_|_(?!\w)", "", text).split())


def _reword(text: str, generator: random.Random) -> str:
    text = _OPENERS.sub("", text)
    text = re.sub(r"\bis not\b", "isn't", re.sub(r"\bdoes not\b", "doesn't", text))
    text = re.sub(r"\bcannot\b", "can't", text)
    for long, short in _SPELLED.items():
        text = re.sub(rf"(?<![\w.-]){long}\b", short, text)
    text = re.sub(r"\b([a-z]+)\b", lambda m: _DIGITS.get(m[1], m[1]), text)
    text = re.sub(r"\s\([^()]{3,80}\)", "", text)
    lead = generator.choice(_LEADS)
    first_lower = lead and not re.match(r"[A-Z]\w*[A-Z]|[A-Z]{2}|[A-Z]\w+ [A-Z]", text)
    return lead + (text[0].lower() + text[1:] if first_lower else text)


def _join(sentence: str, passage: str) -> str | None:
    """The sentence with another one of its passage, as one claim."""
    others = [other for other in _sentences(passage) if other != sentence]
    if not others or len(sentence) + len(others[0]) > 320:
        return None
    first = plain(sentence).rstrip(".")
    return f"{first}; {plain(others[0])}"


def _sentences(passage: str) -> list[str]:
    found = [match.group() for match in _SENTENCE.finditer(_without_code(passage))]
    return [s for s in found if 7 <= len(s.split()) <= 45 and "](" not in s.split(".")[0][-3:]]


def _without_code(text: str) -> str:
    return re.sub(r"(?ms)^\s*```.*?^\s*```", "", text)


def _pack(text: str) -> list[str]:
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    packed: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        if packed and len(packed[-1]) + len(block) < PASSAGE_CHARACTERS:
            packed[-1] += f"\n\n{block}"
        else:
            packed.append(block)
    return [passage.strip() for passage in packed if passage.strip()]


def _shape(name: str) -> tuple[bool, bool, bool]:
    return name.startswith("--"), name[:1].isupper(), bool(re.search(r"[a-z][A-Z]", name))


def _replace(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def _squeeze(text: str) -> str:
    return " ".join(text.split())
