"""From a system and its instances to the tables of the compiled loop."""
