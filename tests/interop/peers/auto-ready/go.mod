module peer
go 1.26
require github.com/crossplane/function-auto-ready v0.7.0
replace github.com/crossplane/function-auto-ready => github.com/crossplane-contrib/function-auto-ready v0.7.0
