"""Answers of a campaign, one question per file: its entries, how it is read and answered, and its chart."""
