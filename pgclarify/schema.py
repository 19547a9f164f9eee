SCHEMA = "pgclarify"
import sqlalchemy
metadata = sqlalchemy.MetaData(schema=SCHEMA)
