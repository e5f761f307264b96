"""URI templates (RFC 6570), as far as changesets use them: which variables one has, and which URIs come of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote

_EXPRESSION = re.compile(r"\{[+#./;?&=,!@|]?([^{}]*)\}")
# A template with more expressions than this is matched against nothing: the match would take too long.
_MOST_EXPRESSIONS = 4
_LONGEST = 2000


@lru_cache(maxsize=512)
def variables_of(template: str) -> frozenset[str]:
    """The names of the variables in a template, without prefix lengths and explode marks."""
    names = (name for match in _EXPRESSION.finditer(template) for name in match[1].split(","))
    return frozenset(re.sub(r"(\*|:\d+)$", "", name.strip()) for name in names)


def expansions(template: str, values: Mapping[str, str]) -> frozenset[str]:
    """What a template of simple expressions gives for these values: with the values encoded, and as they are."""
    if not variables_of(template) <= values.keys():
        return frozenset()
    encoded = {name: quote(value, safe="") for name, value in values.items()}
    return frozenset(_filled(template, each) for each in (values, encoded))


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: values.get(match[1].strip(), ""), template)


def is_expansion(uri: str, template: str) -> bool:
    """Whether some values of its variables make this URI of the template."""
    if "{" not in template:
        return uri == template
    pattern = _pattern(template)
    return pattern is not None and len(uri) <= _LONGEST and pattern.fullmatch(uri) is not None


@lru_cache(maxsize=512)
def _pattern(template: str) -> re.Pattern[str] | None:
    literals = re.split(r"\{[^{}]*\}", template)
    if len(literals) - 1 > _MOST_EXPRESSIONS:
        return None
    return re.compile("[^{}]+?".join(map(re.escape, literals)))
