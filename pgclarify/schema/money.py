"""What models cost, what may be spent, and what was."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import OID

from pgclarify.data.vocabulary import BudgetPeriod, EmbeddingUse
from pgclarify.declared.words import listed
from pgclarify.schema.base import Name, Timestamp, column, count, metadata, word_is_known

model_price = sa.Table(
    "model_price",
    metadata,
    column("model", sa.Text, "The model's name, as workers use it."),
    column("input_usd", sa.Numeric, "US dollars for a million tokens of input."),
    column("output_usd", sa.Numeric, "US dollars for a million tokens of output."),
    column("created_at", Timestamp, "When the row was inserted.", default="now()"),
    column(
        "cached_input_usd",
        sa.Numeric,
        "US dollars for a million tokens of input that the endpoint has cached; null if they cost input_usd.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("model"),
    sa.CheckConstraint("length(model) between 1 and 500", name="model_price_model_is_named"),
    sa.CheckConstraint("input_usd >= 0 and input_usd < 'infinity'", name="model_price_input_usd_is_a_price"),
    sa.CheckConstraint("output_usd >= 0 and output_usd < 'infinity'", name="model_price_output_usd_is_a_price"),
    sa.CheckConstraint("cached_input_usd between 0 and input_usd", name="model_price_cached_input_usd_is_no_higher"),
    comment=(
        "Prices of models. You may insert, update and delete rows: a call costs what its row says when the reply "
        "arrives."
    ),
)

budget = sa.Table(
    "budget",
    metadata,
    column("budget_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column(
        "name",
        sa.Text,
        "Its name in the runs that it stops: 1 to 100 characters, unique among the budgets of its corpus, or "
        "among those of all corpora.",
    ),
    column(
        "role_name", Name, "The budget applies to runs of this role and its members; null for everyone's.", null=True
    ),
    column(
        "corpus_id",
        sa.BigInteger,
        "The budget applies to runs on this corpus; null for runs on all corpora, and without one.",
        sa.ForeignKey("corpus.corpus_id", ondelete="CASCADE"),
        null=True,
    ),
    column("period", sa.Text, f"Period of its limits: {listed(BudgetPeriod)}."),
    column("max_cost_usd", sa.Numeric, "US dollars; null for no limit.", null=True),
    column("max_calls", sa.BigInteger, "Calls; null for no limit.", null=True),
    column(
        "binds_owner",
        sa.Boolean,
        "True if the owner of the corpus may not change or delete it, because a member of pgclarify_owner created it.",
        default="pg_has_role('pgclarify_owner', 'usage')",
    ),
    column("created_at", Timestamp, "When it was created. Earlier spending does not count.", default="now()"),
    sa.PrimaryKeyConstraint("budget_id"),
    sa.UniqueConstraint("corpus_id", "name", name="budget_name_key", postgresql_nulls_not_distinct=True),
    sa.CheckConstraint("length(name) between 1 and 100", name="budget_name_is_short"),
    word_is_known("budget.period"),
    sa.CheckConstraint("max_cost_usd >= 0 and max_cost_usd < 'infinity'", name="budget_max_cost_usd_is_an_amount"),
    sa.CheckConstraint("max_calls >= 0", name="budget_max_calls_are_not_negative"),
    sa.CheckConstraint("num_nonnulls(max_cost_usd, max_calls) >= 1", name="budget_has_a_limit"),
    comment=(
        "Limits of spending on model calls. set_budget and remove_budget write it; budget_status shows what is left."
    ),
)

budget_counter = sa.Table(
    "budget_counter",
    metadata,
    column("budget_id", sa.BigInteger, "The budget, which may have been removed."),
    column("period_start", Timestamp, "When the period began; for total, when the budget was made."),
    column(
        "cost_usd",
        sa.Numeric,
        "US dollars that answered calls of this period have cost, and calls without a reply may have cost.",
        default="0",
    ),
    count("calls", "How many calls these are."),
    sa.PrimaryKeyConstraint("budget_id", "period_start"),
    sa.CheckConstraint("cost_usd >= 0 and cost_usd < 'infinity'", name="budget_counter_cost_usd_is_an_amount"),
    sa.CheckConstraint("calls >= 0", name="budget_counter_calls_are_not_negative"),
    comment="What was spent of a budget in a period.",
)

embedding_usage = sa.Table(
    "embedding_usage",
    metadata,
    column("embedding_usage_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column("day", sa.Date, "The day in UTC."),
    column("corpus_id", sa.BigInteger, "The corpus, which may have been dropped; null if there was none.", null=True),
    column(
        "corpus_name", sa.Text, "Its name when the first of these texts was embedded; null without a corpus.", null=True
    ),
    column("requested_by", Name, "Role that asked, or that owns the corpus."),
    column("requested_by_oid", OID, "Oid of that role."),
    column("operation", sa.Text, f"{listed(EmbeddingUse)}."),
    column("model", sa.Text, "The embedding model, as in embedding_space."),
    column("texts", sa.BigInteger, "How many texts."),
    column("tokens", sa.BigInteger, "Their tokens; half a token for each byte if the endpoint did not say."),
    column("unpriced_tokens", sa.BigInteger, "Tokens that were embedded while the model had no price."),
    column("cost_usd", sa.Numeric, "Cost of the other tokens, in US dollars."),
    sa.PrimaryKeyConstraint("embedding_usage_id"),
    sa.UniqueConstraint(
        "day",
        "corpus_id",
        "requested_by",
        "requested_by_oid",
        "operation",
        "model",
        name="embedding_usage_key",
        postgresql_nulls_not_distinct=True,
    ),
    word_is_known("embedding_usage.operation"),
    sa.CheckConstraint("texts >= 0 and tokens >= 0", name="embedding_usage_counts_are_not_negative"),
    sa.CheckConstraint("unpriced_tokens between 0 and tokens", name="embedding_usage_unpriced_tokens_are_among_tokens"),
    sa.CheckConstraint("cost_usd >= 0 and cost_usd < 'infinity'", name="embedding_usage_cost_usd_is_an_amount"),
    comment="Usage of embedding endpoints, with a row for each day, corpus, role and model.",
)
