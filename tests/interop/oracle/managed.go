package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A managedCase is the life of one object: writes of several managers through the FieldManager of apimachinery, set up as
// kube-apiserver sets it up for custom resources. The stored object is in version v1; every request sees it in its own.
type managedCase struct {
	Schemas []map[string]json.RawMessage `json:"schemas"` // by version; a step names the set that is in force
	Status  bool                         `json:"status"`  // the subresource is on
	Steps   []managedStep                `json:"steps"`
}

type managedStep struct {
	Op      string         `json:"op"` // create, update, patch (a merge patch), apply, set (behind the field manager's back)
	Schema  int            `json:"schema"`
	Version string         `json:"version"`
	Manager string         `json:"manager"`
	Sub     string         `json:"sub"`
	Force   bool           `json:"force"`
	Object  map[string]any `json:"object"`
	// Whether an update carries managedFields: "" none, "live" those of the live object; otherwise they are in the object.
	Fields string `json:"fields"`
}

func init() {
	suites["managed"] = suite{gen: genManaged, run: runManaged, equal: equalManaged, bench: benchManaged}
	suites["fieldset"] = suite{gen: genFieldSet, run: runFieldSet, equal: equalFieldSet}
}

var managedStart = time.Now().Add(-time.Hour)

func managedTime(step int) string {
	return time.Date(2020, 1, 1, 0, 0, step, 0, time.UTC).Format(time.RFC3339)
}

type unstructuredCreater struct{}

func (unstructuredCreater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}

type noDefaulter struct{}

func (noDefaulter) Default(runtime.Object) {}

// A managedWorld is what a CRD makes of its versions.
type managedWorld struct {
	types     managedfields.TypeConverter
	convertor runtime.ObjectConvertor
	versions  map[string]bool
}

func newManagedWorld(schemas map[string]json.RawMessage) managedWorld {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "widgets.example.org"
	crd.Spec.Group = "example.org"
	crd.Spec.Scope = "Namespaced"
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"}
	names := []string{}
	for v := range schemas {
		names = append(names, v)
	}
	sort.Strings(names)
	w := managedWorld{versions: map[string]bool{}}
	for _, v := range names {
		js := &apiextensionsv1.JSONSchemaProps{}
		if err := json.Unmarshal(schemas[v], js); err != nil {
			fail("%v", err)
		}
		w.versions[v] = true
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: v, Served: true,
			Storage: v == "v1", Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: js}})
	}
	specs := []*spec3.OpenAPI{}
	for _, v := range names {
		s, err := builder.BuildOpenAPIV3(crd, v, builder.Options{StripNullable: true, AllowNonStructural: true})
		if err != nil {
			fail("%v", err)
		}
		specs = append(specs, s)
	}
	merged, err := builder.MergeSpecsV3(specs...)
	if err != nil {
		fail("%v", err)
	}
	if w.types, err = managedfields.NewTypeConverter(merged.Components.Schemas, false); err != nil {
		fail("%v", err)
	}
	factory, err := conversion.NewCRConverterFactory(nil, nil)
	if err != nil {
		fail("%v", err)
	}
	convertor, _, err := factory.NewConverter(crd)
	if err != nil {
		fail("%v", err)
	}
	w.convertor = knownVersions{convertor, w.versions}
	return w
}

// knownVersions says of versions that a CRD no longer has that they are not registered, as other kinds of convertors do. The one for
// custom resources fails with `request to convert CR to an invalid group/version`, after which no apply ever works again on
// objects with such a manager; we forget the manager, which is what the library does when it is told what is the matter.
type knownVersions struct {
	runtime.ObjectConvertor
	versions map[string]bool
}

func (k knownVersions) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	if gv, ok := target.(schema.GroupVersion); ok && !k.versions[gv.Version] {
		return nil, runtime.NewNotRegisteredErrForKind("widgets", gv.WithKind("Widget"))
	}
	return k.ObjectConvertor.ConvertToVersion(in, target)
}

func (w managedWorld) manager(version, sub string, status bool) *managedfields.FieldManager {
	reset := map[fieldpath.APIVersion]*fieldpath.Set{}
	gv := schema.GroupVersion{Group: "example.org", Version: version}
	switch {
	case sub == "status":
		for v := range w.versions { // kube-apiserver was seen to do so for all versions
			gv := schema.GroupVersion{Group: "example.org", Version: v}
			reset[fieldpath.APIVersion(gv.String())] = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
		}
	case status:
		reset[fieldpath.APIVersion(gv.String())] = fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	}
	m, err := managedfields.NewDefaultCRDFieldManager(w.types, w.convertor, noDefaulter{}, unstructuredCreater{},
		gv.WithKind("Widget"), schema.GroupVersion{Group: "example.org", Version: "v1"}, sub,
		fieldpath.NewExcludeFilterSetMap(reset))
	if err != nil {
		fail("%v", err)
	}
	return m
}

// normaliseTimes gives entries that were written just now the time of the step.
func normaliseTimes(u *unstructured.Unstructured, step int) {
	list, _, _ := unstructured.NestedSlice(u.Object, "metadata", "managedFields")
	for _, e := range list {
		entry := e.(map[string]any)
		if text, ok := entry["time"].(string); ok {
			if t, err := time.Parse(time.RFC3339, text); err == nil && t.After(managedStart) {
				entry["time"] = managedTime(step)
			}
		}
	}
	if list != nil {
		_ = unstructured.SetNestedSlice(u.Object, list, "metadata", "managedFields")
	}
}

func managedError(err error) any {
	result := map[string]any{"error": err.Error()}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s := status.Status()
		result["reason"] = string(s.Reason)
		causes := []string{}
		if s.Details != nil {
			for _, c := range s.Details.Causes {
				causes = append(causes, fmt.Sprintf("%s|%s|%s", c.Type, c.Message, c.Field))
			}
		}
		sort.Strings(causes)
		result["causes"] = causes
	}
	return result
}

// mergeInto is a JSON merge patch.
func mergeInto(target, patch map[string]any) {
	for k, v := range patch {
		p, isMap := v.(map[string]any)
		t, hasMap := target[k].(map[string]any)
		switch {
		case v == nil:
			delete(target, k)
		case isMap && hasMap:
			mergeInto(t, p)
		case isMap:
			t = map[string]any{}
			mergeInto(t, p)
			target[k] = t
		default:
			target[k] = v
		}
	}
}

// A managedRun is an object in the course of its life.
type managedRun struct {
	worlds []managedWorld
	status bool
	live   *unstructured.Unstructured
	n      int
}

func (r *managedRun) step(s managedStep) any {
	defer func() { r.n++ }()
	world := r.worlds[s.Schema]
	fm := world.manager(s.Version, s.Sub, r.status)
	gvk := schema.GroupVersionKind{Group: "example.org", Version: s.Version, Kind: "Widget"}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(gvk)
	if r.live != nil {
		live = r.live.DeepCopy()
		live.SetAPIVersion(gvk.GroupVersion().String())
	}
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(s.Object)}
	var result runtime.Object
	switch s.Op {
	case "set":
		mergeInto(live.Object, object.Object)
		result = live
	case "patch":
		patched := live.DeepCopy()
		mergeInto(patched.Object, object.Object)
		result = fm.UpdateNoErrors(live, patched, s.Manager)
	case "create", "update":
		if s.Fields == "live" {
			object.SetManagedFields(live.GetManagedFields())
		}
		if r.live == nil { // as the API server does on create
			object.SetManagedFields(nil)
		}
		result = fm.UpdateNoErrors(live, object, s.Manager)
	case "apply":
		var err error
		if result, err = fm.Apply(live, object, s.Manager, s.Force); err != nil {
			return managedError(err)
		}
	}
	u := result.(*unstructured.Unstructured)
	if u.GetUID() == "" {
		u.SetUID("u-1")
	}
	normaliseTimes(u, r.n)
	u.SetAPIVersion("example.org/v1")
	r.live = u
	return map[string]any{"object": u.DeepCopy().Object}
}

func newManagedRun(c managedCase) *managedRun {
	r := &managedRun{status: c.Status}
	for _, s := range c.Schemas {
		r.worlds = append(r.worlds, newManagedWorld(s))
	}
	return r
}

func runManaged(raw json.RawMessage) any {
	var c managedCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	// Numbers as Kubernetes reads them.
	var steps struct {
		Steps []struct{ Object json.RawMessage }
	}
	if err := json.Unmarshal(raw, &steps); err != nil {
		fail("%v", err)
	}
	r := newManagedRun(c)
	results := []any{}
	for i, s := range c.Steps {
		s.Object = kubeDecode(steps.Steps[i].Object).(map[string]any)
		results = append(results, r.step(s))
	}
	return results
}

// equalManaged: what does not fit its type in several places is found by upstream in the random order of Go's maps, and some of
// it not at all; both sides must name the same object then.
func equalManaged(_ json.RawMessage, oracle, subject any) bool {
	o, s := oracle.([]any), subject.([]any)
	if len(o) != len(s) {
		return false
	}
	for i := range o {
		a, b := o[i].(map[string]any), s[i].(map[string]any)
		x, ok1 := a["error"].(string)
		y, ok2 := b["error"].(string)
		if ok1 != ok2 {
			return false
		}
		if !ok1 {
			if string(mustMarshal(a)) != string(mustMarshal(b)) {
				return false
			}
			continue
		}
		px, isRandomX := typedErrorPrefix(x)
		py, isRandomY := typedErrorPrefix(y)
		isRandom := isRandomX || isRandomY
		if x != y && !(isRandom && px == py) {
			return false
		}
		if string(mustMarshal(a["causes"])) != string(mustMarshal(b["causes"])) || a["reason"] != b["reason"] {
			return false
		}
	}
	return true
}

// typedErrorPrefix gives what stands before the first path, and whether upstream may name another one the next time.
func typedErrorPrefix(text string) (string, bool) {
	at := strings.Index(": "+text, ": .")
	if i := strings.Index(text, "errors:\n"); i >= 0 {
		at = i
	}
	if at < 0 {
		return text, false
	}
	return text[:at], strings.Contains(text, "errors:\n") || strings.HasSuffix(text, "field not declared in schema")
}

// --- Field sets ---

type fieldSetCase struct {
	X json.RawMessage `json:"x"`
	Y json.RawMessage `json:"y"`
}

func readSet(raw json.RawMessage) (*fieldpath.Set, error) {
	s := &fieldpath.Set{}
	err := s.FromJSON(strings.NewReader(string(raw)))
	return s, err
}

func showSet(s *fieldpath.Set) any {
	b, err := s.ToJSON()
	if err != nil {
		return errorResult(err)
	}
	paths := []string{}
	s.Iterate(func(p fieldpath.Path) { paths = append(paths, p.String()) })
	return map[string]any{"fields": json.RawMessage(b), "paths": paths, "size": s.Size(), "empty": s.Empty()}
}

func runFieldSet(raw json.RawMessage) any {
	var c fieldSetCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	x, err := readSet(c.X)
	if err != nil {
		return errorResult(err)
	}
	y, err := readSet(c.Y)
	if err != nil {
		return errorResult(err)
	}
	return map[string]any{"x": showSet(x), "y": showSet(y), "union": showSet(x.Union(y)), "intersection": showSet(x.Intersection(y)),
		"difference": showSet(x.Difference(y)), "recursive": showSet(x.RecursiveDifference(y)), "equal": x.Equals(y)}
}

// equalFieldSet: errors of upstream's JSON reader say where in the text they are, which values do not know, and those about the
// texts behind k: and v: are worded by that reader.
func equalFieldSet(_ json.RawMessage, oracle, subject any) bool {
	x, ok1 := oracle.(map[string]any)["error"].(string)
	y, ok2 := subject.(map[string]any)["error"].(string)
	if !ok1 || !ok2 {
		return false
	}
	x, _, _ = strings.Cut(x, ", error found in #")
	const key = "parsing key as path element: "
	return x == y || strings.HasPrefix(x, key+"Read") && strings.HasPrefix(y, key) || strings.HasPrefix(x, key+"read") && strings.HasPrefix(y, key) || strings.HasPrefix(x, key+"skip") && strings.HasPrefix(y, key)
}

var fieldSetQuirks = [][2]string{
	{`{}`, `null`}, {`{".":{}}`, `{"f:a":{".":{}}}`}, {`{"x:a":{},"f:b":{}}`, `{"f:a":{"x:q":{}}}`}, {`{"f:a":null}`, `{"f:a":{".":1}}`},
	{`{"f:a":1}`, `{}`}, {`[]`, `{}`}, {`{"q":{}}`, `{}`}, {`{"ff":{}}`, `{}`}, {`{"k:1":{}}`, `{}`}, {`{"k:[1]":{}}`, `{}`},
	{`{"k:null":{}}`, `{"k:{}":{}}`}, {`{"v:1.0":{}}`, `{"v:1":{}}`}, {`{"i:x":{}}`, `{}`}, {`{"i:":{}}`, `{}`}, {`{"v:":{}}`, `{}`}, {`{"v:x":{}}`, `{}`},
	{`{"i:99999999999999999999":{}}`, `{}`}, {`{"v:1e3":{},"v:1e-7":{},"v:12345678.5":{},"v:1e21":{}}`, `{"v:1000":{}}`},
	{`{"v:\"<a>\\u2028é\\n\\u0001\"":{}}`, `{"f:é\"<\n":{}}`}, {`{"v:1 2":{}}`, `{"k:{\"a\":1}x":{}}`}, {`{"i:03":{},"i:+4":{}}`, `{"i:3":{}}`},
	{`{"k:{\"port\":80,\"name\":\"a\"}":{}}`, `{"k:{\"name\":\"a\",\"port\":80}":{}}`}, {`{"f:a":{"f:b":{}}}`, `{"f:a":{}}`}, {`{"f:a":{".":{},"f:b":{"f:c":{}}}}`, `{"f:a":{"f:b":{}}}`},
}

func genFieldSet(r *rand.Rand, count int, emit func(c any)) {
	for _, q := range fieldSetQuirks {
		emit(fieldSetCase{json.RawMessage(q[0]), json.RawMessage(q[1])})
		emit(fieldSetCase{json.RawMessage(q[1]), json.RawMessage(q[0])})
	}
	// Two spellings of one element are left out: upstream finds them again only by luck.
	names := []string{"f:a", "f:b", "f:c", "f:spec", "f:", "f:z/y", `k:{"name":"a"}`, `k:{"name":"b"}`, `k:{"name":"a","port":80}`,
		`k:{"port":443}`, `k:{"port":80}`, `k:{"x":true}`, `k:{"x":null}`, `v:1`, `v:2.5`, `v:10`, `v:"a"`, `v:"10"`, `v:true`, `v:false`, `v:null`, "i:0", "i:10", "i:9", "x:old"}
	var set func(depth int) map[string]any
	set = func(depth int) map[string]any {
		m := map[string]any{}
		for range r.Intn(5) {
			k := names[r.Intn(len(names))]
			if depth <= 0 || r.Intn(3) == 0 {
				m[k] = map[string]any{}
			} else {
				m[k] = set(depth - 1)
			}
		}
		if r.Intn(4) == 0 {
			m["."] = map[string]any{}
		}
		return m
	}
	for i := len(fieldSetQuirks) * 2; i < count; i++ {
		x := set(4)
		y := set(4)
		if r.Intn(2) == 0 { // much in common
			y = runtime.DeepCopyJSON(x)
			for range 1 + r.Intn(3) {
				mutateSet(r, y, set)
			}
		}
		emit(fieldSetCase{mustMarshal(x), mustMarshal(y)})
	}
}

func mutateSet(r *rand.Rand, m map[string]any, set func(int) map[string]any) {
	keys := []string{}
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	if len(keys) == 0 || r.Intn(4) == 0 {
		for k, v := range set(1) {
			m[k] = v
		}
		return
	}
	k := keys[r.Intn(len(keys))]
	below, ok := m[k].(map[string]any)
	if !ok || r.Intn(3) == 0 {
		delete(m, k)
		return
	}
	mutateSet(r, below, set)
}
