// The oracle of Go templates: text/template with sprig makes cases, answers them, and compares our answers with its own.
//
//	gotemplate gen SUITE SEED COUNT DIR   cases as JSON, one per line; hand-written ones of DIR first
//	gotemplate run SUITE <CASES           answers, one per line
//	gotemplate compare SUITE CASES WANT GOT     says where they differ; a case that Go answers in more than one way, since it
//	                                            walks maps in an order that changes, is named and left out
//
// The suite seals has random answers: the oracle opens the subject's instead, and the other way round. Its answers are checks.
//
//	gotemplate bench TEMPLATE DATA        see bench.go
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
)

type answer struct {
	Out string `json:"out"`
	Err string `json:"err,omitempty"`
}

type suite struct {
	gen func(seed int64, count int, dir string, emit func(any)) error
	run func(line []byte) answer
}

var suites = map[string]suite{
	"core":         {genCore, runTemplate},
	"compositions": {genCompositions, runComposition},
	"responses":    {genResponses, runResponse},
	"sprig":        {genSprig, runSprig},
	"toyaml":       {genToYaml, runToYaml},
	"fromyaml":     {genFromYaml, runFromYaml},
	"decode":       {genDecode, runDecode},
	"seals":        {genSeals, runSeals},
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func gen(args []string) {
	seed, err := strconv.ParseInt(args[1], 10, 64)
	fail(err)
	count, err := strconv.Atoi(args[2])
	fail(err)
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	fail(suites[args[0]].gen(seed, count, args[3], func(v any) { fail(e.Encode(v)) }))
}

func run(name string) {
	in := bufio.NewReader(os.Stdin)
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		fail(err)
		fail(e.Encode(suites[name].run(line)))
	}
}

func lines(path string) [][]byte {
	f, err := os.Open(path)
	fail(err)
	defer f.Close()
	in := bufio.NewReader(f)
	var all [][]byte
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return all
		}
		fail(err)
		all = append(all, line)
	}
}

// Whether Go gives another answer to the case when it is asked again.
func varies(name string, line []byte, first answer) bool {
	for range 100 {
		if name != "seals" && suites[name].run(line) != first {
			return true
		}
	}
	return false
}

func compare(name string, args []string) {
	cases, want, got := lines(args[0]), lines(args[1]), lines(args[2])
	differ := 0
	for i := range cases {
		var w, g answer
		fail(json.Unmarshal(want[i], &w))
		if i >= len(got) {
			fmt.Printf("# case %d has no answer: %s", i, cases[i])
			os.Exit(1)
		}
		fail(json.Unmarshal(got[i], &g))
		if w == g || sealsHold(cases[i], w, g) {
			continue
		}
		if varies(name, cases[i], w) {
			fmt.Printf("# case %d left out: %s", i, cases[i])
			continue
		}
		differ++
		if differ <= 20 {
			fmt.Printf("# case %d: %s#   want out %q\n#    got out %q\n#   want err %q\n#    got err %q\n", i, cases[i], w.Out, g.Out, w.Err, g.Err)
		}
	}
	fmt.Printf("# %d cases, %d differ\n", len(cases), differ)
	if differ > 0 || len(got) != len(cases) {
		os.Exit(1)
	}
}

func main() {
	switch os.Args[1] {
	case "gen":
		gen(os.Args[2:])
	case "run":
		run(os.Args[2])
	case "bench":
		bench(os.Args[2:])
	case "compare":
		compare(os.Args[2], os.Args[3:])
	}
}
