"""Campaigns: thousands of runs of one system, on this machine or on a cluster, and the answers computed from them.

In reading order: `description` reads what is run, `sampling/` what varies and the values of run k. `runner` makes one
run, `cluster/` distributes runs over workers, and `storage/` keeps their rows. `campaign` combines these. `answers/`
makes further runs and computes the answers, and `report` shows them.
"""
