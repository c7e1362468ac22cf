"""Parts of a question that asks for several things, each as a query of its own. Rules alone; English only.

A question in one piece has no parts. Parts are searched beside the whole question, never instead of it, so that a wrong
cut costs a search and no evidence.
"""

from __future__ import annotations

import re

from agents.proof.evidence import content
from agents.proof.segments import split_sentences
from agents.proof.tokens import tokenise

MAX_PARTS = 3
"""Parts taken from one question; each costs a search, about as much as the question itself."""
LEAST_WORDS = 2
"""Content words that a part needs to be worth a search."""
OWN_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+|v?[\d.]+(?:/\d+)?|~?/.*|\S*@\S*|--.*")
"""Names of the asker's own things (``payments-node-7``), versions, addresses, paths, flags: documents may lack them."""
LONGEST_QUESTION = 1200
"""Characters; a longer text is a log or a document, not a question with parts."""
_ASKING = (
    r"(?:(?:in|with|for|at|to|by|on|from|under|of|until|after)\s+)?(?:which|what|when|where|who|whom|whose|why|how)\b"
)
_VERB = r"(?:does|do|did|is|are|was|were|can|could|will|would|should|may|has|have)\b"
_JOINT = re.compile(rf"(?:\s*[,;])?\s+(?:and|or|but)\s+(?={_ASKING}|{_VERB})", re.IGNORECASE)
"""Where a second question begins inside a sentence: ``..., and does the drain finish?``"""
_LISTED = re.compile(rf"\s*[,;]\s+(?={_ASKING})", re.IGNORECASE)
"""Where one begins that stands in a list; without an ``and`` further on it is a relative clause (``..., which is``)."""
_ASKS = re.compile(rf"(?:^|[-:,]\s+)(?:{_ASKING}|{_VERB})", re.IGNORECASE)
_STEP = re.compile(
    r",?\s+(?:and|then|and then|but)\s+(?:later|then|afterwards?|after that|finally|next)\s+", re.IGNORECASE
)
"""Where what is told before a question goes on to a second event."""
_SIDES = re.compile(
    r"(?:\bcompare|\bdifferences?\s+between)\s+(?P<one>.+?)\s+(?:and|with|to)\s+(?P<other>[^?.]+)"
    r"|(?P<left>[^?.,:]+?)\s+(?:versus|vs\.?)\s+(?P<right>[^?.,]+)",
    re.IGNORECASE,
)
_SET_APART = re.compile(
    r"^\s*(?:with|when|if|given)\s+(?P<one>.+?)\s+and\s+(?P<other>.+?),\s+(?P<asked>.+)$", re.IGNORECASE
)
"""Two conditions before the question: ``With A on in the cluster and B set to 100s, what ...``"""
_LEANS = re.compile(r"\b(?:it|its|they|them|their|there|this|that|these|those|one|same)\b", re.IGNORECASE)


def parts_of(question: str) -> tuple[str, ...]:
    """Up to ``MAX_PARTS`` queries for what a question asks; none where it asks for one thing.

    Args:
        question: One message, self-contained.
    """
    text = " ".join(question.split())
    if len(text) > LONGEST_QUESTION:
        return ()
    sentences = [text[start:end] for start, end in split_sentences(text, 0, len(text))]
    asked = [sentence for sentence in sentences if sentence.endswith("?")]
    told = [sentence for sentence in sentences if not sentence.endswith("?")]
    compared = _sides(text)
    parts = compared or _conditions(asked) or _questions(asked, told) or _steps(asked, told)
    worth = list(dict.fromkeys(part for part in parts if len(content(tokenise(part))) >= LEAST_WORDS))
    return tuple(worth[:MAX_PARTS]) if len(worth) > 1 else ()


def words_of(question: str) -> str:
    """The telling words of a question alone, without what stands in no document: own names, paths, addresses."""
    words = [token.text for token in content(tokenise(question)) if not OWN_NAME.fullmatch(token.text)]
    return " ".join(dict.fromkeys(words))


def _sides(text: str) -> list[str]:
    """Both sides of a comparison."""
    match = _SIDES.search(text)
    if match is None:
        return []
    one, other = (match["one"], match["other"]) if match["one"] else (match["left"], match["right"])
    about = " ".join([text[: match.start()].strip(" ,:-"), text[match.end() :].strip(" ?.,:-")]).strip()
    # What a side lacks stands on the other: "the cap of the kubelet with the one of Velero".
    sides = [one, f"{one} {other}" if _LEANS.search(other) else other]
    return [f"{about} {side}".strip() for side in sides]


def _conditions(asked: list[str]) -> list[str]:
    match = _SET_APART.match(asked[0]) if len(asked) == 1 else None
    if match is None:
        return []
    return [f"{match['one']} {match['asked']}", f"{match['other']} {match['asked']}"]


def _questions(asked: list[str], told: list[str]) -> list[str]:
    """Questions that stand side by side, each with what was told before them."""
    pieces = [piece for sentence in asked for piece in _pieces(sentence)]
    if len(pieces) < 2 or not _ASKS.search(pieces[0]):
        return []
    context = " ".join(told)
    if context:
        return [f"{context} {piece}" for piece in pieces]
    return [pieces[0], *(_with_subject(piece, pieces[0]) for piece in pieces[1:])]


def _pieces(sentence: str) -> list[str]:
    joined = _JOINT.split(sentence)
    listed = _LISTED.split(joined[0]) if len(joined) > 1 else joined[:1]
    return [piece.strip() for piece in (*listed, *joined[1:]) if piece.strip()]


def _with_subject(piece: str, first: str) -> str:
    """A later question with what the first one is about: its names, or all of it where it has none."""
    if not _LEANS.search(piece) and _names(piece):
        return piece
    names = _names(first)
    return f"{' '.join(names)} {piece}" if names else f"{first} {piece}"


def _names(text: str) -> list[str]:
    return [token.text for token in content(tokenise(text)) if token.kind in ("name", "identifier")]


def _steps(asked: list[str], told: list[str]) -> list[str]:
    """Events told one after the other before one question."""
    events = [event.strip(" .") for sentence in told for event in _STEP.split(sentence) if event.strip()]
    if len(events) < 2 or not asked:
        return []
    return [f"{event} {asked[-1]}" for event in events]
