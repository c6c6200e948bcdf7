package main

import (
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// ptCases are the rules of the function, one by one.
func ptCases() []*fnv1.RunFunctionRequest {
	list := []*fnv1.RunFunctionRequest{ptBase(ptTemplate(nil), true), {}}
	for _, t := range ptTransformTexts {
		for _, v := range ptTransformValues {
			list = append(list, ptTransformCase(t, v, false))
		}
		list = append(list, ptTransformCase(t, `"text"`, true))
		for _, before := range ptCombinedBefore {
			list = append(list, ptTransformCase(before+","+t, `"text"`, true))
		}
	}
	for _, p := range ptPatchTexts {
		for _, observed := range []bool{false, true} {
			list = append(list, ptPatchCase(p, observed), ptEnvironmentCase(p))
		}
		list = append(list, ptPatchSetCase(p), ptSecretCase(p))
	}
	for _, in := range ptInputTexts {
		list = append(list, ptInputCase(in))
	}
	for _, c := range ptCheckTexts {
		for _, status := range ptStatusTexts {
			list = append(list, ptCheckCase(c, status))
		}
	}
	for _, d := range ptDetailTexts {
		list = append(list, ptDetailCase(d, false), ptDetailCase(d, true))
	}
	for _, xr := range ptSecretComposites {
		for _, ref := range ptSecretRefs {
			list = append(list, ptSecretRefCase(xr, ref))
		}
	}
	for _, env := range ptEnvironments {
		list = append(list, ptEnvironmentValueCase(env))
	}
	return append(list, ptStateCases()...)
}

const ptSpec = `{"str":"text","upper":"MiXed","num":3,"frac":2.5,"big":1000000,"bool":true,"nul":null,"arr":[1,2],"strs":["a","b"],"empty":[],"obj":{"a":1,"b":{"c":[1]}},"none":{},"list":[{"name":"n0","v":1},{"name":"n1"}],"mixed":[{"v":1},null],"scalars":["s"],"html":"<a&b>","quoted":"say \"x\"","dotted":{"x.y":"z"},"brackets":{"a[b]":{"v":1}}}`

func ptThing(kind string) map[string]any {
	return map[string]any{"apiVersion": "example.org/v1", "kind": kind, "metadata": map[string]any{"name": "thing", "labels": map[string]any{"a.b/c": "l"}}, "spec": parse(ptSpec), "status": parse(ptSpec)}
}

func ptState(kind string) *fnv1.Resource {
	return &fnv1.Resource{Resource: mustStruct(ptThing(kind)), ConnectionDetails: map[string][]byte{"user": []byte("u"), "empty": {}, "raw": {0, 255}}}
}

// ptBase is a request in which everything that patches can reach is there.
func ptBase(input map[string]any, observed bool) *fnv1.RunFunctionRequest {
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "t"},
		Observed: &fnv1.State{Composite: ptState("XThing"), Resources: map[string]*fnv1.Resource{}},
		Desired:  &fnv1.State{Composite: &fnv1.Resource{Resource: mustStruct(map[string]any{"spec": parse(ptSpec)}), ConnectionDetails: map[string][]byte{"earlier": []byte("e")}, Ready: fnv1.Ready_READY_TRUE}, Resources: map[string]*fnv1.Resource{"earlier": ptState("Earlier")}},
		Input:    mustStruct(input),
		Context:  mustStruct(map[string]any{"other": 1.0, "apiextensions.crossplane.io/environment": map[string]any{"spec": parse(ptSpec)}}),
	}
	if observed {
		req.Observed.Resources["one"] = ptState("Thing")
	}
	return req
}

func ptTemplate(members map[string]any) map[string]any {
	t := map[string]any{"name": "one", "base": map[string]any{"apiVersion": "example.org/v1", "kind": "Thing", "spec": parse(ptSpec)}}
	for k, v := range members {
		t[k] = v
	}
	return map[string]any{"resources": []any{t}}
}

func ptTransformCase(transforms, value string, combined bool) *fnv1.RunFunctionRequest {
	patch := map[string]any{"fromFieldPath": "spec.v", "toFieldPath": "spec.out", "transforms": parse("[" + transforms + "]")}
	if combined {
		patch["type"] = "CombineFromComposite"
		patch["combine"] = parse(`{"strategy":"string","variables":[{"fromFieldPath":"spec.v"}],"string":{"fmt":"%v"}}`)
	}
	req := ptBase(ptTemplate(map[string]any{"base": parse(`{"kind":"Thing"}`), "patches": []any{patch}}), false)
	req.Observed.Composite.Resource.Fields["spec"].GetStructValue().Fields["v"] = ptValue(value)
	return req
}

func ptValue(text string) *structpb.Value {
	v, err := structpb.NewValue(parse(text))
	if err != nil {
		panic(err)
	}
	return v
}

var ptTransformValues = []string{`null`, `true`, `false`, `0`, `-0.0`, `1`, `3`, `3.7`, `2.9`, `-2.5`, `1000000`, `1e21`, `1e-7`, `9007199254740993`, `1e308`, `""`, `"a"`, `"us-east-1"`, `"Grüße <&>"`, `"42"`, `"-7"`, `"3.5"`, `"1_000"`, `"0x_1p4"`, `"nan"`, `"1e400"`, `"100m"`, `"3n"`, `"1Ki"`, `"K"`, `"9223372036854775808"`, `"t"`, `"aGVsbG8="`, `"aGVs bG8="`, `"aG="`, `"/w=="`, `"{\"a\":1,\"a\":[1e2]}"`, `"[1,\"x\"]"`, `" null "`, `"{\"a\":"`, `"nul"`, `"{} x"`, `[]`, `[1,"a",null,[true]]`, `{}`, `{"b":1,"a":[null]}`, `"\u2028ǅ"`}

// What makes a combined string something else, in front of transforms that nobody has checked.
var ptCombinedBefore = []string{
	`{"type":"match","match":{}}`,
	`{"type":"match","match":{"fallbackValue":true}}`,
	`{"type":"match","match":{"fallbackValue":2.5}}`,
	`{"type":"match","match":{"fallbackValue":[1,"x"]}}`,
	`{"type":"match","match":{"fallbackValue":{"a":1}}}`,
	`{"type":"match","match":{"fallbackValue":"12"}},{"type":"convert","convert":{"toType":"int"}}`,
}

// Formats with integer verbs are for what is no integral number; see ptGen.
var ptTransformTexts = []string{
	`{"type":"map","map":{"a":"A","us-east-1":1,"42":null,"":{"x":[1.5]},"t":true}}`,
	`{"type":"map","map":{"zz":1}}`,
	`{"type":"map","map":{}}`,
	`{"type":"map","map":{}},{"type":"string","string":{"type":"Format","fmt":"%s"}}`,
	`{"type":"map"}`,
	`{"type":"match","match":{"patterns":[{"type":"literal","literal":"a","result":"lit"},{"type":"regexp","regexp":"^us-(.*)$","result":{"r":1}}]}}`,
	`{"type":"match","match":{"patterns":[{"type":"regexp","regexp":"4|t"}],"fallbackValue":5}}`,
	`{"type":"match","match":{"patterns":[{"type":"regexp","regexp":"^z"}],"fallbackTo":"Input"}}`,
	`{"type":"match","match":{"patterns":[{"type":"regexp","regexp":"^z"}],"fallbackTo":"Input","fallbackValue":0}}`,
	`{"type":"match","match":{"patterns":[{"type":"regexp","regexp":"^z"}],"fallbackTo":"Value","fallbackValue":{"a":1}}}`,
	`{"type":"match","match":{"patterns":[{"literal":"a","result":"lit"}]}}`,
	`{"type":"match","match":{"patterns":[{"type":"literal"}]}}`,
	`{"type":"match","match":{"patterns":[{"type":"regexp"}]}}`,
	`{"type":"match","match":{"patterns":[{"type":"regexp","regexp":"("}]}}`,
	`{"type":"match","match":{"patterns":[{"type":"Regexp","regexp":"a"}]}}`,
	`{"type":"match","match":{"patterns":[null]}}`,
	`{"type":"match","match":{"patterns":[]}}`,
	`{"type":"match","match":{}}`,
	`{"type":"match"}`,
	`{"type":"math","math":{"type":"Multiply","multiply":1024}}`,
	`{"type":"math","math":{"type":"Multiply","multiply":0}}`,
	`{"type":"math","math":{"type":"Multiply","multiply":9000000000000000000}},{"type":"math","math":{"type":"Multiply","multiply":-3}}`,
	`{"type":"math","math":{"type":"ClampMin","clampMin":3}}`,
	`{"type":"math","math":{"type":"ClampMax","clampMax":3}}`,
	`{"type":"math","math":{"type":"ClampMax","clampMax":2}},{"type":"math","math":{"type":"Multiply","multiply":4611686018427387904}}`,
	`{"type":"math","math":{"type":"Multiply"}}`,
	`{"type":"math","math":{"type":"ClampMin","multiply":1}}`,
	`{"type":"math","math":{"type":"ClampMax","clampMin":1}}`,
	`{"type":"math","math":{"multiply":2}}`,
	`{"type":"math","math":{"type":"Divide","multiply":2}}`,
	`{"type":"math","math":{"type":"Multiply","multiply":1.5}}`,
	`{"type":"math","math":{"type":"Multiply","multiply":"2"}}`,
	`{"type":"math"}`,
	`{"type":"string","string":{"type":"Format","fmt":"%s"}}`,
	`{"type":"string","string":{"type":"Format","fmt":"%v-%[1]v"}}`,
	`{"type":"string","string":{"type":"Format","fmt":"%#v|%T|%8.3f"}}`,
	`{"type":"string","string":{"type":"Format","fmt":""}}`,
	`{"type":"string","string":{"type":"Format","fmt":"%s %s"}}`,
	`{"type":"string","string":{"type":"Format"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"ToUpper"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"ToLower"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"ToBase64"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"FromBase64"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"FromBase64"}},{"type":"string","string":{"type":"Convert","convert":"ToSha256"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"ToJson"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"ToSha1"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"ToSha256"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"ToSha512"}}`,
	`{"type":"string","string":{"type":"Convert","convert":"ToAdler32"}}`,
	`{"type":"string","string":{"type":"Convert","convert":""}}`,
	`{"type":"string","string":{"type":"Convert","convert":"ToMd5"}}`,
	`{"type":"string","string":{"type":"Convert"}}`,
	`{"type":"string","string":{"type":"TrimPrefix","trim":"us-"}}`,
	`{"type":"string","string":{"type":"TrimSuffix","trim":"1"}}`,
	`{"type":"string","string":{"type":"TrimSuffix","trim":""}}`,
	`{"type":"string","string":{"type":"TrimPrefix"}}`,
	`{"type":"string","string":{"type":"TrimSuffix"}}`,
	`{"type":"string","string":{"type":"Regexp","regexp":{"match":"([a-z]+)-([a-z]+)?(x)?"}}}`,
	`{"type":"string","string":{"type":"Regexp","regexp":{"match":"([a-z]+)-([a-z]+)(x)?","group":2}}}`,
	`{"type":"string","string":{"type":"Regexp","regexp":{"match":"(.)(x)?","group":2}}}`,
	`{"type":"string","string":{"type":"Regexp","regexp":{"match":"(.)","group":3}}}`,
	`{"type":"string","string":{"type":"Regexp","regexp":{"match":"("}}}`,
	`{"type":"string","string":{"type":"Regexp","regexp":{"match":""}}}`,
	`{"type":"string","string":{"type":"Regexp","regexp":{}}}`,
	`{"type":"string","string":{"type":"Regexp"}}`,
	`{"type":"string","string":{"type":"Join","join":{"separator":","}}}`,
	`{"type":"string","string":{"type":"Join","join":{"separator":", "}}}`,
	`{"type":"string","string":{"type":"Join","join":{"separator":"ü"}}}`,
	`{"type":"string","string":{"type":"Join","join":{}}}`,
	`{"type":"string","string":{"type":"Join"}}`,
	`{"type":"string","string":{"type":"Replace","replace":{"search":"a","replace":"AA"}}}`,
	`{"type":"string","string":{"type":"Replace","replace":{"search":"-"}}}`,
	`{"type":"string","string":{"type":"Replace","replace":{"replace":"x"}}}`,
	`{"type":"string","string":{"type":"Replace","replace":{"search":"","replace":"-"}}}`,
	`{"type":"string","string":{"type":"Replace"}}`,
	`{"type":"string","string":{"type":"Split"}}`,
	`{"type":"string","string":{"fmt":"%s"}}`,
	`{"type":"string"}`,
	`{"type":"convert","convert":{"toType":"string"}}`,
	`{"type":"convert","convert":{"toType":"int"}}`,
	`{"type":"convert","convert":{"toType":"int64","format":"none"}}`,
	`{"type":"convert","convert":{"toType":"bool"}}`,
	`{"type":"convert","convert":{"toType":"float64"}}`,
	`{"type":"convert","convert":{"toType":"float64","format":"quantity"}}`,
	`{"type":"convert","convert":{"toType":"int64","format":"quantity"}}`,
	`{"type":"convert","convert":{"toType":"object","format":"json"}}`,
	`{"type":"convert","convert":{"toType":"array","format":"json"}}`,
	`{"type":"convert","convert":{"toType":"object","format":"json"}},{"type":"string","string":{"type":"Format","fmt":"%v"}}`,
	`{"type":"convert","convert":{"toType":"array","format":"json"}},{"type":"string","string":{"type":"Join","join":{"separator":"-"}}}`,
	`{"type":"convert","convert":{"toType":"object","format":"json"}},{"type":"string","string":{"type":"Convert","convert":"ToJson"}}`,
	`{"type":"convert","convert":{"toType":"object","format":"json"}},{"type":"string","string":{"type":"Convert","convert":"ToSha1"}}`,
	`{"type":"convert","convert":{"toType":"object","format":"json"}},{"type":"convert","convert":{"toType":"string"}}`,
	`{"type":"convert","convert":{"toType":"object"}}`,
	`{"type":"convert","convert":{"toType":"string","format":"json"}}`,
	`{"type":"convert","convert":{"toType":"int64"}},{"type":"convert","convert":{"toType":"string"}}`,
	`{"type":"convert","convert":{"toType":"int64"}},{"type":"convert","convert":{"toType":"bool"}}`,
	`{"type":"convert","convert":{"toType":"int64"}},{"type":"convert","convert":{"toType":"float64"}}`,
	`{"type":"convert","convert":{"toType":"int64"}},{"type":"convert","convert":{"toType":"array"}}`,
	`{"type":"convert","convert":{"toType":"int64"}},{"type":"string","string":{"type":"Format","fmt":"%d|%5d|%x|%q|%T"}}`,
	`{"type":"convert","convert":{"toType":"int64"}},{"type":"map","map":{"3":1}}`,
	`{"type":"convert","convert":{"toType":"int64"}},{"type":"match","match":{"patterns":[{"type":"regexp","regexp":"3"}]}}`,
	`{"type":"convert","convert":{"toType":"int64"}},{"type":"math","math":{"type":"Multiply","multiply":9223372036854774784}}`,
	`{"type":"convert","convert":{"toType":"bool"}},{"type":"convert","convert":{"toType":"int64"}}`,
	`{"type":"convert","convert":{"toType":"bool"}},{"type":"convert","convert":{"toType":"float64"}}`,
	`{"type":"convert","convert":{"toType":"int32"}}`,
	`{"type":"convert","convert":{"toType":""}}`,
	`{"type":"convert","convert":{"format":"<yaml>"}}`,
	`{"type":"convert","convert":{"toType":"string","format":""}}`,
	`{"type":"convert"}`,
	`{"type":""}`,
	`{"type":"Map"}`,
	`{"type":"<&> \u00a0"}`,
	`null`,
	`{"type":"string","string":{"type":"Format","fmt":"%s"}},{"type":"convert","convert":{"toType":"int64"}}`,
}

func ptPatchCase(patch string, observed bool) *fnv1.RunFunctionRequest {
	return ptBase(ptTemplate(map[string]any{"patches": []any{parse(patch)}}), observed)
}

func ptEnvironmentCase(patch string) *fnv1.RunFunctionRequest {
	return ptBase(map[string]any{"environment": map[string]any{"patches": []any{parse(patch)}}}, true)
}

func ptPatchSetCase(patch string) *fnv1.RunFunctionRequest {
	in := ptTemplate(map[string]any{"patches": []any{parse(`{"fromFieldPath":"spec.str","toFieldPath":"spec.first"}`), parse(`{"type":"PatchSet","patchSetName":"s"}`)}})
	in["patchSets"] = []any{map[string]any{"name": "s", "patches": []any{parse(patch)}}}
	return ptBase(in, true)
}

func ptSecretCase(patch string) *fnv1.RunFunctionRequest {
	p := parse(patch).(map[string]any)
	if kind, _ := p["type"].(string); kind == "CombineFromComposite" && p["combine"] == nil {
		p["type"] = "CombineToComposite"
	}
	in := ptTemplate(nil)
	in["writeConnectionSecretToRef"] = map[string]any{"name": "s", "namespace": "ns", "patches": []any{p, parse(`{"fromFieldPath":"spec.str","toFieldPath":"name","policy":{"toFieldPath":"MergeObjects"}}`)}}
	req := ptBase(in, true)
	req.Observed.Composite.Resource.Fields["spec"].GetStructValue().Fields["crossplane"] = structpb.NewNullValue()
	return req
}

var ptPatchTexts = []string{
	`{"fromFieldPath":"spec.str"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":null}`,
	`{"fromFieldPath":"spec.str","toFieldPath":""}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"name"}`,
	`{"fromFieldPath":"spec.num","toFieldPath":"name"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"namespace"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"kind"}`,
	`{"fromFieldPath":"spec.nul","toFieldPath":"kind"}`,
	`{"fromFieldPath":"spec.num","toFieldPath":"kind"}`,
	`{"fromFieldPath":"spec.none","toFieldPath":"apiVersion"}`,
	`{"fromFieldPath":"spec.missing"}`,
	`{"fromFieldPath":"spec.missing","policy":{"fromFieldPath":"Required"}}`,
	`{"fromFieldPath":"spec.missing","policy":{"fromFieldPath":"Optional"}}`,
	`{"fromFieldPath":"spec.missing","policy":{"fromFieldPath":"required"}}`,
	`{"fromFieldPath":"spec.missing","policy":{"fromFieldPath":""}}`,
	`{"fromFieldPath":"spec.missing","policy":{"fromFieldPath":null,"toFieldPath":null}}`,
	`{"fromFieldPath":"spec.str","policy":{"toFieldPath":"<Merge>"}}`,
	`{"fromFieldPath":"spec.str","policy":{"toFieldPath":"","fromFieldPath":"x"}}`,
	`{"fromFieldPath":"spec.str","policy":{"mergeOptions":{}}}`,
	`{"fromFieldPath":"spec.str.x"}`,
	`{"fromFieldPath":"spec.str[0]"}`,
	`{"fromFieldPath":"spec.nul.x"}`,
	`{"fromFieldPath":"spec.nul.x","policy":{"fromFieldPath":"Required"}}`,
	`{"fromFieldPath":"spec.nul[0]"}`,
	`{"fromFieldPath":"spec.arr[7]"}`,
	`{"fromFieldPath":"spec.list[*].name","toFieldPath":"spec.x"}`,
	`{"fromFieldPath":"spec..x"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec[x"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.list[*].["}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.arr[1024]"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.arr[1025]"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.nul.x"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.nul[0]"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.str.x","policy":{"toFieldPath":"MergeObjects"}}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.mixed[1].x"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.list[*].name"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.list[*].v"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.list[*].none"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.scalars[*].x"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.mixed[*].v"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.mixed[*].v[*]"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.nul[*].v"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.nul[*].v","policy":{"fromFieldPath":"Required"}}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.str[*]"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.empty[*]"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.none[*]"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.missing[*].x"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.dotted[*]"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.brackets[*]"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.brackets[*].v"}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"spec.obj.*"}`,
	`{"fromFieldPath":"spec.obj","toFieldPath":"spec.list[*]","policy":{"toFieldPath":"MergeObjects"}}`,
	`{"fromFieldPath":"spec.obj","toFieldPath":"spec.list[*].name","policy":{"toFieldPath":"MergeObjectsAppendArrays"}}`,
	`{"fromFieldPath":"spec.arr","toFieldPath":"spec.list[*].name","policy":{"toFieldPath":"AppendArray"}}`,
	`{"fromFieldPath":"spec.str","toFieldPath":"kin[*]"}`,
	`{"fromFieldPath":"spec.nul","toFieldPath":"[*]"}`,
	`{"fromFieldPath":"spec.arr","policy":{"toFieldPath":"AppendArray"}}`,
	`{"fromFieldPath":"spec.arr","policy":{"toFieldPath":"ForceMergeObjectsAppendArrays"}}`,
	`{"fromFieldPath":"spec.arr","policy":{"toFieldPath":"MergeObjectsAppendArrays"}}`,
	`{"fromFieldPath":"spec.arr","policy":{"toFieldPath":"MergeObjects"}}`,
	`{"fromFieldPath":"spec.arr","toFieldPath":"spec.num","policy":{"toFieldPath":"AppendArray"}}`,
	`{"fromFieldPath":"spec.arr","toFieldPath":"spec.frac","policy":{"toFieldPath":"AppendArray"}}`,
	`{"fromFieldPath":"spec.empty","policy":{"toFieldPath":"AppendArray"}}`,
	`{"fromFieldPath":"spec.strs","toFieldPath":"spec.arr","policy":{"toFieldPath":"AppendArray"}}`,
	`{"fromFieldPath":"spec.obj","toFieldPath":"spec.dotted","policy":{"toFieldPath":"MergeObject"}}`,
	`{"fromFieldPath":"spec.obj","policy":{"toFieldPath":"ForceMergeObjects"}}`,
	`{"fromFieldPath":"spec.obj","policy":{"toFieldPath":"ForceMergeObjectsAppendArrays"}}`,
	`{"fromFieldPath":"spec.dotted","toFieldPath":"spec","policy":{"toFieldPath":"MergeObjects"}}`,
	`{"fromFieldPath":"spec.dotted","toFieldPath":"spec.obj","policy":{"toFieldPath":"Replace"}}`,
	`{"fromFieldPath":"spec","toFieldPath":"spec"}`,
	`{"type":"FromCompositeFieldPath"}`,
	`{"type":"FromEnvironmentFieldPath","fromFieldPath":"spec.arr","policy":{"toFieldPath":"AppendArray"}}`,
	`{"type":"FromEnvironmentFieldPath","fromFieldPath":"spec.missing","policy":{"fromFieldPath":"Required"}}`,
	`{"type":"FromEnvironmentFieldPath","fromFieldPath":""}`,
	`{"type":"ToCompositeFieldPath","fromFieldPath":"spec.arr","policy":{"toFieldPath":"AppendArray"}}`,
	`{"type":"ToCompositeFieldPath","fromFieldPath":"spec.obj","toFieldPath":"status.new"}`,
	`{"type":"ToCompositeFieldPath","fromFieldPath":"spec.missing","policy":{"fromFieldPath":"Required"}}`,
	`{"type":"ToCompositeFieldPath","fromFieldPath":"spec.nul","toFieldPath":"kind"}`,
	`{"type":"ToEnvironmentFieldPath","fromFieldPath":"spec.arr","policy":{"toFieldPath":"AppendArray"}}`,
	`{"type":"ToEnvironmentFieldPath","fromFieldPath":"spec.missing","policy":{"fromFieldPath":"Required"}}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"},{"fromFieldPath":"spec.num"}],"string":{"fmt":"%s-%v"}},"toFieldPath":"spec.out"}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"},{"fromFieldPath":"spec.missing"}],"string":{"fmt":"%s-%v"}},"toFieldPath":"spec.out"}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.missing"}],"string":{"fmt":"%s-%v"}},"toFieldPath":"spec.out","policy":{"fromFieldPath":"Required"}}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.missing"}],"string":{"fmt":"%s-%v"}},"toFieldPath":"spec.out","policy":{"fromFieldPath":"nonsense"}}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"}],"string":{"fmt":"%s"}},"toFieldPath":"spec.out","policy":{"toFieldPath":"nonsense"}}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"}],"string":{"fmt":"%s"}},"toFieldPath":"spec.list[*].name"}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"}],"string":{"fmt":"%s"}},"fromFieldPath":"spec.from"}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"}],"string":{"fmt":"%s"}}}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"}],"string":{"fmt":"%s"}},"toFieldPath":"","fromFieldPath":"x"}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"}],"string":{}},"toFieldPath":"spec.out"}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"}]},"toFieldPath":"spec.out"}`,
	`{"type":"CombineFromComposite","combine":{"variables":[{"fromFieldPath":"spec.str"}],"string":{"fmt":"%s"}},"toFieldPath":"spec.out"}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"<x>","variables":[{"fromFieldPath":"spec.str"}]},"toFieldPath":"spec.out"}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","string":{"fmt":"x"}},"toFieldPath":"spec.out"}`,
	`{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"},null],"string":{"fmt":"x"}},"toFieldPath":"spec.out"}`,
	`{"type":"CombineFromComposite","combine":{},"toFieldPath":"spec.out"}`,
	`{"type":"CombineFromComposite","toFieldPath":"spec.out"}`,
	`{"type":"CombineFromEnvironment","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.arr"},{"fromFieldPath":"spec.obj"}],"string":{"fmt":"%v %v"}},"toFieldPath":"spec.out"}`,
	`{"type":"CombineToComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.arr"}],"string":{"fmt":"%v"}},"toFieldPath":"status.out"}`,
	`{"type":"CombineToEnvironment","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.arr"}],"string":{"fmt":"%v"}},"toFieldPath":"out.x"}`,
	`{"type":"PatchSet"}`,
	`{"type":"PatchSet","transforms":[{"type":"x"}]}`,
	`{"type":"PatchSet","patchSetName":"s"}`,
	`{"type":"PatchSet","patchSetName":"none"}`,
	`{"type":"nonsense"}`,
	`{"type":"<&>","fromFieldPath":"x"}`,
	`{"type":""}`,
	`{}`,
	`{"fromFieldPath":"spec.str","unknown":1}`,
	`{"fromFieldPath":"spec.html","toFieldPath":"kind","transforms":[{"type":"match","match":{"patterns":[{"type":"regexp","regexp":"."}]}}]}`,
}

func ptInputCase(input string) *fnv1.RunFunctionRequest {
	return ptBase(parse(input).(map[string]any), true)
}

var ptInputTexts = []string{
	`{}`,
	`{"resources":[]}`,
	`{"resources":null,"environment":{"patches":[]}}`,
	`{"resources":[{}]}`,
	`{"resources":[null]}`,
	`{"resources":{}}`,
	`{"Resources":[]}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"apiVersion":"x","kind":"y"}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"apiVersion":1}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"kind":null}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":null}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":"x"}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"unknown":1}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"name":"n","namespace":"s","generateName":"g","uid":"u","resourceVersion":"1","generation":1,"creationTimestamp":null,"labels":{"a":"b"},"annotations":{"a":"b"},"finalizers":["f"],"selfLink":"s","deletionGracePeriodSeconds":1}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"creationTimestamp":"2024-01-01T00:00:00Z","deletionTimestamp":"2024-01-01T00:00:00Z"}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"creationTimestamp":"x"}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"labels":{"a":1}}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"labels":{"a":null}}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"finalizers":[null]}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"name":1}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"generation":1.5}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u","controller":true,"blockOwnerDeletion":null}]}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"ownerReferences":[{"x":1}]}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","time":"2024-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"subresource":"s"}]}}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}}],"metadata":{"managedFields":[{"x":1}]}}`,
	`{"resources":[{"name":"one","base":{"kind":"K","metadata":"x"}}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K","metadata":null}}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K","metadata":{"name":"b","namespace":"c","labels":{}}}}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K","n":[1,2.5,1e20,9007199254740993,-0.0]}}]}`,
	`{"resources":[{"name":"one","base":{}}]}`,
	`{"resources":[{"name":"one","base":{"kind":""}}]}`,
	`{"resources":[{"name":"one","base":{"kind":null,"a":"<&>\u2028","b":{"z":1,"a":[true,null,1e-7]}}}]}`,
	`{"resources":[{"name":"one","base":{"kind":["x"]}}]}`,
	`{"resources":[{"name":"one","base":"text"}]}`,
	`{"resources":[{"name":"one","base":1}]}`,
	`{"resources":[{"name":"one","base":true}]}`,
	`{"resources":[{"name":"one","base":[]}]}`,
	`{"resources":[{"name":"one","base":null}]}`,
	`{"resources":[{"name":"one"}]}`,
	`{"resources":[{"name":"earlier"}]}`,
	`{"resources":[{"name":"earlier","patches":[{"fromFieldPath":"spec.arr","policy":{"toFieldPath":"AppendArray"}},{"fromFieldPath":"spec.arr","policy":{"toFieldPath":"AppendArray"}}]}]}`,
	`{"resources":[{"name":"earlier","patches":[{"fromFieldPath":"spec.arr","toFieldPath":"spec.num","policy":{"toFieldPath":"AppendArray"}}]}]}`,
	`{"resources":[{"name":"new","base":{"kind":"K","a":1}},{"name":"new","patches":[{"fromFieldPath":"spec.str"}]}]}`,
	`{"resources":[{"name":"new","base":{"kind":"K","a":1}},{"name":"new","base":{"kind":"L"}}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K"}},{"name":""}]}`,
	`{"resources":[{"name":1}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K"},"unknown":1}]}`,
	`{"resources":[{"name":"ü \"q\"\n","patches":[]}]}`,
	`{"patchSets":[{"patches":[]}]}`,
	`{"patchSets":[null]}`,
	`{"patchSets":[{"name":"a"},{"name":"","patches":[{"type":"x"}]}]}`,
	`{"patchSets":[{"name":"a","patches":[{"fromFieldPath":"a"},{"type":"x"}]}]}`,
	`{"patchSets":[{"name":"a","patches":[{"type":"PatchSet"}]}]}`,
	`{"patchSets":[{"name":"a","patches":[{"type":"PatchSet","patchSetName":"b"}]}]}`,
	`{"patchSets":[{"name":"a","patches":[{"fromFieldPath":"a","transforms":[{"type":"math","math":{}}]}]}]}`,
	`{"patchSets":[{"name":"a","patches":[]},{"name":"a","patches":[{"fromFieldPath":"spec.str","toFieldPath":"later"}]}],"resources":[{"name":"one","base":{"kind":"K"},"patches":[{"type":"PatchSet","patchSetName":"a"}]}]}`,
	`{"patchSets":[{"name":"a"}],"resources":[{"name":"one","base":{"kind":"K"},"patches":[{"type":"PatchSet","patchSetName":"a","policy":{"toFieldPath":"x"}}]}]}`,
	`{"patchSets":[{"name":"a"}],"resources":[{"name":"one","base":{"kind":"K"},"patches":[{"type":"PatchSet","patchSetName":"b"}]}]}`,
	`{"patchSets":[{"name":"a"}],"environment":{"patches":[{"type":"PatchSet"}]}}`,
	`{"environment":{"patches":[{"type":"CombineFromEnvironment"}]}}`,
	`{"environment":{"patches":[{"type":"CombineToEnvironment"}]}}`,
	`{"environment":{"patches":[{"type":"FromCompositeFieldPath"}]}}`,
	`{"environment":{"patches":[{"fromFieldPath":"spec.str","transforms":[{"type":"x"}]}]}}`,
	`{"environment":{"patches":[{"fromFieldPath":"spec.str","policy":{"toFieldPath":"x"}}]}}`,
	`{"environment":{"patches":[{"type":"\u00a0<","fromFieldPath":"spec.str"}]}}`,
	`{"environment":{"defaultData":{}}}`,
	`{"environment":{"patches":[{"fromFieldPath":"spec.arr","toFieldPath":"spec.arr","policy":{"toFieldPath":"AppendArray"}},{"type":"FromEnvironmentFieldPath","fromFieldPath":"spec.big","toFieldPath":"status.s","transforms":[{"type":"string","string":{"type":"Format","fmt":"%v"}}]}]}}`,
	`{"environment":{"patches":[{"type":"FromEnvironmentFieldPath","fromFieldPath":"spec.big","toFieldPath":"status.s","transforms":[{"type":"string","string":{"type":"Format","fmt":"%v"}}]},{"fromFieldPath":"spec.str"},{"type":"ToCompositeFieldPath","fromFieldPath":"spec.big","toFieldPath":"status.t","transforms":[{"type":"string","string":{"type":"Format","fmt":"%v"}}]}]}}`,
	`{"environment":{"patches":[{"type":"CombineToComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.big"}],"string":{"fmt":"%v"}},"toFieldPath":"status.s"},{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.big"}],"string":{"fmt":"%v"}},"toFieldPath":"spec.s"}]}}`,
	`{"environment":{"patches":[{"type":"CombineToComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.missing"}],"string":{"fmt":"%v"}},"toFieldPath":"status.s","policy":{"fromFieldPath":"Required"}}]}}`,
	`{"environment":{"patches":[{"type":"CombineToComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.missing"}],"string":{"fmt":"%v"}},"toFieldPath":"status.s","policy":{"fromFieldPath":"x"}}]}}`,
	`{"writeConnectionSecretToRef":{"name":"x"}}`,
	`{"writeConnectionSecretToRef":{"name":1},"resources":[{"name":"one","base":{"kind":"K"}}]}`,
	`{"writeConnectionSecretToRef":{"patches":[{"patchSetName":"x"}]},"resources":[{"name":"one","base":{"kind":"K"}}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K"},"patches":[{"fromFieldPath":"spec.str"},{"fromFieldPath":"spec.missing","policy":{"fromFieldPath":"Required"}},{"fromFieldPath":"spec.num"}]},{"name":"skipped","base":{"kind":"K"},"patches":[{"fromFieldPath":"spec.missing","policy":{"fromFieldPath":"Required"}}]},{"name":"later","base":{"kind":"K"}}]}`,
	`{"resources":[{"name":"earlier","base":{"kind":"K"},"patches":[{"fromFieldPath":"spec.missing","policy":{"fromFieldPath":"Required"}}]}]}`,
	`{"resources":[{"name":"skipped","base":{"kind":"K"},"patches":[{"fromFieldPath":"spec.missing","policy":{"fromFieldPath":"Required"}}]},{"name":"bad","base":{}}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K"},"connectionDetails":[{"type":"FromValue","name":"n","value":"v"}]},{"name":"bad","base":{}}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K"},"patches":[{"type":"ToEnvironmentFieldPath","fromFieldPath":"spec.str","toFieldPath":"got"},{"type":"FromEnvironmentFieldPath","fromFieldPath":"got","toFieldPath":"spec.got"}]}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K"},"patches":[{"type":"ToCompositeFieldPath","fromFieldPath":"spec.str","toFieldPath":"status.got"},{"type":"FromCompositeFieldPath","fromFieldPath":"status.got","toFieldPath":"spec.got"}]}]}`,
	`{"resources":[{"name":"one","base":{"kind":"K"},"patches":[{"fromFieldPath":"spec.str","toFieldPath":"metadata.name"}]}]}`,
}

func ptCheckCase(checks, status string) *fnv1.RunFunctionRequest {
	in := ptTemplate(map[string]any{"readinessChecks": parse("[" + checks + "]")})
	req := ptBase(in, true)
	fields := req.Observed.Resources["one"].Resource.Fields
	if status == "" {
		delete(fields, "status")
	} else {
		fields["status"] = ptValue(status)
	}
	return req
}

// No integral numbers at status.n: see ptGen.
var ptCheckTexts = []string{
	``,
	`{"type":"None"}`,
	`{"type":"NonEmpty","fieldPath":"status.n"}`,
	`{"type":"NonEmpty","fieldPath":""}`,
	`{"type":"NonEmpty","fieldPath":"status["}`,
	`{"type":"NonEmpty","fieldPath":"spec.str.x"}`,
	`{"type":"NonEmpty"}`,
	`{"type":"MatchString","fieldPath":"status.n","matchString":"x"}`,
	`{"type":"MatchString","fieldPath":"status.n","matchString":""}`,
	`{"type":"MatchString","fieldPath":"","matchString":""}`,
	`{"type":"MatchString","fieldPath":"status.n"}`,
	`{"type":"MatchString","matchString":"x"}`,
	`{"type":"MatchInteger","fieldPath":"status.n","matchInteger":2}`,
	`{"type":"MatchInteger","fieldPath":"status.n"}`,
	`{"type":"MatchInteger","matchInteger":0}`,
	`{"type":"MatchInteger","fieldPath":"status.n","matchInteger":2.5}`,
	`{"type":"MatchTrue","fieldPath":"status.n"}`,
	`{"type":"MatchFalse","fieldPath":"status.n"}`,
	`{"type":"MatchTrue"}`,
	`{"type":"MatchCondition","matchCondition":{"type":"Ready","status":"True"}}`,
	`{"type":"MatchCondition","matchCondition":{"type":"Ready","status":"Unknown"}}`,
	`{"type":"MatchCondition","matchCondition":{"type":"Synced","status":"False"}}`,
	`{"type":"MatchCondition","matchCondition":{"type":"","status":"False"}}`,
	`{"type":"MatchCondition","matchCondition":{"type":"Ready"}}`,
	`{"type":"MatchCondition","matchCondition":{}}`,
	`{"type":""}`,
	`{"type":"nonsense"}`,
	`{"type":"\u00a0<&>"}`,
	`null`,
	`{"type":"None"},{"type":"MatchTrue","fieldPath":"status.n"},{"type":"MatchString","fieldPath":"spec.num","matchString":"x"}`,
	`{"type":"MatchString","fieldPath":"status.n","matchString":"x"},{"type":"MatchTrue","fieldPath":"spec.str"}`,
}

var ptStatusTexts = []string{``, `null`, `"x"`, `[]`, `{}`, `{"n":"x"}`, `{"n":2.5}`, `{"n":true}`, `{"n":false}`, `{"n":null}`, `{"n":""}`,
	`{"conditions":null}`, `{"conditions":[]}`, `{"conditions":{}}`, `{"conditions":[null]}`, `{"conditions":["x"]}`,
	`{"conditions":[{"type":"Ready","status":"True"}]}`,
	`{"conditions":[{"type":"Ready","status":"False"},{"type":"Ready","status":"True"}]}`,
	`{"conditions":[{"type":"Synced","status":"False"},{"type":"Ready","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z","reason":"R","message":"M","observedGeneration":3}]}`,
	`{"conditions":[{"type":"Ready","status":"true"}]}`,
	`{"conditions":[{"type":"Ready","Status":"True"}]}`,
	`{"conditions":[{"type":"Ready","status":"True","extra":1}],"other":{}}`,
	`{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":null}]}`,
	`{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":""}]}`,
	`{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"x"}]}`,
	`{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":5}]}`,
	`{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2024-01-01T00:00:00.5+01:00"}]}`,
	`{"conditions":[{"type":"Ready","status":"True","observedGeneration":1.5}]}`,
	`{"conditions":[{"type":"Ready","status":"True","observedGeneration":"1"}]}`,
	`{"conditions":[{"type":"Ready","status":"True","observedGeneration":1e30}]}`,
	`{"conditions":[{"type":"Ready","status":"True","observedGeneration":-0.0}]}`,
	`{"conditions":[{"type":"Ready","status":"True","reason":1}]}`,
	`{"conditions":[{"type":"Ready","status":"True"},{"type":1}]}`,
	`{"conditions":[{"type":"Ready","status":true}]}`,
	`{"conditions":[{"type":"Ready"}]}`,
}

func ptDetailCase(details string, shared bool) *fnv1.RunFunctionRequest {
	req := ptBase(ptTemplate(map[string]any{"connectionDetails": parse("[" + details + "]")}), true)
	if !shared {
		req.Desired.Composite.ConnectionDetails = nil
	}
	return req
}

var ptDetailTexts = []string{
	`{"type":"FromValue","name":"n","value":"v"}`,
	`{"type":"FromValue","name":"n","value":""}`,
	`{"type":"FromValue","name":"n"}`,
	`{"type":"FromValue","name":"earlier","value":"new"}`,
	`{"type":"FromValue","name":"n","value":"1"},{"type":"FromValue","name":"n","value":"2"}`,
	`{"type":"FromConnectionSecretKey","name":"n","fromConnectionSecretKey":"user"}`,
	`{"type":"FromConnectionSecretKey","name":"n","fromConnectionSecretKey":"raw"}`,
	`{"type":"FromConnectionSecretKey","name":"n","fromConnectionSecretKey":"empty"}`,
	`{"type":"FromConnectionSecretKey","name":"n","fromConnectionSecretKey":"missing"}`,
	`{"type":"FromConnectionSecretKey","name":"n"}`,
	`{"type":"FromFieldPath","name":"n","fromFieldPath":"spec.str"}`,
	`{"type":"FromFieldPath","name":"n","fromFieldPath":"spec"}`,
	`{"type":"FromFieldPath","name":"n","fromFieldPath":"spec.big"}`,
	`{"type":"FromFieldPath","name":"n","fromFieldPath":"spec.nul"}`,
	`{"type":"FromFieldPath","name":"n","fromFieldPath":""}`,
	`{"type":"FromFieldPath","name":"n","fromFieldPath":"spec["}`,
	`{"type":"FromFieldPath","name":"n","fromFieldPath":"spec.missing"}`,
	`{"type":"FromFieldPath","name":"n"}`,
	`{"type":"FromValue","value":"v"}`,
	`{"type":"","name":"n"}`,
	`{"name":"n","value":"v"}`,
	`{"type":"x<\u00a0","name":"n"}`,
	`null`,
}

func ptSecretRefCase(composite, ref string) *fnv1.RunFunctionRequest {
	in := ptTemplate(map[string]any{"connectionDetails": parse(`[{"type":"FromConnectionSecretKey","name":"n","fromConnectionSecretKey":"raw"}]`)})
	if ref != "" {
		in["writeConnectionSecretToRef"] = parse(ref)
	}
	req := ptBase(in, true)
	req.Observed.Composite.Resource = mustStruct(parse(composite).(map[string]any))
	return req
}

var ptSecretComposites = []string{
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{}}}`,
	`{"kind":"X","metadata":{"name":"xr"},"spec":{"crossplane":null}}`,
	`{"kind":"X","metadata":{"name":"xr"},"spec":{}}`,
	`{"kind":"X","metadata":{"name":"xr"},"spec":null}`,
	`{"kind":"X","spec":{"crossplane":{},"str":"s"}}`,
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{},"str":"s","writeConnectionSecretToRef":{"name":"own","namespace":"ons"}}}`,
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{},"str":"s","writeConnectionSecretToRef":{"name":"own"}}}`,
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{},"writeConnectionSecretToRef":{}}}`,
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{},"writeConnectionSecretToRef":null}}`,
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{},"writeConnectionSecretToRef":{"other":1}}}`,
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{},"writeConnectionSecretToRef":{"name":1}}}`,
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{},"writeConnectionSecretToRef":{"name":null,"namespace":"z"}}}`,
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{},"writeConnectionSecretToRef":"x"}}`,
	`{"kind":"X","metadata":{"name":"xr","namespace":"ns"},"spec":{"crossplane":{},"writeConnectionSecretToRef":[]}}`,
}

var ptSecretRefs = []string{
	``,
	`{}`,
	`{"name":"in"}`,
	`{"namespace":"inns"}`,
	`{"name":"in","namespace":"inns"}`,
	`{"patches":[{"fromFieldPath":"spec.str","toFieldPath":"name"}]}`,
	`{"patches":[{"fromFieldPath":"spec.str","toFieldPath":"name","policy":{"fromFieldPath":"Required"}}]}`,
	`{"patches":[{"fromFieldPath":"spec.str","toFieldPath":"name","policy":{"fromFieldPath":"x"}}]}`,
	`{"patches":[{"fromFieldPath":"metadata.name","toFieldPath":"name.x"}]}`,
	`{"patches":[{"fromFieldPath":"metadata.name","toFieldPath":"name.x","policy":{"fromFieldPath":"Required"}}]}`,
	`{"patches":[{"fromFieldPath":"metadata","toFieldPath":"name"},{"fromFieldPath":"metadata.name","toFieldPath":"namespace"}]}`,
	`{"patches":[{"fromFieldPath":"metadata.name","toFieldPath":"kind","transforms":[{"type":"match","match":{"patterns":[{"type":"regexp","regexp":"."}]}}],"policy":{"fromFieldPath":"Required"}}]}`,
	`{"patches":[{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"metadata.name"}],"string":{"fmt":"c-%s"}},"toFieldPath":"name"}]}`,
	`{"patches":[{"type":"CombineFromComposite","combine":{"strategy":"x","variables":[{"fromFieldPath":"metadata.name"}],"string":{"fmt":"c-%s"}},"toFieldPath":"name"}]}`,
	`{"patches":[{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"metadata.name"}]},"toFieldPath":"name"}]}`,
	`{"patches":[{"type":"CombineFromComposite","combine":{"strategy":"string","string":{"fmt":"c"}},"toFieldPath":"name"}]}`,
	`{"patches":[{"type":"CombineFromComposite","combine":{"strategy":"string","variables":[{"fromFieldPath":"spec.str"}],"string":{"fmt":"c-%s"}},"toFieldPath":"name"}]}`,
	`{"patches":[{"type":"ToCompositeFieldPath","fromFieldPath":"name"}]}`,
	`{"patches":[{"type":"nonsense"}]}`,
	`{"patches":[{}]}`,
	`{"patches":[null]}`,
	`{"patches":[{"toFieldPath":"name"}]}`,
	`{"patches":[{"fromFieldPath":"metadata.name","toFieldPath":"name","transforms":[{"type":"x"}]}]}`,
	`{"patches":[{"fromFieldPath":"metadata.name","toFieldPath":"name","transforms":[{"type":"x"}],"policy":{"fromFieldPath":"Required"}}]}`,
}

func ptEnvironmentValueCase(env string) *fnv1.RunFunctionRequest {
	in := ptTemplate(nil)
	in["environment"] = parse(`{"patches":[{"fromFieldPath":"spec.str","toFieldPath":"x"}]}`)
	req := ptBase(in, false)
	switch env {
	case "absent":
		req.Context = nil
	case "empty":
		req.Context = mustStruct(nil)
	default:
		req.Context.Fields["apiextensions.crossplane.io/environment"] = ptValue(env)
	}
	return req
}

var ptEnvironments = []string{"absent", "empty", `null`, `"x"`, `[]`, `{}`, `{"apiVersion":"v1"}`, `{"kind":"K"}`, `{"apiVersion":"v1","kind":"K"}`, `{"apiVersion":"a/b/c","kind":"K"}`, `{"apiVersion":"/","kind":"K"}`, `{"apiVersion":"/"}`, `{"apiVersion":"//"}`, `{"apiVersion":"a/"}`, `{"apiVersion":"/b"}`, `{"apiVersion":1,"kind":"K"}`, `{"apiVersion":"v1","kind":1}`, `{"apiVersion":"","kind":""}`, `{"x":{"y":1}}`}

// ptStateCases lack parts of the request, or have hostile ones.
func ptStateCases() []*fnv1.RunFunctionRequest {
	list := []*fnv1.RunFunctionRequest{}
	add := func(edit func(*fnv1.RunFunctionRequest)) {
		for _, in := range []string{
			`{"resources":[{"name":"one","base":{"kind":"K"},"patches":[{"fromFieldPath":"metadata.name","toFieldPath":"x"},{"type":"ToCompositeFieldPath","fromFieldPath":"metadata.name","toFieldPath":"status.x"}]}]}`,
			`{"resources":[{"name":"earlier","patches":[{"fromFieldPath":"spec.arr","toFieldPath":"spec.arr"}]}]}`,
			`{"environment":{"patches":[{"type":"ToCompositeFieldPath","fromFieldPath":"spec.str","toFieldPath":"status.x"}]}}`,
		} {
			req := ptInputCase(in)
			edit(req)
			list = append(list, req)
		}
	}
	add(func(r *fnv1.RunFunctionRequest) {})
	add(func(r *fnv1.RunFunctionRequest) { r.Observed = nil })
	add(func(r *fnv1.RunFunctionRequest) { r.Observed.Composite = nil })
	add(func(r *fnv1.RunFunctionRequest) { r.Observed.Composite.Resource = nil })
	add(func(r *fnv1.RunFunctionRequest) { delete(r.Observed.Composite.Resource.Fields, "kind") })
	add(func(r *fnv1.RunFunctionRequest) {
		r.Observed.Composite.Resource.Fields["kind"] = structpb.NewNumberValue(1)
	})
	add(func(r *fnv1.RunFunctionRequest) { r.Observed.Resources["one"].Resource = nil })
	add(func(r *fnv1.RunFunctionRequest) {
		r.Observed.Resources["one"].Resource.Fields["metadata"] = structpb.NewStringValue("x")
	})
	add(func(r *fnv1.RunFunctionRequest) { r.Desired = nil })
	add(func(r *fnv1.RunFunctionRequest) { r.Desired.Composite = nil })
	add(func(r *fnv1.RunFunctionRequest) { r.Desired.Composite.Resource = nil })
	add(func(r *fnv1.RunFunctionRequest) { r.Desired.Composite.ConnectionDetails = nil })
	add(func(r *fnv1.RunFunctionRequest) { r.Desired.Resources["earlier"].Resource = nil })
	add(func(r *fnv1.RunFunctionRequest) { delete(r.Desired.Resources["earlier"].Resource.Fields, "kind") })
	add(func(r *fnv1.RunFunctionRequest) { r.Desired.Resources["empty"] = &fnv1.Resource{} })
	add(func(r *fnv1.RunFunctionRequest) { r.Context = nil })
	add(func(r *fnv1.RunFunctionRequest) { r.Meta = nil })
	add(func(r *fnv1.RunFunctionRequest) { r.Meta = &fnv1.RequestMeta{} })
	return list
}
