select leaderboard, system, measure, value, origin
from {{ latest(source("landing", "external_scores"), ["leaderboard", "system", "measure"]) }}
