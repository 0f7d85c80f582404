"""The words everyone shares: verdicts, reasons, refusals, errors, canonical JSON, the clock.

The lowest layer. Nothing here reads or writes anything, and nothing here imports another
package of the project, so every code that reaches a person is spelled once, in this folder.
"""

__version__ = "0.1.0"
