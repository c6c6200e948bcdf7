// Suite xrd: crossplane-runtime's xcrd, which makes CRDs of CompositeResourceDefinitions.
package main

import (
	"encoding/json"
	"math/rand"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	v1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type xrdCase struct {
	XRD   any  `json:"xrd"`
	Claim bool `json:"claim"`
}

func init() {
	suites["xrd"] = suite{gen: genXRD, run: runXRD}
}

func xrdPick[T any](r *rand.Rand, choices ...T) T { return choices[r.Intn(len(choices))] }

// Members that are there half of the time.
func xrdMaybe(r *rand.Rand, m map[string]any, key string, v any) {
	if r.Intn(2) == 0 {
		m[key] = v
	}
}

func xrdProperty(r *rand.Rand, depth int) map[string]any {
	switch r.Intn(5) {
	case 0:
		return map[string]any{"type": "integer", "minimum": 1, "default": 3}
	case 1:
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "x-kubernetes-list-type": "set"}
	case 2:
		if depth > 0 {
			return map[string]any{"type": "object", "properties": xrdProperties(r, depth-1), "x-kubernetes-preserve-unknown-fields": true}
		}
	}
	return map[string]any{"type": "string", "description": "A text.", "pattern": "^[a-z]+$"}
}

// At least one: reading and writing a schema, the library drops empty maps, which mean the same.
func xrdProperties(r *rand.Rand, depth int) map[string]any {
	m := map[string]any{"text": xrdProperty(r, 0)}
	for _, k := range []string{"size", "region", "crossplane", "resourceRefs", "compositionRef", "claimRef", "conditions", "url"} {
		if r.Intn(3) == 0 {
			m[k] = xrdProperty(r, depth)
		}
	}
	return m
}

func xrdSection(r *rand.Rand) map[string]any {
	m := map[string]any{"type": "object", "properties": xrdProperties(r, 2)}
	xrdMaybe(r, m, "required", []string{"size"})
	xrdMaybe(r, m, "description", "What is wanted.")
	xrdMaybe(r, m, "x-kubernetes-preserve-unknown-fields", true)
	xrdMaybe(r, m, "x-kubernetes-validations", []any{map[string]any{"rule": "has(self.size)", "message": "size needed"}})
	xrdMaybe(r, m, "oneOf", []any{map[string]any{"required": []string{"size"}}, map[string]any{"required": []string{"region"}}})
	xrdMaybe(r, m, "default", map[string]any{})
	xrdMaybe(r, m, "anyOf", []any{map[string]any{"required": []string{"url"}}})
	return m
}

func xrdSchema(r *rand.Rand) map[string]any {
	p := map[string]any{}
	xrdMaybe(r, p, "spec", xrdSection(r))
	xrdMaybe(r, p, "status", xrdSection(r))
	xrdMaybe(r, p, "extra", map[string]any{"type": "string"})
	xrdMaybe(r, p, "metadata", map[string]any{"type": "object", "properties": map[string]any{
		"name": map[string]any{"type": "string", "maxLength": xrdPick(r, 10, 63, 100), "pattern": "^a"}}})
	m := map[string]any{"type": "object", "properties": p}
	xrdMaybe(r, m, "description", "A composite.")
	xrdMaybe(r, m, "required", []string{"spec", "extra"})
	xrdMaybe(r, m, "x-kubernetes-validations", []any{map[string]any{"rule": "true"}})
	return m
}

func xrdVersion(r *rand.Rand, name string, referenceable bool) map[string]any {
	m := map[string]any{"name": name, "served": r.Intn(4) > 0, "referenceable": referenceable}
	if r.Intn(12) > 0 {
		m["schema"] = map[string]any{"openAPIV3Schema": xrdSchema(r)}
	}
	xrdMaybe(r, m, "deprecated", r.Intn(2) == 0)
	xrdMaybe(r, m, "deprecationWarning", "use another")
	xrdMaybe(r, m, "additionalPrinterColumns", []any{map[string]any{"name": "SIZE", "type": "integer", "jsonPath": ".spec.size", "priority": 2}})
	xrdMaybe(r, m, "subresources", map[string]any{"scale": map[string]any{"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}})
	return m
}

func genXRD(r *rand.Rand, count int, emit func(c any)) {
	for i := 0; i < count; i++ {
		names := map[string]any{"kind": "XThing", "plural": "xthings"}
		xrdMaybe(r, names, "singular", "xthing")
		xrdMaybe(r, names, "listKind", "XThingList")
		xrdMaybe(r, names, "shortNames", []string{"xt"})
		xrdMaybe(r, names, "categories", []string{"all"})
		spec := map[string]any{"group": "example.org", "names": names, "versions": []any{xrdVersion(r, "v1", true)}}
		if r.Intn(2) == 0 {
			spec["versions"] = append(spec["versions"].([]any), xrdVersion(r, "v2", r.Intn(4) == 0))
		}
		if s := xrdPick(r, "", "LegacyCluster", "Namespaced", "Cluster"); s != "" {
			spec["scope"] = s
		}
		xrdMaybe(r, spec, "metadata", map[string]any{"labels": map[string]any{"a": "spec", "b": "spec"}, "annotations": map[string]any{"n": "spec"}})
		xrdMaybe(r, spec, "defaultCompositionUpdatePolicy", xrdPick(r, "Automatic", "Manual"))
		xrdMaybe(r, spec, "defaultCompositeDeletePolicy", xrdPick(r, "Background", "Foreground"))
		xrdMaybe(r, spec, "conversion", map[string]any{"strategy": "None"})
		xrdMaybe(r, spec, "claimNames", map[string]any{"kind": xrdPick(r, "Thing", "XThing"), "plural": xrdPick(r, "things", "things", "xthings"),
			"singular": xrdPick(r, "thing", "thing", "xthing")})
		meta := map[string]any{"name": "xthings.example.org", "uid": "u"}
		xrdMaybe(r, meta, "labels", map[string]any{"a": "xrd", "c": "xrd"})
		xrdMaybe(r, meta, "annotations", map[string]any{"n": "xrd"})
		emit(xrdCase{XRD: map[string]any{"apiVersion": "apiextensions.crossplane.io/v1", "kind": "CompositeResourceDefinition",
			"metadata": meta, "spec": spec}, Claim: r.Intn(3) == 0})
	}
}

func runXRD(raw json.RawMessage) any {
	var c struct {
		XRD   v1.CompositeResourceDefinition `json:"xrd"`
		Claim bool                           `json:"claim"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	// The API server has defaulted the scope before anybody sees the object.
	if c.XRD.Spec.Scope == nil {
		scope := v1.CompositeResourceScopeLegacyCluster
		c.XRD.Spec.Scope = &scope
	}
	var crd *extv1.CustomResourceDefinition
	var err error
	if c.Claim {
		crd, err = xcrd.ForCompositeResourceClaim(&c.XRD)
	} else {
		crd, err = xcrd.ForCompositeResource(&c.XRD)
	}
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	// The library gives the object without its type, and with what only the API server fills in.
	crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	text, err := json.Marshal(crd)
	if err != nil {
		fail("%v", err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		fail("%v", err)
	}
	delete(m, "status")
	delete(m["metadata"].(map[string]any), "creationTimestamp")
	return m
}
