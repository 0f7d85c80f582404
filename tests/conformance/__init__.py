"""One list of scenarios over every implementation, judged by an independent formulation."""
