module peer

go 1.26

require github.com/crossplane/crossplane/v2 v2.2.1
