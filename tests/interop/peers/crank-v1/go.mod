module peer
go 1.26
require github.com/crossplane/crossplane v1.20.11
