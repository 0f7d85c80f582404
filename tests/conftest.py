"""Hypothesis profiles: `HYPOTHESIS_PROFILE` names one; else `ci` where `CI` is set, else `fast`."""

from __future__ import annotations

import gc
import os

from hypothesis import HealthCheck, settings

# A deadline fails a correct test on a busy machine. A blob reproduces a failure seen elsewhere.
settings.register_profile("fast", deadline=None, print_blob=True, max_examples=50)
# Derandomized, so that the same commit always gets the same verdict; the search for new cases is `fast`'s.
settings.register_profile(
    "ci",
    deadline=None,
    print_blob=True,
    max_examples=100,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# For a night: see the modules that name it.
settings.register_profile("long", deadline=None, print_blob=True, max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "fast"))

# Trees of SQL are made and dropped by the thousand, and hold each other: with the interpreter's own thresholds, a fifth
# of the time of a generated case goes into looking for what can be freed.
gc.set_threshold(50_000, 20, 50)
