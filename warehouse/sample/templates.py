"""Parametric sample problems: several wordings and at least two solution methods a template.

A template is text with ``<<name>>`` placeholders, a few parameter sets, and a function that computes everything
else the text shows, the answer included.  Which wording and which method an instance gets depends on its position
alone, so the generated problems are the same on every machine.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

PLACEHOLDER = re.compile(r"<<(\w+)>>")


@dataclass(frozen=True)
class Method:
    """One way to solve the problems of a template.

    Attributes
    ----------
    techniques : tuple of str
        One to four labels of the shared technique vocabulary.
    text : str
        Solution with placeholders.
    """

    techniques: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Template:
    """A family of problems that differ in their numbers, wording and method of solution.

    Attributes
    ----------
    name : str
        Kebab-case name, unique over all families.
    domain : str
        One of the five domains of the sample.
    topics : tuple of str
        Labels of the sample ontology.
    statements : tuple of str
        Wordings with placeholders; at least two.
    methods : tuple of Method
        Solutions with placeholders; at least two.
    parameters : tuple of mappings from str to int
        One parameter set an instance.
    facts : callable
        Maps a parameter set (as keyword arguments) to the derived numbers of the text, ``answer`` among them.
    """

    name: str
    domain: str
    topics: tuple[str, ...]
    statements: tuple[str, ...]
    methods: tuple[Method, ...]
    parameters: tuple[Mapping[str, int], ...]
    facts: Callable[..., Mapping[str, object]]


@dataclass(frozen=True)
class Instance:
    """A finished problem together with the template and the parameters it came from."""

    template: Template
    parameters: Mapping[str, int]
    problem: Mapping[str, object]


def fill(text: str, values: Mapping[str, object]) -> str:
    """Replace every ``<<name>>`` by its value.

    Raises
    ------
    KeyError
        If the text names a value that is not there.
    """
    return PLACEHOLDER.sub(lambda match: str(values[match.group(1)]), text)


def fraction(numerator: int, denominator: int = 1) -> str:
    r"""Return a quotient in lowest terms as LaTeX, for example ``\frac{3}{4}`` or ``5``."""
    value = Fraction(numerator, denominator)
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def coefficient(number: int) -> str:
    """Return a positive integer as a coefficient: one is left out."""
    return "" if number == 1 else str(number)


def instances(template: Template) -> Iterator[Instance]:
    """Yield the instances of a template.

    The combinations of wording and method are walked so that neighbours in the list differ in both, and no
    combination comes twice before all have come once.
    """
    wordings, methods = len(template.statements), len(template.methods)
    for position, parameters in enumerate(template.parameters):
        values: dict[str, object] = {**parameters, **template.facts(**parameters)}
        method = template.methods[(position + position // wordings) % methods]
        problem = {
            "id": f"tpl-{template.name}-{position + 1}",
            "statement": fill(template.statements[position % wordings], values),
            "solution": fill(method.text, values),
            "answer": str(values["answer"]),
            "domain": template.domain,
            "techniques": list(method.techniques),
            "topics_hint": list(template.topics),
            "origin": "template",
            "template": template.name,
        }
        yield Instance(template, parameters, problem)


def all_instances() -> list[Instance]:
    """Return the instances of every family, in the order of the domains."""
    from warehouse.sample.families import FAMILIES  # the families import this module

    return [instance for family in FAMILIES for template in family for instance in instances(template)]
