// The oracle: the real libraries' side of every differential suite.
//
//	oracle gen SUITE SEED COUNT > cases    writes at least COUNT cases, one JSON value per line
//	oracle run SUITE < cases > results     writes one result per case
//	oracle scenarios FILE    does the steps of tests/cluster-conformance on a Kubernetes API and checks what they want
//	oracle compare SUITE CASES ORACLE SUBJECT [AGAIN...]   compares two result files; exit 1 and a report on a difference. AGAIN are
//	                         further answers of an oracle that cannot be asked case by case
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
	// finish, if set, adds to the report of a comparison; false is a failure.
	finish func() bool
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
		compare(os.Args[2], s, os.Args[3:])
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

// asksAgain is how often the oracle is asked a case on which the sides differ. Upstream walks maps, whose order Go chooses anew each time; of
// two keys in one map the later comes first once in eight, so that so many equal answers mean that the answer does not hang on the order.
const asksAgain = 200

// mostExplained bounds how many cases are explained.
const mostExplained = 200

// mostAskedAgain bounds for how many cases that is done.
const mostAskedAgain = 50

// A verdict on a case whose first answers differ.
type verdict int

const (
	differs   verdict = iota
	agrees            // the subject's answer is one of the oracle's
	ambiguous         // the oracle has several answers, and none that was seen is the subject's
)

func (s suite) same(c json.RawMessage, oracle, subject any) bool {
	return reflect.DeepEqual(oracle, subject) || (s.equal != nil && s.equal(c, oracle, subject))
}

// askAgain asks the oracle until it gives the subject's answer. An oracle that answers all cases at once has been asked before.
func (s suite) askAgain(c json.RawMessage, oracle, subject any, before []json.RawMessage) verdict {
	v := differs
	look := func(again any) bool {
		if s.run != nil && !reflect.DeepEqual(again, oracle) || s.run == nil && !s.same(c, oracle, again) {
			v = ambiguous
		}
		return s.same(c, again, subject)
	}
	for _, raw := range before {
		if look(decode(raw)) {
			return agrees
		}
	}
	for i := 0; s.run != nil && i < asksAgain; i++ {
		if look(decode(mustJSON(s.run(c)))) {
			return agrees
		}
	}
	return v
}

// report shows one of the first differences.
func (s suite) report(name string, i, different int, c, oracle, subject json.RawMessage) {
	if s.explain != nil {
		if different <= mostExplained {
			fmt.Printf("%s: case %d differs\n%s", name, i+1, s.explain(c, decode(oracle), decode(subject)))
		}
	} else if different <= 10 {
		fmt.Printf("%s: case %d differs\n  case:    %s\n  oracle:  %s\n  subject: %s\n", name, i+1, c, oracle, subject)
	}
}

// compare takes the files of cases, answers of the oracle, answers of the subject, and further answers of the oracle.
func compare(name string, s suite, files []string) {
	lines := [][]json.RawMessage{}
	for _, f := range files {
		lines = append(lines, readLines(f))
		if n := len(lines[len(lines)-1]); n != len(lines[0]) {
			fmt.Printf("%s: %d cases, but %d answers in %s\n", name, len(lines[0]), n, f)
			os.Exit(1)
		}
	}
	cases, oracle, subject := lines[0], lines[1], lines[2]
	different, left, asked := 0, 0, 0
	for i := range cases {
		o, u := decode(oracle[i]), decode(subject[i])
		if s.same(cases[i], o, u) {
			continue
		}
		v := differs
		if asked++; asked <= mostAskedAgain {
			before := []json.RawMessage{}
			for _, again := range lines[3:] {
				before = append(before, again[i])
			}
			v = s.askAgain(cases[i], o, u, before)
		}
		switch v {
		case differs:
			different++
			s.report(name, i, different, cases[i], oracle[i], subject[i])
		case ambiguous:
			left++
			fmt.Printf("%s: case %d left out, the oracle answers it in more than one way: %s\n", name, i+1, cases[i])
		}
	}
	isFine := s.finish == nil || s.finish()
	fmt.Printf("%s: %d cases, %d equal, %d left out, %d different\n", name, len(cases), len(cases)-different-left, left, different)
	if different > 0 || len(cases) == 0 || left*100 > len(cases) || !isFine {
		os.Exit(1)
	}
}

// errorResult is how a failure is reported on both sides.
func errorResult(err error) any {
	return map[string]any{"error": err.Error()}
}
