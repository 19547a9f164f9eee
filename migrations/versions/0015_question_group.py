"""Questions that mean the same, how often answers were served again, and what dashboards would always count anew."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    vector_schema = (
        op.get_bind()
        .exec_driver_sql(
            "select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace"
            " where e.extname = 'vector'"
        )
        .scalar_one()
    )
    op.execute(f"""
        create table pgclarify.question_group (
            -- Numbers in a row would tell whoever sees some of them how much others ask. These are exact in JSON, too.
            question_group_id bigint not null
                default ('x' || right(replace(gen_random_uuid()::text, '-', ''), 13))::bit(52)::bigint,
            corpus_id bigint not null
                constraint question_group_corpus_id_fk references pgclarify.corpus on delete cascade,
            embedding_model text,
            leader {vector_schema}.halfvec,
            figures text[] not null default '{{}}',
            question_word text,
            created_at timestamptz not null default now(),
            constraint question_group_pk primary key (question_group_id),
            constraint question_group_leader_is_of_a_model check ((leader is null) = (embedding_model is null))
        );
        create index question_group_corpus_id_idx on pgclarify.question_group (corpus_id);
        comment on table pgclarify.question_group is
            'Questions of a corpus that mean the same. Workers put runs into groups after their end; '
            'for each length of vectors there is an HNSW index, made when the first one comes.';
        comment on column pgclarify.question_group.question_group_id is
            'Key, drawn at random: it tells nobody when the group began, nor how many there are.';
        comment on column pgclarify.question_group.corpus_id is 'The corpus that was asked.';
        comment on column pgclarify.question_group.embedding_model is
            'The model that leader is of; null if the group has none.';
        comment on column pgclarify.question_group.leader is
            'Embedding of the question that the group began with: who is near it belongs to the group. Null if only '
            'questions in the same words do.';
        comment on column pgclarify.question_group.figures is
            'Figures in that question, sorted: who has others is of another group.';
        comment on column pgclarify.question_group.question_word is
            'who, when, where or why, if that question has one of them; null otherwise. Who has another one is of '
            'another group.';
        comment on column pgclarify.question_group.created_at is 'When it began.';

        -- No foreign key leads to the group: both go with their corpus, and each group would be looked up for it.
        create table pgclarify.question_wording (
            corpus_id bigint not null
                constraint question_wording_corpus_id_fk references pgclarify.corpus on delete cascade,
            wording_hash bytea not null
                constraint question_wording_hash_is_sha256 check (length(wording_hash) = 32),
            question_group_id bigint not null,
            constraint question_wording_pk primary key (corpus_id, wording_hash)
        );
        create index question_wording_question_group_id_idx on pgclarify.question_wording (question_group_id);
        comment on table pgclarify.question_wording is
            'Wordings of questions that have a group, so that equal ones need not be compared by meaning.';
        comment on column pgclarify.question_wording.corpus_id is 'The corpus that was asked.';
        comment on column pgclarify.question_wording.wording_hash is
            'SHA-256 of the question without case, white space and punctuation.';
        comment on column pgclarify.question_wording.question_group_id is 'The group that it belongs to.';

        -- Unlogged: who is served again need not wait for the disk, and a crash loses no more than some counts.
        create unlogged table pgclarify.served_answer (
            run_id bigint not null,
            served_at timestamptz not null default now()
        );
        comment on table pgclarify.served_answer is
            'A question that was answered from a run which had answered it before, until a worker has counted it. '
            'Callers append, so that nobody waits for anybody.';
        comment on column pgclarify.served_answer.run_id is 'The run that served.';
        comment on column pgclarify.served_answer.served_at is 'When it was asked again.';

        create table pgclarify.citation_tally (
            corpus_id bigint not null
                constraint citation_tally_corpus_id_fk references pgclarify.corpus on delete cascade,
            document_id text not null,
            requested_by name not null,
            citations bigint not null constraint citation_tally_citations_are_positive check (citations >= 1),
            runs bigint not null constraint citation_tally_runs_are_positive check (runs >= 1),
            last_cited_at timestamptz not null,
            constraint citation_tally_pk primary key (corpus_id, document_id, requested_by)
        );
        comment on table pgclarify.citation_tally is
            'How often a document was cited for whom; counted when a run gets its group, and runs that were deleted '
            'since still count.';
        comment on column pgclarify.citation_tally.corpus_id is 'The corpus.';
        comment on column pgclarify.citation_tally.document_id is 'The document, which may have gone since.';
        comment on column pgclarify.citation_tally.requested_by is 'Role that asked.';
        comment on column pgclarify.citation_tally.citations is
            'Citations of interpretations, of steps of investigations and of listed answers.';
        comment on column pgclarify.citation_tally.runs is 'Runs with such a citation.';
        comment on column pgclarify.citation_tally.last_cited_at is 'When the last of them ended.';

        alter table pgclarify.run
            add column embedding_model text,
            add column interpretations integer
                constraint run_interpretations_are_not_negative check (interpretations >= 0),
            add column candidates integer
                constraint run_candidates_are_not_negative check (candidates >= 0),
            add column verdicts integer
                constraint run_verdicts_are_not_negative check (verdicts >= 0),
            add column served integer not null default 0
                constraint run_served_is_not_negative check (served >= 0),
            add column last_served_at timestamptz,
            add column question_group_id bigint,
            add column is_counted boolean not null default true,
            add constraint run_served_has_a_time check ((served > 0) = (last_served_at is not null));
        comment on column pgclarify.run.question_vector is
            'Embedding of the question as it was retrieved with; null until it is worked out.';
        comment on column pgclarify.run.embedding_model is
            'The model that question_vector is of; null without one, and in runs of earlier versions.';
        comment on column pgclarify.run.interpretations is
            'Readings found; null unless it is a run of clarify or consolidate that succeeded or is partial.';
        comment on column pgclarify.run.candidates is 'Passages retrieved; null until it has ended.';
        comment on column pgclarify.run.verdicts is 'Passages judged; null until it has ended.';
        comment on column pgclarify.run.served is
            'How often it answered an equal question again; counted within seconds.';
        comment on column pgclarify.run.last_served_at is 'When it last did; null if it never has.';
        comment on column pgclarify.run.question_group_id is
            'Questions of its corpus that mean the same have the same; null until a worker has looked, after its end.';
        comment on column pgclarify.run.is_counted is
            'False if it does not count as asked: it is of an evaluation, or of a session where '
            'pgclarify.count_questions is off.';

        create index run_created_at_idx on pgclarify.run (created_at);
        create index run_ungrouped_idx on pgclarify.run (run_id)
            where question_group_id is null and corpus_id is not null and finished_at is not null
                and operation in ('clarify', 'consolidate', 'search', 'investigate', 'list_answers');
        -- All that views of questions read, so that they do not read the rows, which are wide.
        create index run_question_group_id_idx on pgclarify.run (question_group_id, run_id) include (
            operation, corpus_id, corpus_name, requested_by, status, interpretations, served, is_counted, created_at,
            last_served_at, corpus_revision
        ) where question_group_id is not null;
    """)
    op.execute("""
        -- One that an evaluation found there was asked by somebody else.
        update pgclarify.run
        set is_counted = false
        from pgclarify.eval_case
        inner join pgclarify.eval_run on eval_case.eval_run_id = eval_run.eval_run_id
        where run.run_id = eval_case.run_id and run.created_at >= eval_run.created_at;
    """)


def downgrade() -> None:
    """Lose groups and counts; workers find the groups again after the next upgrade."""
    op.execute("""
        alter table pgclarify.run
            drop column embedding_model,
            drop column interpretations,
            drop column candidates,
            drop column verdicts,
            drop column served,
            drop column last_served_at,
            drop column question_group_id,
            drop column is_counted;
        drop index pgclarify.run_created_at_idx;
        comment on column pgclarify.run.question_vector is 'Embedding of the question; null until it is worked out.';

        drop table pgclarify.citation_tally;
        drop table pgclarify.served_answer;
        drop table pgclarify.question_wording;
        drop table pgclarify.question_group;
    """)
