"""Campaigns: thousands of runs of one system, on this machine or on a cluster, and the answers they give.

In the order in which a reader needs them: `description` and `vary` say what varies by which of the `laws`, `draws` what
run number k is; `runner` makes one run, `execution` all of them on workers, `dataset` keeps them; `campaign` puts it
together, `evaluation` runs what methods ask for; `answers/` has the questions, `report` shows them.
"""
