"""Which pairs of candidates are judged, round by round, and the job that has them judged."""
