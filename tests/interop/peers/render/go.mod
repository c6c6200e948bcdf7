module peer

go 1.26

require (
	github.com/crossplane/crossplane/v2 v2.3.4
	google.golang.org/protobuf v1.36.11
)
