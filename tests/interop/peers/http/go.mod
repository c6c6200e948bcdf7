module peer

go 1.26.0
