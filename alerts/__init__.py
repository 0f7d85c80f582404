"""From an evaluation to an alert change, an outbox row and a notice; a later part of the project fills it."""
