-- Every judged passage, with its verdict.
{{ pgclarify.verdicts(ref('search_interpretations')) }}
