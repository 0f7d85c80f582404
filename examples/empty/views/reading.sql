-- A governed view: the file's name is the view's, ontology.reading. Contract and monitors see only views.
SELECT reading_id, station, temperature, taken_on, _source_document, _source_table, _source_page, _source_row
FROM raw.readings
