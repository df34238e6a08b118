"""Questions to a campaign, one subject a file; each a function of numbers, and `asked` puts them to a campaign."""
