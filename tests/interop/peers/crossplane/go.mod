module peer
go 1.26
require github.com/crossplane/crossplane/v2 v2.3.4
require github.com/crossplane/crossplane/apis/v2 v2.3.4
