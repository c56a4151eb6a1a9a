"""Many runs: sweep, publish, reproduce, leaderboard."""
