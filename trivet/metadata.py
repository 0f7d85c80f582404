"""The one SQLAlchemy `MetaData` on which every package's `tables.py` stands.

Constraint names are fixed by convention (SQLAlchemy, "Configuring Constraint Naming
Conventions"), so that migrations can name what they change on SQLite and PostgreSQL alike.
"""

from sqlalchemy import MetaData

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
