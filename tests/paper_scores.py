"""Scores printed in the paper (nDCG@10), as facts to correlate. Its tables differ for some systems."""

# system: statement-full, statement-statement, full-full (main results); statement-full (confidence intervals)
OVERALL = {
    "Octen-Embedding-8B": (0.636, 0.623, 0.672, 0.636),
    "Octen-Embedding-4B": (0.632, 0.619, 0.663, 0.632),
    "Gemini-Embedding-2": (0.628, 0.603, 0.658, 0.628),
    "Qwen3-Embedding-4B": (0.615, 0.597, 0.667, 0.615),
    "Qwen3-Embedding-8B": (0.611, 0.600, 0.662, 0.611),
    "Harrier-OSS-v1-27b": (0.608, 0.585, 0.659, 0.608),
    "Gemini-Embedding-001": (0.605, 0.591, 0.667, 0.605),
    "KaLM-Embedding-Gemma3-12B-2511": (0.585, 0.579, 0.599, 0.585),
    "LLaMa-Embed-Nemotron-8b": (0.579, 0.565, 0.616, 0.579),
    "Qwen3-Embedding-0.6B": (0.575, 0.566, 0.625, 0.575),
    "Harrier-OSS-v1-0.6b": (0.572, 0.549, 0.632, 0.572),
    "Jina-Embeddings-v5-Text-Small": (0.570, 0.554, 0.610, 0.570),
    "Text-Embedding-3-Large": (0.558, 0.539, 0.593, 0.558),
    "Jina-Embeddings-v5-Text-Nano": (0.532, 0.522, 0.569, 0.532),
    "EmbeddingGemma-300m": (0.519, 0.511, 0.588, 0.519),
    "Text-Embedding-3-Small": (0.512, 0.497, 0.554, 0.513),
    "BGE-m3": (0.511, 0.505, 0.563, 0.512),
    "Harrier-OSS-v1-270m": (0.498, 0.497, 0.557, 0.498),
    "Multilingual-E5-Large": (0.488, 0.508, 0.545, 0.488),
    "Approach Zero": (0.468, 0.469, 0.481, 0.446),
    "TF-IDF": (0.427, 0.435, 0.458, 0.430),
    "Jaccard": (0.403, 0.424, 0.444, 0.404),
    "BM25": (0.398, 0.409, 0.410, 0.398),
    "BERT": (0.357, 0.417, 0.429, 0.357),
    "RoBERTa": (0.311, 0.406, 0.397, 0.311),
}
COLUMNS = (
    ("SABER-Math: main results", "statement-full"),
    ("SABER-Math: main results", "statement-statement"),
    ("SABER-Math: main results", "full-full"),
    ("SABER-Math: confidence intervals", "statement-full"),
)


def external_rows() -> list[dict[str, object]]:
    """Rows of the landed table external_scores."""
    return [
        {"leaderboard": leaderboard, "system": system, "measure": measure, "value": value, "origin": leaderboard}
        for system, values in OVERALL.items()
        for (leaderboard, measure), value in zip(COLUMNS, values, strict=True)
    ]
