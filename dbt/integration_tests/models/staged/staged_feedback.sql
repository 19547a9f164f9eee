{{ pgclarify.feedback() }}
