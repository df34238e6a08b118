"""What a campaign keeps: its folder and its rows."""
