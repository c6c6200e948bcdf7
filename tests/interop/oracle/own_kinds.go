// Crossplane's own kinds: sequences of writes on a real kube-apiserver and on our store. Written sequences for every rule first; then
// good objects with a mistake or two in them, created and updated.
//
// In the suite own-kinds the API has Crossplane's CRDs, the store has ours. Where our schemas accept more than Crossplane's, no case
// goes: the fields that only we know are never written, and the mode of a Composition is never another word than Pipeline, since ours
// may also be Resources, which the message about it says.
//
// In the suite own-kinds-more both have our CRDs, whose rules the API takes as CEL and the store as C. What the store does beyond
// CRDs is not to be seen: a mode is always given, a step never has another name.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand"
	"regexp"
	"sort"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed testdata/own-kinds/kinds.yaml
var ownKindsYAML []byte

//go:embed testdata/own-kinds/objects.yaml
var ownObjectsYAML []byte

//go:embed testdata/own-kinds/sequences.yaml
var ownSequencesYAML []byte

//go:embed testdata/own-kinds/more-objects.yaml
var ownMoreObjectsYAML []byte

//go:embed testdata/own-kinds/more-sequences.yaml
var ownMoreSequencesYAML []byte

func init() {
	suites["own-kinds"] = suite{gen: genOwnKinds, all: allCluster, equal: equalOwnKinds, explain: explainCluster}
	suites["own-kinds-more"] = suite{gen: genOwnKindsMore, all: allCluster, equal: equalCluster, explain: explainCluster}
}

// equalOwnKinds: a definition that is written as v2 is stored there without the defaults that v1 has, and with them here, so that a
// later write that changes nothing moves the resource version there (docs/compatibility.md). Nothing else may differ.
func equalOwnKinds(raw json.RawMessage, oracle, subject any) bool {
	if equalCluster(raw, oracle, subject) {
		return true
	}
	return bytes.Contains(raw, []byte("apiextensions.crossplane.io/v2 ")) && equalCluster(raw, withoutVersions(oracle), withoutVersions(subject))
}

func withoutVersions(result any) any {
	raw, _ := json.Marshal(result)
	return decode(versionMember.ReplaceAll(raw, nil))
}

var versionMember = regexp.MustCompile(`\\*"resourceVersion\\*":\\*"[0-9]+\\*",?`)

type ownObject struct {
	kind *clusterKind
	body map[string]any
}

func ownObjects(text []byte, kinds map[string]*clusterKind) []ownObject {
	written := []map[string]map[string]any{}
	if err := yaml.Unmarshal(text, &written, useNumber); err != nil {
		fail("objects.yaml: %v", err)
	}
	objects := []ownObject{}
	for _, w := range written {
		for alias, body := range w {
			objects = append(objects, ownObject{kinds[alias], body})
		}
	}
	return objects
}

func genOwnKinds(r *rand.Rand, count int, emit func(c any)) {
	genOwn(r, count, ownObjectsYAML, ownSequencesYAML, false, emit)
}

func genOwnKindsMore(r *rand.Rand, count int, emit func(c any)) {
	genOwn(r, count, ownMoreObjectsYAML, ownMoreSequencesYAML, true, emit)
}

func genOwn(r *rand.Rand, count int, objectsYAML, sequencesYAML []byte, withOurs bool, emit func(c any)) {
	byAlias := map[string]*clusterKind{}
	for _, k := range readKinds(ownKindsYAML) {
		if withOurs || !k.Ours {
			byAlias[k.Alias] = k
		}
	}
	one, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "one"}})
	emit(clusterCase{About: "what is there before", Setup: []json.RawMessage{one}})
	written := []map[string]any{}
	if err := yaml.Unmarshal(sequencesYAML, &written, useNumber); err != nil {
		fail("sequences.yaml: %v", err)
	}
	n := 0
	for _, w := range written {
		n++
		emit(writtenSequence(w, byAlias, fmt.Sprintf("w%d", n)))
	}
	objects := ownObjects(objectsYAML, byAlias)
	for i := n; i < count; i++ {
		o := objects[i%len(objects)]
		g := &ownKindsGen{r: r, kinds: byAlias, kind: o.kind, good: o.body, withOurs: withOurs, name: fmt.Sprintf("r%d", i)}
		emit(g.sequence())
	}
}

// --- Mistakes ---

type ownKindsGen struct {
	r     *rand.Rand
	kinds map[string]*clusterKind
	kind  *clusterKind
	good  map[string]any
	name  string
	// both have our CRDs
	withOurs bool
}

func (g *ownKindsGen) chance(percent int) bool { return g.r.Intn(100) < percent }

// sequence: a good object or one with mistakes is created, then written again in one way or another, and read in every version.
func (g *ownKindsGen) sequence() clusterCase {
	c := clusterCase{About: "mutated " + g.kind.Kind}
	for range 1 + g.r.Intn(2) {
		c.Steps = append(c.Steps, g.write("create", g.kind, g.body(g.r.Intn(3))))
	}
	c.Steps = append(c.Steps, g.write("create", g.kind, g.body(0)))
	for range 1 + g.r.Intn(4) {
		c.Steps = append(c.Steps, g.rewrite())
	}
	for _, k := range g.versions() {
		c.Steps = append(c.Steps, clusterStep{Op: "get", Of: k.of(), Namespace: k.namespace(), Name: g.name})
	}
	return c
}

// versions: the kind in all versions that it has.
func (g *ownKindsGen) versions() []*clusterKind {
	all := []*clusterKind{}
	for _, k := range g.kinds {
		if k.Kind == g.kind.Kind && k.Group == g.kind.Group {
			all = append(all, k)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Alias < all[j].Alias })
	return all
}

func (g *ownKindsGen) write(op string, kind *clusterKind, body map[string]any) clusterStep {
	s := clusterStep{Op: op, Of: kind.of(), Namespace: kind.namespace(), Name: g.name, Manager: []string{"m1", "m2"}[g.r.Intn(2)]}
	s.Validation = []string{"", "Strict", "Ignore"}[g.r.Intn(3)]
	if op == "create" || op == "apply" {
		body["apiVersion"], body["kind"], body["metadata"] = kind.apiVersion(), kind.Kind, map[string]any{"name": g.name}
	}
	s.Force = op == "apply" && g.chance(50)
	if op == "merge" {
		dropNulls(body, false) // a merge patch takes lists as they are here (docs/compatibility.md)
	}
	s.Body, _ = json.Marshal(body)
	return s
}

// dropNulls: those of objects that stand in lists.
func dropNulls(v any, inList bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range memberNames(v) {
			if v[k] == nil && inList {
				delete(v, k)
			} else {
				dropNulls(v[k], inList)
			}
		}
	case []any:
		for i := range v {
			dropNulls(v[i], true)
		}
	}
}

func (g *ownKindsGen) rewrite() clusterStep {
	versions := g.versions()
	kind := versions[g.r.Intn(len(versions))]
	switch g.r.Intn(4) {
	case 0:
		s := g.write("update", kind, g.body(g.r.Intn(3)))
		body := g.body(g.r.Intn(3))
		body["apiVersion"], body["kind"] = kind.apiVersion(), kind.Kind
		body["metadata"] = map[string]any{"name": g.name, "resourceVersion": "@last.metadata.resourceVersion"}
		s.Body, _ = json.Marshal(body)
		return s
	case 1:
		return g.write("merge", kind, g.part())
	case 2:
		return g.write("apply", kind, g.part())
	}
	return g.write("merge", kind, g.body(1))
}

// body: a copy of the good object with so many mistakes.
func (g *ownKindsGen) body(mistakes int) map[string]any {
	raw, _ := json.Marshal(g.good)
	v, _ := decodeNumbers(raw)
	body := v.(map[string]any)
	for range mistakes {
		g.mutate(body)
	}
	return body
}

// part: the good object without some of its members, mistakes in the rest.
func (g *ownKindsGen) part() map[string]any {
	body := g.body(0)
	if spec, ok := body["spec"].(map[string]any); ok {
		for _, k := range memberNames(spec) {
			if g.chance(60) && k != "mode" {
				delete(spec, k)
			}
		}
	}
	if g.chance(60) {
		g.mutate(body)
	}
	return body
}

// A place is a member of an object or an item of a list.
type ownPlace struct {
	object map[string]any
	key    string
	list   []any
	index  int
	set    func(list []any)
	path   string
}

func ownPlaces(v any, path string, set func([]any), report func(ownPlace)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range memberNames(v) {
			report(ownPlace{object: v, key: k, path: path + "." + k})
			ownPlaces(v[k], path+"."+k, func(list []any) { v[k] = list }, report)
		}
	case []any:
		for i := range v {
			report(ownPlace{list: v, index: i, set: set, path: path + "[]"})
			ownPlaces(v[i], path+"[]", func(list []any) { v[i] = list }, report)
		}
	}
}

func (g *ownKindsGen) mutate(body map[string]any) {
	places := []ownPlace{}
	ownPlaces(body, "", nil, func(p ownPlace) {
		// What is inside these is anybody's.
		for _, free := range []string{".input.", ".openAPIV3Schema.", ".data.", ".base.", ".config.", ".defaultData.", ".map.", ".result.", ".network."} {
			if strings.Contains(p.path, free) {
				return
			}
		}
		places = append(places, p)
	})
	if len(places) == 0 {
		return
	}
	p := places[g.r.Intn(len(places))]
	if p.list != nil {
		g.mutateItem(p)
	} else {
		g.mutateMember(p)
	}
}

func (g *ownKindsGen) mutateItem(p ownPlace) {
	switch g.r.Intn(4) {
	case 0: // twice
		p.set(append(append([]any{}, p.list...), p.list[p.index]))
	case 1: // gone
		p.set(append(append([]any{}, p.list[:p.index]...), p.list[p.index+1:]...))
	default:
		p.list[p.index] = g.junk(p.path)
	}
}

func (g *ownKindsGen) mutateMember(p ownPlace) {
	what := g.r.Intn(10)
	isMode := p.path == ".spec.mode"
	switch {
	case isMode && g.withOurs:
		p.object[p.key] = []any{"Resources", "Pipeline", "x", json.Number("1")}[g.r.Intn(4)]
	case what < 3:
		delete(p.object, p.key)
	case what == 3 && !isMode:
		p.object[p.key+"s"] = p.object[p.key]
		delete(p.object, p.key)
	case what == 4:
		p.object["bogus"] = g.junk(p.path)
	case what == 5:
		p.object[p.key] = nil
	case what == 6 && !isMode:
		if text, ok := p.object[p.key].(string); ok {
			p.object[p.key] = []string{strings.ToUpper(text), text + "x", "", strings.Repeat("x", 300), "Foreground", "None"}[g.r.Intn(6)]
		}
	case !isMode:
		p.object[p.key] = g.junk(p.path)
	}
}

// junk: anything but a step with a name, which ours may have.
func (g *ownKindsGen) junk(path string) any {
	key := "name"
	if strings.HasSuffix(path, ".pipeline") || strings.HasSuffix(path, ".pipeline[]") {
		key = "title"
	}
	values := []any{nil, "", "x", "Secret", json.Number("0"), json.Number("1"), json.Number("-1"), json.Number("1.5"), true, false, []any{}, map[string]any{},
		[]any{"a"}, []any{nil}, map[string]any{"a": "b"}, map[string]any{key: "n"}, []any{map[string]any{key: "a"}}, json.Number("3000000000")}
	return values[g.r.Intn(len(values))]
}
