"""What 0.4.0 changes in the tables of 0.3.0. The comments of tables and columns follow from `pgclarify.schema`.

Revision ID: v0_4_0
Revises: v0_3_0
"""

from alembic import op

revision = "v0_4_0"
down_revision = "v0_3_0"
branch_labels = None
depends_on = None

_STATEMENTS: tuple[str, ...] = (
    # A filter of an endpoint: PC020. All rows fulfil it, because it allows more than before.
    """
    alter table pgclarify_private.verdict
    drop constraint verdict_error_code_is_known,
    add constraint verdict_error_code_is_known check (
        error_code in (
            'PC007', 'PC008', 'PC010', 'PC011', 'PC012', 'PC013', 'PC014', 'PC015', 'PC017', 'PC020', 'XX000'
        )
    )
    """,
    # What a check doubts is shown, with the reason, if the model abstains often enough.
    """
    alter table pgclarify_private.verdict
    add column doubt_code text,
    add constraint verdict_doubt_code_is_known check (
        doubt_code in ('fragment', 'answer_not_quoted', 'beside_the_point', 'about_another')
    ),
    add constraint verdict_doubted_is_grounded check (doubt_code is null or outcome = 'grounded')
    """,
    """
    alter table pgclarify_private.interpretation
    add column doubt text,
    add constraint interpretation_doubt_is_known check (
        doubt in ('fragment', 'answer_not_quoted', 'beside_the_point', 'about_another')
    )
    """,
    # A passage may have several readings.
    """
    alter table pgclarify_private.verdict
    add column reading_ordinal integer not null default 1,
    add column leans_on text[],
    drop constraint verdict_pk,
    add constraint verdict_pk primary key (run_id, rank, reading_ordinal),
    add constraint verdict_reading_ordinal_counts_from_one check (reading_ordinal >= 1)
    """,
    "create index verdict_leans_on_idx on pgclarify_private.verdict using gin (leans_on) where leans_on is not null",
    "alter table pgclarify_private.citation add column reading_ordinal integer not null default 1",
    """
    create table pgclarify_private.joint_verdict (
        completion_id bigint not null
        constraint joint_verdict_completion_id_fk references pgclarify_private.completion (completion_id)
        on delete cascade,
        passage_hash bytea not null,
        said jsonb not null,
        constraint joint_verdict_pk primary key (completion_id, passage_hash)
    )
    """,
    "alter table pgclarify_private.joint_verdict alter column said set statistics 0",
    "create index joint_verdict_passage_hash_idx on pgclarify_private.joint_verdict (passage_hash)",
    # All readings are stored, also those that a run does not show.
    """
    alter table pgclarify_private.interpretation
    add column probability real,
    add column level text,
    add column is_shown boolean not null default true,
    add constraint interpretation_probability_is_a_share check (probability between 0 and 1),
    add constraint interpretation_level_is_known check (level in ('certain', 'likely', 'all'))
    """,
    "alter table pgclarify_private.citation add column is_shown boolean not null default true",
    # Workers of 0.3.0 cannot carry on, because copy_verdicts returns another column. Others take their runs.
    "update pgclarify_private.run set status = 'queued' where status = 'running'",
)


def upgrade() -> None:
    for statement in (*_STATEMENTS, *_model_trials(), *_feedback(), *_document_fields()):
        op.execute(statement)


def _model_trials() -> tuple[str, ...]:
    """How many passages a call may have is measured."""
    return (
        """
        create table pgclarify_private.model_trial (
            model_trial_id bigint generated always as identity,
            endpoint text not null,
            model text not null,
            prompt_version text not null,
            passages_per_call integer,
            measured jsonb not null default '[]',
            calls bigint not null default 0,
            prompt_tokens bigint not null default 0,
            completion_tokens bigint not null default 0,
            cost_usd numeric,
            worker_id bigint,
            started_at timestamptz,
            finished_at timestamptz,
            due_at timestamptz,
            error text,
            failures bigint not null default 0,
            constraint model_trial_pk primary key (model_trial_id),
            constraint model_trial_key unique (endpoint, model, prompt_version),
            constraint model_trial_passages_per_call_is_positive check (passages_per_call >= 1),
            constraint model_trial_finished_has_a_result check (
                (finished_at is null) = (passages_per_call is null)
            ),
            constraint model_trial_measured_is_an_array check (jsonb_typeof(measured) = 'array'),
            constraint model_trial_failed_is_due_later check ((due_at is null) = (error is null)),
            constraint model_trial_cost_usd_is_an_amount check (cost_usd >= 0 and cost_usd < 'infinity')
        )
        """,
        "alter table pgclarify_private.model_trial"
        " alter column endpoint set statistics 0, alter column error set statistics 0",
        "alter table pgclarify_private.worker add column model_trial_id bigint"
        " constraint worker_model_trial_id_fk references pgclarify_private.model_trial",
    )


def _feedback() -> tuple[str, ...]:
    """What people say of readings."""
    return (
        """
        create table pgclarify_private.feedback (
            feedback_id bigint generated always as identity,
            run_id bigint,
            corpus_id bigint,
            corpus_name text not null,
            question text not null,
            history jsonb not null default '[]',
            is_of_part boolean not null,
            ordinal integer not null,
            interpretation text,
            answer text,
            document_ids text[] not null default '{}',
            read_ids text[] not null,
            rating text,
            comment text,
            missing text,
            person text not null default '',
            model text,
            prompt_version text,
            probability real,
            requested_by name not null,
            requested_by_oid oid not null default quote_ident(current_user)::regrole,
            given_by name not null,
            given_by_oid oid not null,
            created_at timestamptz not null default now(),
            updated_at timestamptz not null default now(),
            constraint feedback_pk primary key (feedback_id),
            constraint feedback_run_id_fk foreign key (run_id)
            references pgclarify_private.run (run_id) on delete set null,
            constraint feedback_corpus_id_fk foreign key (corpus_id)
            references pgclarify_private.corpus (corpus_id) on delete set null,
            constraint feedback_rating_is_known check (rating in ('right', 'wrong', 'useless')),
            constraint feedback_key unique (run_id, given_by, person, ordinal),
            constraint feedback_ordinal_is_not_negative check (ordinal >= 0),
            constraint feedback_rates_a_reading check (
                num_nonnulls(interpretation, answer, rating) = case ordinal when 0 then 0 else 3 end
            ),
            constraint feedback_misses_an_answer_or_rates check ((missing is not null) = (ordinal = 0))
        )
        """,
        "create index feedback_corpus_id_idx on pgclarify_private.feedback (corpus_id)",
        "create index feedback_read_ids_idx on pgclarify_private.feedback using gin (read_ids)",
        # PostgreSQL keeps no texts of people and documents in its statistics.
        """
        alter table pgclarify_private.feedback
        alter column question set statistics 0,
        alter column history set statistics 0,
        alter column interpretation set statistics 0,
        alter column answer set statistics 0,
        alter column document_ids set statistics 0,
        alter column read_ids set statistics 0,
        alter column comment set statistics 0,
        alter column missing set statistics 0,
        alter column person set statistics 0
        """,
    )


def _document_fields() -> tuple[str, ...]:
    """A document has an author; and columns of attached tables are named by the field that they have."""
    return (
        "alter table pgclarify_private.document add column author text",
        "alter table pgclarify_private.document alter column author set statistics 0",
        "alter table pgclarify_private.corpus add column folders jsonb",
        "alter table pgclarify_private.corpus alter column folders set statistics 0",
        # A corpus of texts that strangers write may have its passages read one by one.
        """
        alter table pgclarify_private.corpus
        add column passages_per_call integer,
        add constraint corpus_passages_per_call_counts_from_one check (passages_per_call >= 1)
        """,
        "alter table pgclarify_private.source add column field_columns jsonb not null default '{}'",
        """
        update pgclarify_private.source
        set field_columns = jsonb_strip_nulls(jsonb_build_object(
            'title', title_column, 'uri', uri_column, 'readers', readers_column, 'dated', dated_column
        ))
        """,
        # Functions that name these columns are made again after this.
        """
        alter table pgclarify_private.source
        drop column title_column cascade,
        drop column uri_column cascade,
        drop column readers_column cascade,
        drop column dated_column cascade
        """,
        # No view and no function showed these.
        "alter table pgclarify_private.named_role drop column noted_at",
        "alter table pgclarify_private.trained_classifier drop column trained_by, drop column trained_at",
    )
