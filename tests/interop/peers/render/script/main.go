// A function that does what its input says, so that engines can be asked anything and be seen asking.
//
//	script ADDRESS
//
// It says on standard output where it listens. Its input has, all optional:
//
//	responses  RunFunctionResponses in JSON. The first call of a step is answered with the first of them, the next with the second and so
//	           on, the last again and again: calls are counted in the context, under "calls of STEP".
//	step       the step's name, for that count.
//	pass       whether what was desired before stays desired.
//	echo       a field of the status that gets the request itself, but for the input. The tag is only said to be one.
//	unknown    base64 of protobuf fields that are appended to the response.
//	code       of a gRPC error that is the answer instead, with the text of
//	error
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"regexp"

	fnv1 "github.com/crossplane/crossplane/v2/proto/fn/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

type script struct {
	Responses []json.RawMessage `json:"responses"`
	Step      string            `json:"step"`
	Pass      bool              `json:"pass"`
	Echo      string            `json:"echo"`
	Unknown   string            `json:"unknown"`
	Code      codes.Code        `json:"code"`
	Error     string            `json:"error"`
}

type function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

var sha256 = regexp.MustCompile("^[0-9a-f]{64}$")

func (s *script) respond(req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	if len(s.Responses) == 0 {
		return &fnv1.RunFunctionResponse{}, nil
	}
	key := "calls of " + s.Step
	n := int(req.GetContext().GetFields()[key].GetNumberValue())
	rsp := &fnv1.RunFunctionResponse{}
	if err := protojson.Unmarshal(s.Responses[min(n, len(s.Responses)-1)], rsp); err != nil {
		return nil, err
	}
	if len(s.Responses) > 1 {
		if rsp.Context == nil {
			rsp.Context = &structpb.Struct{}
		}
		proto.Merge(rsp.Context, &structpb.Struct{Fields: map[string]*structpb.Value{key: structpb.NewNumberValue(float64(n + 1))}})
	}
	return rsp, nil
}

func echo(req *fnv1.RunFunctionRequest, field string) (*fnv1.State, error) {
	seen := proto.Clone(req).(*fnv1.RunFunctionRequest)
	seen.Input = nil
	if sha256.MatchString(seen.GetMeta().GetTag()) {
		seen.Meta.Tag = "a SHA-256"
	}
	text, err := protojson.Marshal(seen)
	if err != nil {
		return nil, err
	}
	v := &structpb.Struct{}
	if err := protojson.Unmarshal(text, v); err != nil {
		return nil, err
	}
	in := &structpb.Struct{Fields: map[string]*structpb.Value{field: structpb.NewStructValue(v)}}
	at := &structpb.Struct{Fields: map[string]*structpb.Value{"status": structpb.NewStructValue(in)}}
	return &fnv1.State{Composite: &fnv1.Resource{Resource: at}}, nil
}

func (s *script) run(req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	if s.Code != codes.OK {
		return nil, status.Error(s.Code, s.Error)
	}
	rsp, err := s.respond(req)
	if err != nil {
		return nil, err
	}
	if s.Pass {
		before := &fnv1.RunFunctionResponse{Desired: req.GetDesired(), Context: req.GetContext()}
		proto.Merge(before, rsp)
		rsp = before
	}
	if s.Echo != "" {
		state, err := echo(req, s.Echo)
		if err != nil {
			return nil, err
		}
		proto.Merge(rsp, &fnv1.RunFunctionResponse{Desired: state})
	}
	unknown, err := base64.StdEncoding.DecodeString(s.Unknown)
	rsp.ProtoReflect().SetUnknown(unknown)
	return rsp, err
}

func (function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	s := &script{}
	text, err := protojson.Marshal(req.GetInput())
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return s.run(req)
}

func main() {
	l, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	s := grpc.NewServer(grpc.MaxRecvMsgSize(math.MaxInt32), grpc.MaxSendMsgSize(math.MaxInt32))
	fnv1.RegisterFunctionRunnerServiceServer(s, function{})
	_ = s.Serve(l)
}
