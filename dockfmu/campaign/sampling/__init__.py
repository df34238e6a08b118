"""What varies in a campaign: distributions, laws, and the values of each run."""
