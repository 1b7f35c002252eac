"""The template families of the sample, one module a domain."""

from warehouse.sample.families.algebra import ALGEBRA
from warehouse.sample.families.calculus import CALCULUS
from warehouse.sample.families.combinatorics import COMBINATORICS
from warehouse.sample.families.geometry import GEOMETRY
from warehouse.sample.families.number_theory import NUMBER_THEORY

FAMILIES = (ALGEBRA, NUMBER_THEORY, GEOMETRY, COMBINATORICS, CALCULUS)
