package main

import (
	"encoding/json"
	"math/rand"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// A managedGen makes the lives of objects: it runs the real library as it goes, so that each write is made from what is there.
type managedGen struct {
	r        *rand.Rand
	sloppy   bool // duplicates in associative lists, which updates may have
	nulls    bool
	versions []string
}

type obj = map[string]any

func (g *managedGen) pick(from ...string) string { return from[g.r.Intn(len(from))] }
func (g *managedGen) chance(percent int) bool    { return g.r.Intn(100) < percent }

// --- Schemas ---

func (g *managedGen) property(kind string, depth int) obj {
	str := obj{"type": "string"}
	switch kind {
	case "str":
		return str
	case "dt":
		return obj{"type": "string", "format": "date-time"}
	case "num":
		return obj{"type": "integer", "format": "int32"}
	case "flt":
		return obj{"type": "number"}
	case "boo":
		return obj{"type": "boolean"}
	case "ios":
		return obj{"x-kubernetes-int-or-string": true}
	case "any":
		return obj{"x-kubernetes-preserve-unknown-fields": true}
	case "obj":
		return obj{"type": "object"}
	case "gmap":
		return obj{"type": "object", "additionalProperties": str}
	case "amap":
		return obj{"type": "object", "additionalProperties": str, "x-kubernetes-map-type": "atomic"}
	case "mapo":
		return obj{"type": "object", "additionalProperties": g.object(depth - 1)}
	case "mapl":
		return obj{"type": "object", "additionalProperties": obj{"type": "array", "x-kubernetes-list-type": "set", "items": str}}
	case "nest":
		return g.object(depth - 1)
	case "natom":
		o := g.object(depth - 1)
		o["x-kubernetes-map-type"] = "atomic"
		return o
	case "free":
		o := g.object(depth - 1)
		o["x-kubernetes-preserve-unknown-fields"] = true
		return o
	case "emb":
		return obj{"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
	case "al":
		return obj{"type": "array", "items": str}
	case "alo":
		return obj{"type": "array", "x-kubernetes-list-type": "atomic", "items": g.object(depth - 1)}
	case "set":
		return obj{"type": "array", "x-kubernetes-list-type": "set", "items": str}
	case "setn":
		return obj{"type": "array", "x-kubernetes-list-type": "set", "items": obj{"type": "integer"}}
	case "lm":
		return obj{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"}, "items": g.item(depth, "name")}
	case "lma":
		items := g.item(depth, "name")
		items["x-kubernetes-map-type"] = "atomic"
		return obj{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"}, "items": items}
	case "lm2":
		items := g.item(depth, "name")
		items["properties"].(obj)["port"] = obj{"type": "integer", "default": int64(80)}
		return obj{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"port", "name"}, "items": items}
	}
	panic(kind)
}

var managedKinds = []string{"str", "dt", "num", "flt", "boo", "ios", "any", "obj", "gmap", "amap", "mapo", "mapl", "nest", "nest", "natom", "free", "emb",
	"al", "alo", "set", "set", "setn", "lm", "lm", "lma", "lm2"}

func (g *managedGen) item(depth int, key string) obj {
	o := g.object(depth - 1)
	if o["properties"] == nil {
		o["properties"] = obj{}
	}
	o["properties"].(obj)[key] = obj{"type": "string"}
	o["required"] = []any{key}
	return o
}

func (g *managedGen) object(depth int) obj {
	properties := obj{}
	n := 1 + g.r.Intn(4)
	if depth <= 0 {
		n = 1 + g.r.Intn(2)
	}
	for range n {
		k := managedKinds[g.r.Intn(len(managedKinds))]
		if depth <= 0 {
			k = g.pick("str", "num", "boo", "gmap", "al", "set", "ios")
		}
		properties[k] = g.property(k, depth)
	}
	return obj{"type": "object", "properties": properties}
}

func (g *managedGen) schema() obj {
	spec := g.object(3)
	for range 3 {
		k := managedKinds[g.r.Intn(len(managedKinds))]
		spec["properties"].(obj)[k] = g.property(k, 2)
	}
	s := obj{"type": "object", "properties": obj{"spec": spec, "status": g.object(1)}}
	if g.chance(10) {
		s["x-kubernetes-preserve-unknown-fields"] = true
	}
	return s
}

// evolve changes how some lists and maps are merged, and now and then what there is.
// The root stays granular: an object that is one leaf makes no sense to upstream either.
func (g *managedGen) evolve(s obj) {
	g.evolveBelow(s)
	delete(s, "x-kubernetes-map-type")
}

func (g *managedGen) evolveBelow(s obj) {
	keys := sortedKeys(s)
	switch {
	case s["type"] == "object" && g.chance(12):
		if s["x-kubernetes-map-type"] == "atomic" {
			delete(s, "x-kubernetes-map-type")
		} else {
			s["x-kubernetes-map-type"] = "atomic"
		}
	case s["type"] == "array" && g.chance(30):
		items := s["items"].(obj)
		switch {
		case s["x-kubernetes-list-type"] == "set" || s["x-kubernetes-list-type"] == "map":
			s["x-kubernetes-list-type"] = "atomic"
			delete(s, "x-kubernetes-list-map-keys")
		case items["type"] == "string" || items["type"] == "integer":
			s["x-kubernetes-list-type"] = "set"
		}
	}
	for _, k := range keys {
		below, ok := s[k].(obj)
		if !ok {
			continue
		}
		if k == "properties" {
			for _, name := range sortedKeys(below) {
				if g.chance(2) && name != "name" && name != "port" && name != "spec" && name != "status" {
					delete(below, name)
					continue
				}
				g.evolveBelow(below[name].(obj))
			}
		} else {
			g.evolveBelow(below)
		}
	}
}

func sortedKeys(m obj) []string {
	keys := []string{}
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// --- Values ---

func (g *managedGen) anyValue(depth int) any {
	switch n := g.r.Intn(8); {
	case n < 3 || depth <= 0:
		return []any{"a", "b", int64(1), int64(2), 1.5, true, nil}[g.r.Intn(7)]
	case n < 5:
		l := []any{}
		for range g.r.Intn(3) {
			l = append(l, g.anyValue(depth-1))
		}
		return l
	default:
		o := obj{}
		for range g.r.Intn(4) {
			o[g.pick("x", "y", "z", "w")] = g.anyValue(depth - 1)
		}
		return o
	}
}

func (g *managedGen) value(s obj) any {
	if g.nulls && g.chance(3) {
		return nil
	}
	switch s["type"] {
	case "string":
		return g.pick("a", "b", "c")
	case "integer":
		return int64(g.r.Intn(4))
	case "number":
		return []any{int64(1), 1.5, 1e21, int64(2)}[g.r.Intn(4)]
	case "boolean":
		return g.chance(50)
	case "array":
		return g.list(s)
	case "object":
		return g.mapValue(s)
	}
	if s["x-kubernetes-int-or-string"] == true {
		return []any{"a", int64(1), int64(2), "50%"}[g.r.Intn(4)]
	}
	return g.anyValue(3)
}

func (g *managedGen) list(s obj) any {
	items := s["items"].(obj)
	l, seen := []any{}, map[string]bool{}
	for range g.r.Intn(4) {
		v := g.value(items)
		id := ""
		switch s["x-kubernetes-list-type"] {
		case "map":
			o, _ := v.(obj)
			if o == nil {
				o = obj{}
			}
			o["name"] = g.pick("a", "b", "c", "d")
			if items["properties"].(obj)["port"] != nil {
				delete(o, "port")
				if g.chance(60) {
					o["port"] = []any{int64(80), int64(443)}[g.r.Intn(2)]
				}
				if g.chance(5) && o["port"] != nil {
					delete(o, "name")
				}
			}
			port := o["port"]
			if port == nil {
				port = int64(80)
			}
			id = string(mustMarshal([]any{o["name"], port}))
			v = o
		case "set":
			if v == nil {
				continue
			}
			id = string(mustMarshal(v))
		default:
			id = string(mustMarshal(len(l)))
		}
		if seen[id] && !(g.sloppy && g.chance(30)) {
			continue
		}
		seen[id] = true
		l = append(l, v)
	}
	return l
}

func (g *managedGen) mapValue(s obj) any {
	o := obj{}
	if properties, ok := s["properties"].(obj); ok {
		for _, k := range sortedKeys(properties) {
			if g.chance(55) {
				o[k] = g.value(properties[k].(obj))
			}
		}
	}
	if additional, ok := s["additionalProperties"].(obj); ok {
		for range g.r.Intn(4) {
			o[g.pick("k1", "k2", "k3", "k4")] = g.value(additional)
		}
	}
	isFree := s["x-kubernetes-preserve-unknown-fields"] == true || s["properties"] == nil && s["additionalProperties"] == nil
	if isFree {
		for range g.r.Intn(3) {
			o[g.pick("x", "y", "u", "v")] = g.anyValue(2)
		}
	}
	if s["x-kubernetes-embedded-resource"] == true {
		o["apiVersion"], o["kind"] = "v1", g.pick("ConfigMap", "Secret")
		if g.chance(50) {
			o["metadata"] = g.metadata()
		}
	}
	return o
}

func (g *managedGen) metadata() obj {
	m := obj{"name": "w"}
	if g.chance(40) {
		m["labels"] = g.value(obj{"type": "object", "additionalProperties": obj{"type": "string"}})
	}
	if g.chance(25) {
		m["annotations"] = g.value(obj{"type": "object", "additionalProperties": obj{"type": "string"}})
	}
	if g.chance(25) {
		m["finalizers"] = g.value(obj{"type": "array", "x-kubernetes-list-type": "set", "items": obj{"type": "string"}})
	}
	if g.chance(20) {
		owners, seen := []any{}, map[string]bool{}
		for range g.r.Intn(3) {
			uid := g.pick("1", "2", "3")
			if seen[uid] {
				continue
			}
			seen[uid] = true
			owner := obj{"apiVersion": "v1", "kind": "ConfigMap", "name": g.pick("a", "b"), "uid": uid}
			if g.chance(30) {
				owner["controller"] = true
			}
			if g.chance(5) {
				delete(owner, "uid")
			}
			owners = append(owners, owner)
		}
		m["ownerReferences"] = owners
	}
	return m
}

func (g *managedGen) fresh(s obj) obj {
	o := g.mapValue(s).(obj)
	o["metadata"] = g.metadata()
	return o
}

// mutate changes a few places of a value of the schema.
func (g *managedGen) mutate(v any, s obj) any {
	o, isMap := v.(obj)
	l, isList := v.([]any)
	switch {
	case g.chance(12):
		return g.value(s)
	case isMap && s["type"] == "object":
		properties, _ := s["properties"].(obj)
		for _, k := range sortedKeys(o) {
			child, ok := properties[k].(obj)
			if !ok {
				child, ok = s["additionalProperties"].(obj)
			}
			switch {
			case g.chance(12) && k != "name" && k != "port":
				delete(o, k)
			case ok && g.chance(45) && k != "name" && k != "port":
				o[k] = g.mutate(o[k], child)
			case !ok && g.chance(20) && k != "apiVersion" && k != "kind" && k != "metadata":
				o[k] = g.anyValue(2)
			}
		}
		for _, k := range sortedKeys(properties) {
			if o[k] == nil && g.chance(12) && k != "name" && k != "port" {
				o[k] = g.value(properties[k].(obj))
			}
		}
	case isList && s["type"] == "array" && len(l) > 0 && g.chance(70):
		items := s["items"].(obj)
		switch g.r.Intn(4) {
		case 0: // drop one
			i := g.r.Intn(len(l))
			return append(append([]any{}, l[:i]...), l[i+1:]...)
		case 1: // another order
			g.r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		case 2:
			if items["type"] == "object" {
				i := g.r.Intn(len(l))
				l[i] = g.mutate(l[i], obj{"type": "object", "properties": items["properties"]})
				if l[i] == nil {
					return g.value(s)
				}
				if _, ok := l[i].(obj)["name"]; !ok {
					return g.value(s)
				}
			}
		default:
			more, _ := g.value(s).([]any)
			if s["x-kubernetes-list-type"] == nil || s["x-kubernetes-list-type"] == "atomic" {
				return append(l, more...)
			}
			return more
		}
	default:
		return g.value(s)
	}
	return v
}

func (g *managedGen) change(v obj, s obj) obj {
	meta, _ := v["metadata"].(obj)
	delete(v, "metadata")
	changed, ok := g.mutate(v, s).(obj)
	if !ok || changed == nil {
		changed = obj{}
	}
	if meta == nil || g.chance(25) {
		meta = g.metadata()
	}
	changed["metadata"] = meta
	return changed
}

// spoil puts one thing into a configuration that does not fit.
func (g *managedGen) spoil(o obj, s obj) {
	spec, _ := o["spec"].(obj)
	if spec == nil {
		spec = obj{}
		o["spec"] = spec
	}
	properties := s["properties"].(obj)["spec"].(obj)["properties"].(obj)
	keys := sortedKeys(properties)
	k := keys[g.r.Intn(len(keys))]
	child := properties[k].(obj)
	switch g.r.Intn(7) {
	case 0:
		spec["bogus"] = "a"
	case 1:
		spec[k] = []any{"a", int64(1), 1.5, true, []any{}, []any{"a", nil, int64(1)}, obj{}, obj{"q": []any{obj{"r": nil}}}}[g.r.Intn(8)]
	case 2:
		if child["x-kubernetes-list-type"] == "set" {
			spec[k] = []any{g.value(child["items"].(obj)), nil}
		}
	case 3:
		switch child["x-kubernetes-list-type"] {
		case "map":
			spec[k] = []any{obj{"name": "a"}, obj{"name": "b"}, obj{"name": "a"}}
		case "set":
			v := g.value(child["items"].(obj))
			spec[k] = []any{v, v}
		}
	case 4:
		if child["x-kubernetes-list-type"] == "map" {
			spec[k] = []any{obj{"name": "c"}, []any{obj{}, nil, "s", []any{}}[g.r.Intn(4)]}
		}
	case 5:
		o["metadata"].(obj)["managedFields"] = []any{}
	case 6:
		o["metadata"].(obj)["labels"] = obj{"a": int64(1)}
	}
}

// --- Steps ---

func (g *managedGen) editedFields(list []any) any {
	switch g.r.Intn(8) {
	case 0:
		return []any{}
	case 1:
		return []any{obj{}}
	case 2:
		return []any{obj{"manager": "x", "operation": g.pick("Apply", "Update", "Foo"), "apiVersion": g.pick("example.org/v1", "example.org/v9", "example.org/v2"),
			"fieldsType": g.pick("FieldsV1", "FieldsV2"), "fieldsV1": obj{"f:spec": obj{"f:str": obj{}, "x:q": obj{}}}}}
	case 3:
		return []any{"x"}
	case 4:
		return nil
	}
	if len(list) > 0 {
		i := g.r.Intn(len(list))
		return append(append([]any{}, list[:i]...), list[i+1:]...)
	}
	return []any{}
}

func copyObject(o obj) obj {
	if o == nil {
		return obj{}
	}
	return runtime.DeepCopyJSON(o)
}

func (g *managedGen) step(run *managedRun, current obj, version string, configs map[string]obj) managedStep {
	s := managedStep{Op: g.pick("update", "update", "apply", "apply", "apply", "set"), Version: version,
		Manager: g.pick("m1", "m1", "m2", "m3", "kubectl"), Force: g.chance(40)}
	if g.chance(10) {
		s.Manager = g.pick("a b", `q"<é`, "m10", "m11", "m12", "m13", "m14", "m15", "m16", "m17")
	}
	if run.live == nil {
		s.Op = g.pick("create", "apply")
	}
	if run.status && run.live != nil && g.chance(25) {
		s.Sub = "status"
	}
	g.sloppy = s.Op != "apply" && g.chance(15)
	g.nulls = g.chance(30)
	live := obj{}
	if run.live != nil {
		live = copyObject(run.live.Object)
	}
	fields, _, _ := nestedList(live)
	if m, ok := live["metadata"].(obj); ok {
		delete(m, "managedFields")
	}
	switch s.Op {
	case "create":
		s.Object = g.fresh(current)
	case "set":
		s.Object = obj{"spec": g.mapValue(current["properties"].(obj)["spec"].(obj))}
		s.Sub = ""
	case "update":
		s.Object = live
		if s.Sub == "status" {
			s.Object["status"] = g.mutate(s.Object["status"], current["properties"].(obj)["status"].(obj))
		} else {
			uid, _ := live["metadata"].(obj)["uid"]
			s.Object = g.change(live, current)
			s.Object["metadata"].(obj)["uid"] = uid
		}
		s.Fields = g.pick("", "live", "live")
		if g.chance(10) {
			s.Fields = "edited"
			if edited := g.editedFields(fields); edited != nil {
				s.Object["metadata"].(obj)["managedFields"] = edited
			}
		}
	case "apply":
		s.Object = g.config(current, live, configs[s.Manager])
		if s.Sub == "status" && g.chance(70) {
			delete(s.Object, "spec")
		}
		configs[s.Manager] = copyObject(s.Object)
		if g.chance(6) {
			g.spoil(s.Object, current)
		}
	}
	g.lastApplied(&s)
	if s.Op != "set" {
		s.Object["apiVersion"], s.Object["kind"] = "example.org/"+version, "Widget"
		if s.Op == "apply" && g.chance(1) {
			s.Object["kind"] = "Gadget"
		}
	}
	return s
}

func nestedList(live obj) ([]any, bool, error) {
	m, _ := live["metadata"].(obj)
	l, ok := m["managedFields"].([]any)
	return l, ok, nil
}

func (g *managedGen) config(current, live, last obj) obj {
	switch n := g.r.Intn(10); {
	case n < 6 && last != nil:
		return g.change(copyObject(last), current)
	case n < 8 && len(live) > 0: // part of what is there
		o := g.change(copyObject(live), current)
		if m, ok := o["metadata"].(obj); ok {
			delete(m, "uid")
		}
		return o
	}
	return g.fresh(current)
}

// lastApplied plays kubectl's client-side apply.
func (g *managedGen) lastApplied(s *managedStep) {
	if s.Op == "set" || !g.chance(12) {
		return
	}
	meta := s.Object["metadata"].(obj)
	c := copyObject(s.Object)
	delete(c, "status")
	delete(c["metadata"].(obj), "managedFields")
	delete(c["metadata"].(obj), "uid")
	c["apiVersion"], c["kind"] = "example.org/"+g.pick(g.versions...), "Widget"
	b, _ := json.Marshal(c)
	text := string(b)
	if g.chance(10) {
		text = g.pick("", "{", "null", "[]")
	}
	annotations, ok := meta["annotations"].(obj)
	if !ok {
		annotations = obj{}
		meta["annotations"] = annotations
	}
	annotations["kubectl.kubernetes.io/last-applied-configuration"] = text
}

func (g *managedGen) life() managedCase {
	c := managedCase{Status: g.chance(60)}
	first := obj{"v1": g.schema()}
	g.versions = []string{"v1"}
	if g.chance(45) {
		first["v2"] = g.schema()
		if g.chance(80) { // mostly the same
			first["v2"] = copyObject(first["v1"].(obj))
			if g.chance(40) {
				g.evolve(first["v2"].(obj))
			}
		}
		g.versions = append(g.versions, "v2")
	}
	sets := []obj{first}
	if g.chance(35) {
		second := copyObject(first)
		for _, v := range sortedKeys(second) {
			if g.chance(60) {
				g.evolve(second[v].(obj))
			}
		}
		if second["v2"] != nil && g.chance(30) {
			delete(second, "v2")
		}
		sets = append(sets, second)
	}
	for _, set := range sets {
		raw := map[string]json.RawMessage{}
		for v, s := range set {
			raw[v] = mustMarshal(s)
		}
		c.Schemas = append(c.Schemas, raw)
	}
	run := newManagedRun(c)
	configs := map[string]obj{}
	n := 2 + g.r.Intn(8)
	if g.chance(5) {
		n = 26
	}
	for i := range n {
		in := 0
		if i > n/2 {
			in = len(sets) - 1
		}
		version := g.pick(sortedKeys(sets[in])...)
		if g.chance(40) {
			version = "v1"
		}
		s := g.step(run, sets[in][version].(obj), version, configs)
		if n == 26 && run.live != nil { // many updaters
			s.Op, s.Sub, s.Fields = "update", "", "live"
			s.Manager = "u" + g.pick("0", "1", "2", "3", "4", "5", "6", "7", "8", "9") + g.pick("0", "1")
			s.Object = copyObject(run.live.Object)
			delete(s.Object["metadata"].(obj), "managedFields")
			s.Object["apiVersion"] = "example.org/" + version
			spec, _ := s.Object["spec"].(obj)
			if spec == nil {
				spec = obj{}
			}
			s.Object["spec"] = g.mutate(spec, sets[in][version].(obj)["properties"].(obj)["spec"].(obj))
		}
		s.Schema = in
		run.step(s)
		c.Steps = append(c.Steps, s)
	}
	return c
}

// Scalars of all types and formats, given what they are and what they are not.
func genManagedScalars(emit func(c any)) {
	for _, kind := range []string{"string", "integer", "number", "boolean"} {
		for _, format := range []string{"", "date-time", "date", "byte", "int-or-string", "int32", "double", "uuid", "x"} {
			scalar := obj{"type": kind}
			if format != "" {
				scalar["format"] = format
			}
			properties := obj{"f": scalar, "l": obj{"type": "array", "x-kubernetes-list-type": "set", "items": scalar}, "m": obj{"type": "object", "additionalProperties": scalar}}
			schema := mustMarshal(obj{"type": "object", "properties": obj{"spec": obj{"type": "object", "properties": properties}}})
			for _, v := range []any{false, 5, 1.5, "x", []any{1}, obj{"a": 1}, nil} {
				for _, spec := range []obj{{"f": v}, {"l": []any{v}}, {"l": []any{v, v}}, {"m": obj{"a": v}}} {
					object := obj{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": obj{"name": "w"}, "spec": spec}
					c := managedCase{Schemas: []map[string]json.RawMessage{{"v1": schema}}}
					for _, op := range []string{"apply", "update"} {
						c.Steps = append(c.Steps, managedStep{Op: op, Version: "v1", Manager: "m1", Object: object})
					}
					emit(c)
				}
			}
		}
	}
}

func genManaged(r *rand.Rand, count int, emit func(c any)) {
	genManagedScalars(emit)
	for i := 0; i < count; {
		g := &managedGen{r: r}
		c := g.life()
		if b := string(mustMarshal(c)); strings.Contains(b, "\\u0000") {
			continue
		}
		emit(c)
		i++
	}
}
