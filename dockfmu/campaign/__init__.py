"""Campaigns: thousands of runs of one system, on this machine or on a cluster, and the answers computed from them.

In reading order: `description` and `vary` read which variables vary and by which of the `laws`; `draws` computes the
values of run k. `runner` makes one run, `execution` distributes runs over workers, and `dataset` stores their rows.
`campaign` combines these. `evaluation` makes the runs that methods request. `answers/` computes the answers, and
`report` shows them.
"""
