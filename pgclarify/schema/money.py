"""What models cost, what may be spent, and what was."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    ForeignKey,
    Identity,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import OID

from pgclarify.schema.base import Name, Timestamp, metadata

model_price = Table(
    "model_price",
    metadata,
    Column("model", Text, nullable=False, comment="The model's name, as workers use it."),
    Column("input_usd", Numeric, nullable=False, comment="US dollars for a million tokens of input."),
    Column("output_usd", Numeric, nullable=False, comment="US dollars for a million tokens of output."),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When the row was inserted."),
    Column(
        "cached_input_usd",
        Numeric,
        comment=("US dollars for a million tokens of input that the endpoint has cached; null if they cost input_usd."),
    ),
    PrimaryKeyConstraint("model", name="model_price_pk"),
    CheckConstraint("length(model) between 1 and 500", name="model_price_model_is_named"),
    CheckConstraint("input_usd >= 0 and input_usd < 'infinity'", name="model_price_input_usd_is_a_price"),
    CheckConstraint("output_usd >= 0 and output_usd < 'infinity'", name="model_price_output_usd_is_a_price"),
    CheckConstraint("cached_input_usd between 0 and input_usd", name="model_price_cached_input_usd_is_no_higher"),
    comment=(
        "Prices of models. You may insert, update and delete rows: a call costs what its row says when the reply "
        "arrives."
    ),
)

budget = Table(
    "budget",
    metadata,
    Column("budget_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column(
        "name",
        Text,
        nullable=False,
        comment=(
            "Its name in the runs that it stops: 1 to 100 characters, unique among the budgets of its corpus, or "
            "among those of all corpora."
        ),
    ),
    Column(
        "role_name",
        Name,
        comment="The budget applies to runs of this role and its members; null for everyone's.",
    ),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="budget_corpus_id_fk", ondelete="CASCADE"),
        comment="The budget applies to runs on this corpus; null for runs on all corpora, and without one.",
    ),
    Column(
        "period",
        Text,
        nullable=False,
        comment="Period of its limits: a day or month in UTC, or all time since its creation (total).",
    ),
    Column("max_cost_usd", Numeric, comment="US dollars; null for no limit."),
    Column("max_calls", BigInteger, comment="Calls; null for no limit."),
    Column(
        "binds_owner",
        Boolean,
        nullable=False,
        server_default=text("pg_has_role('pgclarify_owner', 'usage')"),
        comment=(
            "True if the owner of the corpus may not change or delete it, because a member of pgclarify_owner "
            "created it."
        ),
    ),
    Column(
        "created_at",
        Timestamp,
        nullable=False,
        server_default=text("now()"),
        comment="When it was created. Earlier spending does not count.",
    ),
    PrimaryKeyConstraint("budget_id", name="budget_pk"),
    UniqueConstraint("corpus_id", "name", name="budget_name_key", postgresql_nulls_not_distinct=True),
    CheckConstraint("length(name) between 1 and 100", name="budget_name_is_short"),
    CheckConstraint("period in ('day', 'month', 'total')", name="budget_period_is_known"),
    CheckConstraint("max_cost_usd >= 0 and max_cost_usd < 'infinity'", name="budget_max_cost_usd_is_an_amount"),
    CheckConstraint("max_calls >= 0", name="budget_max_calls_are_not_negative"),
    CheckConstraint("num_nonnulls(max_cost_usd, max_calls) >= 1", name="budget_has_a_limit"),
    comment=(
        "Limits of spending on model calls. set_budget and remove_budget write it; budget_status shows what is left."
    ),
)

budget_counter = Table(
    "budget_counter",
    metadata,
    Column("budget_id", BigInteger, nullable=False, comment="The budget, which may have been removed."),
    Column(
        "period_start",
        Timestamp,
        nullable=False,
        comment="When the period began; for total, when the budget was made.",
    ),
    Column(
        "cost_usd",
        Numeric,
        nullable=False,
        server_default=text("0"),
        comment="US dollars that answered calls of this period have cost.",
    ),
    Column("calls", BigInteger, nullable=False, server_default=text("0"), comment="How many there are."),
    PrimaryKeyConstraint("budget_id", "period_start", name="budget_counter_pk"),
    CheckConstraint("cost_usd >= 0 and cost_usd < 'infinity'", name="budget_counter_cost_usd_is_an_amount"),
    CheckConstraint("calls >= 0", name="budget_counter_calls_are_not_negative"),
    comment="What was spent of a budget in a period.",
)

embedding_usage = Table(
    "embedding_usage",
    metadata,
    Column("embedding_usage_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column("day", Date, nullable=False, comment="The day in UTC."),
    Column("corpus_id", BigInteger, comment="The corpus, which may have been dropped; null if there was none."),
    Column("corpus_name", Text, comment="Its name when the first of these texts was embedded; null without a corpus."),
    Column("requested_by", Name, nullable=False, comment="Role that asked, or that owns the corpus."),
    Column("requested_by_oid", OID, nullable=False, comment="Oid of that role."),
    Column(
        "operation",
        Text,
        nullable=False,
        comment="embed_passages (of a corpus), or embed_questions (also readings and answers of runs).",
    ),
    Column("model", Text, nullable=False, comment="The embedding model, as in embedding_space."),
    Column("texts", BigInteger, nullable=False, comment="How many texts."),
    Column(
        "tokens",
        BigInteger,
        nullable=False,
        comment="Their tokens; half a token for each byte if the endpoint did not say.",
    ),
    Column(
        "unpriced_tokens",
        BigInteger,
        nullable=False,
        comment="Tokens that were embedded while the model had no price.",
    ),
    Column("cost_usd", Numeric, nullable=False, comment="Cost of the other tokens, in US dollars."),
    PrimaryKeyConstraint("embedding_usage_id", name="embedding_usage_pk"),
    UniqueConstraint(
        "day",
        "corpus_id",
        "requested_by",
        "requested_by_oid",
        "operation",
        "model",
        name="embedding_usage_key",
        postgresql_nulls_not_distinct=True,
    ),
    CheckConstraint("operation in ('embed_passages', 'embed_questions')", name="embedding_usage_operation_is_known"),
    CheckConstraint("texts >= 0 and tokens >= 0", name="embedding_usage_counts_are_not_negative"),
    CheckConstraint("unpriced_tokens between 0 and tokens", name="embedding_usage_unpriced_tokens_are_among_tokens"),
    CheckConstraint("cost_usd >= 0 and cost_usd < 'infinity'", name="embedding_usage_cost_usd_is_an_amount"),
    comment="Usage of embedding endpoints, with a row for each day, corpus, role and model.",
)
