// Suite yaml: sigs.k8s.io/yaml reads and writes documents, apimachinery's util/yaml splits streams.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
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

// yamlKeys counts what makes upstream's answer to a document hang on the order in which Go walks a map.
type yamlKeys struct {
	colliding   int // keys that become the same string as another of their mapping, such as 1 and "1"
	unsupported int // keys that JSON cannot have; of several, any is named
}

// yamlKeyText is the string that sigs.k8s.io/yaml makes of a key.
func yamlKeyText(key any) (string, bool) {
	switch k := key.(type) {
	case string:
		return k, true
	case float64:
		switch s := strconv.FormatFloat(k, 'g', -1, 32); s {
		case "+Inf":
			return ".inf", true
		case "-Inf":
			return "-.inf", true
		case "NaN":
			return ".nan", true
		default:
			return s, true
		}
	case int, int64, bool:
		return fmt.Sprint(k), true
	}
	return "", false
}

func (n *yamlKeys) walk(v any) {
	switch t := v.(type) {
	case []any:
		for _, item := range t {
			n.walk(item)
		}
	case map[any]any:
		seen := map[string]bool{}
		for k, item := range t {
			if text, ok := yamlKeyText(k); !ok {
				n.unsupported++
			} else if seen[text] {
				n.colliding++
			} else {
				seen[text] = true
			}
			n.walk(item)
		}
	}
}

func hasAmbiguousKeys(text []byte) bool {
	var v any
	if goyaml.Unmarshal(text, &v) != nil {
		return false
	}
	n := yamlKeys{}
	n.walk(v)
	return n.colliding > 0 || n.unsupported > 1
}

// isAmbiguous says whether upstream may answer differently from run to run.
func isAmbiguous(c yamlCase) bool {
	if hasAmbiguousKeys(c.Read) {
		return true
	}
	r := utilyaml.NewYAMLReader(newLineReader(c.Stream))
	for {
		d, err := r.Read()
		if err != nil {
			return false
		}
		if hasAmbiguousKeys(d) {
			return true
		}
	}
}

func genYAML(r *rand.Rand, count int, emit func(c any)) {
	out := func(c yamlCase) {
		if len(c.Read)+len(c.Stream)+len(c.Split)+len(c.Write) == 0 {
			return
		}
		if !isAmbiguous(c) && !isKnownDifference(c) {
			emit(c)
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
		out(yamlCase{Read: []byte(d), Strict: i%5 == 0})
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
