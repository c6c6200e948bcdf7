// Suite yaml: sigs.k8s.io/yaml reads and writes documents, apimachinery's util/yaml splits streams.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand"
	"reflect"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v2"
)

func init() {
	suites["yaml"] = suite{gen: genYAML, run: runYAML, equal: equalYAML}
}

// A case is one of: a document to read, a stream to read or to split, a value to write. Texts travel as base64.
type yamlCase struct {
	Read   []byte          `json:"read,omitempty"`
	Strict bool            `json:"strict,omitempty"`
	Stream []byte          `json:"stream,omitempty"`
	Split  []byte          `json:"split,omitempty"`
	Write  json.RawMessage `json:"write,omitempty"`
}

func runYAML(raw json.RawMessage) any {
	var c yamlCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	switch {
	case c.Read != nil:
		return readYAML(c.Read, c.Strict)
	case c.Stream != nil:
		return readYAMLStream(c.Stream)
	case c.Split != nil:
		return splitYAML(c.Split)
	default:
		return writeYAML(c.Write)
	}
}

// The value a Kubernetes client would get: int64 apart from float64.
func kubernetesValue(j []byte) any {
	// utiljson tells int64 and float64 apart only below an object.
	var v map[string]any
	if err := utiljson.Unmarshal([]byte(`{"v":`+string(j)+`}`), &v); err != nil {
		return errorResult(err)
	}
	return v["v"]
}

func readYAML(text []byte, strict bool) any {
	convert := yaml.YAMLToJSON
	if strict {
		convert = yaml.YAMLToJSONStrict
	}
	j, err := convert(text)
	if err != nil {
		return errorResult(err)
	}
	return map[string]any{"value": kubernetesValue(j)}
}

func readYAMLStream(text []byte) any {
	documents := []any{}
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 1024)
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return map[string]any{"documents": documents}
		}
		if err != nil {
			return errorResult(err)
		}
		if len(raw) == 0 {
			continue // null
		}
		if v := kubernetesValue(raw); v != nil {
			documents = append(documents, v)
		}
	}
}

func splitYAML(text []byte) any {
	documents := []any{}
	r := utilyaml.NewYAMLReader(newLineReader(text))
	for {
		d, err := r.Read()
		if errors.Is(err, io.EOF) {
			return map[string]any{"documents": documents}
		}
		if err != nil {
			return errorResult(err)
		}
		documents = append(documents, d)
	}
}

// What sigs.k8s.io/yaml writes, where that can be read back. It goes through JSON text read as YAML, which refuses control
// characters and keys of more than 1024 bytes and folds U+0085 away; for such values go-yaml's own writer is the judge.
func writeYAML(raw json.RawMessage) any {
	v, text := kubernetesValue(raw), []byte(nil)
	if out, err := yaml.Marshal(v); err == nil && rereads(out, raw) {
		text = out
	} else if out, err := goyaml.Marshal(yamlNumbers(decode(mustJSON(v)))); err == nil {
		text = out
	}
	return map[string]any{"text": text}
}

func rereads(text []byte, raw json.RawMessage) bool {
	j, err := yaml.YAMLToJSON(text)
	return err == nil && reflect.DeepEqual(plainNumbers(decode(j)), plainNumbers(decode(raw)))
}

// json.Number as the numbers that go-yaml reads from JSON.
func yamlNumbers(v any) any {
	switch t := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(t.String(), 10, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(t.String(), 10, 64); err == nil {
			return u
		}
		f, _ := t.Float64()
		return f
	case []any:
		for i := range t {
			t[i] = yamlNumbers(t[i])
		}
	case map[string]any:
		for k := range t {
			t[k] = yamlNumbers(t[k])
		}
	}
	return v
}

// json.Number by value, for comparing: 1.0 and 1 are the same.
func plainNumbers(v any) any {
	switch t := v.(type) {
	case json.Number:
		if i, err := t.Int64(); err == nil {
			return i
		}
		f, _ := t.Float64()
		if i := int64(f); math.Abs(f) < 1<<53 && float64(i) == f {
			return i
		}
		return f
	case []any:
		for i := range t {
			t[i] = plainNumbers(t[i])
		}
	case map[string]any:
		for k := range t {
			t[k] = plainNumbers(t[k])
		}
	}
	return v
}

// Upstream answers differently from run to run when two keys of a mapping become the same string (1 and "1"), when
// several keys are unsupported, and when an error prints a map with keys of several types: those cases are left out.
func isStable(raw json.RawMessage) bool {
	first := runYAML(raw)
	for i := 0; i < 24; i++ {
		if !reflect.DeepEqual(first, runYAML(raw)) {
			return false
		}
	}
	return true
}

func genYAML(r *rand.Rand, count int, emit func(c any)) {
	out := func(c yamlCase) {
		if len(c.Read)+len(c.Stream)+len(c.Split)+len(c.Write) == 0 {
			return
		}
		raw, err := json.Marshal(c)
		if err != nil {
			fail("%v", err)
		}
		if isStable(raw) && !isKnownDifference(c) {
			emit(json.RawMessage(raw))
		}
	}
	for _, d := range yamlCorpus() {
		out(yamlCase{Read: []byte(d)})
		out(yamlCase{Read: []byte(d), Strict: true})
		out(yamlCase{Stream: []byte(d)})
		out(yamlCase{Split: []byte(d)})
	}
	for _, s := range yamlStrings {
		for _, v := range []any{s, []any{s, s}, map[string]any{s: s}, map[string]any{"k": []any{[]any{s}, map[string]any{s: []any{s}}}}} {
			out(yamlCase{Write: mustJSON(v)})
		}
	}
	for _, j := range yamlValues {
		out(yamlCase{Write: json.RawMessage(j)})
	}
	corpus := yamlCorpus()
	for i := 0; i < count; i++ {
		g := yamlGen{r: r}
		d := g.document()
		switch {
		case i%4 == 1:
			d = g.mutate(d)
		case i%4 == 2:
			d = g.mutate(corpus[r.Intn(len(corpus))])
		case i%4 == 3:
			d = g.mutate(g.mutate(d))
		}
		// Two keys that JSON cannot have: which of them is named is up to chance.
		if _, err := yaml.YAMLToJSON([]byte(d)); err == nil || !strings.HasPrefix(err.Error(), "unsupported map key") {
			out(yamlCase{Read: []byte(d), Strict: i%5 == 0})
		}
		if i%3 == 0 {
			s := g.stream()
			out(yamlCase{Stream: []byte(s)})
			out(yamlCase{Split: []byte(s)})
		}
		if i%2 == 0 {
			out(yamlCase{Write: mustJSON(g.value(4))})
		}
	}
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		fail("%v", err)
	}
	return b
}

// Documents are separated by lines of %%%; a Go-quoted string stands for itself.
//
//go:embed testdata/yaml/corpus.txt
var yamlCorpusText string

func yamlCorpus() []string {
	documents := []string{}
	for _, d := range strings.Split(yamlCorpusText, "%%%\n") {
		if s, err := strconv.Unquote(strings.TrimSpace(d)); err == nil {
			d = s
		}
		if d != "" {
			documents = append(documents, d)
		}
	}
	return documents
}
