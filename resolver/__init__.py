"""From a question to a grounded answer or a reasoned refusal; a later part of the project fills it."""
