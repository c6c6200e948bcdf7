// The robots function on the Go SDK, and a client that compares it with ours.
//
//	functions serve ADDRESS [CERTS]                      the function; plain text without CERTS
//	functions compare OURS THEIRS SEED N [CERTS NAME]    N requests to both; the responses must be equal
//	functions call ADDRESS [CERTS NAME]                  one request; with a CERTS that holds only ca.crt, without a certificate
//	functions record THEIRS SEED N DIR [CERTS NAME]      N requests to it; DIR/I.request and DIR/I.response as sent and DIR/I.json, the request as text
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/crossplane/function-sdk-go"
	"github.com/crossplane/function-sdk-go/errors"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
	"github.com/crossplane/function-sdk-go/resource"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

var colors = []string{"red", "green", "blue", "yellow", "orange"}

const externalName = "crossplane.io/external-name"

type robots struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

func pickColor(name string) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	return colors[h.Sum32()%uint32(len(colors))]
}

func (robots) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, response.DefaultTTL)
	xr, err := request.GetObservedCompositeResource(req)
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	count, err := xr.Resource.GetInteger("spec.count")
	if err != nil {
		response.Fatal(rsp, errors.Wrap(err, "observed composite resource"))
		return rsp, nil
	}
	group := xr.Resource.GetAnnotations()[externalName]
	if group == "" {
		group = xr.Resource.GetName()
	}
	desired, _ := request.GetDesiredComposedResources(req)
	observed, _ := request.GetObservedComposedResources(req)
	for i := range count {
		name := resource.Name(fmt.Sprintf("robot-%d", i))
		robot, ok := desired[name]
		if !ok {
			robot = resource.NewDesiredComposed()
		}
		robot.Resource.SetAPIVersion("iam.dummy.upbound.io/v1alpha1")
		robot.Resource.SetKind("Robot")
		external := group + "-" + string(name)
		a := robot.Resource.GetAnnotations()
		if a == nil {
			a = map[string]string{}
		}
		a[externalName] = external
		robot.Resource.SetAnnotations(a)
		color, _ := robot.Resource.GetString("spec.forProvider.color")
		if o, ok := observed[name]; ok && color == "" {
			color, _ = o.Resource.GetString("spec.forProvider.color")
		}
		if color == "" {
			color = pickColor(external)
			response.Normalf(rsp, "set robot %q color to %q", name, color)
		}
		_ = robot.Resource.SetString("spec.forProvider.color", color)
		if o, ok := observed[name]; ok && o.Resource.GetCondition("Ready").Status == "True" {
			robot.Ready = resource.ReadyTrue
		}
		desired[name] = robot
	}
	if count > 0 {
		if err := response.SetDesiredComposedResources(rsp, desired); err != nil {
			response.Fatal(rsp, err)
		}
	}
	return rsp, nil
}

func serve(address string, rest []string) error {
	options := []function.ServeOption{function.Listen("tcp", address), function.WithMetricsServer("")}
	if len(rest) > 0 {
		options = append(options, function.MTLSCertificates(rest[0]))
	} else {
		options = append(options, function.Insecure(true))
	}
	return function.Serve(robots{}, options...)
}

func dial(target string, rest []string) (fnv1.FunctionRunnerServiceClient, error) {
	creds := insecure.NewCredentials()
	if len(rest) > 1 {
		dir := rest[0]
		// Whatever there is is shown, also to a server that asks for certificates of other authorities.
		pair := &tls.Certificate{}
		if p, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")); err == nil {
			pair = &p
		} else if !os.IsNotExist(err) {
			return nil, err
		}
		show := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil }
		pem, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		creds = credentials.NewTLS(&tls.Config{GetClientCertificate: show, RootCAs: pool, ServerName: rest[1], MinVersion: tls.VersionTLS12})
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds))
	if err != nil {
		return nil, err
	}
	return fnv1.NewFunctionRunnerServiceClient(conn), nil
}

func mustStruct(m map[string]any) *structpb.Struct {
	s, err := structpb.NewStruct(m)
	if err != nil {
		panic(err)
	}
	return s
}

// Requests with every part of the protocol, of which the function passes on what it does not own.
func generate(r *rand.Rand, i int) *fnv1.RunFunctionRequest {
	meta := map[string]any{"name": fmt.Sprintf("group-%d", i)}
	if r.Intn(3) == 0 {
		meta["annotations"] = map[string]any{externalName: fmt.Sprintf("ext-ü-%d", i)}
	}
	spec := map[string]any{}
	switch r.Intn(8) {
	case 0:
	case 1:
		spec["count"] = "many"
	default:
		spec["count"] = float64(r.Intn(20))
	}
	req := &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{
			Composite: &fnv1.Resource{Resource: mustStruct(map[string]any{"apiVersion": "contribfest.crossplane.io/v1alpha1", "kind": "XRobotGroup", "metadata": meta, "spec": spec})},
			Resources: map[string]*fnv1.Resource{},
		},
		Input:             mustStruct(map[string]any{"any": []any{1.5, nil, "x", true, map[string]any{}}}),
		RequiredResources: map[string]*fnv1.Resources{"r": {}},
		Credentials:       map[string]*fnv1.Credentials{"c": {Source: &fnv1.Credentials_CredentialData{CredentialData: &fnv1.CredentialData{Data: map[string][]byte{"k": {0, 255}}}}}},
	}
	if r.Intn(4) > 0 {
		req.Meta = &fnv1.RequestMeta{Tag: fmt.Sprintf("tag-%d", i), Capabilities: []fnv1.Capability{fnv1.Capability_CAPABILITY_CAPABILITIES}}
	}
	if r.Intn(4) > 0 {
		req.Context = mustStruct(map[string]any{"k.io/env": map[string]any{"a": float64(i), "list": []any{"b"}}})
	}
	if r.Intn(4) > 0 {
		req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{}}
		if r.Intn(2) == 0 {
			req.Desired.Composite = &fnv1.Resource{Resource: mustStruct(map[string]any{"status": map[string]any{"x": 1.25}}), Ready: fnv1.Ready_READY_TRUE, ConnectionDetails: map[string][]byte{"user": []byte("u")}}
		}
	}
	for j := range 20 {
		name := fmt.Sprintf("robot-%d", j)
		if r.Intn(3) == 0 {
			o := map[string]any{"kind": "Robot", "spec": map[string]any{"forProvider": map[string]any{"color": "seen"}}}
			if r.Intn(2) == 0 {
				o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
			}
			req.Observed.Resources[name] = &fnv1.Resource{Resource: mustStruct(o)}
		}
		if req.Desired != nil && r.Intn(4) == 0 {
			req.Desired.Resources[name] = &fnv1.Resource{Resource: mustStruct(map[string]any{"spec": map[string]any{"forProvider": map[string]any{"color": "wanted", "n": 1.0}}}), Ready: fnv1.Ready(r.Intn(3))}
		}
		if req.Desired != nil && r.Intn(5) == 0 {
			req.Desired.Resources[fmt.Sprintf("other-%d", j)] = &fnv1.Resource{Resource: mustStruct(map[string]any{"kind": "Other", "n": float64(r.Int63n(1 << 50)), "deep": []any{map[string]any{"x": nil}}}), Ready: fnv1.Ready(r.Intn(3))}
		}
	}
	return req
}

func compare(ours, theirs string, seed int64, n int, rest []string) error {
	a, err := dial(ours, rest)
	if err != nil {
		return err
	}
	b, err := dial(theirs, rest)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewSource(seed))
	for i := range n {
		req := generate(r, i)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		x, err := a.RunFunction(ctx, req)
		if err != nil {
			return errors.Wrapf(err, "ours, request %d", i)
		}
		y, err := b.RunFunction(ctx, req)
		if err != nil {
			return errors.Wrapf(err, "theirs, request %d", i)
		}
		cancel()
		if !proto.Equal(x, y) {
			return errors.Errorf("request %d differs\nrequest %s\nours    %s\ntheirs  %s", i, protojson.Format(req), protojson.Format(x), protojson.Format(y))
		}
	}
	return nil
}

func call(address string, rest []string) error {
	c, err := dial(address, rest)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err = c.RunFunction(ctx, generate(rand.New(rand.NewSource(1)), 0))
	return err
}

func record(theirs string, seed int64, n int, dir string, rest []string) error {
	c, err := dial(theirs, rest)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	r := rand.New(rand.NewSource(seed))
	for i := range n {
		req := generate(r, i)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		rsp, err := c.RunFunction(ctx, req)
		cancel()
		if err != nil {
			return errors.Wrapf(err, "request %d", i)
		}
		x, _ := proto.Marshal(req)
		y, _ := proto.Marshal(rsp)
		for suffix, data := range map[string][]byte{"request": x, "response": y, "json": []byte(protojson.Format(req))} {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.%s", i, suffix)), data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func main() {
	err := errors.New("usage: functions serve|compare|call|record ...")
	if a := os.Args[1:]; len(a) >= 2 && a[0] == "serve" {
		err = serve(a[1], a[2:])
	} else if len(a) >= 5 && a[0] == "compare" {
		seed, _ := strconv.ParseInt(a[3], 10, 64)
		n, _ := strconv.Atoi(a[4])
		err = compare(a[1], a[2], seed, n, a[5:])
	} else if len(a) >= 2 && a[0] == "call" {
		err = call(a[1], a[2:])
	} else if len(a) >= 5 && a[0] == "record" {
		seed, _ := strconv.ParseInt(a[2], 10, 64)
		n, _ := strconv.Atoi(a[3])
		err = record(a[1], seed, n, a[4], a[5:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "functions:", err)
		os.Exit(1)
	}
}
