"""Templates of number theory."""

from math import gcd, lcm

from warehouse.sample.templates import Method, Template


def _power_modulo(a: int, n: int, p: int) -> dict[str, object]:
    period = next(k for k in range(1, p) if pow(a, k, p) == 1)
    cycle = ", ".join(str(pow(a, k, p)) for k in range(1, period + 1))
    return {
        "phi": p - 1,
        "rest": n % (p - 1),
        "period": period,
        "cycle": cycle,
        "short": n % period,
        "answer": pow(a, n, p),
    }


def _two_congruences(a: int, p: int, b: int, q: int) -> dict[str, object]:
    answer = next(n for n in range(1, p * q + 1) if n % p == a and n % q == b)
    return {
        "steps": (answer - a) // p,
        "shift": (b - a) % q,
        "listed": ", ".join(str(n) for n in range(b, answer + 1, q)),
        "modulus": p * q,
        "answer": answer,
    }


def _factorial_exponent(n: int, p: int) -> dict[str, object]:
    floors, power = [], p
    while power <= n:
        floors.append(n // power)
        power *= p
    digits, rest = [], n
    while rest:
        rest, digit = divmod(rest, p)
        digits.append(digit)
    return {
        "floors": "+".join(map(str, floors)),
        "digits": "+".join(map(str, reversed(digits))),
        "digit_sum": sum(digits),
        "less": p - 1,
        "answer": sum(floors),
    }


def _unit_fractions(n: int) -> dict[str, object]:
    count = sum(n * n % d == 0 for d in range(1, n * n + 1))
    return {"square": n * n, "answer": count}


def _coins(a: int, b: int) -> dict[str, object]:
    return {
        "product": a * b,
        "top": a * (b - 1),
        "list": ", ".join(str(a * k) for k in range(b)),
        "twice": 2 * a * b,
        "less": b - 1,
        "answer": a * b - a - b,
    }


def _coprime(p: int, q: int, r: int) -> dict[str, object]:
    n = p * q * r
    return {
        "n": n,
        "by_p": q * r,
        "by_q": p * r,
        "by_pq": r,
        "answer": r * (p - 1) * (q - 1),
    }


def _power_gcd(a: int, m: int, n: int) -> dict[str, object]:
    return {"g": gcd(m, n), "multiple": lcm(m, n), "answer": a ** gcd(m, n) - 1}


NUMBER_THEORY = (
    Template(
        name="power-modulo-prime",
        domain="Number Theory",
        topics=("Fermat Little Theorem", "Powers Modulo", "Cycles of Powers"),
        statements=(
            r"Find the remainder of $<<a>>^{<<n>>}$ on division by $<<p>>$.",
            r"Determine the smallest nonnegative integer $r$ such that $<<p>>$ divides $<<a>>^{<<n>>}-r$.",
        ),
        methods=(
            Method(
                ("fermat-little-theorem", "modular-arithmetic"),
                r"Apply Fermat's little theorem modulo the prime $<<p>>$. It gives "
                r"$<<a>>^{<<phi>>}\equiv1\pmod{<<p>>}$, so the exponent matters only modulo $<<phi>>$. Since "
                r"$<<n>>\equiv<<rest>>\pmod{<<phi>>}$, we get "
                r"$<<a>>^{<<n>>}\equiv<<a>>^{<<rest>>}\equiv<<answer>>\pmod{<<p>>}$.",
            ),
            Method(
                ("modular-arithmetic", "recursion"),
                r"List the powers of $<<a>>$ modulo $<<p>>$ until they become periodic. The residues are "
                r"$<<cycle>>$, and then they repeat with period $<<period>>$. As "
                r"$<<n>>\equiv<<short>>\pmod{<<period>>}$, the required residue is $<<answer>>$.",
            ),
        ),
        parameters=(
            {"a": 3, "n": 1000, "p": 7},
            {"a": 2, "n": 777, "p": 13},
            {"a": 5, "n": 2030, "p": 11},
            {"a": 4, "n": 515, "p": 19},
        ),
        facts=_power_modulo,
    ),
    Template(
        name="two-congruences",
        domain="Number Theory",
        topics=("Chinese Remainder Theorem", "Linear Congruences"),
        statements=(
            r"Find the least positive integer $n$ with $n\equiv<<a>>\pmod{<<p>>}$ and $n\equiv<<b>>\pmod{<<q>>}$.",
            r"A teacher arranges her pupils in rows of $<<p>>$ and $<<a>>$ are left over; in rows of $<<q>>$ there "
            r"are $<<b>>$ left over. What is the smallest possible number of pupils?",
        ),
        methods=(
            Method(
                ("chinese-remainder", "modular-arithmetic", "substitution"),
                r"Substitute $n=<<p>>k+<<a>>$ into the second congruence, as in the Chinese remainder theorem. We "
                r"need $<<p>>k\equiv<<shift>>\pmod{<<q>>}$, whose smallest solution is $k=<<steps>>$. Then "
                r"$n=<<answer>>$, and all other solutions differ from it by multiples of $<<modulus>>$.",
            ),
            Method(
                ("casework", "modular-arithmetic"),
                r"List the positive integers that satisfy the congruence modulo $<<q>>$ and test each one modulo "
                r"$<<p>>$. They are $<<listed>>$ and so on. The first number in the list with remainder $<<a>>$ "
                r"modulo $<<p>>$ is $<<answer>>$.",
            ),
        ),
        parameters=(
            {"a": 3, "p": 8, "b": 5, "q": 11},
            {"a": 2, "p": 9, "b": 6, "q": 13},
            {"a": 4, "p": 7, "b": 10, "q": 17},
            {"a": 5, "p": 6, "b": 8, "q": 19},
        ),
        facts=_two_congruences,
    ),
    Template(
        name="prime-in-factorial",
        domain="Number Theory",
        topics=("Legendre Formula", "Factorials", "Exponent of a Prime"),
        statements=(
            r"Find the largest integer $k$ such that $<<p>>^k$ divides $<<n>>!$.",
            r"What is the exponent of the prime $<<p>>$ in the prime factorization of \[1\cdot2\cdot3\cdots<<n>>?\]",
        ),
        methods=(
            Method(
                ("legendre-formula", "divisibility"),
                r"Apply Legendre's formula and count the multiples of the powers of $<<p>>$. The exponent is "
                r"$\sum_{i\ge1}\left\lfloor\frac{<<n>>}{<<p>>^i}\right\rfloor=<<floors>>=<<answer>>$.",
            ),
            Method(
                ("legendre-formula", "recursion"),
                r"Write the number $<<n>>$ in base $<<p>>$ and use the digit sum form of Legendre's formula. The "
                r"digits sum to $<<digits>>=<<digit_sum>>$. The exponent of $<<p>>$ in $n!$ equals $n$ minus this "
                r"digit sum, divided by $<<p>>-1$. So it is $\frac{<<n>>-<<digit_sum>>}{<<less>>}=<<answer>>$.",
            ),
        ),
        parameters=({"n": 100, "p": 3}, {"n": 300, "p": 7}, {"n": 500, "p": 5}, {"n": 200, "p": 3}),
        facts=_factorial_exponent,
    ),
    Template(
        name="unit-fraction-pairs",
        domain="Number Theory",
        topics=("Unit Fractions", "Simon Favorite Factoring", "Number of Divisors"),
        statements=(
            r"How many ordered pairs of positive integers $(x,y)$ satisfy \[\frac1x+\frac1y=\frac1{<<n>>}?\]",
            r"Find the number of pairs $(a,b)$ of positive integers for which $<<n>>(a+b)=ab$.",
        ),
        methods=(
            Method(
                ("factoring", "divisibility"),
                r"Clear denominators and factor with Simon's favorite factoring trick. Calling the unknowns $x$ "
                r"and $y$, we obtain $(x-<<n>>)(y-<<n>>)=<<square>>$. Both factors are positive, since both "
                r"unknowns exceed $<<n>>$. Each positive divisor of $<<square>>$ gives one pair, so there are "
                r"$<<answer>>$ pairs.",
            ),
            Method(
                ("substitution", "divisibility", "bijection"),
                r"Substitute $<<n>>+d$ for the first unknown and solve for the second. The first unknown is larger "
                r"than $<<n>>$, so $d>0$, and the second one becomes $<<n>>+\frac{<<square>>}{d}$. It is a "
                r"positive integer if and only if $d$ divides $<<square>>$. This is a bijection with the divisors "
                r"of $<<square>>$, of which there are $<<answer>>$.",
            ),
        ),
        parameters=({"n": 20}, {"n": 30}, {"n": 18}, {"n": 28}),
        facts=_unit_fractions,
    ),
    Template(
        name="two-coins",
        domain="Number Theory",
        topics=("Frobenius Coin Problem", "Linear Diophantine Equations", "Residues"),
        statements=(
            r"Find the largest integer that is not of the form $<<a>>x+<<b>>y$ with nonnegative integers $x,y$.",
            r"A shop sells nails in boxes of $<<a>>$ and of $<<b>>$ only. What is the largest number of nails that "
            r"one cannot buy exactly? (Give an answer $N$ such that $N$ is impossible and every $n>N$ is possible.)",
        ),
        methods=(
            Method(
                ("modular-arithmetic", "casework"),
                r"Sort the numbers into residue classes modulo $<<b>>$. The multiples $<<list>>$ of $<<a>>$ "
                r"represent every residue once, because $\gcd(<<a>>,<<b>>)=1$. In each class exactly the numbers "
                r"from the listed multiple on are possible. The largest listed one is $<<top>>$, so the largest "
                r"impossible number is $<<top>>-<<b>>=<<answer>>$.",
            ),
            Method(
                ("contradiction", "divisibility", "bounding"),
                r"Prove that $<<answer>>=<<a>>\cdot<<b>>-<<a>>-<<b>>$ is impossible and that every larger number "
                r"is possible. If $<<answer>>=<<a>>x+<<b>>y$, then $<<a>>(x+1)+<<b>>(y+1)=<<product>>$, so "
                r"$<<b>>\mid x+1$ and $<<a>>\mid y+1$ and the left side is at least $<<twice>>$, a contradiction. "
                r"If $n><<answer>>$, choose $0\le x\le<<less>>$ with $<<a>>x\equiv n\pmod{<<b>>}$. Then "
                r"$n-<<a>>x>-<<b>>$ is a multiple of $<<b>>$, hence nonnegative.",
            ),
        ),
        parameters=({"a": 5, "b": 8}, {"a": 9, "b": 7}, {"a": 8, "b": 11}, {"a": 6, "b": 13}),
        facts=_coins,
    ),
    Template(
        name="coprime-count",
        domain="Number Theory",
        topics=("Euler Totient", "Coprime Integers"),
        statements=(
            r"How many of the integers $1,2,\dots,<<n>>$ are divisible neither by $<<p>>$ nor by $<<q>>$?",
            r"Count the fractions $\dfrac{k}{<<n>>}$ with $1\le k\le<<n>>$ whose numerator is coprime to both "
            r"$<<p>>$ and $<<q>>$.",
        ),
        methods=(
            Method(
                ("inclusion-exclusion", "divisibility"),
                r"Use inclusion-exclusion on the multiples of $<<p>>$ and of $<<q>>$. There are $<<by_p>>$ "
                r"multiples of $<<p>>$, $<<by_q>>$ multiples of $<<q>>$ and $<<by_pq>>$ common multiples up to "
                r"$<<n>>$. So $<<n>>-<<by_p>>-<<by_q>>+<<by_pq>>=<<answer>>$ integers remain.",
            ),
            Method(
                ("euler-totient", "chinese-remainder"),
                r"Count residues modulo $<<p>>\cdot<<q>>$ with the Chinese remainder theorem and Euler's totient. "
                r"A residue is coprime to both primes when it is nonzero modulo each, which gives "
                r"$\varphi(<<p>>)\varphi(<<q>>)=(<<p>>-1)(<<q>>-1)$ classes. The interval consists of $<<by_pq>>$ "
                r"complete residue systems. The number is $<<by_pq>>(<<p>>-1)(<<q>>-1)=<<answer>>$.",
            ),
        ),
        parameters=(
            {"p": 3, "q": 7, "r": 10},
            {"p": 5, "q": 11, "r": 4},
            {"p": 2, "q": 13, "r": 9},
            {"p": 7, "q": 11, "r": 3},
        ),
        facts=_coprime,
    ),
    Template(
        name="gcd-of-powers",
        domain="Number Theory",
        topics=("Greatest Common Divisor", "Euclidean Algorithm", "Multiplicative Order"),
        statements=(
            r"Compute the greatest common divisor of $<<a>>^{<<m>>}-1$ and $<<a>>^{<<n>>}-1$.",
            r"Find the largest integer dividing both $<<a>>^{<<m>>}-1$ and $<<a>>^{<<n>>}-1$, and prove your "
            r"answer.",
        ),
        methods=(
            Method(
                ("euclidean-algorithm", "divisibility"),
                r"Run the Euclidean algorithm on the exponents. From "
                r"$<<a>>^{u}-1=<<a>>^{u-v}(<<a>>^{v}-1)+(<<a>>^{u-v}-1)$ we see that the greatest common divisor "
                r"does not change when the exponents $(u,v)$ are replaced by $(u-v,v)$. These steps end with "
                r"$\gcd(<<m>>,<<n>>)=<<g>>$, and the result is $<<a>>^{<<g>>}-1=<<answer>>$.",
            ),
            Method(
                ("modular-arithmetic", "divisibility"),
                r"Consider the multiplicative order of $<<a>>$ modulo a common divisor $d$. Since "
                r"$<<a>>^{<<m>>}\equiv<<a>>^{<<n>>}\equiv1\pmod d$, the order divides both exponents and hence "
                r"$\gcd(<<m>>,<<n>>)=<<g>>$. So $d$ divides $<<a>>^{<<g>>}-1$. Conversely this number divides both "
                r"given ones, because $<<g>>$ divides both exponents. The answer is $<<answer>>$.",
            ),
        ),
        parameters=(
            {"a": 2, "m": 48, "n": 84},
            {"a": 3, "m": 30, "n": 42},
            {"a": 2, "m": 70, "n": 100},
            {"a": 5, "m": 16, "n": 36},
        ),
        facts=_power_gcd,
    ),
)
