"""The whole production topology on one machine without containers, supervised: `trivet stack`."""
