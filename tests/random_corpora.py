"""Small random corpora with dense overlaps, and their classes by brute force, straight from the definitions."""

from __future__ import annotations

import math
import random

BRANCHES = "ABC"


def edges():
    """(parent, child) of a tree: three branches with three children each, these with two leaves each."""
    found = [(None, "M")]
    for branch in BRANCHES:
        found.append(("M", branch))
        for child in "123":
            found.append((branch, branch + child))
            found += [(branch + child, branch + child + leaf) for leaf in "xy"]
    return found


def topics_of(branches=BRANCHES):
    """Topic ids below the given branches."""
    nodes = []
    for branch in branches:
        for child in "123":
            nodes.append(f"{branch}/{branch}{child}")
            nodes += [f"{branch}/{branch}{child}/{branch}{child}{leaf}" for leaf in "xy"]
    return nodes


def random_annotations(ids, seed, branches=BRANCHES):
    """Random topics (1 to 3, none above another) and core ideas (2 to 5 of 12 words) of problems."""
    rng = random.Random(seed)
    words = [f"word{n}" for n in range(12)]
    nodes = topics_of(branches)
    topics = {i: _antichain(rng.sample(nodes, rng.randint(1, 3))) for i in ids}
    ideas = {i: " ".join(rng.sample(words, rng.randint(2, 5))) for i in ids}
    return topics, ideas


def land_random_corpus(home, n_problems, seed):
    """Land a random corpus of source ``own`` with its ontology; return topics and core ideas."""
    ids = [f"own/{n:03d}" for n in range(n_problems)]
    topics, ideas = random_annotations(ids, seed)
    home.problems([{"problem_id": i} for i in ids])
    home.ontology(edges())
    home.annotate(topics, ideas)
    return topics, ideas


def _antichain(topics):
    return sorted(t for t in topics if not any(u != t and u.startswith(t + "/") for u in topics))


def ancestors(topic):
    """Ids of a topic and everything above it but the root."""
    steps = topic.split("/")
    return ["/".join(steps[: n + 1]) for n in range(len(steps))]


def information_content(topics):
    """{topic: -ln(share of annotations at or below it)} by counting."""
    annotations = [t for assigned in topics.values() for t in assigned]
    used = {a for t in annotations for a in ancestors(t)}
    return {t: -math.log(sum(t in ancestors(a) for a in annotations) / len(annotations)) for t in used}


def brute_force(topics, ideas, topic_threshold, summary_threshold, content=None):
    """Classes of all ordered pairs of different problems; `content` overrides the corpus' own information content."""
    content = content or information_content(topics)

    def lin(t, u):
        if t == u:
            return 1.0
        common = [a for a in ancestors(t) if a in ancestors(u)]
        return min(1.0, 2 * content[common[-1]] / (content[t] + content[u] + 1e-12)) if common else 0.0

    def bma(x, y):
        best = [max(lin(t, u) for u in topics[y]) for t in topics[x]]
        best += [max(lin(t, u) for t in topics[x]) for u in topics[y]]
        return math.fsum(best) / len(best)

    def jaccard(x, y):
        a, b = set(ideas[x].split()), set(ideas[y].split())
        return len(a & b) / len(a | b)

    classes = {}
    for x in topics:
        for y in topics:
            if x != y:
                by_topic = bma(x, y) >= topic_threshold - 1e-12
                by_summary = jaccard(x, y) >= summary_threshold
                if by_topic or by_summary:
                    classes[x, y] = ("both" if by_summary else "topic_only") if by_topic else "summary_only"
    return classes


def class_counts(classes, problems):
    """{problem: (topic only, summary only, both)} of the problems given."""
    kinds = ("topic_only", "summary_only", "both")
    counts = {x: [0, 0, 0] for x in problems}
    for (x, _), kind in classes.items():
        counts[x][kinds.index(kind)] += 1
    return {x: tuple(count) for x, count in counts.items()}
