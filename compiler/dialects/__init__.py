"""One file per engine: how the type rules and the few seams of SQL are spelled for it."""
