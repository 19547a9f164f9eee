-- Prices and budgets, as people read them. Text is wrapped: see views/wrapping.sql.

create or replace view pgclarify.model_price as
select
    model_price.model,
    model_price.input_usd,
    model_price.output_usd,
    model_price.created_at,
    model_price.cached_input_usd
from pgclarify_private.model_price;

grant select on pgclarify.model_price to pgclarify_reader;
-- Members of pgclarify_owner also write it: that role inherits what pgclarify_views may do.

