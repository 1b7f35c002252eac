"""Sentences of solutions turned into hints: "We can factor the cubic" becomes "Factor the cubic"."""

from __future__ import annotations

import re

_BASE_VERBS = """
    add analyze append apply argue arrange assemble assign assume attach begin bisect bound break
    bring build calculate call cancel chain change chase check choose circumscribe clear collect
    color combine compare complement complete compute concentrate conclude condition connect
    consider construct continue contract convert count cover cross cube cut decode decompose deduce
    define denote derive determine differentiate dissect divide double draw drop eliminate encode
    enumerate equate erect establish estimate evaluate examine exchange exclude expand exploit
    express extend factor find fix fold follow form glue group guess halve handle identify induct
    inscribe insert integrate interpret intersect introduce invert investigate isolate join label
    let list look make manipulate map mark match maximize minimize mirror move multiply name
    normalize note notice observe obtain order pair parameterize parametrize partition pass peel
    perform permute pick place plot plug prepare proceed project prove pull put raise rank
    rationalize read rearrange reason recall recognize reduce reflect remember remove repeat replace
    represent rescale restrict reverse rewrite rotate round scale search separate set shade shift
    show simplify sketch slice solve sort split square start substitute subtract sum suppose swap
    tabulate take telescope test think tile trace track transform translate treat triple trisect
    truncate try unfold use verify view weigh work write
"""
BASE_VERBS = frozenset(_BASE_VERBS.split())
INSTRUCTIONS = (BASE_VERBS | {"using", "applying"}) - {
    "let",
    "denote",
    "suppose",
    "assume",
    "note",
    "conclude",
    "define",
}
"""Verbs that tell what to do; to let or to suppose only sets the scene."""

_LEAD_IN = re.compile(
    r"^(?:(?:first(?: of all)?|second|third|next|now|then|finally|so|thus|therefore|hence|also|and|but|again"
    r"|of course|clearly|similarly|likewise|consequently|as a result|in fact|indeed|alternatively|moreover"
    r"|furthermore|otherwise|however|step \d+|solution|note that|observe that|notice that|recall that|we note that"
    r"|we see that|we know that|we observe that|we notice that|it follows that|we have that|we have"
    r"|this means that|this means)(?:\s*[,:]\s*|\s+))+",
    re.IGNORECASE,
)
_WE = re.compile(
    r"^(?:we|one|you|i)(?:'ll)? (?:(?:can|may|could|will|must|should|would|first|now|then|also|simply|just|only"
    r"|easily|instead|next|have to|need to|want to|try to|like to|are able to|therefore|thus) )*([a-z]+)\b(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LETS = re.compile(r"^let(?:'s| us) ([a-z]+)\b(.*)$", re.IGNORECASE | re.DOTALL)
_BY = re.compile(r"^(?:by|using|from|with|via|applying) (?:the use of )?(.+?), (.+)$", re.IGNORECASE | re.DOTALL)
_SINCE = re.compile(r"^(?:since|because|as) (.+?), (.+)$", re.IGNORECASE | re.DOTALL)
_TO_DO = re.compile(r"^(?:in order )?to ([a-z]+ .+?), (.+)$", re.IGNORECASE | re.DOTALL)
_GERUND = re.compile(r"^([a-z]+)ing\b(.*?)(?:, (.+))?$", re.IGNORECASE | re.DOTALL)
_RESULT = re.compile(
    r"^(?:we|one|you) (?:can )?(?:get|obtain|find|see|have|know|conclude|deduce|note)(?: that)? ", re.IGNORECASE
)


def is_instruction(sentence: str) -> bool:
    """Say whether a sentence tells what to do: it begins with a base verb, or with "we" and one."""
    bare = _LEAD_IN.sub("", sentence)
    for pattern in (_WE, _LETS):
        match = pattern.match(bare)
        if match:
            return match[1].lower() in INSTRUCTIONS
    first = re.match(r"[A-Za-z]+", bare)
    return first is not None and first[0].lower() in INSTRUCTIONS


def imperative(sentence: str) -> str:
    """Put a sentence in the imperative where its form allows; a bare statement becomes "Show that ..."."""
    bare = _LEAD_IN.sub("", sentence) or sentence
    for pattern in (_LETS, _WE):
        match = pattern.match(bare)
        if match and match[1].lower() in BASE_VERBS:
            return _capital(match[1].lower() + match[2])
    first = re.match(r"[A-Za-z]+", bare)
    if first and first[0].lower() in BASE_VERBS:
        return _capital(bare)
    if match := _TO_DO.match(bare):
        action = _as_action(match[2])
        if action:
            return _capital(f"{action} to {match[1]}")
    if match := _BY.match(bare):
        return f"Use {match[1]} to {_as_action(match[2]) or 'show that ' + _claim(match[2])}"
    if match := _SINCE.match(bare):
        return f"Use that {_lower(match[1])} to {_as_action(match[2]) or 'show that ' + _claim(match[2])}"
    if match := _GERUND.match(bare):
        verb = _base_of_gerund(match[1].lower())
        if verb:
            return _capital(verb + match[2]) + (f" to show that {_claim(match[3])}" if match[3] else "")
    return f"Show that {_claim(bare)}"


def _as_action(clause: str) -> str:
    """Return "factor the cubic" for "we can factor the cubic", "" for a clause that is no action."""
    match = _WE.match(_LEAD_IN.sub("", clause))
    if match and match[1].lower() in BASE_VERBS and not _RESULT.match(clause):
        return match[1].lower() + match[2]
    return ""


def _claim(clause: str) -> str:
    clause = _LEAD_IN.sub("", clause)
    return _lower(_RESULT.sub("", clause))


def _base_of_gerund(trunk: str) -> str:
    """Return "factor" for "factor(ing)", "use" for "us(ing)", "plug" for "plugg(ing)"; "" when no verb fits."""
    for base in (trunk, trunk + "e", trunk[:-1]):
        if base in BASE_VERBS:
            return base
    return ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    """Lower the first letter unless it begins a name (Vieta's) or a label (ABC)."""
    word = re.match(r"[A-Za-z]+(?:'s)?", text)
    if not word or len(word[0]) == 1 or word[0].isupper() or word[0].endswith("'s"):
        return text if word and word[0] != "A" else text[:1].lower() + text[1:]
    return text[:1].lower() + text[1:]
