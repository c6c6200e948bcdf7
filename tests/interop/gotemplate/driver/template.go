package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

type templateCase struct {
	Template string   `json:"template"`
	Options  []string `json:"options,omitempty"`
	Left     string   `json:"left,omitempty"`
	Right    string   `json:"right,omitempty"`
}

// Numbers as Kubernetes decodes them: int64 where they have neither fraction nor exponent.
func settle(v any) any {
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if i, err := v.Int64(); err == nil {
				return i
			}
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = settle(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = settle(v[k])
		}
	}
	return v
}

const dataText = `{
  "s": "text", "e": "", "t": true, "f": false, "n": 7, "z": 0, "neg": -3, "d": 1.5, "big": 1000000, "bigd": 1e6, "nul": null,
  "html": "<a href=\"x\">'&'</a>", "u": "héé\u2028", "num": "12",
  "l": ["a", "b", "c"], "nums": [1, 2, 3], "mixed": [1, "x", null, 2.5, true, {"k": "v"}], "el": [],
  "m": {"a": 1, "b": {"c": "deep", "d": [10, 20]}, "x-y": "dash", "nul": null}, "em": {},
  "list": [{"name": "one", "v": 1}, {"name": "two", "v": 2}, {"name": "three"}],
  "observed": {"composite": {"resource": {"metadata": {"name": "xr"}, "spec": {"count": 3, "on": true}}}}
}`

func templateData() map[string]any {
	d := json.NewDecoder(strings.NewReader(dataText))
	d.UseNumber()
	var v map[string]any
	fail(d.Decode(&v))
	return settle(v).(map[string]any)
}

// Functions whose parameters are of one type each: what text/template says of arguments is independent of sprig.
func testFunctions() template.FuncMap {
	return template.FuncMap{
		"fnString":  func(s string) string { return "<" + s + ">" },
		"fnInt":     func(i int) int { return i + 1 },
		"fnInt64":   func(i int64) int64 { return i + 1 },
		"fnFloat":   func(f float64) float64 { return f * 2 },
		"fnBool":    func(b bool) bool { return !b },
		"fnMap":     func(m map[string]any) int { return len(m) },
		"fnList":    func(l []any) int { return len(l) },
		"fnAny":     func(v any) any { return v },
		"fnTwo":     func(s string, i int) string { return fmt.Sprint(s, i) },
		"fnMany":    func(s string, i ...int) string { return fmt.Sprint(s, i) },
		"fnNilMap":  func() map[string]any { return nil },
		"fnNilList": func() []any { return nil },
		"fnStrings": func() []string { return []string{"p", "q"} },
		"fnInts":    func() []int { return []int{4, 5} },
		"fnSplit":   func() map[string]string { return map[string]string{"_0": "a", "_1": "b"} },
		"fnBytes":   func() []byte { return []byte("hi") },
		"fnFail":    func(s string) (string, error) { return "", errors.New("failed: " + s) },
		"fnPanic":   func() string { panic("oops") },
	}
}

func sprigFunctions() template.FuncMap {
	m := sprig.TxtFuncMap()
	delete(m, "env")
	delete(m, "expandenv")
	return m
}

func execute(c templateCase, funcs ...template.FuncMap) (a answer) {
	t := template.New("manifests")
	for _, f := range funcs {
		t = t.Funcs(f)
	}
	if c.Left != "" {
		t = t.Delims(c.Left, c.Right)
	}
	defer func() {
		if r := recover(); r != nil {
			a.Err = fmt.Sprint("panic: ", r)
		}
	}()
	t, err := t.Parse(c.Template)
	if err != nil {
		return answer{Err: err.Error()}
	}
	for _, o := range c.Options {
		t = t.Option(o)
	}
	var b bytes.Buffer
	err = t.Execute(&b, templateData())
	a.Out = b.String()
	if err != nil {
		a.Err = err.Error()
	}
	return a
}

func runTemplate(line []byte) answer {
	var c templateCase
	fail(json.Unmarshal(line, &c))
	return execute(c, testFunctions())
}
