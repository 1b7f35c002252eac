"""All readers of known layouts. The first that recognises a file reads it; otherwise the generic one does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warehouse.errors import SaberError
from warehouse.readers import Row
from warehouse.readers.delimited import plain
from warehouse.sources.aime import Aime
from warehouse.sources.amo_bench import AmoBench
from warehouse.sources.aops_threads import AopsThreads
from warehouse.sources.arqmath_topics import ArqmathTopics
from warehouse.sources.competition_math import CompetitionMath
from warehouse.sources.generic import Generic
from warehouse.sources.gsm8k import Gsm8k
from warehouse.sources.harp import Harp
from warehouse.sources.headerless import IdAndText, TextAndAnswer
from warehouse.sources.imo_bench import ImoBench
from warehouse.sources.mathnet import MathNet
from warehouse.sources.multiple_choice import MultipleChoice
from warehouse.sources.numina import Numina, NuminaAll
from warehouse.sources.olympiad_bench import OlympiadBench
from warehouse.sources.omni_math import OmniMath
from warehouse.sources.rule_reward import RuleReward
from warehouse.sources.saber_math import SaberMathDocuments, SaberMathQueries
from warehouse.sources.theorem_qa import TheoremQa

# The order matters where one layout is a special case of another: OlympiadBench as a training table comes
# before training tables in general.
SOURCES: tuple[type[Generic], ...] = (
    Numina,
    NuminaAll,
    AopsThreads,
    SaberMathQueries,
    SaberMathDocuments,
    OlympiadBench,
    RuleReward,
    OmniMath,
    Harp,
    ImoBench,
    Aime,
    MathNet,
    AmoBench,
    TheoremQa,
    MultipleChoice,
    ArqmathTopics,
    Gsm8k,
    CompetitionMath,
    TextAndAnswer,
    IdAndText,
    Generic,
)
BY_NAME: dict[str, type[Generic]] = {source.name: source for source in SOURCES}


def choose(
    file: str,
    names: Sequence[str],
    rows: Sequence[Row],
    reader: str | None = None,
    mapping: Mapping[str, str] | None = None,
) -> Generic:
    """Choose the reader of one file.

    Parameters
    ----------
    reader : str, optional
        Name of a reader; the choice is the caller's then.
    mapping : mapping, optional
        Roles of columns; with a mapping and no reader's name the generic reader reads.

    Raises
    ------
    SaberError
        For a reader's name that does not exist.
    """
    if reader is not None and reader not in BY_NAME:
        raise SaberError(f"There is no reader {reader!r}. Choose one of {', '.join(BY_NAME)}.")
    if reader is not None:
        kind = BY_NAME[reader]
    elif mapping:
        kind = Generic
    else:
        columns = frozenset(plain(name) for name in names)
        kind = next((source for source in SOURCES if source.recognises(columns, rows)), Generic)
    return kind(file, names, rows, mapping)
