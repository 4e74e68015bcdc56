module signpost

go 1.24
