{{ pgclarify.candidates(ref('search_interpretations')) }}
