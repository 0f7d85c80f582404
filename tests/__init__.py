"""All tests of the project; `CONTRIBUTING.md` says what belongs in which folder."""
