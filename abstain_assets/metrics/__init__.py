"""From verdicts to numbers: accuracies with their counts, intervals, the leaderboard, and the report."""
