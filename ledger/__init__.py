"""The append-only, hash-chained ledger: bytes, kinds and seals, and no verdicts.

An entry is canonical JSON; `entry_hash` chains it to the entry before it, and its `leaf_hash` is a
leaf of an RFC 9162 Merkle tree whose frontier the head row keeps. Rows that live outside the ledger
are bound to their entry by `rows_root`. `append` writes inside the caller's transaction; `verify`
reads only what an outsider with the store could read.
"""
