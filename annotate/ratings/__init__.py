"""Strengths and ratings from judgments: ridge Bradley-Terry, one model a query, all queries at once."""
