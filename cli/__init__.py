"""The `trivet` command: one file per command, each a thin skin over the layers below."""
