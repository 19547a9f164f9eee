"""Knowing when to ask: rules of ambiguity, what was detected, what was rewritten, and runs that need no corpus.

Revision ID: 0010
Revises: 0009
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        alter table pgclarify.run
            alter column corpus_name drop not null,
            add column route text constraint run_route_is_known check (route in ('answered', 'clarified')),
            add column saved_completions integer
                constraint run_saved_completions_are_not_negative check (saved_completions >= 0),
            drop constraint run_operation_is_known,
            add constraint run_operation_is_known check (
                operation in (
                    'clarify', 'consolidate', 'search', 'investigate', 'detect_ambiguity', 'detect_ambiguity_many',
                    'rewrite', 'clarifying_questions', 'reply', 'list_answers'
                )
            ),
            add constraint run_has_a_corpus check (
                corpus_name is not null
                or corpus_id is null
                and operation in (
                    'detect_ambiguity', 'detect_ambiguity_many', 'rewrite', 'clarifying_questions', 'reply'
                )
            );
        comment on column pgclarify.run.operation is
            'clarify, consolidate, search, investigate, detect_ambiguity, detect_ambiguity_many, rewrite, '
            'clarifying_questions, reply or list_answers.';
        comment on column pgclarify.run.corpus_id is
            'The corpus; null once it was dropped, or if none was asked (corpus_name is null then, too).';
        comment on column pgclarify.run.corpus_name is
            'The corpus''s name when it was asked; null for what was asked of no corpus.';
        comment on column pgclarify.run.question is
            'The question as it was asked; for detect_ambiguity_many, a JSON array of questions.';
        comment on column pgclarify.run.parent_run_id is
            'The run whose verdicts this one consolidates again, or whose question it replies to; null for others.';
        comment on column pgclarify.run.route is
            'Where ask_back is auto: answered (the question was clear, and one pass answered it) or clarified; null '
            'elsewhere, and until it is decided.';
        comment on column pgclarify.run.saved_completions is
            'Calls that the route spared; null where there was none to decide.';

        alter table pgclarify.stage
            drop constraint stage_name_is_known,
            add constraint stage_name_is_known check (
                name in (
                    'detection', 'relaxation', 'retrieval', 'neighbors', 'reranking', 'judgement', 'consolidation',
                    'decomposition', 'sampling', 'answering', 'reasoning', 'rewriting', 'questioning', 'checking',
                    'listing'
                )
            );
        comment on column pgclarify.stage.name is
            'detection, relaxation, retrieval, neighbors, reranking, judgement, consolidation, decomposition, '
            'sampling, answering, reasoning, rewriting, questioning, checking or listing.';

        comment on column pgclarify.completion.purpose is
            'What the reply is for: relaxation, verdict, relevance, entailment, follow_up, sample, answer, '
            'conclusion, rewriting, questions, reformulation or listing.';

        -- A name for the constraint to rest on: sql/ has what it does.
        create function pgclarify._is_fit_pattern(pattern text)
        returns boolean
        language sql immutable parallel safe
        set search_path = pg_catalog, pg_temp
        begin atomic
            select _is_fit_pattern.pattern <> '';
        end;

        create table pgclarify.ambiguity_rule (
            ambiguity_rule_id bigint generated always as identity,
            pattern text not null constraint ambiguity_rule_pattern_is_fit check (pgclarify._is_fit_pattern(pattern)),
            kind text not null constraint ambiguity_rule_kind_is_known
                check (kind in ('pragmatic', 'syntactic', 'lexical')),
            corpus text constraint ambiguity_rule_corpus_fk references pgclarify.corpus (name)
                on update cascade on delete cascade,
            note text constraint ambiguity_rule_note_is_short check (length(note) between 1 and 500),
            created_at timestamptz not null default now(),
            constraint ambiguity_rule_pk primary key (ambiguity_rule_id)
        );
        create index ambiguity_rule_corpus_idx on pgclarify.ambiguity_rule (corpus);
        comment on table pgclarify.ambiguity_rule is
            'A question that matches a rule is ambiguous. Insert, update and delete rows as you like.';
        comment on column pgclarify.ambiguity_rule.ambiguity_rule_id is 'Key.';
        comment on column pgclarify.ambiguity_rule.pattern is
            'Regular expression (advanced, as of operator ~*: any case of letters; \\m and \\M are the begin and end '
            'of a word) of 1 to 500 characters, found anywhere in a question.';
        comment on column pgclarify.ambiguity_rule.kind is
            'pragmatic (what it refers to is missing), syntactic (it is vague) or lexical (a name or word with several '
            'meanings).';
        comment on column pgclarify.ambiguity_rule.corpus is
            'Corpus whose questions it is for; null for all, also for those that are asked of no corpus.';
        comment on column pgclarify.ambiguity_rule.note is
            'Why it is ambiguous, for whoever asked: shown among the reasons; null if nothing is to be said.';
        comment on column pgclarify.ambiguity_rule.created_at is 'When it was made.';

        create table pgclarify.detection (
            run_id bigint not null constraint detection_run_id_fk references pgclarify.run on delete cascade,
            ordinal integer not null constraint detection_ordinal_counts_from_one check (ordinal >= 1),
            question text not null,
            is_ambiguous boolean not null,
            probability real not null
                constraint detection_probability_is_a_share check (probability between 0 and 1),
            kind text constraint detection_kind_is_known check (kind in ('pragmatic', 'syntactic', 'lexical')),
            reasons jsonb not null constraint detection_reasons_are_an_array check (jsonb_typeof(reasons) = 'array'),
            classifier_version text not null,
            constraint detection_pk primary key (run_id, ordinal),
            constraint detection_ambiguous_has_a_kind check (is_ambiguous = (kind is not null))
        );
        comment on table pgclarify.detection is 'Whether a question was found to be ambiguous, and why.';
        comment on column pgclarify.detection.run_id is 'The run.';
        comment on column pgclarify.detection.ordinal is 'Place of the question in the run, from 1.';
        comment on column pgclarify.detection.question is 'The question.';
        comment on column pgclarify.detection.is_ambiguous is
            'True if the probability reaches the threshold of the run, or a rule says so.';
        comment on column pgclarify.detection.probability is
            'Of being ambiguous, from 0 to 1; 1 if a rule matched.';
        comment on column pgclarify.detection.kind is
            'pragmatic (what it refers to is missing or in the history), syntactic (it is vague or under-specified) or '
            'lexical (a name or word with several meanings); null unless ambiguous.';
        comment on column pgclarify.detection.reasons is
            'What spoke: array of objects with source (classifier, feature, rule or corpus), name and text.';
        comment on column pgclarify.detection.classifier_version is 'Version of the classifier.';

        create table pgclarify.rewriting (
            run_id bigint not null constraint rewriting_run_id_fk references pgclarify.run on delete cascade,
            rewritten text not null,
            was_ambiguous boolean,
            reason text,
            constraint rewriting_pk primary key (run_id)
        );
        comment on table pgclarify.rewriting is
            'The question that a run of rewrite or reply came to: one that stands on its own.';
        comment on column pgclarify.rewriting.run_id is 'The run.';
        comment on column pgclarify.rewriting.rewritten is
            'The question; the one that was asked, to the byte, if it was clear or could not be rewritten.';
        comment on column pgclarify.rewriting.was_ambiguous is
            'Whether it was found to be ambiguous; null for replies.';
        comment on column pgclarify.rewriting.reason is
            'Why it was rewritten as it was, or not at all; null if nothing is to be said.';

        create type pgclarify.ambiguity as (
            run_id bigint,
            is_ambiguous boolean,
            probability real,
            kind text,
            reasons jsonb
        );
        comment on type pgclarify.ambiguity is 'Whether a question is ambiguous: the row of detect_ambiguity.';
        comment on column pgclarify.ambiguity.run_id is 'The run.';
        comment on column pgclarify.ambiguity.is_ambiguous is
            'True if the probability reaches the threshold, or a rule says so.';
        comment on column pgclarify.ambiguity.probability is 'Of being ambiguous, from 0 to 1; 1 if a rule matched.';
        comment on column pgclarify.ambiguity.kind is 'pragmatic, syntactic or lexical; null unless ambiguous.';
        comment on column pgclarify.ambiguity.reasons is
            'What spoke: array of objects with source (classifier, feature, rule or corpus), name and text.';

        create type pgclarify.question_ambiguity as (
            question_ordinal integer,
            question text,
            run_id bigint,
            is_ambiguous boolean,
            probability real,
            kind text,
            reasons jsonb,
            status text
        );
        comment on type pgclarify.question_ambiguity is
            'Whether one of many questions is ambiguous: the row of detect_ambiguity_many.';
        comment on column pgclarify.question_ambiguity.question_ordinal is
            'Place of the question in the array, from 1.';
        comment on column pgclarify.question_ambiguity.question is 'The question.';
        comment on column pgclarify.question_ambiguity.run_id is 'The run.';
        comment on column pgclarify.question_ambiguity.is_ambiguous is
            'True if the probability reaches the threshold, or a rule says so; null, as all that follows but status, '
            'unless the run succeeded.';
        comment on column pgclarify.question_ambiguity.probability is
            'Of being ambiguous, from 0 to 1; 1 if a rule matched.';
        comment on column pgclarify.question_ambiguity.kind is
            'pragmatic, syntactic or lexical; null unless ambiguous.';
        comment on column pgclarify.question_ambiguity.reasons is
            'What spoke: array of objects with source (classifier, feature or rule), name and text.';
        comment on column pgclarify.question_ambiguity.status is 'How the run ended: succeeded, failed or cancelled.';

        create type pgclarify.rewritten_question as (
            run_id bigint,
            rewritten text,
            was_ambiguous boolean,
            reason text
        );
        comment on type pgclarify.rewritten_question is
            'A question that stands on its own: the row of rewrite.';
        comment on column pgclarify.rewritten_question.run_id is 'The run.';
        comment on column pgclarify.rewritten_question.rewritten is
            'The question; the one that was asked, to the byte, if it was clear or could not be rewritten.';
        comment on column pgclarify.rewritten_question.was_ambiguous is 'Whether it was found to be ambiguous.';
        comment on column pgclarify.rewritten_question.reason is
            'Why it was rewritten as it was, or not at all; null if nothing is to be said.';
    """)


def downgrade() -> None:
    """Lose rules, detections, rewritten questions and their runs. What was paid for stays in the ledger."""
    op.execute("""
        drop type pgclarify.rewritten_question;
        drop type pgclarify.question_ambiguity;
        drop type pgclarify.ambiguity;
        drop table pgclarify.rewriting, pgclarify.detection, pgclarify.ambiguity_rule;
        drop function if exists pgclarify._is_fit_pattern(text);

        comment on column pgclarify.completion.purpose is
            'What the reply is for: relaxation, verdict, relevance, entailment, follow_up, sample, answer or '
            'conclusion.';

        -- Their jobs stay: a worker that finds no run is done with them.
        update pgclarify.completion
        set run_id = null
        from pgclarify.run
        where
            run.run_id = completion.run_id
            and run.operation not in ('clarify', 'consolidate', 'search', 'investigate');
        delete from pgclarify.run where operation not in ('clarify', 'consolidate', 'search', 'investigate');
        update pgclarify.run
        set status = 'cancelled', finished_at = clock_timestamp()
        where status in ('queued', 'running') and settings ? 'ask_back';

        delete from pgclarify.stage
        where name in ('detection', 'rewriting', 'questioning', 'checking', 'listing');
        alter table pgclarify.stage
            drop constraint stage_name_is_known,
            add constraint stage_name_is_known check (
                name in (
                    'relaxation', 'retrieval', 'neighbors', 'reranking', 'judgement', 'consolidation', 'decomposition',
                    'sampling', 'answering', 'reasoning'
                )
            );
        comment on column pgclarify.stage.name is
            'relaxation, retrieval, neighbors, reranking, judgement, consolidation, decomposition, sampling, '
            'answering or reasoning.';

        alter table pgclarify.run
            drop constraint run_has_a_corpus,
            alter column corpus_name set not null,
            drop column route,
            drop column saved_completions,
            drop constraint run_operation_is_known,
            add constraint run_operation_is_known
                check (operation in ('clarify', 'consolidate', 'search', 'investigate'));
        comment on column pgclarify.run.operation is 'clarify, consolidate, search or investigate.';
        comment on column pgclarify.run.corpus_id is 'The corpus; null once it was dropped.';
        comment on column pgclarify.run.corpus_name is 'The corpus''s name when it was asked.';
        comment on column pgclarify.run.question is 'The question as it was asked.';
        comment on column pgclarify.run.parent_run_id is
            'The run whose verdicts this one consolidates again; null for others.';
    """)
