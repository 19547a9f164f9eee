{{ pgclarify.citations(ref('search_interpretations')) }}
