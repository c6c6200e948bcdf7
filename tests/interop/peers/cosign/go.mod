module peer
go 1.26
require github.com/sigstore/cosign/v3 v3.0.6
