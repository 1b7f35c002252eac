"""The page where people judge pairs of candidates: sampling of tasks, server, guard, front end."""
