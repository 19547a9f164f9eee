"""Asking back: clarifying questions, what proves that they can be answered, and conversations that go on from them.

Revision ID: 0011
Revises: 0010
"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table pgclarify.evidence (
            run_id bigint not null constraint evidence_run_id_fk references pgclarify.run on delete cascade,
            ordinal integer not null constraint evidence_ordinal_counts_from_one check (ordinal >= 1),
            rank integer not null constraint evidence_rank_counts_from_one check (rank >= 1),
            candidate_rank integer not null,
            corpus_id bigint not null,
            document_id text not null,
            passage_id bigint not null,
            heading text,
            quote text not null,
            start_char integer not null,
            end_char integer not null,
            constraint evidence_pk primary key (run_id, ordinal, rank)
        );
        comment on table pgclarify.evidence is
            'From what a run lists (clarifying questions, answers) to a passage that proves it. Quote and ids stay '
            'when the document goes.';
        comment on column pgclarify.evidence.run_id is 'The run.';
        comment on column pgclarify.evidence.ordinal is 'What it proves: place in the run''s list, from 1.';
        comment on column pgclarify.evidence.rank is 'Place among its citations, from 1.';
        comment on column pgclarify.evidence.candidate_rank is 'The candidate''s rank in the run.';
        comment on column pgclarify.evidence.corpus_id is 'The corpus.';
        comment on column pgclarify.evidence.document_id is 'The document.';
        comment on column pgclarify.evidence.passage_id is 'The passage.';
        comment on column pgclarify.evidence.heading is 'Headings above the passage when it was cited; null if none.';
        comment on column pgclarify.evidence.quote is 'The words that prove it, verbatim.';
        comment on column pgclarify.evidence.start_char is 'Offset of the quote in the document, from 0.';
        comment on column pgclarify.evidence.end_char is 'Offset after the quote.';

        create table pgclarify.clarifying_question (
            run_id bigint not null constraint clarifying_question_run_id_fk references pgclarify.run on delete cascade,
            ordinal integer not null constraint clarifying_question_ordinal_counts_from_one check (ordinal >= 1),
            ambiguity_type text constraint clarifying_question_ambiguity_type_is_known
                check (ambiguity_type in ('semantic', 'generalize', 'specify')),
            reasoning text,
            clarifying_question text,
            reformulation text,
            is_answerable boolean,
            constraint clarifying_question_pk primary key (run_id, ordinal),
            constraint clarifying_question_says_something
                check (num_nonnulls(clarifying_question, reformulation) >= 1)
        );
        comment on table pgclarify.clarifying_question is
            'What a run of clarifying_questions came to: questions to answer, or reformulations to choose from.';
        comment on column pgclarify.clarifying_question.run_id is 'The run.';
        comment on column pgclarify.clarifying_question.ordinal is 'Place in the list, from 1.';
        comment on column pgclarify.clarifying_question.ambiguity_type is
            'semantic (it can mean several things), generalize (something broader may be meant) or specify (something '
            'narrower may be meant); null for schemes that name no types.';
        comment on column pgclarify.clarifying_question.reasoning is
            'Why the model thinks so; null for schemes without reasoning.';
        comment on column pgclarify.clarifying_question.clarifying_question is
            'A question to whoever asked; null where there are reformulations to choose from.';
        comment on column pgclarify.clarifying_question.reformulation is
            'The question as it would be asked by somebody who means this; null if the model gave none.';
        comment on column pgclarify.clarifying_question.is_answerable is
            'Whether a document of the corpus answers the reformulation; null if it was not checked, or '
            'could not be.';

        create table pgclarify.conversation (
            conversation_id bigint generated always as identity,
            question text not null,
            corpus_id bigint constraint conversation_corpus_id_fk references pgclarify.corpus on delete set null,
            corpus_name text,
            history jsonb not null default '[]'
                constraint conversation_history_is_an_array check (jsonb_typeof(history) = 'array'),
            requested_by name not null,
            created_at timestamptz not null default now(),
            constraint conversation_pk primary key (conversation_id),
            constraint conversation_of_a_corpus_has_its_name check (corpus_name is not null or corpus_id is null)
        );
        create index conversation_corpus_id_idx on pgclarify.conversation (corpus_id);
        create index conversation_requested_by_conversation_id_idx
            on pgclarify.conversation (requested_by, conversation_id);
        comment on table pgclarify.conversation is
            'A question that was asked back about. It begins with the first choose or reply, and has up to three '
            'turns.';
        comment on column pgclarify.conversation.conversation_id is 'Key.';
        comment on column pgclarify.conversation.question is 'The question as it was asked first.';
        comment on column pgclarify.conversation.corpus_id is
            'The corpus; null once it was dropped, or if none was asked (corpus_name is null then, too).';
        comment on column pgclarify.conversation.corpus_name is
            'The corpus''s name when it was asked; null for what was asked of no corpus.';
        comment on column pgclarify.conversation.history is 'What was said before the question, oldest first.';
        comment on column pgclarify.conversation.requested_by is 'Role that asked; its members may go on.';
        comment on column pgclarify.conversation.created_at is 'When it began.';

        create table pgclarify.turn (
            conversation_id bigint not null
                constraint turn_conversation_id_fk references pgclarify.conversation on delete cascade,
            ordinal integer not null constraint turn_ordinal_is_one_of_three check (ordinal between 1 and 3),
            run_id bigint constraint turn_run_id_fk references pgclarify.run on delete set null,
            form text not null constraint turn_form_is_known check (form in ('respond', 'select')),
            asked text not null,
            reply text not null,
            question text not null constraint turn_question_is_not_blank check (question ~ '\\S'),
            created_at timestamptz not null default now(),
            constraint turn_pk primary key (conversation_id, ordinal)
        );
        create index turn_run_id_idx on pgclarify.turn (run_id);
        comment on table pgclarify.turn is
            'One turn of a conversation: what was asked back, what came as reply, and the question since then.';
        comment on column pgclarify.turn.conversation_id is 'The conversation.';
        comment on column pgclarify.turn.ordinal is 'Place in the conversation, from 1 to 3.';
        comment on column pgclarify.turn.run_id is
            'The run of clarifying_questions that asked back; null once it is gone.';
        comment on column pgclarify.turn.form is
            'respond (the reply is in words, whatever was asked back) or select (a reformulation was chosen).';
        comment on column pgclarify.turn.asked is
            'What was asked back: the clarifying questions, or the reformulations to choose from, a line each.';
        comment on column pgclarify.turn.reply is 'The reply, or the reformulation that was chosen.';
        comment on column pgclarify.turn.question is 'The question since then, reformulated.';
        comment on column pgclarify.turn.created_at is 'When the reply came.';

        create type pgclarify.proposed_question as (
            run_id bigint,
            ordinal integer,
            ambiguity_type text,
            clarifying_question text,
            reformulation text,
            document_ids text[],
            reasoning text,
            is_answerable boolean,
            citations jsonb
        );
        comment on type pgclarify.proposed_question is
            'A question to ask back, or a reformulation to choose: the row of clarifying_questions.';
        comment on column pgclarify.proposed_question.run_id is 'The run, for choose and reply.';
        comment on column pgclarify.proposed_question.ordinal is 'Place in the list, from 1.';
        comment on column pgclarify.proposed_question.ambiguity_type is
            'semantic, generalize or specify; null for schemes that name no types.';
        comment on column pgclarify.proposed_question.clarifying_question is
            'A question to whoever asked; null where there are reformulations to choose from.';
        comment on column pgclarify.proposed_question.reformulation is
            'The question as it would be asked by somebody who means this; null if the model gave none.';
        comment on column pgclarify.proposed_question.document_ids is
            'Documents that answer the reformulation, best first; empty if there are none or it was not checked.';
        comment on column pgclarify.proposed_question.reasoning is
            'Why the model thinks so; null for schemes without reasoning.';
        comment on column pgclarify.proposed_question.is_answerable is
            'Whether a document of the corpus answers the reformulation; null if it was not checked, or '
            'could not be.';
        comment on column pgclarify.proposed_question.citations is
            'What answers the reformulation: array of objects with the columns of view evidence_citation.';

        create type pgclarify.reformulated_question as (
            conversation_id bigint,
            turn integer,
            question text,
            turns_left integer
        );
        comment on type pgclarify.reformulated_question is
            'Where a conversation stands after a turn: the row of choose and reply.';
        comment on column pgclarify.reformulated_question.conversation_id is 'The conversation.';
        comment on column pgclarify.reformulated_question.turn is 'The turn that this was, from 1 to 3.';
        comment on column pgclarify.reformulated_question.question is 'The question since then, reformulated.';
        comment on column pgclarify.reformulated_question.turns_left is 'How often one may still ask back: 2 to 0.';
    """)


def downgrade() -> None:
    """Lose clarifying questions and conversations. Their runs go when revision 0010 is undone."""
    op.execute("""
        drop type pgclarify.reformulated_question;
        drop type pgclarify.proposed_question;
        drop table pgclarify.turn, pgclarify.conversation, pgclarify.clarifying_question, pgclarify.evidence;
    """)
