"""Templates of combinatorics and probability."""

from math import comb

from warehouse.sample.templates import Method, Template, fraction


def _compositions(k: int, n: int) -> dict[str, object]:
    return {"gaps": n - 1, "bars": k - 1, "shift": n - k, "answer": comb(n - 1, k - 1)}


def _paths(m: int, n: int, p: int, q: int) -> dict[str, object]:
    through = comb(p + q, p) * comb(m + n - p - q, m - p)
    total = comb(m + n, m)
    lowest, highest = max(0, p + q - n), min(m, p + q)
    terms = [comb(p + q, x) * comb(m + n - p - q, m - x) for x in range(lowest, highest + 1) if x != p]
    return {
        "steps": m + n,
        "total": total,
        "through": through,
        "before": comb(p + q, p),
        "after": comb(m + n - p - q, m - p),
        "diagonal": p + q,
        "terms": "+".join(map(str, terms)),
        "answer": total - through,
    }


def _head_pairs(n: int) -> dict[str, object]:
    return {"pairs": n - 1, "answer": fraction(n - 1, 4)}


def _multiples(p: int, q: int, k: int) -> dict[str, object]:
    n = p * q * k
    return {
        "n": n,
        "block": p * q,
        "by_p": n // p,
        "by_q": n // q,
        "neither": (p - 1) * (q - 1),
        "left": k * (p - 1) * (q - 1),
        "answer": n - k * (p - 1) * (q - 1),
    }


def _stairs(n: int) -> dict[str, object]:
    counts = [1, 2]
    while len(counts) < n:
        counts.append(counts[-1] + counts[-2])
    terms = [comb(n - k, k) for k in range(n // 2 + 1)]
    return {
        "list": ", ".join(map(str, counts)),
        "terms": "+".join(map(str, terms)),
        "answer": counts[-1],
    }


def _committees(men: int, women: int, size: int) -> dict[str, object]:
    people = men + women
    terms = [comb(women, k) * comb(men, size - k) for k in range(1, min(women, size) + 1)]
    return {
        "people": people,
        "all": comb(people, size),
        "without": comb(men, size),
        "terms": "+".join(map(str, terms)),
        "answer": sum(terms),
    }


def _take_away(n: int, k: int) -> dict[str, object]:
    return {"cycle": k + 1, "double": 2 * (k + 1), "left": n - n % (k + 1), "answer": n % (k + 1)}


COMBINATORICS = (
    Template(
        name="positive-compositions",
        domain="Combinatorics",
        topics=("Stars and Bars", "Generating Functions", "Combinations"),
        statements=(
            r"In how many ways can $<<n>>$ be written as an ordered sum of $<<k>>$ positive integers?",
            r"Find the number of ways to distribute $<<n>>$ identical coins among $<<k>>$ children so that every "
            r"child gets at least one coin, that is, the number of solutions of $x_1+\cdots+x_{<<k>>}=<<n>>$ in "
            r"positive integers.",
        ),
        methods=(
            Method(
                ("stars-and-bars", "bijection"),
                r"Count with stars and bars. Put $<<n>>$ stars in a row and choose $<<bars>>$ of the $<<gaps>>$ "
                r"gaps between them for bars. This is a bijection with the ordered sums. Their number is "
                r"$\binom{<<gaps>>}{<<bars>>}=<<answer>>$.",
            ),
            Method(
                ("generating-functions",),
                r"Use the generating function $\left(x+x^2+x^3+\cdots\right)^{<<k>>}=x^{<<k>>}(1-x)^{-<<k>>}$. The "
                r"required number is the coefficient of $x^{<<n>>}$, that is the coefficient of $x^{<<shift>>}$ in "
                r"$(1-x)^{-<<k>>}$. By the binomial series it equals "
                r"$\binom{<<shift>>+<<bars>>}{<<bars>>}=<<answer>>$.",
            ),
        ),
        parameters=({"k": 4, "n": 12}, {"k": 5, "n": 11}, {"k": 3, "n": 20}, {"k": 6, "n": 13}),
        facts=_compositions,
    ),
    Template(
        name="paths-avoiding-a-point",
        domain="Combinatorics",
        topics=("Lattice Paths", "Complementary Counting", "Vandermonde Identity"),
        statements=(
            r"How many lattice paths from $(0,0)$ to $(<<m>>,<<n>>)$ with unit steps right and up avoid the point "
            r"$(<<p>>,<<q>>)$?",
            r"A city has a square street grid. A taxi drives from the corner $(0,0)$ to the corner "
            r"$(<<m>>,<<n>>)$, only east or north, and the crossing $(<<p>>,<<q>>)$ is closed. Count its possible "
            r"routes.",
        ),
        methods=(
            Method(
                ("complementary-counting",),
                r"Count all lattice paths and subtract those through the forbidden point. There are "
                r"$\binom{<<steps>>}{<<m>>}=<<total>>$ paths altogether. By the product rule "
                r"$<<before>>\cdot<<after>>=<<through>>$ of them pass through $(<<p>>,<<q>>)$. So "
                r"$<<total>>-<<through>>=<<answer>>$ paths remain.",
            ),
            Method(
                ("casework", "double-counting"),
                r"Classify the paths by the point where they meet the diagonal $x+y=<<diagonal>>$ and leave out "
                r"the forbidden point. A path through $(x,<<diagonal>>-x)$ is determined by its two parts, and the "
                r"product rule gives the number of such paths. For the allowed points the products are $<<terms>>$ "
                r"when $x$ increases. Their sum is $<<answer>>$.",
            ),
        ),
        parameters=(
            {"m": 5, "n": 4, "p": 2, "q": 2},
            {"m": 6, "n": 4, "p": 3, "q": 1},
            {"m": 5, "n": 5, "p": 2, "q": 3},
            {"m": 7, "n": 3, "p": 4, "q": 1},
        ),
        facts=_paths,
    ),
    Template(
        name="expected-double-heads",
        domain="Combinatorics",
        topics=("Linearity of Expectation", "Indicator Variables", "Coin Flips"),
        statements=(
            r"A fair coin is flipped $<<n>>$ times. Find the expected number of pairs of consecutive flips that "
            r"both show heads.",
            r"A random word of $<<n>>$ letters is formed, each letter being $H$ or $T$ with probability $\frac12$ "
            r"independently. What is the expected number of occurrences of $HH$ at adjacent places?",
        ),
        methods=(
            Method(
                ("linearity-of-expectation",),
                r"Use linearity of expectation with an indicator variable for each pair of neighbours. There are "
                r"$<<pairs>>$ such pairs, and each of them consists of two heads with probability $\frac14$. The "
                r"expected value is $<<pairs>>\cdot\frac14=<<answer>>$.",
            ),
            Method(
                ("recursion", "conditional-probability"),
                r"Set up a recursion on the number of flips. Let $E_k$ be the expected number for $k$ flips, so "
                r"$E_1=0$. The last flip adds one pair exactly if it and the flip before it are heads, which has "
                r"probability $\frac14$. Hence $E_k=E_{k-1}+\frac14$ and $E_{<<n>>}=\frac{<<pairs>>}4=<<answer>>$.",
            ),
        ),
        parameters=({"n": 10}, {"n": 13}, {"n": 20}, {"n": 31}),
        facts=_head_pairs,
    ),
    Template(
        name="multiples-of-either",
        domain="Combinatorics",
        topics=("Inclusion Exclusion", "Complementary Counting"),
        statements=(
            r"How many elements of $\{1,2,\dots,<<n>>\}$ are divisible by $<<p>>$ or by $<<q>>$ (or by both)?",
            r"Lamps numbered $1$ to $<<n>>$ are off. Somebody switches on all lamps whose number is a multiple of "
            r"$<<p>>$, and then all those with a multiple of $<<q>>$ that are still off. How many lamps with "
            r"$k\le<<n>>$ shine?",
        ),
        methods=(
            Method(
                ("inclusion-exclusion",),
                r"Apply the principle of inclusion-exclusion to the two sets of multiples. They have $<<by_p>>$ "
                r"and $<<by_q>>$ elements, and their intersection consists of the $<<k>>$ multiples of "
                r"$<<block>>$. The union has $<<by_p>>+<<by_q>>-<<k>>=<<answer>>$ elements.",
            ),
            Method(
                ("complementary-counting", "modular-arithmetic"),
                r"Count the complement in blocks of length $<<block>>$. Among $<<block>>$ consecutive integers "
                r"exactly $(<<p>>-1)(<<q>>-1)=<<neither>>$ are divisible by neither prime, since both residues "
                r"must be nonzero. There are $<<k>>$ blocks, so $<<left>>$ numbers are left out and "
                r"$<<n>>-<<left>>=<<answer>>$ are counted.",
            ),
        ),
        parameters=(
            {"p": 3, "q": 5, "k": 20},
            {"p": 2, "q": 7, "k": 15},
            {"p": 5, "q": 7, "k": 6},
            {"p": 3, "q": 11, "k": 8},
        ),
        facts=_multiples,
    ),
    Template(
        name="climbing-stairs",
        domain="Combinatorics",
        topics=("Counting Recurrences", "Fibonacci Numbers", "Binomial Coefficients"),
        statements=(
            r"In how many ways can one climb $<<n>>$ stairs if each step takes one or two stairs? (For example, "
            r"the order of the steps $1+2$ and $2+1$ matters.)",
            r"How many sequences of numbers $1$ and $2$ have the sum $<<n>>$?",
        ),
        methods=(
            Method(
                ("recursion", "casework"),
                r"Set up a recursion by distinguishing the last step. If $f_k$ counts the sequences with sum $k$, "
                r"then $f_k=f_{k-1}+f_{k-2}$, because the last summand is $1$ or $2$. Starting with $f_1=1$ and "
                r"$f_2=2$ we get the Fibonacci numbers $<<list>>$. So the answer is $<<answer>>$.",
            ),
            Method(
                ("casework", "bijection"),
                r"Classify the sequences by the number $k$ of twos. Then there are $<<n>>-k$ summands in all, and "
                r"the twos can be placed in $\binom{<<n>>-k}{k}$ ways. Summing these binomial coefficients over "
                r"$k=0,1,2,\dots$ gives $<<terms>>=<<answer>>$.",
            ),
        ),
        parameters=({"n": 9}, {"n": 11}, {"n": 8}, {"n": 12}),
        facts=_stairs,
    ),
    Template(
        name="committees-with-a-woman",
        domain="Combinatorics",
        topics=("Committees", "Complementary Counting", "Casework"),
        statements=(
            r"From $<<men>>$ men and $<<women>>$ women a committee of $<<size>>$ people is chosen. How many "
            r"committees contain at least one woman?",
            r"A set consists of $<<men>>$ blue and $<<women>>$ red points. How many subsets of size $<<size>>$ "
            r"contain at least one red point?",
        ),
        methods=(
            Method(
                ("complementary-counting",),
                r"Count the complement, that is the selections from the first kind only. There are "
                r"$\binom{<<people>>}{<<size>>}=<<all>>$ selections altogether and "
                r"$\binom{<<men>>}{<<size>>}=<<without>>$ that avoid the second kind. The difference is "
                r"$<<answer>>$.",
            ),
            Method(
                ("casework",),
                r"Distinguish cases by the number $k\ge1$ of members of the second kind. For each $k$ the product "
                r"rule gives $\binom{<<women>>}{k}\binom{<<men>>}{<<size>>-k}$ selections. Adding the cases, we "
                r"obtain $<<terms>>=<<answer>>$.",
            ),
        ),
        parameters=(
            {"men": 6, "women": 4, "size": 3},
            {"men": 7, "women": 5, "size": 4},
            {"men": 8, "women": 3, "size": 5},
            {"men": 9, "women": 4, "size": 4},
        ),
        facts=_committees,
    ),
    Template(
        name="take-away-game",
        domain="Combinatorics",
        topics=("Winning Strategies", "Losing Positions", "Combinatorial Games"),
        statements=(
            r"Two players alternately remove from $1$ to $<<k>>$ stones from a pile of $<<n>>$ stones; whoever "
            r"takes the last stone wins. How many stones must the first player take to win?",
            r"Starting from the number $<<n>>$, Ann and Ben in turn subtract one of $1,2,\dots,<<k>>$. The player "
            r"who reaches $0$ wins. Ann begins; find her only winning first move.",
        ),
        methods=(
            Method(
                ("games-strategy", "modular-arithmetic"),
                r"Keep the number a multiple of $<<cycle>>$ after each own move. If the opponent takes $j$, one "
                r"answers with $<<cycle>>-j$, so the opponent always faces a multiple of $<<cycle>>$ and never "
                r"takes the last stone. The first move must be $<<answer>>$, since $<<n>>-<<answer>>=<<left>>$ is "
                r"divisible by $<<cycle>>$; after any other move the opponent can use the same strategy.",
            ),
            Method(
                ("games-strategy", "strong-induction"),
                r"Determine the losing positions by strong induction. The position $0$ is lost for the player to "
                r"move. From $1,\dots,<<k>>$ one can reach $0$, so these are winning, and from $<<cycle>>$ only "
                r"winning positions can be reached, so it is losing. Continuing, the losing positions are "
                r"$0,<<cycle>>,<<double>>,\dots$, that is the multiples of $<<cycle>>$. The only move from $<<n>>$ "
                r"to such a position, namely to $<<left>>$, is to take $<<answer>>$.",
            ),
        ),
        parameters=({"n": 50, "k": 6}, {"n": 100, "k": 8}, {"n": 77, "k": 5}, {"n": 65, "k": 10}),
        facts=_take_away,
    ),
)
