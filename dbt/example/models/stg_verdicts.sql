-- Every passage that was looked at, and what became of it.
{{ pgclarify.verdicts(ref('search_interpretations')) }}
