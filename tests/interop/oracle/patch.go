package main

import (
	"encoding/json"
	"math/rand"
	"sort"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// A patchCase applies a JSON Patch or a merge patch, or makes a merge patch, with the library that kube-apiserver uses. Only
// results are compared: the API server shows its own text for every failure, and ours say more than the library's.
type patchCase struct {
	Op    string          `json:"op"` // apply, merge, create
	Doc   json.RawMessage `json:"doc"`
	Patch json.RawMessage `json:"patch"` // the other document for create
}

func init() {
	suites["patch"] = suite{gen: genPatch, run: runPatch, equal: equalPatch}
}

func runPatch(raw json.RawMessage) (result any) {
	var c patchCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	// The library dereferences nil in some corners (null inside a compared array, a root replaced by nothing).
	defer func() {
		if recover() != nil {
			result = map[string]any{"panic": true}
		}
	}()
	var out []byte
	var err error
	switch c.Op {
	case "apply":
		var p jsonpatch.Patch
		if p, err = jsonpatch.DecodePatch(c.Patch); err == nil {
			out, err = p.Apply(c.Doc)
		}
	case "merge":
		out, err = jsonpatch.MergePatch(c.Doc, c.Patch)
	case "create":
		out, err = jsonpatch.CreateMergePatch(c.Doc, c.Patch)
	}
	if err != nil {
		return map[string]any{"failed": true}
	}
	return map[string]any{"value": typed(kubeDecode(out))}
}

// equalPatch: where the library panics there is no answer to be equal to; that we give one at all is what counts.
func equalPatch(_ json.RawMessage, oracle, _ any) bool {
	return oracle.(map[string]any)["panic"] == true
}

type patchGen struct {
	pathGen
	inArray bool
	isSmall bool // no integers that a double cannot hold: the library makes merge patches by way of doubles
}

var patchKeys = []string{"a", "b", "c", "d", "", "x/y", "m~n", "~1", "0", "-", "é", "a b"}

func (g patchGen) key() string {
	if g.r.Intn(3) > 0 {
		return patchKeys[g.r.Intn(4)]
	}
	return patchKeys[g.r.Intn(len(patchKeys))]
}

// Numbers are written the one way in which we write them: the library compares and keeps their text, we their value.
func (g patchGen) scalar() string {
	if !g.isSmall && g.r.Intn(8) == 0 {
		return g.pick("9223372036854775807", "-9223372036854775808", "9223372036854775808")
	}
	return g.pick("null", "true", "false", "0", "1", "-1", "1.5", "2.5", "1e+21",
		`""`, `"s"`, `"a"`, `"é"`)
}

func (g patchGen) value(depth int) string {
	switch k := g.r.Intn(10); {
	case depth <= 0 || k < 3:
		return g.scalar()
	case k < 6:
		return g.array(depth)
	default:
		return g.object(depth)
	}
}

func (g patchGen) array(depth int) string {
	g.inArray = true
	items := []string{}
	for range g.r.Intn(4) {
		items = append(items, g.value(depth-1))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (g patchGen) object(depth int) string {
	seen, members := map[string]bool{}, []string{}
	for range g.r.Intn(5) {
		k := g.key()
		v := g.value(depth - 1)
		// The library drops null members of objects inside arrays of a merge patch here and there; RFC 7396 takes
		// arrays as they are, and so do we.
		if seen[k] || g.inArray && v == "null" {
			continue
		}
		seen[k] = true
		b, _ := json.Marshal(k)
		members = append(members, string(b)+":"+v)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g patchGen) document() string {
	for range 4 {
		if d := g.object(4); len(d) > 2 {
			return d
		}
	}
	if g.r.Intn(4) == 0 {
		return g.array(4)
	}
	return `{"a":[1,{"b":2}],"c":{"d":"s"}}`
}

func escapeToken(k string) string {
	return strings.ReplaceAll(strings.ReplaceAll(k, "~", "~0"), "/", "~1")
}

// pointer leads into the document, or just beside it. Indexes with leading zeros are left out: this version of the library
// takes them, the API server was seen to refuse them, and RFC 6901 forbids them.
func (g patchGen) pointer(v any) string {
	b := strings.Builder{}
	for {
		switch t := v.(type) {
		case map[string]any:
			keys := []string{}
			for k := range t {
				keys = append(keys, k)
			}
			sort.Strings(keys)
			if len(keys) == 0 || g.r.Intn(6) == 0 {
				b.WriteString("/" + escapeToken(g.key()))
				v = nil
				break
			}
			k := keys[g.r.Intn(len(keys))]
			b.WriteString("/" + escapeToken(k))
			v = t[k]
		case []any:
			i := g.r.Intn(len(t)+2) - g.r.Intn(2)*g.r.Intn(len(t)+3)
			switch g.r.Intn(14) {
			case 0:
				b.WriteString("/" + g.pick("-", "-", "x", "+1", "-0", "", "1e0", " 1", "99999999999999999999"))
				i = -1
			default:
				b.WriteString("/" + strconv.Itoa(i))
			}
			if i >= 0 && i < len(t) {
				v = t[i]
			} else {
				v = nil
			}
		default:
			if g.r.Intn(6) > 0 {
				break
			}
			b.WriteString("/" + g.pick("a", "0", "b"))
			v = nil
		}
		if g.r.Intn(3) == 0 {
			break
		}
		if _, isNil := v.(map[string]any); v == nil && !isNil && g.r.Intn(5) > 0 {
			break
		}
	}
	p := b.String()
	switch g.r.Intn(40) {
	case 0:
		return "x" + p // what stands before the first slash is ignored
	case 1:
		return strings.TrimPrefix(p, "/")
	case 2:
		return g.pick("", "/", "//", "a", "~", "/~", "/a~2b")
	}
	return p
}

// at gives what stands at a pointer, for tests that pass.
func at(v any, pointer string) any {
	for i, token := range strings.Split(pointer, "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch t := v.(type) {
		case map[string]any:
			if i > 0 {
				v = t[token]
			}
		case []any:
			n, err := strconv.Atoi(token)
			if i > 0 && (err != nil || n < 0 || n >= len(t)) {
				return nil
			}
			if i > 0 {
				v = t[n]
			}
		default:
			return nil
		}
	}
	return v
}

func (g patchGen) operation(doc any) map[string]any {
	op := g.pick("add", "add", "add", "remove", "remove", "replace", "replace", "move", "copy", "test", "test")
	o := map[string]any{"op": op, "path": g.pointer(doc)}
	value := g.value(2)
	if op == "test" && g.r.Intn(4) > 0 {
		if found := at(doc, o["path"].(string)); found != nil {
			b, _ := json.Marshal(found)
			value = string(b)
		}
	}
	// Comparing nulls inside arrays and objects, the library panics, or takes a null that an earlier operation added for
	// something else than null.
	if op == "test" && strings.Contains(value, "null") && value != "null" {
		value = "null"
	}
	// Upstream's root stays an object or array; we let it become anything, as RFC 6902 does.
	if o["path"] == "" && value[0] != '{' && value[0] != '[' {
		value = `{"r":1}`
	}
	o["value"] = json.RawMessage(value)
	if op == "move" || op == "copy" {
		o["from"] = g.pointer(doc)
	}
	switch g.r.Intn(60) {
	case 0:
		delete(o, g.pick("op", "path"))
	case 1:
		if o["path"] != "" && op != "test" { // a test without value trips over added nulls as above
			delete(o, "value")
		}
	case 2:
		o[g.pick("op", "path", "from")] = json.RawMessage(g.pick("null", "1", `"foo"`, "[]"))
	case 3:
		o["extra"] = 1
	}
	return o
}

// patch makes operations that mostly apply: each is generated against the document as it is by then.
func (g patchGen) patch(raw string) string {
	if g.r.Intn(60) == 0 {
		return g.pick("null", "[]", "{}", "1", `"x"`, "[1]", "[null]", "[[]]", "[{}]")
	}
	operations := []any{}
	doc := json.RawMessage(raw)
	for range 1 + g.r.Intn(6) {
		o := g.operation(decode(doc))
		one, _ := json.Marshal([]any{o})
		r := runPatch(mustMarshal(patchCase{Op: "apply", Doc: doc, Patch: one}))
		if r.(map[string]any)["value"] == nil && g.r.Intn(8) > 0 {
			continue // keep few of those that fail
		}
		operations = append(operations, o)
		p, err := jsonpatch.DecodePatch(one)
		if err != nil {
			break
		}
		next, err := func() (out []byte, err error) {
			defer func() { _ = recover() }()
			return p.Apply(doc)
		}()
		if err != nil || next == nil {
			break
		}
		doc = next
	}
	return string(mustMarshal(operations))
}

func mustMarshal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		fail("%v", err)
	}
	return b
}

// relatedTo gives a document with much in common with v.
func (g patchGen) relatedTo(v any, depth int) string {
	t, ok := v.(map[string]any)
	if !ok || depth == 0 || g.r.Intn(5) == 0 {
		return g.value(2)
	}
	keys := []string{}
	for k := range t {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	members := map[string]json.RawMessage{}
	for _, k := range keys {
		switch g.r.Intn(4) {
		case 0:
		case 1:
			members[k] = mustMarshal(t[k])
		default:
			members[k] = json.RawMessage(g.relatedTo(t[k], depth-1))
		}
	}
	if g.r.Intn(2) == 0 {
		members[g.key()] = json.RawMessage(g.value(2))
	}
	return string(mustMarshal(members))
}

func (g patchGen) random() patchCase {
	c := patchCase{Op: g.pick("apply", "apply", "apply", "merge", "merge", "create")}
	g.isSmall = c.Op == "create"
	doc := g.document()
	switch c.Op {
	case "apply":
		c.Patch = json.RawMessage(g.patch(doc))
	case "merge":
		c.Patch = json.RawMessage(g.relatedTo(decode(json.RawMessage(doc)), 4))
		if c.Patch[0] != '{' && c.Patch[0] != '[' { // the library refuses scalars; RFC 7396 lets them replace
			c.Patch = json.RawMessage(g.object(3))
		}
	case "create": // only between objects: the library has rules of its own for arrays
		if doc[0] != '{' {
			doc = `{}`
		}
		c.Patch = json.RawMessage(g.relatedTo(decode(json.RawMessage(doc)), 4))
		if c.Patch[0] != '{' {
			c.Patch = json.RawMessage(g.object(3))
		}
	}
	c.Doc = json.RawMessage(doc)
	return c
}

// Quirks of the library, each as document and patch.
var quirkPatches = [][2]string{
	{`{"a":1}`, `[{"op":"add","path":"","value":{"b":1}}]`},
	{`{"a":1}`, `[{"op":"replace","path":"","value":{"b":1}}]`},
	{`{"a":1}`, `[{"op":"replace","path":"","value":[1,2]},{"op":"add","path":"/0","value":1}]`},
	{`{"a":1}`, `[{"op":"remove","path":""}]`},
	{`{"a":1}`, `[{"op":"test","path":"","value":{"a":1}}]`},
	{`{"a":1}`, `[{"op":"test","path":"","value":{"a":2}}]`},
	{`{"a":1}`, `[{"op":"copy","from":"","path":"/b"}]`},
	{`{"a":1}`, `[{"op":"move","from":"","path":"/b"}]`},
	{`{"a":{"b":1}}`, `[{"op":"copy","from":"/a","path":""}]`},
	{`{"a":1}`, `[{"op":"replace","path":"a","value":2}]`},
	{`{"a":1}`, `[{"op":"test","path":"a","value":{"a":1}}]`},
	{`{"a":1}`, `[{"op":"add","path":"x/a","value":2}]`},
	{`{"a":1}`, `[{"op":"add","path":"/","value":2}]`},
	{`{"":{"":1}}`, `[{"op":"replace","path":"//","value":2}]`},
	{`{"a":[1,2,3]}`, `[{"op":"add","path":"/a/+1","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"add","path":"/a/-0","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"add","path":"/a/3","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"add","path":"/a/4","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"add","path":"/a/-1","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"add","path":"/a/-4","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"add","path":"/a/-5","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"add","path":"/a/-","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"replace","path":"/a/-","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"replace","path":"/a/3","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"replace","path":"/a/-3","value":9}]`},
	{`{"a":[1,2,3]}`, `[{"op":"remove","path":"/a/-1"}]`},
	{`{"a":[1,2,3]}`, `[{"op":"remove","path":"/a/-"}]`},
	{`{"a":[1,2,3]}`, `[{"op":"test","path":"/a/7","value":null}]`},
	{`{"a":[1,2,3]}`, `[{"op":"test","path":"/b"}]`},
	{`{"a":null}`, `[{"op":"test","path":"/a/b","value":null}]`},
	{`{"a":null}`, `[{"op":"move","from":"/a","path":"/b"}]`},
	{`{"a":1}`, `[{"op":"copy","from":"/b","path":"/c"}]`},
	{`{"a":[1]}`, `[{"op":"copy","from":"/a/5","path":"/c"}]`},
	{`{"a":[1]}`, `[{"op":"copy","from":"/a","path":"/a/0"},{"op":"add","path":"/a/0/0","value":7}]`},
	{`{"a":[1]}`, `[{"op":"move","from":"/a","path":"/a/0"}]`},
	{`{"a":{"b":1}}`, `[{"op":"move","from":"/a","path":"/a"}]`},
	{`{"a":{"b":1}}`, `[{"op":"move","from":"/a/b","path":"/a"}]`},
	{`{"a":[1,2]}`, `[{"op":"move","from":"/a/0","path":"/a/2"}]`},
	{`{"a":1}`, `[{"op":"add","path":"/b"}]`},
	{`{"a":1}`, `[{"op":"copy","from":3,"path":"/b"}]`},
	{`{"a":1}`, `[null]`},
	{`{"a":1}`, `null`},
	{`{"a~b":1,"c/d":2,"~1":3}`, `[{"op":"replace","path":"/a~0b","value":9},{"op":"replace","path":"/c~1d","value":9},{"op":"replace","path":"/~01","value":9}]`},
	{`{"a":1}`, `[{"op":"test","path":"/a","value":1.0}]`},
	{`{"a":1.0}`, `[{"op":"test","path":"/a","value":1.0}]`},
	{`{"a":[{"x":null}]}`, `[{"op":"test","path":"/a","value":[{"y":null}]}]`},
	{`{"a":[[1],[2]]}`, `[{"op":"add","path":"/a/-1/0","value":9}]`},
	{`{"a":[[1],[2]]}`, `[{"op":"add","path":"/a/-/0","value":9}]`},
}

func genPatch(r *rand.Rand, count int, emit func(c any)) {
	g := patchGen{pathGen: pathGen{r: r}}
	for _, q := range quirkPatches {
		emit(patchCase{Op: "apply", Doc: json.RawMessage(q[0]), Patch: json.RawMessage(q[1])})
		count--
	}
	for ; count > 0; count-- {
		emit(g.random())
	}
}
