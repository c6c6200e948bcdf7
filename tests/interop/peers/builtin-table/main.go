// builtin-table writes the facts of the built-in kinds as one text: what a real API server says in its discovery and OpenAPI documents, and
// what the tags of the Go types say about JSON and protobuf. The format is described in the first lines of the text.
//
//	builtin-table DIRECTORY
//
// The directory has the server's documents: core-discovery.json and discovery.json (aggregated discovery), and one file for each group version.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane"
)

// The group versions that are served, in the order of the table.
var groupVersions = []schema.GroupVersion{
	{Group: "", Version: "v1"},
	{Group: "admissionregistration.k8s.io", Version: "v1"},
	{Group: "apiextensions.k8s.io", Version: "v1"},
	{Group: "apps", Version: "v1"},
	{Group: "authentication.k8s.io", Version: "v1"},
	{Group: "authorization.k8s.io", Version: "v1"},
	{Group: "autoscaling", Version: "v1"},
	{Group: "autoscaling", Version: "v2"},
	{Group: "batch", Version: "v1"},
	{Group: "certificates.k8s.io", Version: "v1"},
	{Group: "coordination.k8s.io", Version: "v1"},
	{Group: "discovery.k8s.io", Version: "v1"},
	{Group: "events.k8s.io", Version: "v1"},
	{Group: "networking.k8s.io", Version: "v1"},
	{Group: "node.k8s.io", Version: "v1"},
	{Group: "policy", Version: "v1"},
	{Group: "rbac.authorization.k8s.io", Version: "v1"},
	{Group: "scheduling.k8s.io", Version: "v1"},
	{Group: "storage.k8s.io", Version: "v1"},
}

type object = map[string]any

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func read(path string) object {
	text, err := os.ReadFile(path)
	if err != nil {
		fail("%v", err)
	}
	var v object
	if err := json.Unmarshal(text, &v); err != nil {
		fail("%s: %v", path, err)
	}
	return v
}

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		fail("%v", err)
	}
	if strings.ContainsAny(string(text), " \n") {
		fail("a fact with a space: %s", text)
	}
	return string(text)
}

type table struct {
	scheme     *runtime.Scheme
	components object
	types      map[reflect.Type]bool
	packages   map[string]string             // short name -> prefix of components
	outer      map[reflect.Type]reflect.Type // an inlined type -> the first one that inlines it
}

// --- Types ---

var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                                        "microtime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                                         "fields",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "intstr",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "raw",
	"k8s.io/api/authentication/v1.ExtraValue":                                               "extra",
	"k8s.io/api/authorization/v1.ExtraValue":                                                "extra",
	"k8s.io/api/certificates/v1.ExtraValue":                                                 "extra",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "json",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "schema-or-array",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "schema-or-bool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "schema-or-strings",
}

func full(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// component is the name in OpenAPI documents: io.k8s.api.core.v1.PodSpec.
func component(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	host := strings.Split(parts[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(append(host, parts[1:]...), ".") + "." + t.Name()
}

// short is the name in the table: core/v1.PodSpec.
func (b *table) short(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	name := strings.Join(parts[len(parts)-2:], "/")
	prefix := strings.TrimSuffix(component(t), t.Name())
	if old, ok := b.packages[name]; ok && old != prefix {
		fail("two packages are called %s", name)
	}
	b.packages[name] = prefix
	return name + "." + t.Name()
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func (b *table) typeText(t reflect.Type) string {
	if name, ok := special[full(t)]; ok {
		return name
	}
	if t.Name() != "" && reflect.PointerTo(t).Implements(unmarshaler) {
		fail("%s reads its JSON itself", full(t))
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + b.typeText(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + b.typeText(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			fail("%s has keys that are no strings", t)
		}
		return "map:" + b.typeText(t.Elem())
	case reflect.Struct:
		b.add(t)
		return b.short(t)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	}
	fail("no word for the type %s", t)
	return ""
}

func (b *table) add(t reflect.Type) {
	if b.types[t] {
		return
	}
	b.types[t] = true
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		if f.Type.Name() == "TypeMeta" {
			continue
		}
		if isInline(f) && b.outer[f.Type] == nil {
			b.outer[f.Type] = t
		}
		b.typeText(f.Type)
	}
}

// goName is the name that Go's errors have for a scalar, list or map whose type has a name of its own.
func goName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, ok := special[full(t)]; ok {
		return ""
	}
	if t.Kind() == reflect.Struct {
		return ""
	}
	if t.PkgPath() != "" {
		return t.String()
	}
	if (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && goName(t.Elem()) != "" {
		return t.String()
	}
	if t.Kind() == reflect.Map && goName(t.Key()) != "" {
		return t.String()
	}
	return ""
}

// --- Defaults in OpenAPI ---

// usualDefault is what the generator of the documents gives to a type without being told.
func usualDefault(t reflect.Type) any {
	if name, ok := special[full(t)]; ok {
		switch name {
		case "fields", "raw", "json":
			return object{}
		case "time", "microtime", "duration", "quantity", "intstr", "schema-or-array", "schema-or-bool", "schema-or-strings":
			return nil
		}
		return nil
	}
	switch t.Kind() {
	case reflect.String:
		return ""
	case reflect.Bool:
		return false
	case reflect.Int32, reflect.Int64, reflect.Float64:
		return float64(0)
	case reflect.Struct:
		return object{}
	}
	return nil
}

func defaultFact(keyword string, usual, given any) string {
	if reflect.DeepEqual(usual, given) {
		return ""
	}
	if given == nil {
		return " " + keyword + "=none"
	}
	return " " + keyword + "=" + compact(given)
}

func reference(property object) string {
	ref, _ := property["$ref"].(string)
	if all, ok := property["allOf"].([]any); ok && ref == "" {
		ref, _ = all[0].(object)["$ref"].(string)
	}
	return strings.TrimPrefix(ref, "#/components/schemas/")
}

// --- Fields ---

func number(f reflect.StructField) string {
	tag := f.Tag.Get("protobuf")
	if tag == "" {
		return "-"
	}
	return strings.Split(tag, ",")[1]
}

func strings_(v any) string {
	var out []string
	for _, s := range v.([]any) {
		out = append(out, strings.ReplaceAll(s.(string), " ", "%20"))
	}
	return strings.Join(out, ",")
}

func (b *table) openapiFacts(f reflect.StructField, property object, omits bool) string {
	var usual any
	t := f.Type
	if t.Kind() == reflect.Struct || !omits {
		usual = usualDefault(t)
	}
	facts := defaultFact("default", usual, property["default"])
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, below := range []string{"items", "additionalProperties"} {
		inner, ok := property[below].(object)
		if ok && special[full(t)] == "" {
			facts += defaultFact("below", usualDefault(t.Elem()), inner["default"])
			if list, ok := inner["enum"]; ok {
				facts += " below-enum=" + strings_(list)
			}
		}
	}
	if list, ok := property["enum"]; ok {
		facts += " enum=" + strings_(list)
	}
	for _, x := range []struct{ keyword, word string }{
		{"x-kubernetes-list-type", "list"}, {"x-kubernetes-list-map-keys", "keys"}, {"x-kubernetes-map-type", "map"},
		{"x-kubernetes-patch-strategy", "patch"}, {"x-kubernetes-patch-merge-key", "patch-key"},
	} {
		switch v := property[x.keyword].(type) {
		case string:
			facts += " " + x.word + "=" + v
		case []any:
			facts += " " + x.word + "=" + strings_(v)
		}
	}
	known := map[string]bool{"description": true, "type": true, "default": true, "enum": true, "items": true, "additionalProperties": true,
		"$ref": true, "allOf": true, "format": true}
	for k := range property {
		if !known[k] && !strings.HasPrefix(k, "x-kubernetes-list-") && !strings.HasPrefix(k, "x-kubernetes-patch-") && k != "x-kubernetes-map-type" {
			fail("%s: no word for the keyword %s", f.Name, k)
		}
	}
	return facts
}

func isInline(f reflect.StructField) bool {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name == "" && (f.Anonymous || strings.Contains(options, "inline"))
}

func (b *table) field(f reflect.StructField, c object) string {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if isInline(f) {
		return fmt.Sprintf("  inline %s %s\n", number(f), b.typeText(f.Type))
	}
	text := fmt.Sprintf("  %s %s %s", name, number(f), b.typeText(f.Type))
	omits := false
	for _, option := range strings.Split(options, ",") {
		switch option {
		case "omitempty", "omitzero":
			text += " " + option
			omits = true
		}
	}
	if c != nil {
		properties, _ := c["properties"].(object)
		property, ok := properties[name].(object)
		if !ok {
			text += " hidden"
		} else {
			text += b.openapiFacts(f, property, omits)
		}
		required, _ := c["required"].([]any)
		for _, r := range required {
			if r == name {
				text += " required"
			}
		}
	}
	if g := goName(f.Type); g != "" {
		text += " go=" + g
	}
	return text + "\n"
}

func hasTypeMeta(t reflect.Type) bool {
	for i := 0; i < t.NumField(); i++ {
		if t.Field(i).Type.Name() == "TypeMeta" {
			return true
		}
	}
	return false
}

func (b *table) typeLines(t reflect.Type) string {
	c, _ := b.components[component(t)].(object)
	text := "type " + b.short(t)
	if hasTypeMeta(t) {
		text += " object"
	}
	if c == nil {
		text += " hidden"
		// The documents have its fields in the types that inline it.
		if outer := b.outer[t]; outer != nil {
			c, _ = b.components[component(outer)].(object)
		}
	} else if v, ok := c["x-kubernetes-map-type"]; ok {
		text += " map=" + v.(string)
	}
	if c != nil && c["x-kubernetes-unions"] != nil {
		text += " unions=" + compact(c["x-kubernetes-unions"])
	}
	text += "\n"
	for i := 0; i < t.NumField(); i++ {
		if f := t.Field(i); f.Type.Name() != "TypeMeta" {
			text += b.field(f, c)
		}
	}
	return text
}

// --- Kinds ---

func list(v any) string {
	if v == nil {
		return "-"
	}
	return strings_(v)
}

func gvkText(v any) string {
	k, _ := v.(object)
	group, _ := k["group"].(string)
	version, _ := k["version"].(string)
	kind, _ := k["kind"].(string)
	if group == "" {
		return version + "." + kind
	}
	return group + "/" + version + "." + kind
}

func (b *table) typeOf(gv schema.GroupVersion, kind string) (reflect.Type, bool) {
	t, ok := b.scheme.AllKnownTypes()[gv.WithKind(kind)]
	return t, ok
}

func (b *table) resource(gv schema.GroupVersion, r object) string {
	kind := r["responseKind"].(object)["kind"].(string)
	t, ok := b.typeOf(gv, kind)
	if !ok {
		fail("the scheme has no %s %s", gv, kind)
	}
	b.add(t)
	scope := "cluster"
	if r["scope"] == "Namespaced" {
		scope = "namespace"
	}
	group := gv.Group
	if group == "" {
		group = "core"
	}
	text := fmt.Sprintf("kind %s %s %s %s %s %s short=%s categories=%s verbs=%s type=%s\n", group, gv.Version, kind, r["resource"],
		r["singularResource"], scope, list(r["shortNames"]), list(r["categories"]), list(r["verbs"]), b.short(t))
	subresources, _ := r["subresources"].([]any)
	for _, s := range subresources {
		sub := s.(object)
		text += fmt.Sprintf("  %s %s %s\n", sub["subresource"], gvkText(sub["responseKind"]), list(sub["verbs"]))
	}
	return text
}

func (b *table) kinds(discovery []object) string {
	text := ""
	for _, gv := range groupVersions {
		for _, document := range discovery {
			groups := document["items"].([]any)
			for _, g := range groups {
				name, _ := g.(object)["metadata"].(object)["name"].(string)
				if name != gv.Group {
					continue
				}
				for _, v := range g.(object)["versions"].([]any) {
					version := v.(object)
					if version["version"] != gv.Version {
						continue
					}
					resources := version["resources"].([]any)
					for _, r := range resources {
						text += b.resource(gv, r.(object))
					}
				}
			}
		}
	}
	return text
}

// Messages that requests bring and that are no resources of their own.
var messages = []schema.GroupVersionKind{
	{Group: "", Version: "v1", Kind: "DeleteOptions"},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
	{Group: "autoscaling", Version: "v1", Kind: "Scale"},
	{Group: "policy", Version: "v1", Kind: "Eviction"},
}

func (b *table) messageLines() string {
	text := ""
	for _, gvk := range messages {
		t, ok := b.typeOf(gvk.GroupVersion(), gvk.Kind)
		if !ok {
			fail("the scheme has no %s", gvk)
		}
		b.add(t)
		group := gvk.Group
		if group == "" {
			group = "core"
		}
		text += fmt.Sprintf("message %s %s %s type=%s\n", group, gvk.Version, gvk.Kind, b.short(t))
	}
	return text
}

const explanation = `# The built-in kinds: facts of Kubernetes' API, without its texts. Made by tests/interop/builtin-table; do not edit.
#
# package NAME PREFIX: types NAME.T are the components PREFIX + T of OpenAPI documents.
# kind GROUP VERSION KIND PLURAL SINGULAR SCOPE short= categories= verbs= type=: as in discovery; below it its subresources: NAME GVK VERBS.
# message GROUP VERSION KIND type=: comes in requests, and is no resource.
# type NAME [object] [map=atomic] [hidden]: object: it has apiVersion and kind; hidden: no component of OpenAPI documents.
# Below it its fields, in Go's order: JSON-NAME PROTOBUF-NUMBER TYPE FACTS; "inline" for a struct whose fields are fields of this one in JSON.
#   TYPE: * pointer, [] list, map: map from strings; a type above, or a word: bytes, time, quantity, raw (any object) ...
#   omitempty, omitzero: zero values are left out of JSON. default=, below=: default in OpenAPI of the field or its items, where it is not
#   the zero of a field that is always there. enum=, list=, keys=, map=, patch=, patch-key=, required, hidden: in OpenAPI.
#   In lists a blank is written %20. go=: the name of the type in Go's errors.
`

func main() {
	if len(os.Args) != 2 {
		fail("usage: builtin-table DIRECTORY")
	}
	directory := os.Args[1]
	b := &table{scheme: legacyscheme.Scheme, components: object{}, types: map[reflect.Type]bool{}, packages: map[string]string{}, outer: map[reflect.Type]reflect.Type{}}
	if err := apiextensions.AddToScheme(b.scheme); err != nil {
		fail("%v", err)
	}
	for _, gv := range groupVersions {
		name := "api_v1.json"
		if gv.Group != "" {
			name = "apis_" + gv.Group + "_" + gv.Version + ".json"
		}
		for k, v := range read(filepath.Join(directory, name))["components"].(object)["schemas"].(object) {
			b.components[k] = v
		}
	}
	kinds := b.kinds([]object{read(filepath.Join(directory, "core-discovery.json")), read(filepath.Join(directory, "discovery.json"))})
	kinds += b.messageLines()
	var types []reflect.Type
	for t := range b.types {
		types = append(types, t)
	}
	sort.Slice(types, func(i, j int) bool { return b.short(types[i]) < b.short(types[j]) })
	body := ""
	for _, t := range types {
		body += b.typeLines(t)
	}
	var names []string
	for name := range b.packages {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Print(explanation)
	for _, name := range names {
		fmt.Printf("package %s %s\n", name, b.packages[name])
	}
	fmt.Print(kinds, body)
}
