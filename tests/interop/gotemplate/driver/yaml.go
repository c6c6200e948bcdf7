package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"

	"gopkg.in/yaml.v3"
)

type yamlCase struct {
	Value string `json:"value,omitempty"` // JSON of a value to write
	Text  string `json:"text,omitempty"`  // YAML to read
}

var scalars = []string{"", "a", "abc def", "true", "True", "yes", "no", "on", "off", "y", "N", "null", "~", "Null", "0", "1", "-1", "+1", "007", "0o17", "0x1F", "0b11", "1_000", "08", "1e3", "1e", "1.5", ".5", "1.", "1.5e-7", ".inf", "-.inf", ".nan", "NaN", "inf",
	"2020-01-01", "2001-1-1", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10", "2020-13-01", "1:30", "190:20:30", "1:2:3.4", "<<", "=", "_1", "100m", "0.1.2", "a: b", "a:b", "a:", ":a", ": a", "a #b", "a#b", "#a", "-", "- a", "-a", "--", "---", "--- a", "...", "?", "? a", "?a", "!a", "&a", "*a", "|", ">", "'a'", "\"a\"", "it's", "%a", "@a", "`a`", "[a]", "{a}", "a,b", ",a", "a]", "a{b",
	" a", "a ", "  ", "a\nb", "a\nb\n", "a\n\n", "\na", "\n", "\n\n", " a\nb", "a \nb", "a\n b", "a\nb ", "a\tb", "\ta", "a\tb\nc", "a\r\nb", "a\rb", "é", "日本", "😀", "\u0085", "a\u2028b", "\u2029", "\ufeffa", "\u00a0", "\x7f", "\x01", "\x00", "\u0080", "a\\b", "c:\\d", "a\"b", "0xZ", "1__0", "-0", "+0", "-0b1", "- 1", "0o8", "12e03", "9223372036854775807", "9223372036854775808", "18446744073709551616", "-9223372036854775809",
	"long " + strings.Repeat("word ", 40) + "end", strings.Repeat("k", 130), strings.Repeat("x", 128), "key with: colon", "http://a.b/c?d=e#f", "a\n\tb", "multi\nline\n\ntext\n", "trailing\n\n\n", "x\n  indented\n    more\n", "TRUE", "False", "Off", "ON", "nUll", "1e400", "0.0", "-1.5E+3", "1,000", "a&b", "<a>", "key\nline", "é: ü", "100%", "2020-01-01T00:00:00Z", "2020-1-1 1:2:3"}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.Intn(12); {
	case n < 5:
		return scalars[r.Intn(len(scalars))]
	case n == 5:
		return []any{int64(0), int64(1), int64(-5), int64(1) << 53, int64(1000000), true, false, nil}[r.Intn(8)]
	case n == 6:
		return []any{1.5, 1e6 + 0.5, 1e21, 1e-7, 123456789.5, 0.1, -2.5, 1e100}[r.Intn(8)]
	case depth > 3:
		return "deep"
	case n < 9:
		l := make([]any, r.Intn(4))
		for i := range l {
			l[i] = randomValue(r, depth+1)
		}
		return l
	default:
		m := map[string]any{}
		for range r.Intn(5) {
			m[randomKey(r)] = randomValue(r, depth+1)
		}
		return m
	}
}

func randomKey(r *rand.Rand) string {
	if r.Intn(3) == 0 {
		return scalars[r.Intn(len(scalars))]
	}
	return []string{"a", "b", "a1", "a2", "a10", "A", "a-b", "a_b", "a.b", "aB", "name", "spec", "Z", "_x", "x9", "x10", "é"}[r.Intn(17)]
}

func genToYaml(seed int64, count int, dir string, emit func(any)) error {
	r := rand.New(rand.NewSource(seed))
	for _, s := range scalars {
		for _, v := range []any{s, []any{s}, map[string]any{"k": s}, map[string]any{s: 1}, []any{[]any{s}}, map[string]any{"k": []any{s, s}}, map[string]any{"k": map[string]any{"l": s}}} {
			text, _ := json.Marshal(v)
			emit(yamlCase{Value: string(text)})
		}
	}
	for range count {
		text, _ := json.Marshal(randomValue(r, 0))
		emit(yamlCase{Value: string(text)})
	}
	return nil
}

func marshal(v any) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a.Err = fmt.Sprint(r)
		}
	}()
	out, err := yaml.Marshal(v)
	a.Out = string(out)
	if err != nil {
		a.Err = err.Error()
	}
	return a
}

func runToYaml(line []byte) answer {
	var c yamlCase
	fail(json.Unmarshal(line, &c))
	d := json.NewDecoder(strings.NewReader(c.Value))
	d.UseNumber()
	var v any
	fail(d.Decode(&v))
	return marshal(settle(v))
}

var mappings = []string{"a: 1", "b: x", "c:\n  d: 2\n  e: [1, two, {f: g}]", "x: |\n  text\n   more", "y: >-\n  folded\n  text\n\n  more", "z: 'q''r'", "w: \"d\\tq\\u00e9\\x41\"", "m: &m {p: 1, q: 2}\nr: *m", "n: &n {p: 1}\no:\n  <<: *n\n  p: 3", "? k\n: v", "1: 2", "true: x", "null: y", "!!str 1: a", "t: !!int \"3\"", "u: !!float 3", "v: !!bool x", "bin: !!binary aGk=", "bad: !!binary '*'", "tag: !foo x", "# comment", "d: 2020-01-01", "ts: 2001-12-14t21:59:43.10-05:00", "f: 1e3", "o: 0o17", "yes: yes", "nn: ~", "2.5: f", "[1, 2]: x", "{a: b}: c", "e:  ", "long: " + strings.Repeat("x ", 50), "l:\n- 1\n- - x\n  - y", "deep:\n  deeper:\n    deepest: [a, {b: c}]", "empty: {}", "none: []", "q: \"a\n  b\"", "s1: &s1 [1]\ns2: [*s1, *s1]", "mg: {<<: [{a: 1}, {b: 2}]}", "<<: 3"}

var sequences = []string{"- 1", "- a: b\n  c: d", "- - x\n  - y", "- {a: 1, b: [2, 3]}", "- !!map {a: 1}", "- 'it''s'", "-", "- |\n  text", "- ~", "- &a x\n- *a", "- 0x1F", "- 08", "# c"}

// What breaks a document. Only as its last line: yaml.v3 scans ahead of what it reads, and of two errors may see the later one first.
var broken = []string{"'open", "\"open", "@x", "[a, b", "{a: 1", "a: {", "- [", "]", "}", "\t- x", "k: *none", "k: `x`", "a: b: c"}

func genFromYaml(seed int64, count int, dir string, emit func(any)) error {
	r := rand.New(rand.NewSource(seed))
	for _, s := range scalars {
		emit(yamlCase{Text: s})
		emit(yamlCase{Text: "k: " + s})
		emit(yamlCase{Text: "- " + s + "\n- b\n"})
		emit(yamlCase{Text: s + ": v\n"})
	}
	for range count {
		if r.Intn(3) == 0 {
			emit(yamlCase{Text: marshal(randomValue(r, 0)).Out})
			continue
		}
		units := mappings
		if r.Intn(4) == 0 {
			units = sequences
		}
		var lines []string
		for range 1 + r.Intn(5) {
			lines = append(lines, units[r.Intn(len(units))])
		}
		if r.Intn(6) == 0 {
			lines = append(lines, broken[r.Intn(len(broken))])
		}
		emit(yamlCase{Text: strings.Join(lines, "\n") + []string{"", "\n", "\n\n"}[r.Intn(3)]})
	}
	return nil
}

func runFromYaml(line []byte) (a answer) {
	var c yamlCase
	fail(json.Unmarshal(line, &c))
	var v any
	defer func() {
		if r := recover(); r != nil {
			a = answer{Err: fmt.Sprint("panic: ", r)}
		}
	}()
	if err := yaml.Unmarshal([]byte(c.Text), &v); err != nil {
		return answer{Err: err.Error()}
	}
	a = marshal(v)
	a.Out = fmt.Sprintf("%T %v\n", v, v) + a.Out
	return a
}
