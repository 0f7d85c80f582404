"""The verifier: an outsider's reading of a ledger, which shares nothing with what wrote it.

It takes rows of a store or the files of an export, and states the format a second time: hashes, trees, notes and the
layout of bound rows are written here anew, from `docs/reference/store.md`. Import-linter holds that nothing of the
writer is imported; a test holds the two statements to each other.
"""
