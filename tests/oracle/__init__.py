"""The oracle of `evals/oracle`, held to the law by hand and on worlds that Hypothesis makes."""
