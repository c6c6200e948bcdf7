// The oracle: the real libraries' side of every differential suite.
//
//	oracle gen SUITE SEED COUNT > cases    writes at least COUNT cases, one JSON value per line
//	oracle run SUITE < cases > results     writes one result per case
//	oracle scenarios FILE    does the steps of tests/cluster-conformance on a Kubernetes API and checks what they want
//	oracle compare SUITE CASES ORACLE SUBJECT   compares two result files; exit 1 and a report on a difference
//	oracle bench SUITE FILE                measures the libraries on what is in the file: nanoseconds and a name on each line
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strconv"
)

// A suite generates cases and knows the real answer to each.
type suite struct {
	gen func(r *rand.Rand, count int, emit func(c any))
	run func(c json.RawMessage) any
	// all, if set, replaces run: it answers every case, in whatever order is best.
	all func(cases []json.RawMessage) []any
	// equal, if set, replaces deep equality of the decoded results (e.g. where upstream's order is random).
	equal func(c json.RawMessage, oracle, subject any) bool
	bench func(file string)
	// explain, if set, says what differs, for cases too long to be shown whole.
	explain func(c json.RawMessage, oracle, subject any) string
}

var suites = map[string]suite{}

func main() {
	if len(os.Args) < 3 {
		fail("usage: oracle gen|run|compare SUITE ...")
	}
	if os.Args[1] == "scenarios" {
		runScenarios(os.Args[2])
		return
	}
	s, ok := suites[os.Args[2]]
	if !ok {
		names := []string{}
		for n := range suites {
			names = append(names, n)
		}
		sort.Strings(names)
		fail("no suite %q; there are %v", os.Args[2], names)
	}
	switch os.Args[1] {
	case "gen":
		seed, err1 := strconv.ParseInt(os.Args[3], 10, 64)
		count, err2 := strconv.Atoi(os.Args[4])
		if err1 != nil || err2 != nil {
			fail("SEED and COUNT are numbers")
		}
		out := bufio.NewWriter(os.Stdout)
		s.gen(rand.New(rand.NewSource(seed)), count, func(c any) { writeLine(out, c) })
		if err := out.Flush(); err != nil {
			fail("%v", err)
		}
	case "run":
		out := bufio.NewWriter(os.Stdout)
		if s.all != nil {
			cases := []json.RawMessage{}
			eachLine(os.Stdin, func(line []byte) { cases = append(cases, append([]byte{}, line...)) })
			for _, result := range s.all(cases) {
				writeLine(out, result)
			}
		} else {
			eachLine(os.Stdin, func(line []byte) { writeLine(out, s.run(line)) })
		}
		if err := out.Flush(); err != nil {
			fail("%v", err)
		}
	case "compare":
		compare(os.Args[2], s, readLines(os.Args[3]), readLines(os.Args[4]), readLines(os.Args[5]))
	case "bench":
		if s.bench == nil || len(os.Args) < 4 {
			fail("nothing to measure")
		}
		s.bench(os.Args[3])
	default:
		fail("unknown command %q", os.Args[1])
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "oracle: "+format+"\n", args...)
	os.Exit(2)
}

func writeLine(out *bufio.Writer, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		fail("cannot write %#v: %v", v, err)
	}
	out.Write(b)
	out.WriteByte('\n')
}

func eachLine(f *os.File, do func(line []byte)) {
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			do(line)
		}
		if err != nil {
			return
		}
	}
}

func readLines(name string) []json.RawMessage {
	f, err := os.Open(name)
	if err != nil {
		fail("%v", err)
	}
	defer f.Close()
	lines := []json.RawMessage{}
	eachLine(f, func(line []byte) { lines = append(lines, append([]byte{}, line...)) })
	return lines
}

func decode(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		fail("cannot read result %s: %v", raw, err)
	}
	return v
}

func compare(name string, s suite, cases, oracle, subject []json.RawMessage) {
	if len(cases) != len(oracle) || len(cases) != len(subject) {
		fmt.Printf("%s: %d cases, but %d answers from the oracle and %d from the subject\n", name, len(cases), len(oracle), len(subject))
		os.Exit(1)
	}
	different := 0
	for i := range cases {
		o, u := decode(oracle[i]), decode(subject[i])
		same := reflect.DeepEqual(o, u)
		if !same && s.equal != nil {
			same = s.equal(cases[i], o, u)
		}
		if same {
			continue
		}
		different++
		if s.explain != nil {
			if different <= 30 {
				fmt.Printf("%s: case %d differs\n%s", name, i+1, s.explain(cases[i], o, u))
			}
		} else if different <= 10 {
			fmt.Printf("%s: case %d differs\n  case:    %s\n  oracle:  %s\n  subject: %s\n", name, i+1, cases[i], oracle[i], subject[i])
		}
	}
	fmt.Printf("%s: %d cases, %d equal, %d different\n", name, len(cases), len(cases)-different, different)
	if different > 0 || len(cases) == 0 {
		os.Exit(1)
	}
}

// errorResult is how a failure is reported on both sides.
func errorResult(err error) any {
	return map[string]any{"error": err.Error()}
}
