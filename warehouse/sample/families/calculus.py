"""Templates of calculus and analysis."""

from warehouse.sample.templates import Method, Template, coefficient, fraction


def _fence(length: int) -> dict[str, object]:
    return {
        "side": fraction(length, 4),
        "long": fraction(length, 2),
        "answer": fraction(length * length, 8),
    }


def _power_times_log(n: int) -> dict[str, object]:
    base = n + 1
    return {
        "base": base,
        "square": base * base,
        "answer": rf"\frac{{{coefficient(n)}e^{{{base}}}+1}}{{{base * base}}}",
    }


def _symmetric_integral(a: int, n: int) -> dict[str, object]:
    return {"centre": fraction(a, 2), "answer": fraction(a, 2)}


def _weighted_geometric(q: int) -> dict[str, object]:
    return {"less": q - 1, "answer": fraction(q, (q - 1) ** 2)}


def _difference_of_roots(a: int, b: int, c: int) -> dict[str, object]:
    return {"gap": a - c, "half_a": fraction(a, 2), "half_c": fraction(c, 2), "answer": fraction(a - c, 2)}


def _iterated_root(k: int) -> dict[str, object]:
    return {"c": k * (k - 1), "square": k * k, "less": k - 1, "answer": k}


def _hyperbola_tangent(c: int, a: int) -> dict[str, object]:
    return {
        "height": fraction(c, a),
        "slope": fraction(c, a * a),
        "top": fraction(2 * c, a),
        "right": 2 * a,
        "answer": 2 * c,
    }


CALCULUS = (
    Template(
        name="fence-along-a-river",
        domain="Calculus and Analysis",
        topics=("Optimization", "Critical Points", "Maximum and Minimum Values"),
        statements=(
            r"A rectangular field beside a straight river is fenced on three sides with $<<length>>$ metres of "
            r"fence; the river side needs none. Find the greatest possible area in square metres.",
            r"Let $x$ and $y$ be positive with $2x+y=<<length>>$. What is the maximum of the product $xy$?",
        ),
        methods=(
            Method(
                ("derivative",),
                r"Express the area as a function of one side and use the derivative. If $x$ is the side that "
                r"occurs twice and $y=<<length>>-2x$, the function is $A(x)=x(<<length>>-2x)$ with "
                r"$A'(x)=<<length>>-4x$. The critical point is $x=<<side>>$, where $A'$ changes from positive to "
                r"negative. The maximum is $<<side>>\cdot<<long>>=<<answer>>$.",
            ),
            Method(
                ("am-gm",),
                r"Apply the AM-GM inequality to $2x$ and $y$, whose sum is fixed. Here $x$ is the side that occurs "
                r"twice and $2x+y=<<length>>$. We get $\sqrt{2xy}\le\frac{2x+y}2=<<long>>$, so $xy\le<<answer>>$. "
                r"Equality holds for $2x=y=<<long>>$.",
            ),
        ),
        parameters=({"length": 120}, {"length": 28}, {"length": 200}, {"length": 36}),
        facts=_fence,
    ),
    Template(
        name="power-times-logarithm",
        domain="Calculus and Analysis",
        topics=("Integration by Parts", "Natural Logarithm", "Definite Integrals"),
        statements=(
            r"Compute $\displaystyle\int_1^e x^{<<n>>}\ln x\,dx$.",
            r"Find the area of the region under the curve $y=x^{<<n>>}\ln x$ between $x=1$ and $x=e$, above the "
            r"$x$-axis.",
        ),
        methods=(
            Method(
                ("integration-by-parts",),
                r"Integrate by parts, differentiating the logarithm. We get "
                r"$\left[\frac{x^{<<base>>}}{<<base>>}\ln x\right]_1^e-\int_1^e\frac{x^{<<n>>}}{<<base>>}\,dx"
                r"=\frac{e^{<<base>>}}{<<base>>}-\frac{e^{<<base>>}-1}{<<square>>}$. This equals $<<answer>>$.",
            ),
            Method(
                ("derivative", "substitution"),
                r"Differentiate the integral of a power with respect to its exponent. Let "
                r"$F(s)=\int_1^ex^s\,dx=\frac{e^{s+1}-1}{s+1}$. Differentiation under the integral sign shows that "
                r"the required integral is $F'(<<n>>)$, and the quotient rule gives "
                r"$F'(s)=\frac{(s+1)e^{s+1}-e^{s+1}+1}{(s+1)^2}$. At $s=<<n>>$ the value is $<<answer>>$.",
            ),
        ),
        parameters=({"n": 2}, {"n": 3}, {"n": 5}, {"n": 6}),
        facts=_power_times_log,
    ),
    Template(
        name="integral-with-complement",
        domain="Calculus and Analysis",
        topics=("Integral Symmetry", "Integration by Substitution", "Definite Integrals"),
        statements=(
            r"Evaluate \[\int_0^{<<a>>}\frac{x^{<<n>>}}{x^{<<n>>}+(<<a>>-x)^{<<n>>}}\,dx.\]",
            r"Let $f(x)=\dfrac{x^{<<n>>}}{x^{<<n>>}+(<<a>>-x)^{<<n>>}}$ for $0\le x\le<<a>>$. Find the integral of "
            r"$f$ over its domain.",
        ),
        methods=(
            Method(
                ("substitution", "symmetry"),
                r"Substitute $x\mapsto<<a>>-x$ and add the two forms of the integral. The substitution exchanges "
                r"$x$ and $<<a>>-x$, so the two integrands have the constant sum $1$. Hence twice the integral is "
                r"$<<a>>$, and the value is $<<answer>>$.",
            ),
            Method(
                ("symmetry", "area-method"),
                r"Observe that the graph of the integrand is symmetric about the point "
                r"$\left(<<centre>>,\frac12\right)$. Indeed the values at $x$ and $<<a>>-x$ add up to $1$. So the "
                r"graph divides the rectangle $[0,<<a>>]\times[0,1]$ into two congruent regions. The integral is "
                r"half the area of this rectangle, namely $<<answer>>$.",
            ),
        ),
        parameters=({"a": 3, "n": 4}, {"a": 5, "n": 7}, {"a": 8, "n": 3}, {"a": 7, "n": 10}),
        facts=_symmetric_integral,
    ),
    Template(
        name="weighted-geometric-series",
        domain="Calculus and Analysis",
        topics=("Power Series", "Geometric Series", "Infinite Series"),
        statements=(
            r"Find the sum of the series $\displaystyle\sum_{n=1}^\infty\frac{n}{<<q>>^n}$.",
            r"Show that the series \[\frac1{<<q>>}+\frac2{<<q>>^2}+\frac3{<<q>>^3}+\cdots\] converges and evaluate "
            r"it.",
        ),
        methods=(
            Method(
                ("derivative", "generating-functions"),
                r"Differentiate the geometric series term by term. For $|x|<1$ we have "
                r"$\sum_{n\ge0}x^n=\frac1{1-x}$, hence $\sum_{n\ge1}nx^n=\frac{x}{(1-x)^2}$, and the power series "
                r"converges. At $x=\frac1{<<q>>}$ the value is $<<answer>>$.",
            ),
            Method(
                ("telescoping", "squeeze"),
                r"Multiply the partial sum by $<<q>>$ and subtract, so that a geometric series remains. With "
                r"$S_N=\sum_{n=1}^N\frac n{<<q>>^n}$ we find "
                r"$<<less>>S_N=1+\frac1{<<q>>}+\cdots+\frac1{<<q>>^{N-1}}-\frac N{<<q>>^N}$. The last term tends "
                r"to $0$ and the geometric series tends to $\frac{<<q>>}{<<less>>}$. So $S_N$ converges to "
                r"$\frac{<<q>>}{<<less>>^2}=<<answer>>$.",
            ),
        ),
        parameters=({"q": 4}, {"q": 5}, {"q": 7}, {"q": 10}),
        facts=_weighted_geometric,
    ),
    Template(
        name="difference-of-roots",
        domain="Calculus and Analysis",
        topics=("Limits of Sequences", "Conjugate Expressions", "Indeterminate Forms"),
        statements=(
            r"Find $\displaystyle\lim_{n\to\infty}\left(\sqrt{n^2+<<a>>n+<<b>>}-\sqrt{n^2+<<c>>n}\right)$.",
            r"Determine the limit of $\sqrt{x^2+<<a>>x+<<b>>}-\sqrt{x^2+<<c>>x}$ as the real number $x$ tends to "
            r"$+\infty$.",
        ),
        methods=(
            Method(
                ("factoring", "squeeze"),
                r"Multiply by the conjugate expression to remove the indeterminate form. With the variable called "
                r"$n$, the difference is $\frac{<<gap>>n+<<b>>}{\sqrt{n^2+<<a>>n+<<b>>}+\sqrt{n^2+<<c>>n}}$. "
                r"Dividing numerator and denominator by $n$, the numerator tends to $<<gap>>$ and the denominator "
                r"to $2$. The limit is $<<answer>>$.",
            ),
            Method(
                ("taylor-expansion",),
                r"Expand both square roots with the Taylor approximation $\sqrt{1+t}=1+\frac t2+O(t^2)$. Factoring "
                r"out the variable $n$, the first root is $n+<<half_a>>+O\left(\frac1n\right)$ and the second is "
                r"$n+<<half_c>>+O\left(\frac1n\right)$. Their difference tends to "
                r"$<<half_a>>-<<half_c>>=<<answer>>$.",
            ),
        ),
        parameters=(
            {"a": 8, "b": 3, "c": 2},
            {"a": 9, "b": 1, "c": 4},
            {"a": 11, "b": 5, "c": 3},
            {"a": 14, "b": 7, "c": 5},
        ),
        facts=_difference_of_roots,
    ),
    Template(
        name="iterated-square-root",
        domain="Calculus and Analysis",
        topics=("Monotone Convergence", "Limits of Sequences", "Nested Radicals"),
        statements=(
            r"Let $x_1=1$ and $x_{n+1}=\sqrt{<<c>>+x_n}$ for $n\ge1$. Show that $(x_n)$ converges and find its "
            r"limit.",
            r"What number does the infinite nested radical $\sqrt{<<c>>+\sqrt{<<c>>+\sqrt{<<c>>+\cdots}}}$ "
            r"represent, understood as the limit of the sequence with $x_1=1$ in which each term is the square "
            r"root of $<<c>>$ plus the previous one?",
        ),
        methods=(
            Method(
                ("monotone-convergence", "induction"),
                r"Prove by induction that the sequence is increasing and bounded by $<<k>>$, and use monotone "
                r"convergence. From $x_n<<<k>>$ follows $x_{n+1}<\sqrt{<<c>>+<<k>>}=<<k>>$. Also $x_2>x_1$, and "
                r"$x_{n+1}>x_n$ implies $x_{n+2}>x_{n+1}$. The limit satisfies $L^2=<<c>>+L$, that is "
                r"$(L-<<k>>)(L+<<less>>)=0$. Since $L>0$, the limit is $<<answer>>$.",
            ),
            Method(
                ("squeeze", "bounding"),
                r"Bound the distance to $<<k>>$ and apply the squeeze theorem. Since $<<square>>=<<c>>+<<k>>$, we "
                r"have $|x_{n+1}-<<k>>|=\frac{|x_{n+1}^2-<<square>>|}{x_{n+1}+<<k>>}"
                r"=\frac{|x_n-<<k>>|}{x_{n+1}+<<k>>}\le\frac{|x_n-<<k>>|}{<<k>>}$. "
                r"By iteration $|x_n-<<k>>|\le\frac{<<less>>}{<<k>>^{n-1}}$, which tends to $0$. The limit is "
                r"$<<answer>>$.",
            ),
        ),
        parameters=({"k": 2}, {"k": 4}, {"k": 5}, {"k": 6}),
        facts=_iterated_root,
    ),
    Template(
        name="tangent-to-a-hyperbola",
        domain="Calculus and Analysis",
        topics=("Tangent Lines", "Derivatives", "Hyperbolas"),
        statements=(
            r"The tangent line to the hyperbola $xy=<<c>>$ at the point with $x=<<a>>$ forms a triangle with the "
            r"coordinate axes. Find the area of this triangle.",
            r"Let $t$ be the tangent to the graph of $f(x)=\dfrac{<<c>>}{x}$ at $x=<<a>>$. How large is the region "
            r"bounded by $t$ and the two axes?",
        ),
        methods=(
            Method(
                ("derivative",),
                r"Compute the slope of the tangent line with the derivative. Since $f'(x)=-\frac{<<c>>}{x^2}$, the "
                r"tangent is $y=<<height>>-<<slope>>(x-<<a>>)$. It meets the axes at $(<<right>>,0)$ and "
                r"$\left(0,<<top>>\right)$. The area is $\frac12\cdot<<right>>\cdot<<top>>=<<answer>>$.",
            ),
            Method(
                ("vieta-formulas", "factoring"),
                r"Find the tangent line as the line through the point that has a double intersection with the "
                r"curve. The line $\frac xu+\frac yv=1$ meets $xy=<<c>>$ where $vx^2-uvx+<<c>>u=0$. By Vieta's "
                r"formulas the double root $<<a>>$ equals $\frac u2$, and its square $\frac{u^2}4$ equals the "
                r"product $\frac{<<c>>u}v$ of the roots. So $uv=4\cdot<<c>>$, and the area $\frac{uv}2$ is "
                r"$<<answer>>$.",
            ),
        ),
        parameters=({"c": 12, "a": 3}, {"c": 5, "a": 2}, {"c": 18, "a": 6}, {"c": 7, "a": 4}),
        facts=_hyperbola_tangent,
    ),
)
