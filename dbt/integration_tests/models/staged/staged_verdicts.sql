{{ pgclarify.verdicts(ref('search_interpretations')) }}
