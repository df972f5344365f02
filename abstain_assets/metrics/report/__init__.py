"""The static report: leaderboard, figures, and a page per scenario, model and pair, that opens from the file system."""
