{{ pgclarify.costs([ref('search_interpretations'), ref('search_detections')]) }}
