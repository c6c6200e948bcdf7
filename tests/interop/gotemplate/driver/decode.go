package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

var yamlLine = regexp.MustCompile(`yaml: line (\d+): (.*)`)

// The line of the next separator behind the given one, or that one itself.
func nextSeparator(lines []string, after int) (int, bool) {
	for i := after; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "---" {
			return i + 1, true
		}
	}
	return after, false
}

// The function's own words for an error of YAML: the line in the whole output, and what stands there.
func withPlace(err error, lines []string, separator, document int) string {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	n, _ := strconv.Atoi(m[1])
	if separator+n > len(lines) {
		return text
	}
	near := strings.TrimSpace(lines[separator+n-1])
	if len(near) > 80 {
		near = near[:80] + "..."
	}
	return strings.Replace(text, m[0], fmt.Sprintf("yaml: line %d (document %d, line %d) near: '%s': %s", separator+n, document, n, near, m[2]), 1)
}

// The documents before the first error, and the error in the function's words; "" if there is none.
func documents(text string) (all []*unstructured.Unstructured, problem string) {
	lines := strings.Split(text, "\n")
	separator, found := nextSeparator(lines, 1)
	if !found {
		separator = 1
	}
	d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 1024)
	for {
		u := &unstructured.Unstructured{}
		if err := d.Decode(&u); err != nil {
			if errors.Is(err, io.EOF) {
				return all, ""
			}
			return all, "cannot decode manifest: " + withPlace(err, lines, separator, len(all)+1)
		}
		if u == nil || u.Object == nil {
			continue
		}
		if _, _, err := unstructured.NestedStringMap(u.Object, "metadata", "annotations"); err != nil {
			return all, fmt.Sprintf("invalid annotations in resource '%s resource-name=<nil>': %s", u.GroupVersionKind(), err)
		}
		all = append(all, u)
		separator, _ = nextSeparator(lines, separator)
	}
}

func runDecode(line []byte) (a answer) {
	var c yamlCase
	fail(json.Unmarshal(line, &c))
	all, problem := documents(c.Text)
	for _, u := range all {
		text, err := json.Marshal(u.Object)
		fail(err)
		a.Out += string(text) + "\n"
	}
	a.Err = problem
	return a
}

var manifests = []string{"kind: A", "apiVersion: v1", "metadata:", "  name: x", "spec:", "  on: yes", "  o: 0777", "  f: 1.5", "  n: 08", "  s: 'q'", "  l: [1, a]", "  t: 2020-01-01", "  b: |", "    text", "---", "---", "--- # c", "---x", "----", "--- {a: 1}", "...", "# comment", "", "  bad: b: c", "- item", "text", "null", "\"s\"", "5", "kind: \"\"", "kind: 3", "  x: .inf", "  ~: c", "  [1, 2]: d", "  k: *none", "  1: one", "  y: z", "  a: &a {b: 1}", "  <<: *a", "  h: <&>", "  big: 123456789012345678901234567890", "  e: \"\\ud83d\\ude00\"", "  dup: 1", "  dup: 2", "  u: !!str 1", "kind: List", "  long: " + strings.Repeat("x ", 60) + ": y"}

// Only at the start of a document: in the middle of one they are syntax errors that the scanners of Go and C place differently.
var jsonManifests = []string{"{\"kind\": \"J\"}", "{\"kind\": \"J\", \"n\": 1e3}", "{\"a\": 1}", "{kind: F}", "{\"kind\": \"J\"} {\"kind\": \"K\"}", "{\"kind\": \"J\"} null", "{\"kind\": \"J\"", "{\"kind\": 3}", "{}", "[1]", "\tx: 1"}

func genDecode(seed int64, count int, dir string, emit func(any)) error {
	r := rand.New(rand.NewSource(seed))
	for range count {
		var lines []string
		for range 1 + r.Intn(3) {
			if len(lines) == 0 && r.Intn(8) == 0 {
				lines = append(lines, jsonManifests[r.Intn(len(jsonManifests))], []string{"---", "", " "}[r.Intn(3)])
				continue
			}
			if r.Intn(6) > 0 {
				lines = append(lines, "kind: A")
			}
			if r.Intn(8) == 0 {
				lines = append(lines, "---", jsonManifests[r.Intn(len(jsonManifests))], "---")
				continue
			}
			for range r.Intn(4) {
				lines = append(lines, manifests[r.Intn(len(manifests))])
			}
			lines = append(lines, "---")
		}
		if r.Intn(2) == 0 {
			lines = lines[:len(lines)-1]
		}
		if r.Intn(4) == 0 {
			lines = append([]string{"---"}, lines...)
		}
		emit(yamlCase{Text: strings.Join(lines, "\n") + []string{"", "\n", "\n\n"}[r.Intn(3)]})
	}
	return nil
}
