{{ pgclarify.runs(ref('search_interpretations')) }}
