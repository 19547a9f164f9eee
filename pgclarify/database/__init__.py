"""The tables, as operations see them. Every statement is named in one of the *.sql files beside this one."""
