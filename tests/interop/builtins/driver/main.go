// Sends the same requests to a built-in function of ours and to the real one, and compares the responses.
//
//	driver compare SUITE OURS THEIRS SEED N    at least N requests; exit 1 and a report when responses differ
//	driver print SUITE SEED N I                request I as JSON
//	driver golden SUITE THEIRS                 what the real one answers to the suite's tables, for tests/golden
//	driver types                               the table of src/functions/auto-ready-tables.h, before clang-format
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// A suite generates the requests for one function: tables of quirks first, then random ones.
type suite func(r *rand.Rand, n int, emit func(*fnv1.RunFunctionRequest))

var suites = map[string]suite{}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "driver: "+format+"\n", args...)
	os.Exit(2)
}

func mustStruct(m map[string]any) *structpb.Struct {
	s, err := structpb.NewStruct(m)
	if err != nil {
		panic(err)
	}
	return s
}

// parse reads JSON into what structpb takes.
func parse(text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return v
}

func dial(target string) fnv1.FunctionRunnerServiceClient {
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fail("%v", err)
	}
	return fnv1.NewFunctionRunnerServiceClient(conn)
}

var (
	decodeDetail = regexp.MustCompile(`(?s)(cannot unmarshal JSON from \*structpb\.Struct into \*v1beta1\.\w+: ).*`)
	baseText     = regexp.MustCompile(`(?s)^(cannot parse base template of .*: Object 'Kind' is missing in ')(.*)'$`)
)

// normalise removes what the same program says differently from build to build: details of decoding the input, and the white space
// of protobuf's JSON.
func normalise(rsp *fnv1.RunFunctionResponse) {
	for _, res := range rsp.GetResults() {
		res.Message = decodeDetail.ReplaceAllString(res.Message, "$1")
		if m := baseText.FindStringSubmatch(res.Message); m != nil {
			var b bytes.Buffer
			if json.Compact(&b, []byte(m[2])) == nil {
				res.Message = m[1] + b.String() + "'"
			}
		}
	}
}

func call(c fnv1.FunctionRunnerServiceClient, who string, i int, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	rsp, err := c.RunFunction(ctx, req)
	if err != nil {
		fmt.Printf("request %d fails at %s: %v\nrequest %s\n", i, who, err, protojson.Format(req))
		os.Exit(1)
	}
	normalise(rsp)
	return rsp
}

// show prints what both say, or a short difference of the results when that is all.
func show(i int, req *fnv1.RunFunctionRequest, ours, theirs *fnv1.RunFunctionResponse) {
	fmt.Printf("request %d differs\nrequest %s\n", i, compact(req))
	for _, side := range []struct {
		name string
		rsp  *fnv1.RunFunctionResponse
	}{{"ours  ", ours}, {"theirs", theirs}} {
		fmt.Printf("%s %s\n", side.name, compact(side.rsp))
	}
}

func compact(m proto.Message) string {
	b, err := protojson.Marshal(m)
	if err != nil {
		return fmt.Sprintf("(%v) %v", err, m)
	}
	var out bytes.Buffer
	_ = json.Compact(&out, b)
	return out.String()
}

// asksAgain is how often the real one is asked a request on which both differ. It walks maps, whose order Go chooses anew each time; of two
// keys in one map the later comes first once in eight.
const asksAgain = 100

// mostAskedAgain bounds for how many requests that is done.
const mostAskedAgain = 50

// askAgain asks the real one until it answers as ours did. If it never does, the second result says whether it had several answers.
func askAgain(c fnv1.FunctionRunnerServiceClient, i int, req *fnv1.RunFunctionRequest, ours, theirs *fnv1.RunFunctionResponse) (bool, bool) {
	several := false
	for range asksAgain {
		y := call(c, "theirs", i, req)
		if proto.Equal(ours, y) {
			return true, several
		}
		several = several || !proto.Equal(theirs, y)
	}
	return false, several
}

func compare(name string, generate suite, ours, theirs string, seed int64, n int) {
	a, b := dial(ours), dial(theirs)
	total, different, left, asked := 0, 0, 0, 0
	outcomes := map[string]int{}
	generate(rand.New(rand.NewSource(seed)), n, func(req *fnv1.RunFunctionRequest) {
		x, y := call(a, "ours", total, req), call(b, "theirs", total, req)
		outcomes[outcome(y)]++
		equal, several := proto.Equal(x, y), false
		if !equal && asked < mostAskedAgain {
			asked++
			equal, several = askAgain(b, total, req, x, y)
		}
		switch {
		case equal:
		case several:
			left++
			fmt.Printf("request %d left out, the real one answers it in more than one way: %s\n", total, compact(req))
		default:
			if different++; different <= 10 {
				show(total, req, x, y)
			}
		}
		total++
	})
	fmt.Printf("%s: %d requests, %d equal, %d left out, %d different; %s\n", name, total, total-left-different, left, different, summary(outcomes))
	if different > 0 || total < n || left*100 > total {
		os.Exit(1)
	}
}

// outcome says how a request ended, so that a generator that only makes mistakes shows.
func outcome(rsp *fnv1.RunFunctionResponse) string {
	worst := "clean"
	for _, r := range rsp.GetResults() {
		switch r.GetSeverity() {
		case fnv1.Severity_SEVERITY_FATAL:
			return "fatal"
		case fnv1.Severity_SEVERITY_WARNING:
			worst = "warning"
		}
	}
	return worst
}

func summary(outcomes map[string]int) string {
	parts := []string{}
	for k, v := range outcomes {
		parts = append(parts, fmt.Sprintf("%d %s", v, k))
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

func number(text string) int64 {
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		fail("%v", err)
	}
	return i
}

func main() {
	a := os.Args[1:]
	if len(a) == 1 && a[0] == "types" {
		printTypes()
		return
	}
	if len(a) < 2 || suites[a[1]] == nil {
		fail("usage: driver compare|print|golden SUITE ...")
	}
	switch {
	case a[0] == "compare" && len(a) == 6:
		compare(a[1], suites[a[1]], a[2], a[3], number(a[4]), int(number(a[5])))
	case a[0] == "print" && len(a) == 5:
		i := int64(0)
		suites[a[1]](rand.New(rand.NewSource(number(a[2]))), int(number(a[3])), func(req *fnv1.RunFunctionRequest) {
			if i == number(a[4]) {
				fmt.Println(protojson.Format(req))
			}
			i++
		})
	case a[0] == "golden" && len(a) == 3:
		golden(suites[a[1]], a[2])
	default:
		fail("usage: driver compare|print|golden SUITE ...")
	}
}
