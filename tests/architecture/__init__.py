"""The shape of the project: layers, names, dependencies."""
