// Suite crd: what the API server fills in for a CustomResourceDefinition and what it finds wrong with one, on create and on
// update. Errors are compared as sets. The metadata of the object is checked elsewhere, so cases have good metadata.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type crdCase struct {
	CRD           any  `json:"crd"`
	Old           any  `json:"old,omitempty"`
	IsEstablished bool `json:"established,omitempty"`
}

func init() {
	suites["crd"] = suite{gen: genCRD, run: runCRD}
}

const crdSchema = `{"type":"object","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},"spec":{"type":"object","properties":{"color":{"type":"string"},"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},
	"l":{"type":"array","items":{"type":"string"}},"m":{"type":"object","additionalProperties":{"type":"string"}},"md":{"type":"object","additionalProperties":{"type":"object","properties":{"x":{"type":"string"}}}},
	"p":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"i":{"x-kubernetes-int-or-string":true},"a-b":{"type":"string"},"en":{"type":"string","enum":["a"]}}},"status":{"type":"object","properties":{"n":{"type":"integer"}}}}}`

var crdBases = func() []string {
	head := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.ex.org"},"spec":{"group":"ex.org","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[`
	version := func(name string, storage bool, schema, more string) string {
		return fmt.Sprintf(`{"name":"%s","served":true,"storage":%v,"schema":{"openAPIV3Schema":%s}%s}`, name, storage, schema, more)
	}
	plain := `{"type":"object"}`
	status := `,"subresources":{"status":{}}`
	return []string{
		head + version("v1", true, crdSchema, "") + `]}}`,
		head + version("v1", true, crdSchema, status) + `]}}`,
		head + version("v1", true, plain, "") + `,` + version("v2", false, plain, "") + `]}}`,
		head + version("v1", true, crdSchema, "") + `,` + version("v2", false, crdSchema, "") + `]}}`,
		head + version("v1", true, crdSchema, "") + `,` + version("v2", false, plain, status) + `]}}`,
		head + version("v1", true, `{"type":"string"}`, "") + `,` + version("v2", false, `{"type":"string"}`, status) + `]}}`,
		head + version("v1", true, `{"type":"string"}`, status) + `,` + version("v2", false, `{"type":"string"}`, status) + `]}}`,
		head + version("v1alpha1", false, plain, "") + `,` + version("v1", true, crdSchema, "") + `,` + version("v2", false, plain, "") + `]}}`,
	}
}()

// Where to change a CRD, and to what (JSON; empty takes the field out). N stands for the number of a version.
var crdChanges = []struct {
	path   string
	values []string
}{
	{"metadata.name", []string{`"foo.bar"`, `"widgets.ex.org.x"`}},
	{"spec.scope", []string{`"Foo"`, ``, `""`, `"Cluster"`, `"namespaced"`}},
	{"spec.group", []string{``, `""`, `"EX"`, `"ex"`, `"ex..org"`, `"k8s.io"`, `"xk8s.io"`, `"a.k8s.io"`, `"kubernetes.io"`, `"a.kubernetes.io"`, strconv.Quote(strings.Repeat("a", 250) + ".org"), strconv.Quote(strings.Repeat("A", 250) + ".org")}},
	{"metadata.annotations", []string{`{"api-approved.kubernetes.io":""}`, `{"api-approved.kubernetes.io":"x"}`, `{"api-approved.kubernetes.io":"unapproved, x"}`, `{"api-approved.kubernetes.io":"https://github.com/x"}`, `{"api-approved.kubernetes.io":"http://"}`, `{"api-approved.kubernetes.io":"http:///x"}`, `{"api-approved.kubernetes.io":"a://b"}`, `{"a":"b"}`}},
	{"spec.names.plural", []string{``, `""`, `"Widgets"`, `"a.b"`, `"1a"`, `"gizmos"`, strconv.Quote(strings.Repeat("a", 64)), strconv.Quote(strings.Repeat("A", 64))}},
	{"spec.names.singular", []string{`""`, `"Wid"`, `"1w"`, `"gizmo"`, strconv.Quote(strings.Repeat("-", 64))}},
	{"spec.names.kind", []string{``, `""`, `"widget"`, `"Wid-get"`, `"1W"`, `"W_"`, `"Gizmo"`, strconv.Quote(strings.Repeat("A", 64)), strconv.Quote(strings.Repeat("_", 64)), `"É"`}},
	{"spec.names.listKind", []string{`"Widget"`, `"-x"`, `"widget"`, `"Gizmos"`, `""`}},
	{"spec.names.shortNames", []string{`["a","A","a","a.b",""]`, `[]`, `["w"]`, `null`}},
	{"spec.names.categories", []string{`["all","All","a.b",""]`, `[]`, `["all"]`}},
	{"spec.names", []string{``, `{}`}},
	{"spec.versions", []string{``, `[]`, `[{"name":"v3","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]`}},
	{"spec.versions.N.name", []string{``, `""`, `"V1"`, `"1"`, `"v1"`, `"v2"`, `"v3"`, strconv.Quote(strings.Repeat("a", 64)), strconv.Quote(strings.Repeat("A", 64))}},
	{"spec.versions.N.storage", []string{`true`, `false`, ``}},
	{"spec.versions.N.served", []string{`true`, `false`, ``}},
	// Not {}: that is refused either way, but upstream then looks for selectable fields in a schema that is not there.
	{"spec.versions.N.schema", []string{``, `null`}},
	{"spec.versions.N.schema.openAPIV3Schema", []string{`{"type":"object"}`, crdSchema, `{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`,
		// The rules of structural schemas have a suite of their own; here is where they are reported.
		`{}`, `{"type":"string"}`, `{"type":"object","properties":{"a":{},"b":{"type":"string","pattern":"("},"c":{"type":"array"}}}`, `{"type":"object","properties":{"spec":{"type":"object","properties":{"color":{"type":"string","default":1}}}}}`}},
	{"spec.versions.N.deprecated", []string{`true`, `false`}},
	{"spec.versions.N.deprecationWarning", []string{`"x"`, `""`, `"a\nb"`, `"\u0001"`, `"é\ufffd\u00a0"`, `"tab\t"`, strconv.Quote(strings.Repeat("x", 256)), strconv.Quote(strings.Repeat("x", 257)), strconv.Quote(strings.Repeat("é", 200))}},
	{"spec.versions.N.additionalPrinterColumns", []string{`[]`, `[{"name":"","type":"","jsonPath":""}]`, `[{"name":"a","type":"foo","format":"bar","jsonPath":"x"}]`, `[{"name":"a","type":"string","jsonPath":".a["},{"name":"a","type":"date","format":"date-time","jsonPath":"."}]`, `[{}]`, `[{"name":"a","type":"number","format":"double","jsonPath":"{.x}","priority":-1,"description":"d"}]`}},
	{"spec.versions.N.subresources", []string{``, `{}`, `{"status":{}}`, `{"scale":{}}`, `{"scale":{"specReplicasPath":"a","statusReplicasPath":"b","labelSelectorPath":"c"}}`, `{"scale":{"specReplicasPath":".a","statusReplicasPath":".b","labelSelectorPath":".c"}}`, `{"scale":{"specReplicasPath":".spec.a","statusReplicasPath":".status.b","labelSelectorPath":".metadata.c"}}`,
		`{"scale":{"specReplicasPath":".spec.","statusReplicasPath":".status.b[0]","labelSelectorPath":".status.['x']"},"status":{}}`, `{"scale":{"specReplicasPath":".spec","statusReplicasPath":".status","labelSelectorPath":".spec"}}`, `{"scale":{"specReplicasPath":".status.a","statusReplicasPath":".spec.b","labelSelectorPath":".spec.x"}}`, `{"scale":{"specReplicasPath":".specx.a","statusReplicasPath":".statusx.b","labelSelectorPath":""}}`}},
	{"spec.versions.N.selectableFields", []string{`[]`, `[{"jsonPath":""}]`, `[{}]`, `[{"jsonPath":"spec.color"}]`, `[{"jsonPath":".spec.color"},{"jsonPath":".spec.color"}]`, `[{"jsonPath":".spec.f"},{"jsonPath":".spec.f"},{"jsonPath":".x"},{"jsonPath":".x"},{"jsonPath":".metadata"},{"jsonPath":".metadata"}]`, `[{"jsonPath":".spec.color"},{"jsonPath":".spec.n"},{"jsonPath":".spec.b"},{"jsonPath":".status.n"}]`,
		`[{"jsonPath":".spec.nope"},{"jsonPath":".spec.f"},{"jsonPath":".spec.l"},{"jsonPath":".spec.m"},{"jsonPath":".spec"},{"jsonPath":".metadata.name"},{"jsonPath":".spec.md.k.x"}]`, `[{"jsonPath":".spec.m.x"},{"jsonPath":".spec.l[0]"},{"jsonPath":".spec['color']"},{"jsonPath":".spec.color."},{"jsonPath":"."},{"jsonPath":".kind"},{"jsonPath":".apiVersion"},{"jsonPath":".spec..color"}]`,
		`[{"jsonPath":".."},{"jsonPath":"..."},{"jsonPath":". spec"},{"jsonPath":" .spec.color"},{"jsonPath":".spec.color "},{"jsonPath":"[spec]"},{"jsonPath":"[0]"},{"jsonPath":".spec.m.x.y"},{"jsonPath":".spec.p"},{"jsonPath":".spec.p.x"},{"jsonPath":".spec.i"}]`, `[{"jsonPath":".spec.l.items"},{"jsonPath":".metadata"},{"jsonPath":".spec["},{"jsonPath":".spec]"},{"jsonPath":".spec.[color]"},{"jsonPath":"$.spec.color"},{"jsonPath":".é"},{"jsonPath":".spec.a-b"},{"jsonPath":".spec.en"},{"jsonPath":".nope."},{"jsonPath":"x"}]`}},
	{"spec.preserveUnknownFields", []string{`true`, `false`}},
	{"spec.conversion", []string{`{"strategy":"Foo"}`, `{"strategy":""}`, `{"strategy":"None"}`, `{}`, `null`, `{"strategy":"Webhook"}`, `{"strategy":"Webhook","webhook":{}}`, `{"strategy":"None","webhook":{"clientConfig":{"url":"https://x"},"conversionReviewVersions":["v1"]}}`, `{"strategy":"None","webhook":{"clientConfig":{},"conversionReviewVersions":[]}}`,
		`{"strategy":"Foo","webhook":{"clientConfig":{},"conversionReviewVersions":["v1"]}}`, `{"strategy":"None","webhook":{}}`}},
}

// What a conversion's clientConfig and conversionReviewVersions may be. URLs are ones that Go can read, but for a missing
// scheme: what else it refuses in one, nobody reads a CRD for.
var crdClients = []string{
	`{}`, `{"url":"https://x"}`, `{"url":"https://x/y/","caBundle":"eA=="}`, `{"url":"http://x"}`, `{"url":"https://u@x/?a#b"}`, `{"url":"https://u:p@x"}`, `{"url":"https://"}`, `{"url":"://"}`, `{"url":""}`, `{"url":"x"}`, `{"url":"//x/y"}`, `{"url":"x/y:z"}`, `{"url":"https:x"}`, `{"url":"https://x:8080?"}`, `{"url":"/https://x"}`, `{"url":"ftp:///p#f"}`,
	`{"service":{}}`, `{"service":{"name":"a","namespace":"b"}}`, `{"service":{"name":"a","namespace":"b","port":0,"path":"x"}}`, `{"service":{"name":"a","namespace":"b","port":70000,"path":"/a//b/"}}`, `{"service":{"name":"a","namespace":"b","port":1,"path":""}}`, `{"service":{"name":"a","namespace":"b","path":"/"}}`, `{"service":{"name":"a","namespace":"b","path":"/A_/b"}}`,
	`{"service":{"name":"a","namespace":"b","path":"//"}}`, `{"service":{"name":"a","namespace":"b","path":"/a/"}}`, `{"service":{"name":"a","namespace":"b","path":"a/b"}}`, `{"service":{"name":"a","namespace":"b","path":"/a//"}}`, `{"service":{"name":"a","namespace":"b"},"url":"https://x"}`, `{"service":{"port":-1},"caBundle":""}`,
}
var crdReviews = []string{`[]`, `["v1"]`, `["v1beta1","v1"]`, `["v2"]`, `["v1","v1","A","","v1beta1"]`, `["A","A"]`, `["v1","` + strings.Repeat("A", 64) + `"]`, `null`}

// Schemas with a default somewhere, which go with preserveUnknownFields nowhere; and one without.
var crdDefaults = []string{
	`{"type":"object","default":{}}`, `{"type":"object","properties":{"a":{"type":"string","default":"x"}}}`, `{"type":"object","properties":{"a":{"type":"string","nullable":true,"default":null}}}`, `{"type":"object","properties":{"a":{"type":"string","default":""}}}`, `{"type":"object","properties":{"default":{"type":"string"}}}`,
	`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","default":"x"}}}}`, `{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string","default":"x"}]}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"additionalItems":{"type":"string","default":"x"}}}}`, `{"type":"object","additionalProperties":{"type":"string","default":"x"}}`,
	`{"type":"object","properties":{"a":{"type":"string","anyOf":[{"default":"x"}]}}}`, `{"type":"object","properties":{"a":{"type":"string","allOf":[{"default":"x"}]}}}`, `{"type":"object","properties":{"a":{"type":"string","oneOf":[{"default":"x"}]}}}`, `{"type":"object","properties":{"a":{"type":"string","not":{"default":"x"}}}}`,
	`{"type":"object","definitions":{"x":{"type":"string","default":"a"}}}`, `{"type":"object","dependencies":{"x":{"type":"string","default":"a"}}}`, `{"type":"object","dependencies":{"x":["default"]}}`, `{"type":"object","patternProperties":{"x":{"type":"string","default":"a"}}}`,
}

func crdParse(text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		fail("%s: %v", text, err)
	}
	return v
}

// crdChange sets the value at a dotted path; an empty text takes it out. Paths that lead nowhere change nothing.
func crdChange(v any, path string, text string) {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		switch c := v.(type) {
		case map[string]any:
			if i == len(parts)-1 {
				if text == "" {
					delete(c, part)
				} else {
					c[part] = crdParse(text)
				}
				return
			}
			v = c[part]
		case []any:
			n, err := strconv.Atoi(part)
			if err != nil || n >= len(c) {
				return
			}
			v = c[n]
		default:
			return
		}
	}
}

func genCRD(r *rand.Rand, count int, emit func(c any)) {
	for b := range crdBases {
		emit(crdCase{CRD: crdParse(crdBases[b])})
		for _, change := range crdChanges {
			for _, value := range change.values {
				crd := crdParse(crdBases[b])
				crdChange(crd, strings.Replace(change.path, "N", "0", 1), value)
				emit(crdCase{CRD: crd})
			}
		}
	}
	conversion := func() string {
		return fmt.Sprintf(`{"strategy":"%s","webhook":{"clientConfig":%s,"conversionReviewVersions":%s}}`, []string{"Webhook", "Webhook", "Webhook", "None"}[r.Intn(4)], crdClients[r.Intn(len(crdClients))], crdReviews[r.Intn(len(crdReviews))])
	}
	for _, client := range crdClients {
		crd := crdParse(crdBases[0])
		crdChange(crd, "spec.conversion", `{"strategy":"Webhook","webhook":{"clientConfig":`+client+`,"conversionReviewVersions":["v1"]}}`)
		emit(crdCase{CRD: crd})
	}
	for _, schema := range crdDefaults {
		crd, old := crdParse(crdBases[2]), crdParse(crdBases[2])
		crdChange(crd, "spec.preserveUnknownFields", "true")
		crdChange(crd, "spec.versions.1.schema.openAPIV3Schema", schema)
		emit(crdCase{CRD: crd})
		crdChange(old, "spec.preserveUnknownFields", "true")
		emit(crdCase{CRD: crd, Old: old, IsEstablished: true})
	}
	for range count {
		base := crdBases[r.Intn(len(crdBases))]
		c := crdCase{CRD: crdParse(base)}
		for range 1 + r.Intn(4) {
			change := crdChanges[r.Intn(len(crdChanges))]
			path := strings.Replace(change.path, "N", strconv.Itoa(r.Intn(3)), 1)
			crdChange(c.CRD, path, change.values[r.Intn(len(change.values))])
		}
		if r.Intn(4) == 0 {
			crdChange(c.CRD, "spec.conversion", conversion())
		}
		if r.Intn(3) == 0 && !strings.Contains(base, `"openAPIV3Schema":{"type":"string"}`) {
			// The old one is good, but may need an approval that it does not have, or preserve unknown fields.
			c.Old, c.IsEstablished = crdParse(base), r.Intn(2) == 0
			if r.Intn(4) == 0 {
				crdChange(c.Old, "spec.preserveUnknownFields", "true")
			}
			if r.Intn(4) == 0 {
				crdChange(c.Old, "spec.group", `"a.k8s.io"`)
			}
		}
		emit(c)
	}
}

// crdLoad decodes, defaults and converts, as the API server does before a strategy sees the object.
func crdLoad(v any) (*apiextensionsv1.CustomResourceDefinition, *apiextensions.CustomResourceDefinition) {
	text, err := json.Marshal(v)
	if err != nil {
		fail("%v", err)
	}
	external, internal := &apiextensionsv1.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	if err := json.Unmarshal(text, external); err != nil {
		fail("%s: %v", text, err)
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(external)
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(external.DeepCopy(), internal, nil); err != nil {
		fail("%v", err)
	}
	return external, internal
}

func crdStore(crd *apiextensions.CustomResourceDefinition) {
	for _, v := range crd.Spec.Versions {
		if v.Storage && !apiextensions.IsStoredVersion(crd, v.Name) {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
		}
	}
}

func runCRD(raw json.RawMessage) any {
	var c crdCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	external, crd := crdLoad(c.CRD)
	var errors field.ErrorList
	if c.Old == nil {
		crdStore(crd)
		errors = validation.ValidateCustomResourceDefinition(context.Background(), crd)
	} else {
		_, old := crdLoad(c.Old)
		crdStore(old)
		if c.IsEstablished {
			old.Status.Conditions = []apiextensions.CustomResourceDefinitionCondition{{Type: apiextensions.Established, Status: apiextensions.ConditionTrue}}
		}
		old.ResourceVersion, crd.ResourceVersion = "1", "1"
		crd.Status = *old.Status.DeepCopy()
		crd.Name = old.Name // which no request can change
		crdStore(crd)
		errors = validation.ValidateCustomResourceDefinitionUpdate(context.Background(), crd, old)
	}
	texts := []string{}
	for _, e := range errors {
		body := e.ErrorBody()
		if e.Field == "spec.versions" {
			// A dump of Go structs, which nobody else has.
			body = "Invalid value: VERSIONS: " + e.Detail
		}
		texts = append(texts, e.Field+": "+body)
	}
	sort.Strings(texts)
	names := map[string]any{"singular": external.Spec.Names.Singular, "listKind": external.Spec.Names.ListKind}
	conversion := map[string]any{"strategy": external.Spec.Conversion.Strategy, "port": nil}
	if w := external.Spec.Conversion.Webhook; w != nil && w.ClientConfig != nil && w.ClientConfig.Service != nil {
		conversion["port"] = w.ClientConfig.Service.Port
	}
	return map[string]any{"errors": texts, "names": names, "conversion": conversion, "stored": crd.Status.StoredVersions}
}
