module peer

go 1.26.7

require github.com/crossplane/crossplane/v2 v2.4.2

require github.com/crossplane/crossplane/apis/v2 v2.4.0

replace github.com/crossplane/crossplane-runtime/v2 => github.com/crossplane/crossplane-runtime/v2 v2.4.0
