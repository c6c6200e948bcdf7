module peer
go 1.26
require github.com/crossplane-contrib/function-patch-and-transform v0.10.7
