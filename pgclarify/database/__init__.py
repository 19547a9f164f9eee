"""The stores of operations, on PostgreSQL. Every statement has a name in one of the *.sql files of this folder."""
