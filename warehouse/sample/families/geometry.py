"""Templates of geometry."""

from math import isqrt

from warehouse.sample.templates import Method, Template, fraction


def _chords(a: int, b: int, c: int) -> dict[str, object]:
    return {"product": a * b, "answer": fraction(a * b, c)}


def _altitude(a: int, b: int) -> dict[str, object]:
    c = isqrt(a * a + b * b)
    return {"c": c, "squares": a * a + b * b, "twice": a * b, "answer": fraction(a * b, c)}


def _inradius(a: int, left: int, height: int, base: int) -> dict[str, object]:
    # The triangle has base `base`; the foot of its altitude lies `left` from one end.
    b = isqrt((base - left) ** 2 + height**2)
    half = (a + b + base) // 2
    area = base * height // 2
    return {
        "b": b,
        "half": half,
        "area": area,
        "under": half * (half - a) * (half - b) * (half - base),
        "perimeter": a + b + base,
        "x": half - a,
        "y": half - b,
        "z": half - base,
        "answer": fraction(area, half),
    }


def _lattice_triangle(a: int, b: int, c: int, d: int) -> dict[str, object]:
    return {
        "box": a * d,
        "one": fraction(a * b, 2),
        "two": fraction((a - c) * (d - b), 2),
        "three": fraction(c * d, 2),
        "ad": a * d,
        "bc": b * c,
        "answer": fraction(a * d - b * c, 2),
    }


def _shortest_path(a: int, b: int, c: int) -> dict[str, object]:
    square = (a + b) ** 2 + c * c
    return {"height": a + b, "square": square, "answer": isqrt(square)}


def _third_side(a: int, b: int, degrees: int) -> dict[str, object]:
    sign = 1 if degrees == 120 else -1
    square = a * a + b * b + sign * a * b
    return {
        "cosine": fraction(-sign, 2),
        "signed": f"+{a * b}" if sign == 1 else f"-{a * b}",
        "half": fraction(a, 2),
        "squared_foot": fraction((2 * b + sign * a) ** 2, 4),
        "squared_height": fraction(3 * a * a, 4),
        "square": square,
        "answer": isqrt(square),
    }


GEOMETRY = (
    Template(
        name="intersecting-chords",
        domain="Geometry",
        topics=("Intersecting Chords", "Power of a Point"),
        statements=(
            r"The chords $AB$ and $CD$ of a circle intersect at $P$, where $PA=<<a>>$, $PB=<<b>>$ and $PC=<<c>>$. "
            r"Find $PD$.",
            r"A point $P$ inside a circle divides a chord into parts of length $<<a>>$ and $<<b>>$. Another chord "
            r"through $P$ has one part of length $<<c>>$. How long is its other part?",
        ),
        methods=(
            Method(
                ("power-of-a-point",),
                r"Use the power of the point $P$ with respect to the circle. The products of the two parts of both "
                r"chords agree, so $<<c>>\cdot PD=<<a>>\cdot<<b>>=<<product>>$. Hence the missing part is "
                r"$<<answer>>$.",
            ),
            Method(
                ("similar-triangles", "angle-chasing"),
                r"Find similar triangles by comparing inscribed angles. Name the chords $AB$ and $CD$. The angles "
                r"$PAC$ and $PDB$ stand on the same arc $BC$ and the angles at $P$ are vertical, so the triangles "
                r"$PAC$ and $PDB$ are similar. Therefore $\frac{PA}{PD}=\frac{PC}{PB}$ and $PD=\frac{PA\cdot "
                r"PB}{PC}=\frac{<<a>>\cdot<<b>>}{<<c>>}=<<answer>>$.",
            ),
        ),
        parameters=(
            {"a": 6, "b": 10, "c": 5},
            {"a": 9, "b": 8, "c": 4},
            {"a": 7, "b": 12, "c": 14},
            {"a": 15, "b": 4, "c": 8},
        ),
        facts=_chords,
    ),
    Template(
        name="altitude-to-hypotenuse",
        domain="Geometry",
        topics=("Right Triangles", "Altitudes", "Pythagorean Theorem"),
        statements=(
            r"A right triangle has legs $<<a>>$ and $<<b>>$. Find the length of the altitude to the hypotenuse.",
            r"In triangle $ABC$ with $\angle C=90^\circ$, $BC=<<a>>$ and $CA=<<b>>$, determine the distance of $C$ "
            r"from the line $AB$.",
        ),
        methods=(
            Method(
                ("area-method",),
                r"Compute the area of the right triangle in two ways. By the Pythagorean theorem the hypotenuse is "
                r"$\sqrt{<<squares>>}=<<c>>$. Twice the area is $<<a>>\cdot<<b>>=<<twice>>$ and also $<<c>>h$, "
                r"where $h$ is the altitude. So $h=<<answer>>$.",
            ),
            Method(
                ("similar-triangles",),
                r"Use the similar triangles into which the altitude cuts the right triangle. Let $D$ be its foot "
                r"on the hypotenuse $AB$. The triangles $CBD$ and $ABC$ share the angle at $B$ and have a right "
                r"angle each, so $\frac{CD}{BC}=\frac{AC}{AB}$. With $AB=\sqrt{<<squares>>}=<<c>>$ we obtain "
                r"$CD=\frac{<<a>>\cdot<<b>>}{<<c>>}=<<answer>>$.",
            ),
        ),
        parameters=({"a": 5, "b": 12}, {"a": 8, "b": 15}, {"a": 20, "b": 21}, {"a": 9, "b": 40}),
        facts=_altitude,
    ),
    Template(
        name="inradius-of-a-triangle",
        domain="Geometry",
        topics=("Inradius", "Heron Formula", "Triangle Area"),
        statements=(
            r"Find the inradius of the triangle with sides $<<a>>$, $<<b>>$ and $<<base>>$.",
            r"A circle touches all three sides of a triangle whose side lengths are $<<a>>$, $<<b>>$, $<<base>>$. "
            r"What is its radius?",
        ),
        methods=(
            Method(
                ("area-method",),
                r"Compute the area with Heron's formula and divide by the semiperimeter. The semiperimeter is "
                r"$s=<<half>>$, so the area is "
                r"$\sqrt{<<half>>\cdot<<x>>\cdot<<y>>\cdot<<z>>}=\sqrt{<<under>>}=<<area>>$. Since the area equals "
                r"$rs$, the inradius is $r=<<answer>>$.",
            ),
            Method(
                ("coordinates", "area-method"),
                r"Place the side of length $<<base>>$ on an axis and find the height with the Pythagorean theorem. "
                r"The foot of the altitude divides this side into $<<left>>$ and $<<base>>-<<left>>$, because "
                r"$<<a>>^2-<<left>>^2=<<height>>^2=<<b>>^2-(<<base>>-<<left>>)^2$. So the area is "
                r"$\frac12\cdot<<base>>\cdot<<height>>=<<area>>$. Joining the incenter to the vertices, the area "
                r"is also $\frac r2\cdot<<perimeter>>$, and hence $r=<<answer>>$.",
            ),
        ),
        parameters=(
            {"a": 13, "left": 5, "height": 12, "base": 14},
            {"a": 17, "left": 8, "height": 15, "base": 28},
            {"a": 10, "left": 6, "height": 8, "base": 21},
            {"a": 15, "left": 9, "height": 12, "base": 25},
        ),
        facts=_inradius,
    ),
    Template(
        name="area-from-coordinates",
        domain="Geometry",
        topics=("Shoelace Formula", "Coordinates", "Triangle Area"),
        statements=(
            r"Find the area of the triangle with vertices $(0,0)$, $(<<a>>,<<b>>)$ and $(<<c>>,<<d>>)$.",
            r"The vectors $\vec u=(<<a>>,<<b>>)$ and $\vec v=(<<c>>,<<d>>)$ are drawn from the origin. "
            r"Compute the area of the triangle they span.",
        ),
        methods=(
            Method(
                ("coordinates", "vectors"),
                r"Apply the shoelace formula, that is, take half of the cross product of the two vectors. The area "
                r"is $\frac12\left|<<a>>\cdot<<d>>-<<b>>\cdot<<c>>\right|=\frac12(<<ad>>-<<bc>>)=<<answer>>$.",
            ),
            Method(
                ("area-method", "coordinates"),
                r"Enclose the triangle in a rectangle and subtract three right triangles. The rectangle with "
                r"opposite corners $(0,0)$ and $(<<a>>,<<d>>)$ has area $<<box>>$. The right triangles outside "
                r"have areas $<<one>>$, $<<two>>$ and $<<three>>$. Subtracting them leaves $<<answer>>$.",
            ),
        ),
        parameters=(
            {"a": 7, "b": 2, "c": 3, "d": 8},
            {"a": 9, "b": 4, "c": 2, "d": 5},
            {"a": 6, "b": 1, "c": 4, "d": 11},
            {"a": 10, "b": 3, "c": 5, "d": 9},
        ),
        facts=_lattice_triangle,
    ),
    Template(
        name="shortest-path-via-a-line",
        domain="Geometry",
        topics=("Shortest Paths", "Reflections", "Triangle Inequality"),
        statements=(
            r"Points $A$ and $B$ lie on one side of a line $\ell$ at distances $<<a>>$ and $<<b>>$ from it, and "
            r"the feet of their perpendiculars are $<<c>>$ apart. Find the minimum of $AX+XB$ for points $X$ on "
            r"$\ell$.",
            r"Determine the smallest value of $\sqrt{x^2+<<a>>^2}+\sqrt{(<<c>>-x)^2+<<b>>^2}$ for real $x$.",
        ),
        methods=(
            Method(
                ("reflection",),
                r"Reflect one of the points across the line to straighten the path. In the picture with points "
                r"$A=(0,<<a>>)$, $B=(<<c>>,<<b>>)$ and $X=(x,0)$ on the line, let $B'=(<<c>>,-<<b>>)$ be the "
                r"reflection of $B$. Then $AX+XB=AX+XB'\ge AB'$, with equality when $X$ lies on $AB'$. The minimum "
                r"is $\sqrt{<<c>>^2+<<height>>^2}=<<answer>>$.",
            ),
            Method(
                ("vectors", "bounding"),
                r"Apply the triangle inequality to the vectors $(x,<<a>>)$ and $(<<c>>-x,<<b>>)$. Their lengths "
                r"are the two parts of the path, and their sum is the constant vector $(<<c>>,<<height>>)$. So the "
                r"total is at least $\sqrt{<<square>>}=<<answer>>$. Equality holds when the vectors are parallel, "
                r"which happens for some $x$ between $0$ and $<<c>>$.",
            ),
        ),
        parameters=(
            {"a": 2, "b": 3, "c": 12},
            {"a": 1, "b": 6, "c": 24},
            {"a": 4, "b": 5, "c": 12},
            {"a": 7, "b": 13, "c": 21},
        ),
        facts=_shortest_path,
    ),
    Template(
        name="third-side",
        domain="Geometry",
        topics=("Law of Cosines", "Altitudes"),
        statements=(
            r"In triangle $ABC$ we have $BC=<<a>>$, $CA=<<b>>$ and $\angle C=<<degrees>>^\circ$. Find $AB$.",
            r"Two sides of a triangle measure $<<a>>$ and $<<b>>$ and enclose an angle of $<<degrees>>^\circ$. "
            r"How long is the third side?",
        ),
        methods=(
            Method(
                ("trigonometry",),
                r"Apply the law of cosines to the enclosed angle. Since $\cos<<degrees>>^\circ=<<cosine>>$, the "
                r"square of the third side is $<<a>>^2+<<b>>^2<<signed>>=<<square>>$. The third side is "
                r"$<<answer>>$.",
            ),
            Method(
                ("coordinates", "trigonometry"),
                r"Drop the altitude onto one of the two sides and use the Pythagorean theorem. Let $C$ be the "
                r"vertex of the angle, $CB=<<a>>$, $CA=<<b>>$, and let $D$ be the foot of the altitude from $B$ to "
                r"the line $CA$. The right triangle $BCD$ has angles of $30^\circ$ and $60^\circ$, so "
                r"$CD=<<half>>$ and $BD^2=<<squared_height>>$, and $DA^2=<<squared_foot>>$. Adding, "
                r"$AB^2=<<squared_height>>+<<squared_foot>>=<<square>>$ and $AB=<<answer>>$.",
            ),
        ),
        parameters=(
            {"a": 5, "b": 8, "degrees": 60},
            {"a": 3, "b": 5, "degrees": 120},
            {"a": 7, "b": 15, "degrees": 60},
            {"a": 7, "b": 8, "degrees": 120},
        ),
        facts=_third_side,
    ),
)
