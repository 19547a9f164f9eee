{{ pgclarify.interpretations(ref('search_interpretations')) }}
