"""The HTTP API and the web page; a later part of the project fills it."""
