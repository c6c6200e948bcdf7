module peer
go 1.26
require github.com/crossplane-contrib/provider-nop v0.5.0
