"""AIME and AMC problems from the AoPS wiki: the address of the page is the contest key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.readers import Row
from warehouse.sources.draft import Draft
from warehouse.sources.generic import Generic

_PAGE = re.compile(r"/(\d{4})_(AIME(?:_I{1,2})?|AMC_\d+[AB]?|AHSME|AJHSME)_Problems/Problem_(\d+)")


class Aime(Generic):
    """Makes "2022/AIME_I/12" the id."""

    name = "aime"

    @classmethod
    def recognises(cls, columns: frozenset[str], rows: Sequence[Row]) -> bool:
        """By the address of the first row's wiki page."""
        return "url" in columns and bool(rows) and bool(_PAGE.search(str(rows[0].fields.get("url"))))

    def refine(self, draft: Draft, fields: Mapping[str, Any], position: int) -> None:
        """Read year, contest and number from the address."""
        page = _PAGE.search(str(self.cell(fields, "url")))
        if page:
            draft.id = "/".join(page.groups())
            draft.metadata.update(year=int(page[1]), contest=page[2].replace("_", " "), number=int(page[3]))
