"""Templates of algebra."""

from math import isqrt

from warehouse.sample.templates import Method, Template, coefficient, fraction


def _power_sums(s: int, p: int) -> dict[str, object]:
    second = s * s - 2 * p
    third = s * second - p * s
    return {"second": second, "third": third, "cube": s**3, "triple": 3 * p * s, "answer": third}


def _fraction_sum(d: int, n: int) -> dict[str, object]:
    return {
        "first": 1 + d,
        "second": 1 + 2 * d,
        "less": d - 1,
        "before": 1 + d * (n - 1),
        "last": 1 + d * n,
        "answer": fraction(n, 1 + d * n),
    }


def _two_term_minimum(a: int, b: int) -> dict[str, object]:
    root = isqrt(a * b)
    return {
        "a_text": coefficient(a),
        "product": a * b,
        "root": root,
        "place": fraction(root, a),
        "answer": 2 * root,
    }


def _linear_maximum(a: int, b: int, c: int, r: int) -> dict[str, object]:
    length = isqrt(a * a + b * b + c * c)
    return {
        "a_text": coefficient(a),
        "norm": length * length,
        "square": r * r,
        "bound": (length * r) ** 2,
        "length": length,
        "scale": fraction(r, length),
        "answer": length * r,
    }


def _power_remainder(n: int, u: int) -> dict[str, object]:
    slope = (u**n - 1) // (u - 1)
    return {
        "sum": u + 1,
        "slope": slope,
        "less": n - 1,
        "value": u**n,
        "answer": f"{slope}x - {slope - 1}",
        "offset": slope - 1,
        "gap": coefficient(u - 1),
    }


def _recurrence(p: int, q: int, n: int) -> dict[str, object]:
    value = (q**n - p**n) // (q - p)
    return {
        "sum": p + q,
        "product": p * q,
        "gap": q - p,
        "p_text": coefficient(p),
        "p_power": p**n,
        "q_power": q**n,
        "less": n - 1,
        "answer": value,
    }


ALGEBRA = (
    Template(
        name="cubes-of-roots",
        domain="Algebra",
        topics=("Vieta Formulas", "Newton Identities"),
        statements=(
            r"Let $\alpha$ and $\beta$ be the roots of $x^2 - <<s>>x + <<p>> = 0$. Find $\alpha^3 + \beta^3$.",
            r"The numbers $u$ and $v$ satisfy $u + v = <<s>>$ and $uv = <<p>>$. What is the value of \[u^3 + v^3?\]",
        ),
        methods=(
            Method(
                ("vieta-formulas", "factoring"),
                r"Express the sum of cubes through the sum and the product of the two numbers. By Vieta's formulas "
                r"the sum is $<<s>>$ and the product is $<<p>>$. For numbers with sum $s$ and product $p$ the sum "
                r"of cubes is $s^3 - 3ps$. Here this equals $<<cube>> - <<triple>> = <<answer>>$.",
            ),
            Method(
                ("recursion", "vieta-formulas"),
                r"Use the recursion for power sums of the roots of a quadratic. Both numbers satisfy $t^2 = <<s>>t "
                r"- <<p>>$, so the power sums $S_n$ obey $S_{n+1} = <<s>>S_n - <<p>>S_{n-1}$ with $S_0 = 2$ and "
                r"$S_1 = <<s>>$. This gives $S_2 = <<second>>$ and then $S_3 = <<third>>$.",
            ),
        ),
        parameters=({"s": 5, "p": 3}, {"s": 7, "p": 11}, {"s": 4, "p": 9}, {"s": 9, "p": 13}),
        facts=_power_sums,
    ),
    Template(
        name="telescoping-fractions",
        domain="Algebra",
        topics=("Telescoping Sums", "Partial Fractions", "Arithmetic Progressions"),
        statements=(
            r"Evaluate \[\frac{1}{1\cdot<<first>>} + \frac{1}{<<first>>\cdot<<second>>} + \cdots + "
            r"\frac{1}{<<before>>\cdot<<last>>}.\]",
            r"Compute the sum $\displaystyle\sum_{k=1}^{<<n>>}\frac{1}{(<<d>>k-<<less>>)(<<d>>k+1)}$ in lowest "
            r"terms.",
        ),
        methods=(
            Method(
                ("telescoping",),
                r"Split each term by partial fractions so that the sum telescopes. Neighbouring factors differ by "
                r"$<<d>>$, hence $\frac{1}{m(m+<<d>>)} = \frac{1}{<<d>>}\left(\frac1m - \frac{1}{m+<<d>>}\right)$. "
                r"All intermediate terms cancel and $\frac{1}{<<d>>}\left(1 - \frac{1}{<<last>>}\right) = "
                r"<<answer>>$ remains.",
            ),
            Method(
                ("induction",),
                r"Guess a formula for the partial sums and prove it by induction. The first partial sums suggest "
                r"that $n$ terms add up to $\frac{n}{<<d>>n+1}$, which is right for $n=1$. For the step, "
                r"$\frac{n}{<<d>>n+1} + \frac{1}{(<<d>>n+1)(<<d>>n+<<first>>)} = "
                r"\frac{<<d>>n^2+<<first>>n+1}{(<<d>>n+1)(<<d>>n+<<first>>)} = \frac{n+1}{<<d>>n+<<first>>}$. With "
                r"$<<n>>$ terms the sum is $<<answer>>$.",
            ),
        ),
        parameters=({"d": 3, "n": 20}, {"d": 4, "n": 15}, {"d": 2, "n": 49}, {"d": 5, "n": 12}),
        facts=_fraction_sum,
    ),
    Template(
        name="minimum-of-two-terms",
        domain="Algebra",
        topics=("Arithmetic and Geometric Mean", "Maximum and Minimum Values"),
        statements=(
            r"Find the minimum of $<<a_text>>x + \dfrac{<<b>>}{x}$ over all positive real numbers $x$.",
            r"What is the largest constant $C$ such that \[<<a_text>>t^2 + <<b>> \ge Ct\] for all $t>0$?",
        ),
        methods=(
            Method(
                ("am-gm",),
                r"Apply the AM-GM inequality to the two positive terms, whose product is constant. For $x>0$ we "
                r"have $<<a_text>>x + \frac{<<b>>}{x} \ge 2\sqrt{<<product>>} = <<answer>>$, and the second form "
                r"of the inequality follows on multiplying by $x$. Equality holds at $x = <<place>>$. So the "
                r"answer is $<<answer>>$.",
            ),
            Method(
                ("completing-the-square",),
                r"Complete the square after dividing by the variable. We can write $<<a_text>>x + \frac{<<b>>}{x} "
                r"= \left(\sqrt{<<a_text>>x} - \sqrt{\frac{<<b>>}{x}}\right)^2 + 2\sqrt{<<product>>}$ in case of a "
                r"positive $x$. The square vanishes exactly for $x = <<place>>$. The smallest value is "
                r"$2\cdot<<root>> = <<answer>>$.",
            ),
        ),
        parameters=({"a": 3, "b": 12}, {"a": 2, "b": 18}, {"a": 5, "b": 45}, {"a": 4, "b": 49}),
        facts=_two_term_minimum,
    ),
    Template(
        name="linear-form-on-sphere",
        domain="Algebra",
        topics=("Cauchy Schwarz Inequality", "Maximum and Minimum Values"),
        statements=(
            r"Real numbers satisfy $x^2+y^2+z^2 = <<square>>$. Determine the maximum of $<<a_text>>x + <<b>>y + "
            r"<<c>>z$.",
            r"Let $(x,y,z)$ be a point of the sphere of radius $<<r>>$ around the origin. "
            r"How large can $<<a_text>>x + <<b>>y + <<c>>z$ be?",
        ),
        methods=(
            Method(
                ("cauchy-schwarz",),
                r"Use the Cauchy-Schwarz inequality with the vector of coefficients. It gives $(<<a_text>>x + "
                r"<<b>>y + <<c>>z)^2 \le <<norm>>\cdot<<square>> = <<bound>>$, so the sum is at most $<<answer>>$. "
                r"Equality holds when $(x,y,z)$ is the positive multiple $<<scale>>\,(<<a>>,<<b>>,<<c>>)$.",
            ),
            Method(
                ("completing-the-square", "vectors"),
                r"Complete the squares around the point proportional to the coefficients. With $\lambda = "
                r"<<scale>>$ the inequality $(x-<<a_text>>\lambda)^2 + (y-<<b>>\lambda)^2 + (z-<<c>>\lambda)^2 \ge "
                r"0$ reads $2\lambda(<<a_text>>x + <<b>>y + <<c>>z) \le <<square>> + <<norm>>\lambda^2 = "
                r"2\cdot<<square>>$. Dividing by $2\lambda$ we get the bound $<<answer>>$. It is attained where "
                r"all three squares vanish.",
            ),
        ),
        parameters=(
            {"a": 2, "b": 3, "c": 6, "r": 2},
            {"a": 1, "b": 4, "c": 8, "r": 3},
            {"a": 4, "b": 4, "c": 7, "r": 5},
            {"a": 2, "b": 6, "c": 9, "r": 4},
        ),
        facts=_linear_maximum,
    ),
    Template(
        name="remainder-of-a-power",
        domain="Algebra",
        topics=("Remainder of a Polynomial", "Polynomial Division", "Factor Theorem"),
        statements=(
            r"Find the remainder when $x^{<<n>>}$ is divided by $x^2 - <<sum>>x + <<u>>$.",
            r"The polynomial $x^{<<n>>}$ is divided by $(x-1)(x-<<u>>)$. Which linear polynomial is left over?",
        ),
        methods=(
            Method(
                ("substitution", "polynomial-division"),
                r"Evaluate the division identity at the two roots $1$ and $<<u>>$ of the divisor. Writing the "
                r"remainder as $ax+b$, we get $a+b=1$ and $<<u>>a+b=<<u>>^{<<n>>}=<<value>>$. Subtraction yields "
                r"$<<gap>>a = <<value>>-1$, so $a=<<slope>>$ and $b=-<<offset>>$. The remainder is $<<answer>>$.",
            ),
            Method(
                ("factoring", "polynomial-division"),
                r"Factor out $x-1$ first and then divide the quotient by $x-<<u>>$. We have "
                r"$x^{<<n>>}-1=(x-1)(x^{<<less>>}+\cdots+x+1)$, and the remainder of the second factor modulo "
                r"$x-<<u>>$ is its value $<<slope>>$ at $x=<<u>>$. Hence the remainder of $x^{<<n>>}$ is "
                r"$<<slope>>(x-1)+1 = <<answer>>$.",
            ),
        ),
        parameters=({"n": 10, "u": 2}, {"n": 6, "u": 3}, {"n": 5, "u": 4}, {"n": 8, "u": 3}),
        facts=_power_remainder,
    ),
    Template(
        name="second-order-recurrence",
        domain="Algebra",
        topics=("Linear Recurrences", "Characteristic Equation"),
        statements=(
            r"A sequence is given by $a_0=0$, $a_1=1$ and $a_{k+2}=<<sum>>a_{k+1}-<<product>>a_k$ for $k\ge0$. "
            r"Find $a_{<<n>>}$.",
            r"Let $a_0=0$, $a_1=1$, and suppose each later term is $<<sum>>$ times the previous term minus "
            r"$<<product>>$ times the one before it. Compute the term $a_{<<n>>}$.",
        ),
        methods=(
            Method(
                ("recursion",),
                r"Solve the linear recurrence with its characteristic equation $t^2-<<sum>>t+<<product>>=0$. Its "
                r"roots are $<<p>>$ and $<<q>>$, and the initial values give "
                r"$a_k=\frac{<<q>>^k-<<p>>^k}{<<gap>>}$. For $k=<<n>>$ this is "
                r"$\frac{<<q_power>>-<<p_power>>}{<<gap>>}=<<answer>>$.",
            ),
            Method(
                ("telescoping", "substitution"),
                r"Substitute $b_k=a_{k+1}-<<p_text>>a_k$ to reduce the recurrence to a geometric progression. The "
                r"relation becomes $b_{k+1}=<<q>>b_k$ with $b_0=1$, so $b_k=<<q>>^k$. Adding the identities "
                r"$<<p>>^{<<less>>-k}\,(a_{k+1}-<<p_text>>a_k)=<<p>>^{<<less>>-k}<<q>>^k$ for $k=0,\dots,<<less>>$ "
                r"telescopes to $a_{<<n>>}=\sum_{k=0}^{<<less>>}<<p>>^{<<less>>-k}<<q>>^k=<<answer>>$.",
            ),
        ),
        parameters=(
            {"p": 2, "q": 5, "n": 6},
            {"p": 3, "q": 4, "n": 5},
            {"p": 2, "q": 7, "n": 5},
            {"p": 3, "q": 5, "n": 6},
        ),
        facts=_recurrence,
    ),
)
