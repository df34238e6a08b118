"""The report of a campaign: its page, and the charts of its answers in a browser and as pictures."""
