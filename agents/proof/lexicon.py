"""Closed word lists of the proof: function words, negations, comparisons, opposites. English only.

A word that is on no list counts as content. Lists hold lower-case written forms; ``SAME`` and ``OPPOSITES`` are
turned into stems by their users. Keep them short: every entry is a claim about meaning.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS: frozenset[str] = _words(
    """
    a an the this that these those there here it its itself they them their theirs he she his her we us our ours you
    your yours i me my mine who whom whose which what when where why how is are was were be been being am do does did
    doing done have has had having of in on at by for with about into through during to from as and or so than too very
    also just then thus hence such if while because since although though but both each own same other another any some
    s t re ve ll d will would shall per via etc e.g i.e eg ie let one ones itself themselves however therefore
    moreover already still again
    """
)

SOFT_WORDS: frozenset[str] = _words(
    """
    according documentation documents document passage passages source sources answer question following follow
    follows example mean means meaning meant specific specifically typically usually generally normally basically
    simply actually essentially particular particularly respective respectively relevant related certain various
    different case cases way ways thing things kind type situation scenario context term terms note important ensure
    ensures make makes made making need needs needed want wants help helps provide provides provided
    given gives give use uses used using refer refers include includes including indicate indicates happen happens
    occur occurs cause causes caused result results due able get gets got become becomes take takes set sets
    say says said stated describe describes described called known likely possible possibly
    based regarding well now new instead size amount number show shows shown
    """
)
"""Words that carry little of a sentence's truth; missing ones cost little (see ``evidence.SOFT_WEIGHT``)."""

IDLE_PHRASES: tuple[str, ...] = (r"in\s+order\s+(?:to|for|that)",)
"""Phrases that say nothing, of words that alone do: an ``orders service`` is no purpose."""

NEGATIONS: frozenset[str] = _words(
    """
    not no never cannot without neither none nothing nobody nowhere hardly barely cant dont doesnt isnt wont
    """
)
CONTRASTS: frozenset[str] = _words(
    """
    unless except only excluding
    """
)
"""Words that bound a statement; adding or dropping one changes what is said."""
CLAUSE_STARTS: frozenset[str] = _words(
    """
    but while whereas because if when unless although though that which who until so and or nor then however
    """
)

STRONG_MODALS: frozenset[str] = _words(
    """
    must shall required requires mandatory always
    """
)
WEAK_MODALS: frozenset[str] = _words(
    """
    may might could can optional optionally sometimes should recommended
    """
)

NUMBER_WORDS: dict[str, int] = {
    "zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000, "million": 1000000,
}  # fmt: skip
"""``one`` is missing on purpose: it is a pronoun more often than a figure."""

AT_LEAST, MORE_THAN, AT_MOST, LESS_THAN = "at-least", "more-than", "at-most", "less-than"
A_FIGURE = rf"(?=\s+(?:\W{{0,2}}\d|(?:{'|'.join(('one', *NUMBER_WORDS))})\b))"
"""The maximum of something bounds it only where a figure follows at once; else it is what is spoken of."""
BOUND_PHRASES: tuple[tuple[str, str], ...] = (
    (
        r"(?:can\s?not|can['’]t|(?:must|may|should|does|do|will|is)\s+not|not|never)\s+"
        r"(?:exceeds?|be\s+(?:more|greater|larger|higher|longer)\s+than)",
        AT_MOST,
    ),
    (
        r"(?:can\s?not|can['’]t|(?:must|may|should)\s+not|not|never)\s+be\s+(?:less|fewer|smaller|lower|shorter)\s+than",
        AT_LEAST,
    ),
    (r"(?:no|not)\s+(?:more|greater|larger|higher|longer)\s+than", AT_MOST),
    (r"(?:no|not)\s+(?:less|fewer|smaller|lower|shorter)\s+than", AT_LEAST),
    (
        rf"at\s+least|at\s+a\s+minimum|(?:a|the)\s+minimum\s+of{A_FIGURE}|or\s+(?:more|greater|higher|above)",
        AT_LEAST,
    ),
    (
        rf"at\s+(?:the\s+)?most|up\s+to|(?:a|the)\s+maximum\s+of{A_FIGURE}|or\s+(?:less|fewer|lower|below)"
        r"|capped\s+at|limited\s+to",
        AT_MOST,
    ),
    (
        r"(?:more|greater|larger|higher|longer)\s+than(?!\s+or\s+equal)|exceeds?|exceeded|exceeding|in\s+excess\s+of",
        MORE_THAN,
    ),
    (r"(?:greater|more|larger|higher)\s+than\s+or\s+equal\s+to", AT_LEAST),
    (r"(?:less|fewer|smaller|lower|shorter)\s+than\s+or\s+equal\s+to", AT_MOST),
    (r"(?:less|fewer|smaller|lower|shorter)\s+than", LESS_THAN),
)
"""Phrases that bound a figure, longest first; what a following figure is held against."""
BOUND_GROUPS: dict[str, str] = {AT_LEAST: "up", MORE_THAN: "up", AT_MOST: "down", LESS_THAN: "down"}

OPPOSITES: tuple[tuple[str, str], ...] = (
    ("enable", "disable"), ("enabled", "disabled"), ("increase", "decrease"), ("increase", "reduce"),
    ("increases", "lowers"), ("raise", "lower"), ("allow", "deny"), ("allow", "forbid"), ("allow", "prevent"),
    ("allow", "block"), ("allow", "prohibit"), ("permit", "deny"), ("accept", "reject"), ("include", "exclude"),
    ("add", "remove"), ("create", "delete"), ("create", "remove"), ("start", "stop"), ("start", "end"),
    ("begin", "end"), ("open", "close"), ("succeed", "fail"), ("success", "failure"), ("successful", "failed"),
    ("before", "after"), ("above", "below"), ("over", "under"), ("more", "less"), ("more", "fewer"),
    ("higher", "lower"), ("high", "low"), ("highest", "lowest"), ("greater", "less"), ("larger", "smaller"),
    ("largest", "smallest"), ("longer", "shorter"), ("longest", "shortest"), ("most", "least"),
    ("maximum", "minimum"), ("max", "min"), ("first", "last"), ("older", "newer"), ("oldest", "newest"),
    ("early", "late"), ("earlier", "later"), ("all", "none"), ("all", "some"), ("always", "never"),
    ("always", "sometimes"), ("every", "no"), ("true", "false"), ("on", "off"), ("up", "down"),
    ("valid", "invalid"), ("mutable", "immutable"), ("complete", "incomplete"), ("sufficient", "insufficient"),
    ("feasible", "infeasible"), ("active", "inactive"), ("internal", "external"), ("inside", "outside"),
    ("public", "private"), ("read", "write"), ("input", "output"), ("client", "server"), ("source", "target"),
    ("attach", "detach"), ("connect", "disconnect"), ("mount", "unmount"), ("lock", "unlock"), ("grant", "revoke"),
    ("required", "optional"), ("mandatory", "optional"), ("automatic", "manual"), ("automatically", "manually"),
    ("synchronous", "asynchronous"), ("static", "dynamic"), ("temporary", "permanent"), ("safe", "unsafe"),
    ("encrypt", "decrypt"), ("push", "pull"), ("send", "receive"), ("horizontal", "vertical"), ("keep", "delete"),
    ("keep", "remove"), ("preserve", "delete"), ("retain", "delete"), ("pass", "fail"), ("join", "leave"),
    ("inherit", "override"), ("ingress", "egress"), ("upgrade", "downgrade"), ("supported", "unsupported"),
    ("available", "unavailable"), ("healthy", "unhealthy"), ("known", "unknown"), ("ready", "unready"),
    ("scheduled", "unscheduled"), ("hard", "soft"), ("positive", "negative"), ("best", "worst"), ("same", "different"),
)  # fmt: skip
"""Pairs that turn a statement into its contrary when one stands for the other."""

SAME: tuple[tuple[str, ...], ...] = (
    ("kill", "terminate"), ("delete", "remove"), ("use", "utilize", "utilise"), ("start", "begin", "launch"),
    ("show", "display"), ("run", "execute"), ("wait", "pause"), ("fix", "correct"),
    ("surpass", "exceed"), ("max", "maximum"), ("min", "minimum"), ("quantity", "amount"), ("pick", "choose", "select"),
    ("stop", "halt"), ("attempt", "try"), ("big", "large"), ("config", "configuration"),
    ("repo", "repository"), ("app", "application"), ("directory", "folder"),
    ("machine", "host"), ("docs", "documentation"), ("permit", "allow"), ("forbid", "prohibit"),
    ("contain", "hold"), ("require", "need"), ("ensure", "guarantee"), ("modify", "change"), ("cpu", "processor"),
    ("db", "database"), ("initial", "first"),
)  # fmt: skip
"""Groups of words that may stand for each other."""

LINKS: tuple[str, ...] = (
    "it", "its", "they", "their", "this", "these", "that", "those", "such", "both", "here", "there", "otherwise",
    "by default", "the (?:default|same|value|latter|former|result)", "if (?:it is )?(?:not set|unset|omitted)", "which",
    "(?:for|in) (?:example|instance|this|that|these|those|such)", "after that", "then", "so", "also", "and", "instead",
)  # fmt: skip
"""Words that open a sentence which speaks of the same as the one before."""
PRONOUNS = ("it", "its", "they", "them", "their", "this", "these", "those", "such")
"""Words that stand for something of a sentence before."""
VALUE_NOUNS: frozenset[str] = _words(
    """
    default defaults value values unset omitted omit specified specify equal equals set sets use uses used take takes
    mean means need needs amount amounts number size
    """
)
"""Words beside a figure that do not say what it is of."""

MONTHS: tuple[str, ...] = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
