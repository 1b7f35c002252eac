"""Every template answer is found again by a second way: enumeration, simulation of the process, or quadrature."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad

from warehouse.sample.templates import all_instances, fraction


def number(answer):
    r"""Read a plain number or ``\frac{a}{b}``."""
    if answer.startswith(r"\frac"):
        numerator, denominator = answer.removeprefix(r"\frac{").rstrip("}").split("}{")
        return Fraction(int(numerator), int(denominator))
    return Fraction(answer)


def exponent_in_factorial(n, p):
    factorial, count = math.factorial(n), 0
    while factorial % p == 0:
        factorial, count = factorial // p, count + 1
    return count


def largest_unpayable(a, b):
    payable = {a * x + b * y for x in range(b + 1) for y in range(a + 1)}
    return max(set(range(a * b)) - payable)


def routes(m, n, blocked):
    counts = {(0, 0): 1}
    for x, y in itertools.product(range(m + 1), range(n + 1)):
        if (x, y) == blocked:
            counts[x, y] = 0
        elif (x, y) != (0, 0):
            counts[x, y] = counts.get((x - 1, y), 0) + counts.get((x, y - 1), 0)
    return counts[m, n]


def double_heads(n):
    """Mean over all words for short ones; the mean is linear in n, so two values fix the line."""
    means = []
    for length in (4, 5):
        words = ["".join(word) for word in itertools.product("HT", repeat=length)]
        pairs = sum(word[place : place + 2] == "HH" for word in words for place in range(length - 1))
        means.append(Fraction(pairs, len(words)))
    return means[0] + (n - 4) * (means[1] - means[0])


def winning_first_moves(n, k):
    wins = [False]
    for size in range(1, n + 1):
        wins.append(any(not wins[size - take] for take in range(1, min(k, size) + 1)))
    return [take for take in range(1, k + 1) if not wins[n - take]]


def inradius(a, left, height, base):
    """Distance from the incenter, computed in coordinates, to the base."""
    corners = np.array([[0, 0], [base, 0], [left, height]], dtype=float)
    opposite = np.array([math.dist(corners[1], corners[2]), math.dist(corners[0], corners[2]), base])
    assert opposite[1] == a
    return float((opposite @ corners / opposite.sum())[1])


def second_chord_part(a, b, c):
    """Put P at the origin and the first chord on the x-axis, draw the circle, and meet it again on the other side."""
    middle, half = (b - a) / 2, (a + b) / 2
    direction = np.array([math.cos(1.0), math.sin(1.0)])
    point = c * direction
    # The centre is (middle, t) with equal distance to the chord's end and to the point.
    t = (point @ point - 2 * middle * point[0] + middle**2 - half**2) / (2 * point[1])
    centre = np.array([middle, t])
    roots = np.roots([1, -2 * direction @ centre, centre @ centre - half**2 - t**2])
    return float(-roots.min())


def minimum(function, low, high):
    grid = np.linspace(low, high, 400_001)
    return float(function(grid).min())


def iterate(k):
    value = 1.0
    for _ in range(60):
        value = math.sqrt(k * (k - 1) + value)
    return value


def remainder(n, u):
    _, rest = np.polydiv([1] + [0] * n, [1, -(u + 1), u])
    return [round(value) for value in rest]


def sequence(p, q, n):
    values = [0, 1]
    while len(values) <= n:
        values.append((p + q) * values[-1] - p * q * values[-2])
    return values[n]


def sphere_maximum(a, b, c, r):
    angles = np.linspace(0, 2 * math.pi, 1441)
    up, around = np.meshgrid(angles, angles)
    return float((r * (a * np.cos(up) * np.cos(around) + b * np.cos(up) * np.sin(around) + c * np.sin(up))).max())


def polygon_area(a, b, c, d):
    """Count lattice points and use Pick's theorem (the templates use determinants and rectangles)."""
    edges = math.gcd(a, b) + math.gcd(c, d) + math.gcd(a - c, abs(b - d))
    inside = sum(
        a * y - b * x > 0 and x * d - y * c > 0 and (c - a) * (y - b) - (d - b) * (x - a) > 0
        for x in range(a + 1)
        for y in range(d + 1)
    )
    return Fraction(inside + Fraction(edges, 2) - 1)


SECOND_WAY = {
    "cubes-of-roots": lambda s, p: sum(np.roots([1, -s, p]).astype(complex) ** 3).real,
    "telescoping-fractions": lambda d, n: sum(Fraction(1, (d * k + 1) * (d * k + d + 1)) for k in range(n)),
    "minimum-of-two-terms": lambda a, b: minimum(lambda x: a * x + b / x, 0.1, 20),
    "linear-form-on-sphere": sphere_maximum,
    "second-order-recurrence": sequence,
    "power-modulo-prime": lambda a, n, p: a**n % p,
    "two-congruences": lambda a, p, b, q: min(set(range(a, p * q, p)) & set(range(b, p * q, q))),
    "prime-in-factorial": exponent_in_factorial,
    "unit-fraction-pairs": lambda n: sum(n * x % (x - n) == 0 for x in range(n + 1, n * n + n + 1)),
    "two-coins": largest_unpayable,
    "coprime-count": lambda p, q, r: sum(math.gcd(k, p * q) == 1 for k in range(1, p * q * r + 1)),
    "gcd-of-powers": lambda a, m, n: math.gcd(a**m - 1, a**n - 1),
    "intersecting-chords": second_chord_part,
    "altitude-to-hypotenuse": lambda a, b: minimum(lambda t: np.hypot(a * t, b * (1 - t)), 0, 1),
    "inradius-of-a-triangle": inradius,
    "area-from-coordinates": polygon_area,
    "shortest-path-via-a-line": lambda a, b, c: minimum(lambda x: np.hypot(x, a) + np.hypot(c - x, b), 0, c),
    "third-side": lambda a, b, degrees: abs(a - b * np.exp(1j * math.radians(degrees))),
    "positive-compositions": lambda k, n: sum(1 for _ in itertools.combinations(range(1, n), k - 1)),
    "paths-avoiding-a-point": lambda m, n, p, q: routes(m, n, (p, q)),
    "expected-double-heads": double_heads,
    "multiples-of-either": lambda p, q, k: sum(x % p == 0 or x % q == 0 for x in range(1, p * q * k + 1)),
    "climbing-stairs": lambda n: sum(
        sum(word) == n for length in range(n + 1) for word in itertools.product((1, 2), repeat=length)
    ),
    "committees-with-a-woman": lambda men, women, size: sum(
        max(chosen) >= men for chosen in itertools.combinations(range(men + women), size)
    ),
    "fence-along-a-river": lambda length: -minimum(lambda x: -x * (length - 2 * x), 0, length / 2),
    "integral-with-complement": lambda a, n: quad(lambda x: x**n / (x**n + (a - x) ** n), 0, a)[0],
    "weighted-geometric-series": lambda q: math.fsum(n / q**n for n in range(1, 80)),
    "difference-of-roots": lambda a, b, c: math.sqrt(1e12 + a * 1e6 + b) - math.sqrt(1e12 + c * 1e6),
    "iterated-square-root": iterate,
    "tangent-to-a-hyperbola": lambda c, a: (c / a + a * (c / a**2)) * (a + (c / a) / (c / a**2)) / 2,
}
READ_OTHERWISE = {"remainder-of-a-power", "take-away-game", "power-times-logarithm"}
INSTANCES = all_instances()


def test_every_template_has_a_second_way():
    assert {instance.template.name for instance in INSTANCES} == set(SECOND_WAY) | READ_OTHERWISE


@pytest.mark.parametrize(
    "instance",
    [instance for instance in INSTANCES if instance.template.name in SECOND_WAY],
    ids=lambda instance: instance.problem["id"],
)
def test_answer_agrees_with_the_second_way(instance):
    expected = SECOND_WAY[instance.template.name](**instance.parameters)
    answer = number(instance.problem["answer"])
    if isinstance(expected, int | Fraction):
        assert answer == expected
    else:
        assert float(answer) == pytest.approx(float(expected), rel=2e-5)


def of(name):
    return [instance for instance in INSTANCES if instance.template.name == name]


def test_remainder_of_a_power():
    for instance in of("remainder-of-a-power"):
        slope, constant = remainder(**instance.parameters)
        assert instance.problem["answer"] == f"{slope}x - {-constant}"


def test_take_away_game_has_one_winning_first_move():
    for instance in of("take-away-game"):
        assert winning_first_moves(**instance.parameters) == [int(instance.problem["answer"])]


def test_power_times_logarithm():
    for instance in of("power-times-logarithm"):
        n = instance.parameters["n"]
        assert instance.problem["answer"] == rf"\frac{{{n}e^{{{n + 1}}}+1}}{{{(n + 1) ** 2}}}"
        value = quad(lambda x, n=n: x**n * math.log(x), 1, math.e)[0]
        assert value == pytest.approx((n * math.e ** (n + 1) + 1) / (n + 1) ** 2)


def test_every_answer_stands_in_its_solution():
    assert [
        instance.problem["id"]
        for instance in INSTANCES
        if instance.problem["answer"] not in instance.problem["solution"]
    ] == []


@pytest.mark.parametrize(
    ("arguments", "text"), [((6, 8), r"\frac{3}{4}"), ((10, 5), "2"), ((-1, 2), r"-\frac{1}{2}"), ((7,), "7")]
)
def test_fraction(arguments, text):
    assert fraction(*arguments) == text
