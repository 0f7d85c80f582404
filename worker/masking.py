"""The secret under which keys are masked: one for each store, made at first use, and told to nobody."""

from __future__ import annotations

import secrets
from functools import cache

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from monitors.masking import SECRET_BYTES, Mask
from worker.tables import secret

_MASKING = "masking"


def mask_of(store: sa.Engine | None) -> Mask:
    """The mask of a store; without one, that of this process, which nothing that is kept has in common with it."""
    return Mask(_unkept_secret() if store is None else _stored_secret(store))


@cache
def _unkept_secret() -> bytes:
    return secrets.token_bytes(SECRET_BYTES)


def _stored_secret(store: sa.Engine) -> bytes:
    with store.begin() as connection:
        found = _read(connection)
        if found is None:
            try:
                with connection.begin_nested():
                    made = secrets.token_bytes(SECRET_BYTES)
                    connection.execute(secret.insert(), {"purpose": _MASKING, "value": made})
                return made
            except IntegrityError:  # Another process was first.
                found = _read(connection)
        if found is None:
            raise LookupError("the store has no secret and takes none")
        return found


def _read(connection: sa.Connection) -> bytes | None:
    value = connection.execute(sa.select(secret.c.value).where(secret.c.purpose == _MASKING)).scalar()
    return None if value is None else bytes(value)
