-- name: group_questions
-- Put finished runs into groups of questions with the same meaning.
select pgclarify_private.group_questions(%(most)s) as grouped;

-- name: count_served
-- Count answers that were served from earlier runs.
select pgclarify_private.count_served(%(most)s) as answers;

-- name: prune_question_groups
-- Delete groups of questions without runs.
select
    pruned, seen
from pgclarify_private.prune_question_groups(%(after)s, %(most)s);
