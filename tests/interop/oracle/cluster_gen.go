// Sequences for the cluster suite: written ones for every rule first, then random ones.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand"
	"sort"
	"strings"

	"sigs.k8s.io/yaml"
)

const clusterGroup = "example.org"

//go:embed testdata/cluster/kinds.yaml
var clusterKindsYAML []byte

//go:embed testdata/cluster/sequences.yaml
var clusterSequencesYAML []byte

type clusterKind struct {
	Alias      string         `json:"alias"`
	Group      string         `json:"group"`
	Kind       string         `json:"kind"`
	Plural     string         `json:"plural"`
	Version    string         `json:"version"`
	Cluster    bool           `json:"cluster"`
	Status     bool           `json:"status"`
	Deprecated bool           `json:"deprecated"`
	Ours       bool           `json:"ours"` // a version that only our CRD has
	Scale      map[string]any `json:"scale"`
	Schema     map[string]any `json:"schema"`
}

func (k *clusterKind) apiVersion() string {
	if k.Group == "core" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}
func (k *clusterKind) of() string { return k.apiVersion() + " " + k.Kind + " " + k.Plural }
func (k *clusterKind) namespace() string {
	if k.Cluster {
		return ""
	}
	return "one"
}

func readKinds(text []byte) []*clusterKind {
	kinds := []*clusterKind{}
	if err := yaml.Unmarshal(text, &kinds); err != nil {
		fail("kinds.yaml: %v", err)
	}
	for _, k := range kinds {
		if k.Group == "" {
			k.Group = clusterGroup
		}
		if k.Version == "" {
			k.Version = "v1"
		}
	}
	return kinds
}

func (k *clusterKind) crdVersion(storage bool) map[string]any {
	version := map[string]any{"name": k.Version, "served": true, "storage": storage, "schema": map[string]any{"openAPIV3Schema": k.Schema}}
	subresources := map[string]any{}
	if k.Status {
		subresources["status"] = map[string]any{}
	}
	if k.Scale != nil {
		subresources["scale"] = k.Scale
	}
	if len(subresources) > 0 {
		version["subresources"] = subresources
	}
	if k.Deprecated {
		version["deprecated"] = true
	}
	return version
}

// clusterSetup: the CRDs of the kinds, and two namespaces.
func clusterSetup(kinds []*clusterKind) []json.RawMessage {
	crds := map[string]map[string]any{}
	setup := []json.RawMessage{}
	add := func(v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			fail("%v", err)
		}
		setup = append(setup, raw)
	}
	order := []string{}
	for _, k := range kinds {
		crd := crds[k.Plural]
		if crd == nil {
			scope := "Namespaced"
			if k.Cluster {
				scope = "Cluster"
			}
			crd = map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
				"metadata": map[string]any{"name": k.Plural + "." + clusterGroup},
				"spec": map[string]any{"group": clusterGroup, "scope": scope, "versions": []any{},
					"names": map[string]any{"kind": k.Kind, "plural": k.Plural}}}
			crds[k.Plural] = crd
			order = append(order, k.Plural)
		}
		spec := crd["spec"].(map[string]any)
		spec["versions"] = append(spec["versions"].([]any), k.crdVersion(len(spec["versions"].([]any)) == 0))
	}
	for _, plural := range order {
		add(crds[plural])
	}
	for _, name := range []string{"one", "two"} {
		add(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	}
	return setup
}

func genCluster(r *rand.Rand, count int, emit func(c any)) {
	kinds := readKinds(clusterKindsYAML)
	emit(clusterCase{About: "what is there before", Setup: clusterSetup(kinds)})
	byAlias := map[string]*clusterKind{}
	for _, k := range kinds {
		byAlias[k.Alias] = k
	}
	written := []map[string]any{}
	if err := yaml.Unmarshal(clusterSequencesYAML, &written, useNumber); err != nil {
		fail("sequences.yaml: %v", err)
	}
	n := 0
	for _, w := range written {
		n++
		emit(writtenSequence(w, byAlias, fmt.Sprintf("w%d", n)))
	}
	genClusterTypes(byAlias, emit)
	for i := n; i < count; i++ {
		g := &sequenceGen{r: r, kind: kinds[r.Intn(len(kinds))], byAlias: byAlias, name: fmt.Sprintf("r%d", i), wild: r.Intn(3) == 0, replicas: 10}
		emit(g.sequence())
	}
}

const missing = "(missing)"

// Bodies that say another type than their request, or none, with metadata of all sorts.
func genClusterTypes(kinds map[string]*clusterKind, emit func(c any)) {
	n := 0
	for _, apiVersion := range []any{"", "Other", clusterGroup + "/v2", "a/b/c", 5, nil, clusterGroup + "/v1", missing} {
		for _, kind := range []any{"Valid", "Wrong", "", 7, nil, missing} {
			for _, metadata := range []map[string]any{{"labels": []any{1}}, {"foo": 1}, {}} {
				c := clusterCase{About: "bodies of another type"}
				n++
				name := fmt.Sprintf("t%d", n)
				for _, op := range []string{"create", "update"} {
					for _, validation := range []string{"Strict", "Warn", "Ignore"} {
						metadata["name"] = name
						body := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": map[string]any{"nope": 1, "size": 1}}
						for k, v := range body {
							if v == missing {
								delete(body, k)
							}
						}
						step := writtenStep(map[string]any{op: "V", "body": body, "validation": validation}, kinds, name)
						c.Steps = append(c.Steps, step)
					}
				}
				emit(c)
			}
		}
	}
}

func useNumber(d *json.Decoder) *json.Decoder {
	d.UseNumber()
	return d
}

// --- Written sequences ---

var clusterOps = []string{"create", "update", "json", "merge", "apply", "delete", "get", "tick"}

// A step is written as {OP: ALIAS, ...}: meta, spec, status and with make the body with its type and name; {n} is the sequence's name.
func writtenSequence(w map[string]any, kinds map[string]*clusterKind, name string) clusterCase {
	c := clusterCase{About: fmt.Sprint(w["about"])}
	raw, _ := json.Marshal(w["steps"])
	v, err := decodeNumbers([]byte(strings.ReplaceAll(string(raw), "{n}", name)))
	if err != nil {
		fail("%v", err)
	}
	for _, s := range v.([]any) {
		c.Steps = append(c.Steps, writtenStep(s.(map[string]any), kinds, name))
	}
	return c
}

func writtenStep(w map[string]any, kinds map[string]*clusterKind, name string) clusterStep {
	s := clusterStep{}
	var kind *clusterKind
	for _, op := range clusterOps {
		if alias, ok := w[op]; ok {
			s.Op = op
			kind = kinds[fmt.Sprint(alias)]
			delete(w, op)
		}
	}
	if s.Op == "tick" {
		return s
	}
	if kind == nil {
		fail("%v has no kind", w)
	}
	body := map[string]any{}
	meta := map[string]any{"name": name}
	parts := false
	if m, ok := w["meta"]; ok {
		parts = true
		for k, v := range m.(map[string]any) {
			if v == nil && k == "name" {
				delete(meta, k)
			} else {
				meta[k] = v
			}
		}
		delete(w, "meta")
	}
	for _, k := range []string{"spec", "status", "with"} {
		v, ok := w[k]
		if !ok {
			continue
		}
		parts = true
		if k == "with" {
			for k, v := range v.(map[string]any) {
				body[k] = v
			}
		} else {
			body[k] = v
		}
		delete(w, k)
	}
	if _, given := w["body"]; !given && w["text"] == nil && (parts || s.Op == "create" || s.Op == "apply") {
		if w["base"] == nil && s.Op != "merge" {
			body["apiVersion"], body["kind"], body["metadata"] = kind.apiVersion(), kind.Kind, meta
		} else if delete(meta, "name"); len(meta) > 0 {
			body["metadata"] = meta
		}
		w["body"] = body
	}
	if by, ok := w["by"]; ok {
		w["manager"] = by
		delete(w, "by")
	}
	defaults := map[string]any{"op": s.Op, "of": kind.of(), "ns": kind.namespace(), "name": name}
	for k, v := range defaults {
		if _, ok := w[k]; !ok {
			w[k] = v
		}
	}
	raw, _ := json.Marshal(w)
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		fail("%s: %v", raw, err)
	}
	return s
}

// --- Random sequences ---

type sequenceGen struct {
	r       *rand.Rand
	kind    *clusterKind
	byAlias map[string]*clusterKind
	name    string
	wild    bool // also with what is wrong
	// of scales
	replicas int
	// An owner whose kind nobody serves, so that no garbage collector removes the object.
	ownerless bool
}

func (g *sequenceGen) chance(percent int) bool       { return g.r.Intn(100) < percent }
func (g *sequenceGen) oops(percent int) bool         { return g.wild && g.chance(percent) }
func (g *sequenceGen) pick(choices ...string) string { return choices[g.r.Intn(len(choices))] }

func (g *sequenceGen) sequence() clusterCase {
	c := clusterCase{About: "random " + g.kind.Kind}
	n := 3 + g.r.Intn(7)
	for i := range n {
		if g.chance(4) {
			c.Steps = append(c.Steps, clusterStep{Op: "tick"})
		}
		k := g.kind
		if k.Alias[0] == 'M' {
			g.kind = g.byAlias[g.pick("M1", "M2")]
		}
		c.Steps = append(c.Steps, g.step(i == 0))
		g.kind = k
	}
	c.Steps = append(c.Steps, g.base("get"))
	return c
}

func (g *sequenceGen) base(op string) clusterStep {
	return clusterStep{Op: op, Of: g.kind.of(), Namespace: g.kind.namespace(), Name: g.name}
}

func (g *sequenceGen) raw(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		fail("%v", err)
	}
	return raw
}

func (g *sequenceGen) step(isFirst bool) clusterStep {
	op := g.pick("apply", "apply", "apply", "apply", "update", "update", "merge", "merge", "json", "json", "delete", "create")
	if isFirst && !g.chance(5) {
		op = g.pick("create", "apply")
	}
	s := g.base(op)
	s.Manager = g.pick("m1", "m1", "m2", "m2", "m3")
	if !isFirst && op != "create" && op != "delete" {
		if g.kind.Status && g.chance(25) {
			s.Subresource = "status"
		} else if g.kind.Scale != nil && op != "apply" && g.chance(40) {
			s.Subresource = "scale"
		}
	}
	if op != "delete" {
		s.DryRun = g.chance(6)
		s.Validation = g.pick("", "", "", "Strict", "Warn", "Ignore")
	}
	switch op {
	case "create":
		s.Body = g.raw(g.object(true))
	case "apply":
		config := g.configuration(s.Subresource)
		if s.DryRun {
			// A dry run that would create shows the version of the configuration upstream.
			delete(config["metadata"].(map[string]any), "resourceVersion")
		}
		s.Body = g.raw(config)
		s.Force = g.chance(40)
	case "update":
		g.update(&s)
	case "merge":
		s.Body = g.raw(g.mergePatch(s.Subresource))
	case "json":
		s.Body = g.raw(g.jsonPatch(s.Subresource))
	case "delete":
		g.delete(&s)
	}
	return s
}

func (g *sequenceGen) delete(s *clusterStep) {
	s.Manager = ""
	s.Propagation = g.pick("", "", "Background", "Foreground", "Orphan")
	if g.chance(15) {
		s.UID = g.pick("@last.metadata.uid", "@first.metadata.uid", "nobody")
	}
	if g.chance(15) {
		s.Version = g.pick("@last.metadata.resourceVersion", "@first.metadata.resourceVersion")
	}
	// A dry run that would remove the last finalizer answers with an empty object upstream.
	s.DryRun = s.Propagation != "Background" && g.chance(15)
}

func (g *sequenceGen) meta(isUpdate bool) map[string]any {
	m := map[string]any{}
	if g.chance(30) {
		m["labels"] = g.stringMap(isUpdate)
	}
	if g.chance(15) {
		m["annotations"] = g.stringMap(isUpdate)
	}
	if g.chance(15) {
		list := []any{}
		for _, f := range []string{"example.org/a", "example.org/b"} {
			if g.chance(40) {
				list = append(list, f)
			}
		}
		m["finalizers"] = list
	}
	if g.chance(8) {
		list := []any{}
		for i := range 1 + g.r.Intn(2) {
			owner := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": g.pick("o1", "o2"), "uid": fmt.Sprintf("u%d", i)}
			if g.ownerless {
				owner["apiVersion"], owner["kind"] = "nowhere.example.org/v1", "Nothing"
			}
			list = append(list, owner)
		}
		m["ownerReferences"] = list
	}
	if g.oops(5) {
		m[g.pick("foo", "selfLink", "labels", "annotations", "finalizers", "generation", "deletionTimestamp", "creationTimestamp")] = g.junk(0)
	}
	return m
}

func (g *sequenceGen) stringMap(isPatch bool) map[string]any {
	m := map[string]any{}
	for range g.r.Intn(3) {
		m[g.pick("a", "b", "c")] = g.pick("1", "2")
		if isPatch && g.chance(20) {
			m[g.pick("a", "b", "c")] = nil
		}
	}
	if g.oops(5) {
		m[g.pick("-x", "a b", "x")] = g.pick("y", "-", "z z")
	}
	return m
}

// object: a whole one, with the parts that its schema knows.
func (g *sequenceGen) object(hasName bool) map[string]any {
	o := g.parts("")
	meta := g.meta(false)
	if hasName {
		meta["name"] = g.name
		if g.oops(2) {
			meta["name"] = g.name + "x"
		}
		if g.chance(5) {
			delete(meta, "name")
			meta["generateName"] = g.name + "-"
		}
	}
	o["apiVersion"], o["kind"], o["metadata"] = g.kind.apiVersion(), g.kind.Kind, meta
	if g.oops(2) {
		o[g.pick("apiVersion", "kind")] = g.pick("example.org/v2", "Other", "")
	}
	return o
}

func (g *sequenceGen) configuration(subresource string) map[string]any {
	o := g.parts(subresource)
	if g.kind.Alias == "E" {
		o = map[string]any{"spec": map[string]any{}} // for the reason below
	}
	meta := g.meta(false)
	// Upstream stores the empty ones as they were applied and takes them out again when it next writes, so that a write that
	// changes nothing moves the version. Ours never stores them.
	for _, k := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		switch v := meta[k].(type) {
		case map[string]any:
			if len(v) == 0 {
				delete(meta, k)
			}
		case []any:
			if len(v) == 0 {
				delete(meta, k)
			}
		}
	}
	delete(meta, "deletionTimestamp") // the same with one that is no time
	delete(meta, "selfLink")
	meta["name"] = g.name
	if g.chance(3) {
		meta["uid"] = g.pick("@last.metadata.uid", "nobody")
	}
	if g.chance(5) {
		meta["resourceVersion"] = g.pick("@last.metadata.resourceVersion", "@first.metadata.resourceVersion")
	}
	o["apiVersion"], o["kind"], o["metadata"] = g.kind.apiVersion(), g.kind.Kind, meta
	return o
}

// parts: members of the root other than the type and metadata.
func (g *sequenceGen) parts(subresource string) map[string]any {
	root, _ := g.value(g.kind.Schema, 0).(map[string]any)
	if root == nil {
		root = map[string]any{}
	}
	if len(root) == 0 || g.kind.Schema["properties"] == nil {
		root = map[string]any{"spec": g.junkObject(1)}
		if g.chance(30) {
			root["status"] = g.junkObject(1)
		}
	}
	if subresource == "" && g.chance(70) {
		delete(root, "status")
	}
	delete(root, "apiVersion")
	delete(root, "kind")
	delete(root, "metadata")
	return root
}

// scale: every number of replicas is another one. Who manages them already by update and is asked for the same number again gets
// a second entry upstream, one of which is lost with the next write.
func (g *sequenceGen) scale() map[string]any {
	g.replicas++
	if g.chance(10) {
		return map[string]any{"spec": map[string]any{"replicas": -g.replicas}}
	}
	return map[string]any{"spec": map[string]any{"replicas": g.replicas}}
}

func (g *sequenceGen) update(s *clusterStep) {
	if s.Subresource == "scale" {
		body := g.scale()
		body["apiVersion"], body["kind"] = "autoscaling/v1", "Scale"
		body["metadata"] = map[string]any{"name": g.name, "namespace": g.kind.namespace()}
		if g.chance(50) {
			body["metadata"].(map[string]any)["resourceVersion"] = g.pick("@last.metadata.resourceVersion", "@first.metadata.resourceVersion")
		}
		s.Body = g.raw(body)
		return
	}
	if g.chance(20) {
		o := g.object(true)
		meta := o["metadata"].(map[string]any)
		meta["name"] = g.name
		if g.chance(90) {
			meta["resourceVersion"] = g.pick("@last.metadata.resourceVersion", "@last.metadata.resourceVersion", "@first.metadata.resourceVersion")
		}
		if g.chance(10) {
			meta["uid"] = g.pick("@last.metadata.uid", "nobody")
		}
		s.Body = g.raw(o)
		return
	}
	s.Base = g.pick("last", "last", "last", "last", "last", "first")
	patch := g.mergePatch(s.Subresource)
	// What the answer of another version says of its type would only be refused.
	patch["apiVersion"], patch["kind"] = g.kind.apiVersion(), g.kind.Kind
	if g.chance(6) {
		meta, _ := patch["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			patch["metadata"] = meta
		}
		meta["managedFields"] = []any{[]any{}, []any{map[string]any{}}, nil}[g.r.Intn(3)]
	}
	s.Body = g.raw(patch)
}

func (g *sequenceGen) mergePatch(subresource string) map[string]any {
	if subresource == "scale" {
		return g.scale()
	}
	p := g.parts(subresource)
	g.addNulls(p, g.kind.Schema)
	if meta := g.meta(true); len(meta) > 0 {
		p["metadata"] = meta
		if g.chance(10) {
			meta[g.pick("labels", "annotations", "finalizers", "ownerReferences")] = nil
		}
		if g.chance(5) {
			meta["resourceVersion"] = g.pick("@last.metadata.resourceVersion", "@first.metadata.resourceVersion")
		}
	}
	return p
}

// addNulls: a merge patch removes by null.
func (g *sequenceGen) addNulls(p map[string]any, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for _, k := range memberNames(properties) {
		child, ok := p[k].(map[string]any)
		switch {
		case k == "metadata":
		case ok:
			g.addNulls(child, properties[k].(map[string]any))
		case g.chance(12):
			p[k] = nil
		}
	}
}

func memberNames(m map[string]any) []string {
	keys := []string{}
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func (g *sequenceGen) jsonPatch(subresource string) []any {
	ops := []any{}
	for range 1 + g.r.Intn(3) {
		op := map[string]any{"op": g.pick("add", "add", "replace", "replace", "remove", "test")}
		if g.chance(10) && subresource != "scale" { // they would leave a scale as it is
			op["op"] = g.pick("move", "copy")
			op["from"], _ = g.pointer(subresource)
		}
		path, value := g.pointer(subresource)
		op["path"] = path
		if op["op"] == "add" || op["op"] == "replace" || op["op"] == "test" {
			op["value"] = value
		}
		ops = append(ops, op)
	}
	return ops
}

// pointer: a place that the schema knows, and a value for it.
func (g *sequenceGen) pointer(subresource string) (string, any) {
	if subresource == "scale" {
		g.replicas++
		return "/spec/replicas", g.replicas
	}
	if g.chance(15) {
		switch g.r.Intn(4) {
		case 0:
			return "/metadata/labels", map[string]any{"a": g.pick("1", "2")}
		case 1:
			return "/metadata/labels/a", g.pick("1", "2")
		case 2:
			return "/metadata/finalizers", []any{"example.org/a"}
		default:
			return "/metadata/annotations/b", g.pick("1", "2")
		}
	}
	path, schema := "", g.kind.Schema
	for {
		properties, _ := schema["properties"].(map[string]any)
		items, _ := schema["items"].(map[string]any)
		additional, _ := schema["additionalProperties"].(map[string]any)
		switch {
		case len(properties) > 0 && (path == "" || g.chance(85)):
			keys := memberNames(properties)
			k := keys[g.r.Intn(len(keys))]
			if path == "" && subresource == "" && k == "status" && g.chance(70) {
				k = "spec"
			}
			path += "/" + k
			schema = properties[k].(map[string]any)
		case items != nil && g.chance(60):
			path += "/" + g.pick("0", "0", "1", "-")
			schema = items
		case additional != nil && g.chance(70):
			path += "/" + g.pick("a", "b", "c")
			schema = additional
		default:
			if path == "" {
				return "/spec/" + g.pick("a", "b", "c"), g.junk(1)
			}
			return path, g.value(schema, 2)
		}
	}
}

// value: one that the schema allows, or nearly.
func (g *sequenceGen) value(schema map[string]any, depth int) any {
	if depth > 0 && g.oops(2) {
		return g.junk(1)
	}
	if depth > 1 && (schema["nullable"] == true && g.chance(10) || g.oops(2)) {
		return nil
	}
	if enum, ok := schema["enum"].([]any); ok && !g.oops(10) {
		return enum[g.r.Intn(len(enum))]
	}
	if schema["x-kubernetes-int-or-string"] == true {
		return []any{1, 2, "1", "50%"}[g.r.Intn(4)]
	}
	switch schema["type"] {
	case "string":
		if schema["format"] == "date-time" {
			return g.pick("2001-02-03T04:05:06Z", "2001-02-03T04:05:06Z", "yesterday")
		}
		return g.pick("a", "b", "c", "aa", "bb")
	case "integer":
		return 1 + g.r.Intn(4)
	case "number":
		return []any{1, 2, 1.5}[g.r.Intn(3)]
	case "boolean":
		return g.chance(50)
	case "array":
		return g.array(schema, depth)
	case "object":
		return g.members(schema, depth)
	}
	return g.junk(depth)
}

func (g *sequenceGen) array(schema map[string]any, depth int) any {
	items, _ := schema["items"].(map[string]any)
	list := []any{}
	seen := map[string]bool{}
	keys, _ := schema["x-kubernetes-list-map-keys"].([]any)
	for range g.r.Intn(4) {
		item := g.value(items, depth+1)
		identity := fmt.Sprint(item)
		if m, ok := item.(map[string]any); ok && keys != nil {
			identity = ""
			for _, k := range keys {
				if m[k.(string)] == nil {
					if k == "protocol" { // its default
						identity += "TCP/"
						continue
					}
					m[k.(string)] = g.value(items["properties"].(map[string]any)[k.(string)].(map[string]any), depth+2)
				}
				identity += fmt.Sprint(m[k.(string)]) + "/"
			}
		}
		if schema["x-kubernetes-list-type"] == nil || !seen[identity] || g.oops(20) {
			list = append(list, item)
		}
		seen[identity] = true
	}
	return list
}

func (g *sequenceGen) members(schema map[string]any, depth int) any {
	m := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	share := 45
	if depth == 0 {
		share = 85
	} else if len(properties) > 8 {
		share = 22
	}
	required, _ := schema["required"].([]any)
	for _, k := range memberNames(properties) {
		isRequired := false
		for _, r := range required {
			isRequired = isRequired || r == k
		}
		if g.chance(share) || isRequired && g.chance(95) {
			m[k] = g.value(properties[k].(map[string]any), depth+1)
		}
	}
	if additional, ok := schema["additionalProperties"].(map[string]any); ok {
		for range g.r.Intn(3) {
			m[g.pick("a", "b", "c")] = g.value(additional, depth+1)
		}
	}
	if schema["x-kubernetes-embedded-resource"] == true {
		m["apiVersion"], m["kind"] = "v1", g.pick("ConfigMap", "Secret")
		m["metadata"] = map[string]any{"name": g.pick("x", "y"), "labels": map[string]any{"a": g.pick("1", "2")}}
		if g.oops(20) {
			delete(m, g.pick("apiVersion", "kind", "metadata"))
		}
	}
	if schema["x-kubernetes-preserve-unknown-fields"] == true {
		for k, v := range g.junkObject(depth + 1) {
			if properties[k] == nil {
				m[k] = v
			}
		}
	} else if depth > 0 && g.oops(3) {
		m[g.pick("bogus", "x-y")] = g.junk(2)
	}
	return m
}

// junk: any value; it grows no deeper than a few levels.
func (g *sequenceGen) junk(depth int) any {
	n := g.r.Intn(10)
	switch {
	case n < 3:
		return g.pick("a", "b", "")
	case n < 5:
		return g.r.Intn(3)
	case n < 6:
		return g.chance(50)
	case n < 7 && depth < 3:
		list := []any{}
		for range g.r.Intn(3) {
			list = append(list, g.junk(depth+1))
		}
		return list
	case n < 9 && depth < 3:
		return g.junkObject(depth + 1)
	case n == 9 && g.chance(30):
		return nil
	}
	return 1.5
}

func (g *sequenceGen) junkObject(depth int) map[string]any {
	m := map[string]any{}
	for range g.r.Intn(3) {
		m[g.pick("a", "b", "c", "d")] = g.junk(depth)
	}
	return m
}
