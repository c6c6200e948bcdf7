package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// A pathCase is one call of crossplane-runtime's fieldpath package.
type pathCase struct {
	Op      string          `json:"op"`
	Doc     json.RawMessage `json:"doc,omitempty"`
	Path    string          `json:"path,omitempty"`
	Hex     string          `json:"hex,omitempty"` // the path, where it is not UTF-8
	Value   json.RawMessage `json:"value,omitempty"`
	Special string          `json:"special,omitempty"` // a value that JSON cannot carry
	Options *string         `json:"options,omitempty"` // any of "keep append"; absent: no options at all
}

func init() {
	suites["path"] = suite{gen: genPath, run: runPath, equal: equalPath}
}

// typed makes int64 and float64 distinguishable in JSON: strings get the prefix s, floats become f and their bits.
func typed(v any) any {
	switch v := v.(type) {
	case string:
		return "s" + v
	case float64:
		return fmt.Sprintf("f%016x", math.Float64bits(v))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = typed(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = typed(v[k])
		}
		return out
	}
	return v
}

func kubeDecode(raw json.RawMessage) any {
	m := map[string]any{}
	if err := kjson.Unmarshal([]byte(`{"v":`+string(raw)+`}`), &m); err != nil {
		fail("cannot read %s: %v", raw, err)
	}
	return m["v"]
}

func specialValue(name string) any {
	switch name {
	case "nan":
		return math.NaN()
	case "inf":
		return []any{math.Inf(1)}
	case "-inf":
		return map[string]any{"x": math.Inf(-1)}
	case "text":
		return "a\xff\xc3b\xed\xa0\x80"
	case "keys":
		return map[string]any{"\xfe": int64(1), "\xff": 2.0, "b": []any{"\xff"}}
	}
	fail("no special value %q", name)
	return nil
}

func pathError(err error) any {
	return map[string]any{"error": err.Error(), "notFound": fieldpath.IsNotFound(err)}
}

func (c pathCase) text() string {
	if c.Hex != "" {
		b, err := hex.DecodeString(c.Hex)
		if err != nil {
			fail("%v", err)
		}
		return string(b)
	}
	return c.Path
}

func runPath(raw json.RawMessage) any {
	var c pathCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	first := runPathOnce(c)
	if _, failed := first.(map[string]any)["error"]; !failed || c.Op != "expand" && c.Op != "merge" {
		return first
	}
	// Which of several errors is reported depends on the order of a Go map: collect all of them.
	seen := map[string]any{}
	for range 200 {
		r := runPathOnce(c)
		b, _ := json.Marshal(r)
		seen[string(b)] = r
	}
	if len(seen) == 1 {
		return first
	}
	all := []any{}
	for _, k := range slices.Sorted(maps.Keys(seen)) {
		all = append(all, seen[k])
	}
	return map[string]any{"any": all}
}

func runPathOnce(c pathCase) any {
	path := c.text()
	if c.Op == "parse" {
		return parseResult(path)
	}
	p := fieldpath.Pave(kubeDecode(c.Doc).(map[string]any))
	switch c.Op {
	case "set", "merge":
		var v any
		if c.Special != "" {
			v = specialValue(c.Special)
		} else {
			v = kubeDecode(c.Value)
		}
		var err error
		if c.Op == "set" {
			err = p.SetValue(path, v)
		} else {
			err = p.MergeValue(path, v, mergeOptions(c.Options))
		}
		if err != nil {
			return pathError(err)
		}
		return map[string]any{"doc": typed(p.UnstructuredContent())}
	case "delete":
		if err := p.DeleteField(path); err != nil {
			return pathError(err)
		}
		return map[string]any{"doc": typed(p.UnstructuredContent())}
	case "expand":
		paths, err := p.ExpandWildcards(path)
		if err != nil {
			return pathError(err)
		}
		sort.Strings(paths)
		return map[string]any{"paths": append([]string{}, paths...)}
	}
	v, err := pathGet(p, c.Op, path)
	if err != nil {
		return pathError(err)
	}
	return map[string]any{"value": typed(v)}
}

func parseResult(path string) any {
	segments, err := fieldpath.Parse(path)
	if err != nil {
		return pathError(err)
	}
	out := []any{}
	for _, s := range segments {
		if s.Type == fieldpath.SegmentIndex {
			out = append(out, int64(s.Index))
		} else {
			out = append(out, s.Field)
		}
	}
	return map[string]any{"segments": out, "print": segments.String()}
}

func pathGet(p *fieldpath.Paved, op, path string) (any, error) {
	switch op {
	case "get":
		return p.GetValue(path)
	case "string":
		return p.GetString(path)
	case "bool":
		return p.GetBool(path)
	case "int":
		return p.GetInteger(path)
	case "strings":
		l, err := p.GetStringArray(path)
		out := []any{}
		for _, s := range l {
			out = append(out, s)
		}
		return out, err
	case "stringObject":
		m, err := p.GetStringObject(path)
		out := map[string]any{}
		for k, s := range m {
			out[k] = s
		}
		return out, err
	}
	fail("no op %q", op)
	return nil, nil
}

func mergeOptions(text *string) *fieldpath.MergeOptions {
	if text == nil {
		return nil
	}
	keep, app := strings.Contains(*text, "keep"), strings.Contains(*text, "append")
	return &fieldpath.MergeOptions{KeepMapValues: &keep, AppendSlice: &app}
}

func equalPath(_ json.RawMessage, oracle, subject any) bool {
	o, u := oracle.(map[string]any), subject.(map[string]any)
	if all, ok := o["any"].([]any); ok {
		for _, r := range all {
			if reflect.DeepEqual(r, subject) {
				return true
			}
		}
		return false
	}
	if paths, ok := u["paths"].([]any); ok { // ours are in the order of the document, upstream's are sorted
		sort.Slice(paths, func(i, j int) bool { return paths[i].(string) < paths[j].(string) })
	}
	return reflect.DeepEqual(o, u)
}

// Generation

var pathKeys = []string{"a", "b", "c", "d", "spec", "items", "x.y", "a[b]", "'q'", "q", `"d"`, "", "0", "1", "ключ", "é", "a b", "-", "a/b", "~", "日本", "\u00a0", "'", ".", "..", "[0]"}

type pathGen struct {
	r *rand.Rand
	// noStar: upstream recurses without end over an object with the key "*" below a wildcard and dies of it; we give an
	// error. Such documents are kept away from expansions.
	noStar bool
	leaves []string // if set, most scalars come from here
}

func (g pathGen) pick(list ...string) string { return list[g.r.Intn(len(list))] }

func (g pathGen) key() string {
	if g.r.Intn(3) > 0 {
		return pathKeys[g.r.Intn(5)]
	}
	if !g.noStar && g.r.Intn(12) == 0 {
		return "*"
	}
	return pathKeys[g.r.Intn(len(pathKeys))]
}

// Scalars that the typed getters like.
var typedLeaves = map[string][]string{
	"string": {`"s"`, `""`, `"é"`}, "strings": {`"s"`, `""`, `"é"`}, "stringObject": {`"s"`, `""`, `"é"`},
	"bool": {"true", "false"}, "int": {"0", "-3", "9223372036854775807"},
}

func (g pathGen) scalar() string {
	if g.leaves != nil && g.r.Intn(10) > 0 {
		return g.pick(g.leaves...)
	}
	return g.pick("null", "null", "true", "false", "0", "1", "-1", "3", "1.0", "0.0", "-0.0", "2.5", "1e3", "1e21", "9223372036854775807",
		"-9223372036854775808", "9223372036854775808", "4611686018427387904.0", "9007199254740993", "9007199254740993.0", "1e-7", `""`,
		`"s"`, `"a"`, `"é"`, `"0"`, `"\u0000"`, `"<&>"`)
}

func (g pathGen) value(depth int) string {
	switch k := g.r.Intn(10); {
	case depth <= 0 || k < 4:
		return g.scalar()
	case k < 7:
		return g.array(depth)
	default:
		return g.object(depth)
	}
}

func (g pathGen) array(depth int) string {
	items := []string{}
	for range g.r.Intn(4) {
		if len(items) > 0 && g.r.Intn(3) == 0 {
			items = append(items, items[0]) // duplicates, for appends
		} else {
			items = append(items, g.value(depth-1))
		}
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (g pathGen) object(depth int) string {
	seen, members := map[string]bool{}, []string{}
	for range g.r.Intn(5) {
		k := g.key()
		if seen[k] {
			continue
		}
		seen[k] = true
		b, _ := json.Marshal(k)
		members = append(members, string(b)+":"+g.value(depth-1))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// walk gives segments that lead into the document, and now and then beside it.
func (g pathGen) walk(v any) []string {
	out := []string{}
	for range 5 {
		switch t := v.(type) {
		case map[string]any:
			keys := []string{}
			for k := range t {
				keys = append(keys, k)
			}
			sort.Strings(keys)
			if len(keys) == 0 || g.r.Intn(8) == 0 {
				return append(out, g.segment(g.key()))
			}
			k := keys[g.r.Intn(len(keys))]
			out = append(out, g.segment(k))
			v = t[k]
		case []any:
			i := g.r.Intn(len(t) + 2)
			out = append(out, "["+strconv.Itoa(i)+"]")
			if i >= len(t) {
				v = nil
			} else {
				v = t[i]
			}
		}
		if g.r.Intn(4) == 0 {
			break
		}
	}
	if g.r.Intn(5) == 0 {
		out = append(out, g.pick("[0]", "[1]", ".a", ".b", "[4294967295]", "[1024]", "[1025]", "[2]"))
	}
	return out
}

func (g pathGen) segment(k string) string {
	if strings.ContainsAny(k, ".[]") || g.r.Intn(5) == 0 {
		return g.pick("["+k+"]", "['"+k+"']", `["`+k+`"]`)
	}
	return "." + k
}

func (g pathGen) path(doc any, wildcards bool) string {
	if g.r.Intn(8) == 0 {
		return g.hostile()
	}
	segments := g.walk(doc)
	for i := range segments {
		if wildcards && g.r.Intn(3) == 0 {
			segments[i] = g.pick("[*]", ".*", "['*']")
		} else if g.r.Intn(25) == 0 {
			segments[i] = g.pick("[0]", ".a", "[3]", ".0")
		}
	}
	p := strings.TrimPrefix(strings.Join(segments, ""), ".")
	if g.r.Intn(10) == 0 && len(p) > 0 { // nearly right: one byte lost, doubled or changed
		i := g.r.Intn(len(p))
		p = p[:i] + g.pick("", string(p[i])+string(p[i]), ".", "[", "]", "'") + p[i+1:]
	}
	return p
}

func (g pathGen) hostile() string {
	b := strings.Builder{}
	for range g.r.Intn(10) {
		b.WriteString(g.pick("a", "b", ".", ".", "[", "]", "[", "]", "'", `"`, "*", "0", "1", "9", "é", "\xff", "[0]", "[a]", " ", "4294967296", "+1", "_", "日", "\n", "\u200b"))
	}
	return b.String()
}

func (g pathGen) setPath(c *pathCase, p string) {
	if strings.ToValidUTF8(p, "") != p {
		c.Hex = hex.EncodeToString([]byte(p))
	} else {
		c.Path = p
	}
}

// related gives a value with much in common with v, so that merges meet the same keys.
func (g pathGen) related(v any, depth int) string {
	if depth <= 0 || g.r.Intn(5) == 0 {
		return g.value(2)
	}
	switch t := v.(type) {
	case map[string]any:
		out := map[string]json.RawMessage{}
		keys := []string{}
		for k := range t {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			if g.r.Intn(4) > 0 {
				out[k] = json.RawMessage(g.related(t[k], depth-1))
			}
		}
		if g.r.Intn(2) == 0 {
			out[g.key()] = json.RawMessage(g.value(1))
		}
		b, err := json.Marshal(out)
		if err != nil {
			fail("%v", err)
		}
		return string(b)
	case []any:
		items := []string{}
		for _, item := range t {
			if g.r.Intn(3) > 0 {
				items = append(items, rawOf(item))
			}
		}
		if g.r.Intn(2) == 0 {
			items = append(items, g.value(1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return g.value(1)
}

// rawOf writes a decoded value so that int64 and float64 are read back as what they were.
func rawOf(v any) string {
	switch t := v.(type) {
	case float64:
		s := strconv.FormatFloat(t, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case []any:
		items := []string{}
		for _, i := range t {
			items = append(items, rawOf(i))
		}
		return "[" + strings.Join(items, ",") + "]"
	case map[string]any:
		keys := []string{}
		for k := range t {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		members := []string{}
		for _, k := range keys {
			b, _ := json.Marshal(k)
			members = append(members, string(b)+":"+rawOf(t[k]))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	b, _ := json.Marshal(v)
	return string(b)
}

var mergeOptionTexts = []string{"", "keep", "append", "keep append"}

func (g pathGen) options() *string {
	if g.r.Intn(6) == 0 {
		return nil
	}
	return &mergeOptionTexts[g.r.Intn(4)]
}

func (g pathGen) random() pathCase {
	ops := []string{"parse", "get", "get", "string", "bool", "int", "strings", "stringObject", "set", "set", "set", "delete", "delete", "expand", "expand", "expand", "merge", "merge", "merge", "merge"}
	c := pathCase{Op: g.pick(ops...)}
	g.noStar = c.Op == "expand"
	g.leaves = typedLeaves[c.Op]
	c.Doc = json.RawMessage(g.object(4))
	if len(c.Doc) == 2 { // most walks want something to walk in
		c.Doc = json.RawMessage(g.object(4))
	}
	doc := kubeDecode(c.Doc)
	path := g.path(doc, c.Op == "expand")
	g.setPath(&c, path)
	switch c.Op {
	case "parse":
		c.Doc = nil
	case "set":
		c.Value = json.RawMessage(g.value(3))
	case "merge":
		c.Options = g.options()
		found, err := fieldpath.Pave(doc.(map[string]any)).GetValue(path)
		if err != nil {
			found = nil
		}
		c.Value = json.RawMessage(g.related(found, 4))
	}
	if c.Value != nil && g.r.Intn(40) == 0 {
		c.Value, c.Special = nil, g.pick("nan", "inf", "-inf", "text", "keys")
	}
	return c
}

// Quirks, each emitted before the random cases.
var quirkPaths = []string{"", "a", "a.b", "a[b]c", "a[0]", "a[*]", "a.*", "'a'.b", "a['']", "''", "a[''].b", "['a.b']", "a.'b.c'", "a[x[y",
	"a[x[y]", "a[]", "a.[b]", "a[b].", "a[b]]", ".", "[", "]", "a..", "a..b", "a.[", "a.]", "a[b].[c]", "[0]", "[4294967295]", "[4294967296]",
	"[007]", "[+1]", "[-1]", "[ 1]", "[1_0]", "[0x1]", "[٣]", "a\xffb", "a[\xff]", "é.ü[ö]", "[a]b.c", `["a"]`, `['a"]`, "a[.b]", "a[b.]", "a[0]b",
	"a[0][1]", "a[']", "a'b'c", "*", "a b", "'", "''''.b", "[''][0]", "a[b][c]d[e]", "a.b]", "a]", "a[b", "a[b.c", "items.0", "data[.config.yml]",
	"metadata.annotations['crossplane.io/external-name']", ".a", "a.", "[[a]", "[[", "[]", "a[0].", "a[0]..b", "[a][b]", "\"a\".b", "a.\"\".b"}

var quirkDocs = []string{`{}`, `{"a":null}`, `{"a":[null]}`, `{"a":[]}`, `{"a":{}}`, `{"a":"x"}`, `{"a":[1,2.0,3]}`, `{"a":{"b":null}}`,
	`{"a":{"b":[{"c":"x"},{"c":"y"},{"d":1}]}}`, `{"a":[[1],[2,3]]}`, `{"a":["x","y"],"b":{"c":"s"},"c":true,"d":3,"e":3.0}`}

var quirkDocPaths = []string{"", "a", "a.b", "a[0]", "a[0].b", "a[0][0]", "a[0][2].c", "a.b.c", "a.b[1].c", "a[1024]", "a[1025]", "a[4294967295]",
	"[0]", "[0].a", "b", "b.c", "c", "d", "e", "x.y[2].z", "a.b[0].c", "a.b.c.d"}

var quirkWild = []string{"*", "[*]", "a[*]", "a.*", "a[*].b", "a[*][*]", "a.b[*].c", "*[*]", "*.*.*", "a[0][*].b", "x[*]", "a[7][*]", "*[0]"}

func genPath(r *rand.Rand, count int, emit func(c any)) {
	g := pathGen{r: r}
	for _, p := range quirkPaths {
		c := pathCase{Op: "parse"}
		g.setPath(&c, p)
		emit(c)
		count--
	}
	for _, d := range quirkDocs {
		doc := json.RawMessage(d)
		for _, p := range quirkDocPaths {
			for _, op := range []string{"get", "delete", "string", "bool", "int", "strings", "stringObject", "expand"} {
				emit(pathCase{Op: op, Doc: doc, Path: p})
			}
			emit(pathCase{Op: "set", Doc: doc, Path: p, Value: json.RawMessage(`{"n":3.0,"l":[1.5,-0.0]}`)})
			count -= 9
		}
		for _, p := range quirkWild {
			emit(pathCase{Op: "expand", Doc: doc, Path: p})
			count--
		}
	}
	for _, s := range []string{"nan", "inf", "-inf", "text", "keys"} {
		for _, p := range []string{"a", "a..", "a[2000]", "", "b.c"} {
			emit(pathCase{Op: "set", Doc: json.RawMessage(`{"b":1}`), Path: p, Special: s})
			emit(pathCase{Op: "merge", Doc: json.RawMessage(`{"b":1}`), Path: p, Special: s, Options: &mergeOptionTexts[0]})
			count -= 2
		}
	}
	values := []string{`null`, `false`, `0`, `0.0`, `""`, `[]`, `{}`, `1`, `1.0`, `"s"`, `[1]`, `[1,1.0,2]`, `{"k":null}`, `{"k":{"l":null}}`, `{"k":[1]}`, `{"k":[]}`, `{"k":{}}`, `{"k":1,"j":2}`}
	for _, d := range values {
		for _, v := range values {
			for i := range mergeOptionTexts {
				emit(pathCase{Op: "merge", Doc: json.RawMessage(`{"a":` + d + `}`), Path: "a", Value: json.RawMessage(v), Options: &mergeOptionTexts[i]})
				count--
			}
		}
	}
	for ; count > 0; count-- {
		emit(g.random())
	}
}
