package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

func init() {
	suites["patch-and-transform"] = func(r *rand.Rand, n int, emit func(*fnv1.RunFunctionRequest)) {
		count := 0
		each := func(req *fnv1.RunFunctionRequest) { count++; emit(req) }
		for _, c := range ptCases() {
			each(c)
		}
		g := &ptGen{r}
		for count < n {
			each(g.request())
		}
	}
}

type object = map[string]any

// ptGen makes random requests. What is left out, because ours differs on purpose or the real function dies of it (docs/compatibility.md):
// integer verbs on integral numbers, MatchInteger on integral numbers, MatchCondition without its object, a key `*` under a wildcard,
// negative groups of regular expressions, combining patches without `combine` in the secret's patches, quantities with huge
// exponents, NUL in texts, numbers that are not finite, addresses (%p).
type ptGen struct{ *rand.Rand }

func (g *ptGen) chance(percent int) bool { return g.Intn(100) < percent }

func pick[T any](g *ptGen, list ...T) T { return list[g.Intn(len(list))] }

// few gives 0 to n items, mostly few.
func few[T any](g *ptGen, n int, make func() T) []any {
	list := []any{}
	for range g.Intn(g.Intn(n+1) + 1) {
		list = append(list, make())
	}
	return list
}

var ptStrings = []string{"", "a", "b", "hello", "Hello World", "us-east-1", "ü", "ß", "ＡＢ", "<a&b>", "\u2028", "true", "1", "0", "42", "-7", "3.5", "1e3", "100m", "1Gi", "5K", "aGVsbG8=", "aGVsbG8", "!!", "a b  c", "a\nb\tc", `{"a":1,"b":[true,null]}`, `[1,2,"x"]`, "null", `{"a":`, "%s", "\"quoted\"", "'single'", "x.y", "spec.str", "[0]", "9223372036854775807", "9223372036854775808", "NaN", "inf", "0x10", "1_000", "T", "F", "\u00a0", "\ufffd", "日本語", "🙂", "True", "False"}

func (g *ptGen) str() string {
	if g.chance(15) {
		return g.text()
	}
	return ptStrings[g.Intn(len(ptStrings))]
}

func (g *ptGen) number() float64 {
	if g.chance(15) {
		return g.anyNumber()
	}
	return pick(g, 0, 1, 2, 3, -1, 7, 42, 100, 1000000, 1234567, 0.5, 2.9, 3.7, -2.5, 0.1, 1e-7, 1e21, 1e20, 123456789012, 9007199254740993, -9.2e18, 9.3e18, 1e300, math.Copysign(0, -1))
}

func (g *ptGen) value(depth int) any {
	n := 9
	if depth <= 0 {
		n = 6
	}
	switch g.Intn(n) {
	case 0:
		return nil
	case 1:
		return g.chance(50)
	case 2, 3:
		return g.number()
	case 4, 5:
		return g.str()
	case 6, 7:
		list := []any{}
		for range g.Intn(4) {
			list = append(list, g.value(depth-1))
		}
		return list
	default:
		o := object{}
		for range g.Intn(4) {
			o[g.key()] = g.value(depth - 1)
		}
		return o
	}
}

func (g *ptGen) key() string {
	return pick(g, "a", "b", "c", "str", "num", "list", "x.y", "a/b", "0", "kind", "", "ü", "a[b]", "'q'", "name")
}

// body is what objects have below their type: the same keys everywhere, so that paths often find something.
func (g *ptGen) body() object {
	o := object{}
	members := map[string]func() any{
		"str":  func() any { return g.str() },
		"num":  func() any { return g.number() },
		"bool": func() any { return g.chance(50) },
		"nul":  func() any { return nil },
		"arr": func() any {
			return pick[any](g, []any{}, []any{1.0, 2.0}, []any{1.0}, []any{"a", "b"}, []any{"b", nil, 2.5}, []any{object{"k": 1.0}}, []any{[]any{1.0}})
		},
		"obj": func() any {
			return pick[any](g, object{}, object{"a": 1.0}, object{"a": 2.0, "b": "x"}, object{"a": object{"b": []any{1.0}}}, object{"a": nil}, object{"x.y": "dotted"}, object{"b": []any{1.0, 2.0}})
		},
		"any": func() any { return g.value(2) },
		"list": func() any {
			return pick[any](g, []any{object{"name": "n0", "v": 1.0}, object{"name": "n1"}}, []any{object{"name": "n0"}, nil}, []any{"scalar"}, []any{object{"v": nil}, object{"v": object{"w": 1.0}}}, []any{})
		},
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if g.chance(75) {
			o[key] = members[key]()
		}
	}
	return o
}

var ptPaths = []string{"spec.str", "spec.num", "spec.bool", "spec.nul", "spec.arr", "spec.obj", "spec.any", "spec.list", "status.str", "status.num", "status.arr", "status.obj", "metadata.name", "metadata.labels[a.b/c]", "metadata.labels", "spec.list[0].name", "spec.list[1].name", "spec.arr[0]", "spec.arr[5]", "spec.obj.a", "spec.obj.a.b", "spec.obj['a']", "spec.obj.b", "spec.new.deep.path", "spec.new[2].x", "data.x", "spec", "status"}

var ptOddPaths = []string{"", ".", "spec.", "spec[", "spec]", "spec[]", "spec..str", "spec.[a]", "spec.nul.x", "spec.nul[0]", "spec.str.x", "spec.str[0]", "spec.list[*].name", "spec.list[*].v", "spec.list[*]", "spec.obj[*]", "spec.obj.*", "spec.arr[*]", "spec.nul[*]", "spec.str[*].x", "spec.none[*].x", "spec.list[*].v[*]", "spec.list[*].v.w", "spec.arr[1024]", "spec.arr[1025]", "spec.arr[99999999999]", "spec.list[-1]", "[0]", "[spec].str", "spec[str]x", "'spec'.str", "kind", "apiVersion", "metadata", "spec.list.0", "spec.arr[007]", "spec.\"num\"", "spec.list[*].", "ü.ß", "metadata.annotations[x.y]", "a[b]c"}

func (g *ptGen) path() string {
	switch n := g.Intn(100); {
	case n < 5:
		return pick(g, ptOddPaths...)
	case n < 10:
		return g.anyPath()
	}
	return pick(g, ptPaths...)
}

func (g *ptGen) typed(apiVersion, kind string) object {
	o := object{"apiVersion": apiVersion, "kind": kind, "spec": g.body()}
	if g.chance(70) {
		o["status"] = g.body()
	}
	if g.chance(80) {
		meta := object{"name": pick[any](g, "n", "my-name", "")}
		if g.chance(50) {
			meta["namespace"] = pick[any](g, "ns", "")
		}
		if g.chance(50) {
			meta["labels"] = object{"a.b/c": "label", "x": "y"}
		}
		o["metadata"] = meta
	}
	return o
}

func (g *ptGen) conditions() any {
	status := func() any { return pick[any](g, "True", "True", "False", "Unknown", "", nil, 1.0, true) }
	list := []any{}
	for range g.Intn(3) {
		c := object{"type": pick[any](g, "Ready", "Ready", "Synced", nil, 1.0), "status": status()}
		if g.chance(30) {
			c["lastTransitionTime"] = pick[any](g, "2024-01-01T00:00:00Z", "2024-01-01T00:00:00.123+02:00", "", "yesterday", nil, 3.0)
		}
		if g.chance(20) {
			c["reason"] = pick[any](g, "R", nil, 1.0)
		}
		if g.chance(20) {
			c["observedGeneration"] = pick[any](g, 1.0, 1.5, nil, "1", 1e30, -0.0)
		}
		if g.chance(10) {
			c["extra"] = object{}
		}
		list = append(list, pick[any](g, c, c, c, c, c, c, nil, "x"))
	}
	return pick[any](g, list, list, list, list, nil, "x", object{})
}

// mangle now and then replaces a member, as people do by mistake.
func (g *ptGen) mangle(o object) object {
	if g.chance(1) {
		for _, k := range slices.Sorted(maps.Keys(o)) {
			switch g.Intn(4) {
			case 0:
				delete(o, k)
			case 1:
				o[k] = g.value(1)
			case 2:
				o[k] = nil
			default:
				o["typo"] = o[k]
			}
			if g.chance(50) {
				break
			}
		}
	}
	return o
}

var ptFormats = []string{"%s", "%v", "prefix-%s", "%s-suffix", "%s-%s", "%v/%v", "%[1]s", "%[2]s-%[1]s", "no verb", "", "%%", "%5s|", "%-8s|", "%.2s", "%+v", "%#v", "%T", "%t", "%g", "%.2f", "%e", "%08.3f", "%x", "%X", "%5t", "%", "%!", "%s%", "%[3]v", "%*s", "%z", "%05s", "%6.2f", "%s %s %s", "ü%s日", "%\x07s"}

// Formats for strings alone: integer verbs take integral numbers here.
var ptStringFormats = []string{"%q", "%d", "%+q", "%c", "%U", "%o"}

func (g *ptGen) format() string {
	if g.chance(25) {
		return g.anyFormat(ptVerbs)
	}
	return pick(g, ptFormats...)
}

func (g *ptGen) regexp() string {
	return pick(g, "a", "^h(e)llo$", "(.*)-(.*)-(\\d+)", "[a-z]+", "(x)?a", "^$", "(?i)HELLO", ".", "\\w+\\s", "(", "[z-a]", "a{1001}", "(?P<n>o)", "ü|ß", "*", "\\d+(\\.\\d+)?")
}

func (g *ptGen) mathTransform() object {
	o := object{"type": pick(g, "Multiply", "ClampMin", "ClampMax")}
	limit := func() any { return pick[any](g, 3.0, 0.0, -5.0, 1024.0, 9e18, 2.0) }
	for _, k := range []string{"multiply", "clampMin", "clampMax"} {
		if strings.EqualFold(o["type"].(string), k) || g.chance(20) {
			o[k] = limit()
		}
	}
	return g.mangle(o)
}

func (g *ptGen) mapTransform() object {
	o := object{}
	for _, s := range ptStrings {
		if g.chance(60) {
			o[s] = g.value(1)
		}
	}
	if g.chance(3) {
		return object{}
	}
	return o
}

func (g *ptGen) matchTransform() object {
	patterns := []any{}
	for range g.Intn(3) + 1 {
		p := object{"type": pick(g, "literal", "literal", "regexp", "regexp", "regexp")}
		if p["type"] == "literal" || g.chance(20) {
			p["literal"] = g.str()
		}
		if p["type"] == "regexp" || g.chance(20) {
			p["regexp"] = pick(g, "a", ".*", "^h", "\\d", "b$", "[a-z]")
			if g.chance(5) {
				p["regexp"] = g.regexp()
			}
		}
		if g.chance(90) {
			p["result"] = g.value(2)
		}
		if g.chance(4) {
			p["type"] = pick[any](g, "", "Literal", nil)
		}
		patterns = append(patterns, g.mangle(p))
	}
	o := object{"patterns": patterns}
	if g.chance(40) {
		o["fallbackTo"] = pick[any](g, "Input", "Input", "Value", "other", "")
	}
	if g.chance(40) {
		o["fallbackValue"] = g.value(1)
	}
	return g.mangle(o)
}

func (g *ptGen) stringTransform() object {
	types := []string{"Format", "Format", "Convert", "Convert", "Convert", "TrimPrefix", "TrimSuffix", "Regexp", "Join", "Replace"}
	o := object{"type": pick(g, types...)}
	switch o["type"] {
	case "Format":
		o["fmt"] = g.format()
	case "Convert":
		o["convert"] = pick(g, "ToUpper", "ToLower", "ToJson", "ToBase64", "FromBase64", "ToSha1", "ToSha256", "ToSha512", "ToAdler32")
		if g.chance(3) {
			o["convert"] = pick(g, "", "toupper", "ToMd5")
		}
	case "TrimPrefix", "TrimSuffix":
		o["trim"] = pick(g, "a", "he", "lo", "", "1", "-1", "<nil>", "[")
	case "Regexp":
		re := object{"match": pick(g, "a", "[a-z]+", "(.)(.)", ".*", "(x)?.", "^(.*)$", "\\d+")}
		if g.chance(8) {
			re["match"] = g.regexp()
		}
		if g.chance(50) {
			re["group"] = float64(g.Intn(3))
		}
		o["regexp"] = g.mangle(re)
	case "Join":
		o["join"] = pick[any](g, object{"separator": ","}, object{"separator": ", "}, object{"separator": ""}, object{}, object{"separator": "ü"})
	case "Replace":
		o["replace"] = g.mangle(object{"search": pick(g, "a", "l", "-", " ", "1", "ü"), "replace": pick(g, "", "X", "aa", "ß")})
	}
	if g.chance(2) {
		o["type"] = pick(g, "", "format", "Split")
	}
	return g.mangle(o)
}

func (g *ptGen) convertTransform() object {
	o := object{"toType": pick(g, "string", "string", "int", "int64", "bool", "float64", "float64", "object", "array")}
	if g.chance(50) {
		o["format"] = pick(g, "none", "quantity", "json", "json")
	}
	if g.chance(3) {
		o["format"] = pick(g, "", "yaml", "<x>")
	}
	if g.chance(3) {
		o["toType"] = pick(g, "", "int32", "Object")
	}
	return o
}

func (g *ptGen) transform() object {
	kind := pick(g, "map", "match", "math", "string", "string", "string", "convert", "convert")
	o := object{"type": kind}
	switch kind {
	case "map":
		o["map"] = g.mapTransform()
	case "match":
		o["match"] = g.matchTransform()
	case "math":
		o["math"] = g.mathTransform()
	case "string":
		o["string"] = g.stringTransform()
	default:
		o["convert"] = g.convertTransform()
	}
	if g.chance(1) {
		o["type"] = pick(g, "", "Map", "<&>", "ü\u00a0")
	}
	if g.chance(1) {
		delete(o, kind)
	}
	return g.mangle(o)
}

// A string first, so that what follows has something to work with, or numbers for math.
func (g *ptGen) transforms() []any {
	list := []any{}
	if g.chance(50) {
		return list
	}
	if g.chance(15) {
		return append(list, g.formatted()...)
	}
	if g.chance(15) {
		return append(list, g.converted()...)
	}
	if g.chance(40) {
		list = append(list, object{"type": "string", "string": object{"type": "Format", "fmt": pick(g, "%s", "%v", "%v", "x-%v", "100m", "12", "%.1f")}})
		if g.chance(30) {
			list = append(list, object{"type": "string", "string": object{"type": "Format", "fmt": pick(g, ptStringFormats...)}})
		}
	} else if g.chance(30) {
		list = append(list, object{"type": "string", "string": object{"type": "Format", "fmt": pick(g, "12", "3.5", "-1")}}, object{"type": "convert", "convert": object{"toType": pick(g, "int64", "float64")}})
	}
	for range g.Intn(3) {
		list = append(list, g.transform())
	}
	return list
}

func (g *ptGen) policy() any {
	o := object{}
	if g.chance(60) {
		o["fromFieldPath"] = pick(g, "Optional", "Required", "Required")
	}
	if g.chance(60) {
		o["toFieldPath"] = pick(g, "Replace", "MergeObjects", "MergeObjectsAppendArrays", "ForceMergeObjects", "ForceMergeObjectsAppendArrays", "MergeObject", "AppendArray")
	}
	if g.chance(2) {
		o[pick(g, "fromFieldPath", "toFieldPath")] = pick[any](g, "", "required", "Merge", nil, 1.0)
	}
	if g.chance(1) {
		o["mergeOptions"] = object{}
	}
	return o
}

var ptTypes = []string{"FromCompositeFieldPath", "FromEnvironmentFieldPath", "ToCompositeFieldPath", "ToEnvironmentFieldPath", "CombineFromComposite", "CombineFromEnvironment", "CombineToComposite", "CombineToEnvironment"}

func (g *ptGen) combine() object {
	vars := []any{}
	for range g.Intn(3) + 1 {
		vars = append(vars, g.mangle(object{"fromFieldPath": g.path()}))
	}
	o := object{"strategy": "string", "variables": vars, "string": object{"fmt": g.format()}}
	if g.chance(2) {
		o["strategy"] = pick(g, "", "String", "x")
	}
	return g.mangle(o)
}

func (g *ptGen) patch(types []string) object {
	o := object{}
	kind := pick(g, types...)
	if kind != "FromCompositeFieldPath" || g.chance(70) {
		o["type"] = kind
	}
	if strings.HasPrefix(kind, "Combine") {
		o["combine"] = g.combine()
		o["toFieldPath"] = g.path()
	} else {
		o["fromFieldPath"] = g.path()
		if g.chance(70) {
			o["toFieldPath"] = g.path()
		}
	}
	if list := g.transforms(); len(list) > 0 {
		o["transforms"] = list
	}
	if g.chance(35) {
		o["policy"] = g.policy()
	}
	if g.chance(1) {
		o["type"] = pick(g, "", "PatchSet", "FromComposite", "<&>")
	}
	return g.mangle(o)
}

func (g *ptGen) resourcePatch() object {
	if g.chance(12) {
		return object{"type": "PatchSet", "patchSetName": pick(g, "set-a", "set-a", "set-a", "set-b", "none", "")}
	}
	return g.patch(ptTypes)
}

func (g *ptGen) detail() object {
	o := object{"name": pick(g, "user", "password", "url", "ü"), "type": pick(g, "FromConnectionSecretKey", "FromFieldPath", "FromValue")}
	if o["type"] == "FromConnectionSecretKey" {
		o["fromConnectionSecretKey"] = pick(g, "user", "key", "empty", "none", "")
	} else if o["type"] == "FromFieldPath" {
		o["fromFieldPath"] = g.path()
	} else {
		o["value"] = g.str()
	}
	if g.chance(2) {
		o["type"] = pick(g, "", "FromSecret", "\u00a0<")
	}
	return g.mangle(o)
}

// Numbers that are not integral, and what is no number: MatchInteger takes integral ones here.
const ptFraction = "status.fraction"

func (g *ptGen) check() object {
	o := object{"type": pick(g, "NonEmpty", "MatchString", "MatchInteger", "MatchTrue", "MatchFalse", "MatchCondition", "MatchCondition", "None")}
	switch o["type"] {
	case "NonEmpty", "MatchTrue", "MatchFalse":
		o["fieldPath"] = g.path()
	case "MatchString":
		o["fieldPath"], o["matchString"] = g.path(), g.str()
	case "MatchInteger":
		o["fieldPath"], o["matchInteger"] = pick(g, ptFraction, "status.none", "spec.nul", "spec.[", "spec.list"), 3.0
	case "MatchCondition":
		o["matchCondition"] = g.mangle(object{"type": pick(g, "Ready", "Synced", "Other"), "status": pick(g, "True", "False", "Unknown")})
		if o["matchCondition"] == nil {
			o["type"] = "None"
		}
	}
	if g.chance(2) {
		o["type"] = pick(g, "", "matchString", "\u00a0<")
	}
	if g.chance(2) {
		delete(o, pick(g, "fieldPath", "matchString", "matchInteger"))
	}
	return o
}

var ptNames = []string{"one", "two", "three", "ü \"q\""}

func (g *ptGen) base() any {
	o := g.typed("example.org/v1", "Thing")
	switch g.Intn(100) {
	case 0:
		delete(o, "kind")
	case 1:
		o["kind"] = pick[any](g, "", nil, 1.0, object{})
	case 2:
		return pick[any](g, "text", 1.0, true, []any{}, object{})
	case 3:
		delete(o, "apiVersion")
	case 4:
		o["metadata"] = pick[any](g, nil, "x", object{}, []any{})
	}
	return o
}

func (g *ptGen) template() object {
	o := object{"name": pick(g, ptNames...)}
	if g.chance(85) {
		o["base"] = g.base()
	}
	o["patches"] = few(g, 5, g.resourcePatch)
	if g.chance(40) {
		o["connectionDetails"] = few(g, 3, g.detail)
	}
	if g.chance(50) {
		o["readinessChecks"] = few(g, 3, g.check)
	}
	return g.mangle(o)
}

func (g *ptGen) secretRef() object {
	o := object{}
	if g.chance(50) {
		o["name"] = pick(g, "secret", "")
	}
	if g.chance(50) {
		o["namespace"] = pick(g, "sns", "")
	}
	if g.chance(60) {
		patches := []any{}
		for range g.Intn(3) {
			p := g.patch([]string{"FromCompositeFieldPath", "FromCompositeFieldPath", "FromCompositeFieldPath", "CombineFromComposite", "ToCompositeFieldPath"})
			if g.chance(80) {
				p["toFieldPath"] = pick(g, "name", "namespace", "kind", "x")
			}
			if p["type"] == "CombineFromComposite" && p["combine"] == nil {
				continue
			}
			patches = append(patches, p)
		}
		o["patches"] = patches
	}
	return o
}

func (g *ptGen) input() object {
	in := object{"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources"}
	if g.chance(60) {
		in["patchSets"] = []any{object{"name": "set-a", "patches": few(g, 3, func() object { return g.patch(ptTypes) })}, g.mangle(object{"name": "set-b", "patches": few(g, 2, func() object { return g.patch(ptTypes) })})}
	}
	if g.chance(40) {
		types := []string{"FromCompositeFieldPath", "ToCompositeFieldPath", "CombineFromComposite", "CombineToComposite", "FromEnvironmentFieldPath", "ToEnvironmentFieldPath"}
		if g.chance(3) {
			types = ptTypes
		}
		in["environment"] = object{"patches": few(g, 3, func() object { return g.patch(types) })}
	}
	in["resources"] = few(g, 5, g.template)
	if len(in["resources"].([]any)) == 0 && g.chance(90) {
		in["resources"] = []any{g.template()}
	}
	if g.chance(30) {
		in["writeConnectionSecretToRef"] = g.secretRef()
	}
	if g.chance(1) {
		in["unknown"] = 1.0
	}
	return g.mangle(in)
}

func (g *ptGen) details() map[string][]byte {
	m := map[string][]byte{}
	for _, k := range []string{"user", "key", "empty"} {
		if g.chance(50) {
			m[k] = pick(g, []byte("value"), []byte{0, 255}, []byte{})
		}
	}
	return m
}

func (g *ptGen) composite() object {
	xr := g.typed("example.org/v1", "XThing")
	if g.chance(40) {
		xr["spec"].(object)["crossplane"] = pick[any](g, object{}, nil, "x")
	}
	if g.chance(30) {
		xr["spec"].(object)["writeConnectionSecretToRef"] = pick[any](g, object{"name": "own", "namespace": "ons"}, object{"name": "own"}, object{}, nil, "x", object{"name": 1.0}, object{"other": true})
	}
	if g.chance(3) {
		delete(xr, "kind")
	}
	return xr
}

func (g *ptGen) environment() any {
	env := g.body()
	env = object{"spec": env, "status": g.body()}
	switch g.Intn(8) {
	case 0:
		env["apiVersion"], env["kind"] = "v1", "Env"
	case 1:
		env["apiVersion"] = pick[any](g, "v1", "a/b", "a/b/c", "/", "", 1.0)
	case 2:
		env["kind"] = pick[any](g, "Env", "", nil)
	case 3:
		env["apiVersion"], env["kind"] = pick[any](g, "a/b/c", "/", "a/"), "Env"
	}
	return pick[any](g, env, env, env, env, env, "text", nil, []any{})
}

func (g *ptGen) request() *fnv1.RunFunctionRequest {
	req := &fnv1.RunFunctionRequest{Input: mustStruct(g.input())}
	if g.chance(2) {
		req.Input = nil
	}
	if g.chance(80) {
		req.Meta = &fnv1.RequestMeta{Tag: fmt.Sprintf("tag-%d", g.Intn(100))}
	}
	if g.chance(97) {
		req.Observed = &fnv1.State{Resources: map[string]*fnv1.Resource{}}
		if g.chance(98) {
			req.Observed.Composite = &fnv1.Resource{Resource: mustStruct(g.composite()), ConnectionDetails: g.details()}
		}
		for _, name := range ptNames {
			if g.chance(50) {
				o := g.typed("example.org/v1", "Thing")
				status, ok := o["status"].(object)
				if ok {
					status["conditions"] = g.conditions()
					status["fraction"] = pick[any](g, 2.5, "3", true)
				} else if g.chance(20) {
					o["status"] = pick[any](g, nil, "x", []any{})
				}
				if m, ok := o["metadata"].(object); ok && g.chance(10) {
					m["name"] = pick[any](g, 1.0, nil)
				}
				req.Observed.Resources[name] = &fnv1.Resource{Resource: mustStruct(o), ConnectionDetails: g.details()}
			}
		}
	}
	if g.chance(70) {
		req.Desired = &fnv1.State{}
		if g.chance(60) {
			req.Desired.Composite = &fnv1.Resource{Ready: fnv1.Ready(g.Intn(4)), ConnectionDetails: g.details()}
			if g.chance(90) {
				req.Desired.Composite.Resource = mustStruct(pick(g, object{}, object{"status": g.body()}, g.typed("other/v1", "Other")))
			}
		}
		for _, name := range append(ptNames, "other") {
			if g.chance(30) {
				if req.Desired.Resources == nil {
					req.Desired.Resources = map[string]*fnv1.Resource{}
				}
				res := &fnv1.Resource{Ready: fnv1.Ready(g.Intn(4)), ConnectionDetails: g.details()}
				if g.chance(95) {
					o := g.typed("example.org/v1", "Earlier")
					if g.chance(5) {
						delete(o, "kind")
					}
					res.Resource = mustStruct(o)
				}
				req.Desired.Resources[name] = res
			}
		}
	}
	if g.chance(70) {
		context := object{}
		if g.chance(70) {
			context["apiextensions.crossplane.io/environment"] = g.environment()
		}
		if g.chance(30) {
			context["other"] = g.value(2)
		}
		req.Context = mustStruct(context)
	}
	return req
}
