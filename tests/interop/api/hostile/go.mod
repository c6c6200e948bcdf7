module hostile

go 1.26.0
