-- What is installed, which a worker compares with its own version. init compares no state: the extension keeps its objects.

insert into pgclarify_private.applied_sql (shipped_hash, state_hash)
values (current_setting('pgclarify.shipped_hash'), '')
on conflict on constraint applied_sql_pk
    do update set shipped_hash = excluded.shipped_hash, state_hash = excluded.state_hash;
