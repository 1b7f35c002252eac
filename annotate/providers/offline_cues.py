"""Small word tables of the offline provider: what notation and everyday problem wording stand for.

These tables are ours and deliberately plain: a phrase on the left of a problem text speaks for the words on
the right, which are then looked for in the labels of whatever ontology is in use.
"""

from __future__ import annotations

import re

_FUNCTION_WORDS = """
    a an and are as at be been being but by can could did do does each every for from had has have
    he her here his how however i if in into is it its itself just let may might must my no nor not
    of on once or other our out over own per same she should since so some such than that the their
    them then there these they this those through thus to too under until up upon us was we were
    what when where whether which while who whom whose why will with would you your also hence
    therefore because about after again all any both only more most very now first
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())

_PASSING_WORDS = """
    answer ask begin both call case change check choose class clear clearly complete compute
    condition consider constant contain correct define definition denote desired determine
    difference different distinct divide element end equal equation equivalent evaluate even exact
    example exactly exist express expression fact figure final find fix follow form formula general
    get give given good group happen hold however idea identity impossible include integer know
    large law least left length letter line list long make mark mathematics maximum mean measure
    method minimum model multiply name natural need new next note notice number obtain occur odd one
    order original pair part piece place plus point position positive possible problem product proof
    property prove put question quantity rather real remain repeat represent require respectively
    result reverse right rule run satisfy say second see set show shown side sign similar simple
    simplify simply single size small smaller solution solve space special square stand standard
    star start state statement step strict sum suppose sure system take term theorem theory thing
    third three time together top total true try turn two type unique unit use value variable
    version way weight work write word yield zero age half high hour day minute week month year
    people person man boy girl student team book ball box bag table card color red blue green black
    white cost price dollar cent money pound foot inch mile meter speed average middle opposite base
    common degree power root factor function graph range domain inverse image key net path tree ring
    field prime
"""
PASSING_WORDS = frozenset(_PASSING_WORDS.split())
"""Words that problems use in passing: alone they say little of a topic, in a longer label they count."""

IRREGULAR = {
    "vertices": "vertex", "matrices": "matrix", "indices": "index", "radii": "radius", "loci": "locus",
    "foci": "focus", "axes": "axis", "dice": "die", "dies": "die", "bases": "base", "maxima": "maximum",
    "minima": "minimum", "maximal": "maximum", "minimal": "minimal", "series": "series", "halves": "half",
    "polyhedra": "polyhedron", "tetrahedra": "tetrahedron", "thing": "thing", "string": "string",
    "ring": "ring", "king": "king", "spring": "spring", "bring": "bring", "need": "need", "feed": "feed",
    "speed": "speed", "indeed": "indeed", "exceed": "exceed", "hundred": "hundred", "red": "red",
    "bed": "bed", "lens": "lens",
    "modulo": "modular", "modulus": "modulus", "mod": "modular", "loga": "logarithm",
    "log": "logarithm", "logs": "logarithm", "ln": "logarithm", "gcd": "gcd", "lcm": "lcm",
}  # fmt: skip

FAMILIES = {
    "divisib": "divis", "divisor": "divis", "dividing": "divis", "congruen": "congruen", "symmetr": "symmetr",
    "probabil": "probabil", "parallel": "parallel", "logarithm": "logarithm", "permut": "permut",
    "triang": "triangl", "factoris": "factoriz", "factoriz": "factoriz", "perpendic": "perpendic",
    "enumerat": "enumerat", "inequalit": "inequalit", "recurren": "recurren", "recursi": "recurren",
    "quadrat": "quadratic", "tangen": "tangent", "concurren": "concurren", "telescop": "telescop",
    "differentiat": "derivativ", "circumc": "circumc", "incircl": "incircl", "inscri": "inscrib",
}  # fmt: skip

LATEX_WORDS = {
    "binom": "binomial coefficient", "dbinom": "binomial coefficient", "tbinom": "binomial coefficient",
    "choose": "binomial coefficient", "sin": "sine", "cos": "cosine", "tan": "tangent", "cot": "cotangent",
    "sec": "secant", "csc": "cosecant", "arcsin": "inverse sine", "arccos": "inverse cosine",
    "arctan": "inverse tangent", "sinh": "hyperbolic function", "log": "logarithm", "ln": "natural logarithm",
    "exp": "exponential function", "int": "integral", "iint": "multiple integral", "oint": "contour",
    "sum": "sum", "prod": "product", "lim": "limit", "limsup": "limit", "infty": "infinity",
    "partial": "partial derivative", "nabla": "gradient", "gcd": "greatest common divisor",
    "lcm": "least common multiple", "pmod": "congruence . modular arithmetic",
    "bmod": "congruence . modular arithmetic", "equiv": "congruence", "mod": "congruence . modular arithmetic",
    "mid": "divisor", "nmid": "divisor", "triangle": "triangle", "angle": "angle",
    "measuredangle": "angle", "circ": "angle", "perp": "perpendicular", "parallel": "parallel lines",
    "overarc": "arc", "widehat": "arc", "odot": "circle", "square": "square", "lfloor": "floor function",
    "floor": "floor function", "lceil": "ceiling function", "ceil": "ceiling function",
    "sqrt": "square root", "max": "maximum", "min": "minimum", "det": "determinant", "pmatrix": "matrix",
    "bmatrix": "matrix", "vec": "vector", "mathbf": "vector", "overrightarrow": "vector", "cdots": "",
    "cup": "union . set theory", "cap": "intersection . set theory", "subset": "subset . set theory",
    "subseteq": "subset . set theory", "setminus": "set theory", "emptyset": "empty set . set theory",
    "varphi": "", "omega": "", "pi": "pi", "mathbb": "", "leq": "inequality", "geq": "inequality",
    "le": "inequality", "ge": "inequality", "geqslant": "inequality", "leqslant": "inequality",
    "operatorname": "", "ldots": "sequence", "dots": "sequence", "overline": "",
}  # fmt: skip
LATEX_WORDS = {name: phrase for name, phrase in LATEX_WORDS.items() if phrase}

PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), phrase)
    for pattern, phrase in (
        (r"[0-9a-z)]!", "factorial"),
        (r"[a-z]\^\{?2\b", "quadratic equation"),
        (r"[a-z]\^\{?3\b", "cubic equation . polynomial"),
        (r"[a-z]\^\{?[4-9]\b", "polynomial"),
        (r"\b[fgh]\s*\(", "function"),
        (r"\bf\s*\(\s*f|f\s*\(x\s*[+]\s*y|f\s*\(xy|f\s*\(y", "functional equation"),
        (r"f\^\{-1\}", "inverse function"),
        (r"\b[a-z]_\{?(?:n|k|i|0|1|2|n[+-]1)\b", "sequence"),
        (r"\|\s*[0-9]*[a-z][^|]{0,12}\|", "absolute value"),
        (r"pmatrix|bmatrix", "matrix . linear algebra"),
        (r"vmatrix", "determinant . linear algebra"),
        (r"\\frac\{d[a-z]?\}\{d[a-z]\}|[fgy]'", "derivative"),
        (r"\\mathbb\{?\s*C|\b[0-9]?i\^|\+\s*[0-9]*i\b|-\s*[0-9]*i\b|\|z\||\bz\^", "complex number"),
        (r"[0-9]_\{?(?:[2-9]|1[0-6])\}?(?![0-9])", "number base"),
        (r"\b[A-Z]{2}\s*=|\\overline\{\s*[A-Z]{2}\s*\}|\bA?B?CD\b", "line segment"),
        (r"\b[A-Z]{3}\b", "triangle"),
        (r"\b[A-Z]{4}\b", "quadrilateral"),
    )
)

BRANCH_CUES = {
    "geometry": """triangle circle angle perpendicular parallel polygon quadrilateral hexagon pentagon octagon
        rectangle trapezoid rhombus parallelogram square_area area perimeter radius diameter chord tangent
        incircle circumcircle circumcenter orthocenter centroid midpoint bisector altitude hypotenuse cube
        sphere cylinder cone pyramid tetrahedron prism volume surface_area plane coordinate slope diagonal
        inscribed line_segment segment collinear concyclic cyclic sine cosine degree similar_triangle
        circumference semicircle vertex vertical horizontal reflection rotation""",
    "plane geometry": """triangle circle quadrilateral polygon hexagon pentagon octagon rectangle trapezoid
        rhombus parallelogram chord tangent incircle circumcircle bisector altitude hypotenuse diagonal
        inscribed perimeter circumcenter orthocenter right_triangle isosceles equilateral semicircle""",
    "solid geometry": """cube sphere cylinder cone pyramid tetrahedron prism volume surface_area polyhedron
        edge_length faces_of""",
    "trigonometry": "sine cosine tangent cotangent secant cosecant trigonometric radian",
    "trigonometric function": "sine cosine tangent cotangent secant cosecant trigonometric",
    "coordinate geometry": """coordinate coordinate_plane slope intercept parabola ellipse hyperbola axis
        origin graph_line""",
    "number theory": """divisible divisor prime remainder modular congruence gcd lcm digit integer_solution
        factor positive_integer coprime relatively_prime greatest_common_divisor least_common_multiple
        perfect_square diophantine units_digit prime_factorization parity odd_integer even_integer residue
        base natural_number integer multiple""",
    "divisor": "factor divisible multiple prime_factorization divides",
    "congruence": "remainder modular units_digit residue leaves_remainder",
    "prime number": "prime prime_factorization prime_factor",
    "diophantine equation": "integer_solution ordered_pair positive_integer_solution",
    "number base": "base digit_base",
    "combinatorics": """way permutation combination arrange arrangement choose number_way count counting
        subset binomial_coefficient seat arranged distinct_arrangement selected handshake committee color
        coloring path factorial inclusion_exclusion pigeonhole bijection tournament casework overcount""",
    "discrete mathematics": """way permutation combination arrange arrangement choose number_way subset
        binomial_coefficient seat graph_vertex committee color coloring recurrence tournament inclusion_exclusion
        pigeonhole counting bijection grid chessboard board tile factorial""",
    "permutation": "arrange arrangement number_way seat order rearrange",
    "enumeration": "number_way count counting many_way way",
    "graph theory": "edge vertex tournament acquaintance friend connected graph_edge city road",
    "binomial coefficient": "choose binomial_coefficient committee",
    "probability": """probability random likely chance coin die roll flip expected_value expected fair
        independent draw marble replacement""",
    "probability statistics": """probability random likely chance coin die roll flip expected_value expected
        median mode mean_median standard_deviation average""",
    "descriptive statistics": "median mode mean_median average arithmetic_mean data",
    "coin tossing": "coin flip head tail",
    "recreational mathematics": "puzzle magic_square domino chess knight chessboard game player dice card",
    "game": "player game winning_strategy turn move",
    "algebra": """polynomial root quadratic linear equation coefficient factor variable solve expand
        simplify expression matrix vector exponent square_root absolute_value system_equation monic
        cubic degree inequality substitute substituting fraction denominator distributive ratio""",
    "polynomial": "root coefficient quadratic cubic monic degree vieta quadratic_formula",
    "quadratic equation": "quadratic quadratic_formula discriminant complete_square completing_square",
    "linear system equation": "system_equation simultaneous adding_equation substitute solve_system",
    "vector algebra": "vector dot_product cross_product projection",
    "linear algebra": "matrix vector determinant eigenvalue",
    "rate problem": "speed mile_hour hour mile average_speed per_hour miles_per_hour",
    "sum": "sum telescoping add_up",
    "arithmetic": "percent percentage decimal fraction multiply divide addition subtraction calculate",
    "exponentiation": "exponent power raised",
    "calculus analysis": """function derivative integral limit continuous asymptote domain range inequality
        maximum minimum complex_number logarithm inverse_function floor_function series convergence converge
        differentiate functional_equation domain_function composition f_inverse geometric_series infinite
        real_function interval monotone increasing decreasing infinity""",
    "calculus": "derivative integral limit differentiate continuous converge infinity",
    "complex number": "imaginary complex conjugate argand root_unity modulus complex_plane",
    "inequality": "cauchy_schwarz am_gm arithmetic_mean_geometric_mean jensen minimum maximum bound equality_hold",
    "maximum minimum": "maximize minimize largest_value smallest_value greatest_value least_value maximum minimum",
    "function": "domain range inverse_function function_defined composition graph_function",
    "functional equation": "function_satisfying real_function all_functions functional_equation",
    "series": "infinite_series geometric_series converge",
    "sequence": "arithmetic_sequence geometric_sequence term_sequence progression",
    "recurrence equation": "recurrence recursive fibonacci",
    "roots": "root square_root cube_root",
}
"""Wording (stems, neighbours joined by "_") that speaks for a branch, heard by topics that have children."""

TOPIC_CUES = {
    "square number": "perfect_square square_integer",
    "cubic number": "perfect_cube",
    "greatest common divisor": "gcd greatest_common_factor common_divisor common_factor",
    "least common multiple": "lcm",
    "divisibility test": "divisible_9 digit_sum sum_digit divisible_three divisible_nine",
    "prime factorization": "factor_prime prime_factor",
    "modular arithmetic": "modulo remainder_divide leaves_remainder",
    "unit digit": "units_digit last_digit ones_digit",
    "number base": "base_ten base_representation binary base_number digit_base",
    "binomial coefficient": "choose committee",
    "permutation": "arrangement rearrange arrange_row number_arrangement",
    "circular permutation": "round_table seated_around",
    "dirichlet box principle": "pigeonhole pigeonhole_principle",
    "inclusion exclusion principle": "inclusion_exclusion overcount",
    "coin tossing": "coin_flip fair_coin flip_coin toss_coin coin_toss",
    "dice": "roll_die fair_die six_side die_roll standard_die",
    "expected value": "expected_number expectation",
    "conditional probability": "probability_given",
    "arithmetic mean": "average",
    "rate problem": "mile_hour average_speed per_hour hour_rate work_rate",
    "maximum": "maximize largest_value greatest_value largest_possible maximum_value greatest_possible",
    "minimum": "minimize smallest_value least_value minimum_value smallest_possible least_possible",
    "complex number": "imaginary complex_conjugate conjugate complex_plane",
    "root unity": "roots_unity primitive_root_unity",
    "functional equation": "function_satisfying functions_satisfying real_function f_function",
    "vieta formula": "sum_root product_root vieta sum_roots",
    "quadratic equation": "quadratic_formula quadratic_equation quadratic_root",
    "completing square": "complete_square",
    "linear system equation": "system_equation two_equation adding_equation simultaneous",
    "polynomial factorization": "factor_theorem factors_polynomial",
    "polynomial remainder": "polynomial_divide divided_polynomial quotient_remainder",
    "partial fraction decomposition": "partial_fraction",
    "telescoping sum": "telescope telescoping",
    "geometric series": "geometric_progression geometric_sequence common_ratio",
    "arithmetic series": "arithmetic_progression arithmetic_sequence common_difference",
    "recurrence equation": "recurrence recursive recursion",
    "similar triangle": "similarity_triangle triangle_similar",
    "pythagorean theorem": "pythagorean",
    "law cosine": "cosine_law",
    "law sine": "sine_law",
    "cyclic quadrilateral": "cyclic concyclic",
    "inscribed angle": "inscribed_angle arc_angle",
    "angle bisector": "bisect_angle bisects",
    "point line distance": "distance_line",
    "coordinate geometry": "coordinate_plane coordinate_axis",
    "graph coloring": "coloring_graph colored_edge",
    "absolute value": "absolute",
    "cauchy inequality": "cauchy_schwarz schwarz",
    "induction": "induction inductive_hypothesis inductive",
}
"""Wording of problems (stems, neighbours joined by "_") that names a topic in other words than its label."""
