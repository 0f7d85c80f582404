"""From an evaluation to an alert change, outbox rows and notices.

`changes` decides, purely; `recording` writes the change, its ledger entry and its outbox rows inside the
evaluation's transaction; `delivery` sends from the outbox afterwards, through the port in `notifiers`.
"""
