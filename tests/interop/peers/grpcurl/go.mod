module peer
go 1.26
require github.com/fullstorydev/grpcurl v1.9.4
