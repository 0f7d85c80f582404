"""The compiled queries against an oracle that shares no code with the compiler."""
