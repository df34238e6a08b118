"""Campaigns: thousands of runs of one system, on this machine or on a cluster, and the answers computed from them.

In reading order: `description` reads what is run, `sampling/` what varies and the values of run k. `runner` makes one
run, `cluster/` distributes runs over workers, `dataset` keeps their rows, and `folder` all of a campaign. `answers/`
has one file for each question; `methods/` are the functions of numbers behind them. `report/` shows the answers, and
`campaign` combines these.
"""
