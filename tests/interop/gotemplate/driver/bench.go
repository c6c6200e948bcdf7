package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/template"

	"gopkg.in/yaml.v3"
)

// bench TEMPLATE DATA: nanoseconds of one parsing and one execution; with a third argument what the execution gives.
func bench(args []string) {
	text, err := os.ReadFile(args[0])
	fail(err)
	raw, err := os.ReadFile(args[1])
	fail(err)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var data any
	fail(d.Decode(&data))
	data = settle(data)
	funcs := template.FuncMap{"toYaml": func(v any) (string, error) { b, err := yaml.Marshal(v); return string(b), err }}
	sprig := sprigFunctions()
	parse := func() *template.Template {
		return template.Must(template.New("manifests").Funcs(funcs).Funcs(sprig).Parse(string(text)))
	}
	t := parse()
	if len(args) > 2 {
		fail(t.Execute(os.Stdout, data))
		return
	}
	best := func(f func(b *testing.B)) int64 {
		least := int64(1) << 62
		for range 3 {
			least = min(least, testing.Benchmark(f).NsPerOp())
		}
		return least
	}
	fmt.Printf("%d parse\n", best(func(b *testing.B) {
		for range b.N {
			parse()
		}
	}))
	fmt.Printf("%d execute\n", best(func(b *testing.B) {
		for range b.N {
			var out strings.Builder
			fail(t.Execute(&out, data))
		}
	}))
}
