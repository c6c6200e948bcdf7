// packaged-types writes the fields of the types that packages hold, as Go's JSON reads and writes them, in the format of
// src/kube/builtin/builtin.txt.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	apiv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	apiv1alpha1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1alpha1"
	apiv2 "github.com/crossplane/crossplane/apis/v2/apiextensions/v2"
	opsv1alpha1 "github.com/crossplane/crossplane/apis/v2/ops/v1alpha1"
	metav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	metav1alpha1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1alpha1"
	metav1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1beta1"
)

var roots = []any{
	apiv1.CompositeResourceDefinition{}, apiv1.Composition{}, apiv2.CompositeResourceDefinition{},
	apiv1alpha1.ManagedResourceDefinition{}, apiv1alpha1.ManagedResourceActivationPolicy{},
	opsv1alpha1.Operation{}, opsv1alpha1.CronOperation{}, opsv1alpha1.WatchOperation{},
	metav1.Function{}, metav1.Provider{}, metav1.Configuration{},
	metav1beta1.Function{}, metav1alpha1.Provider{}, metav1alpha1.Configuration{},
}

var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                                             "time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                                         "duration",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                                          "raw",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":                                       "intstr",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                                         "quantity",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON":                         "json",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "schema-or-array",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "schema-or-bool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "schema-or-strings",
}

var (
	packages    = map[string]string{}
	types       = map[reflect.Type]bool{}
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

func full(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// ours says whether the type is not one of Kubernetes' own, which builtin.txt has.
func ours(t reflect.Type) bool { return !strings.HasPrefix(t.PkgPath(), "k8s.io/") }

func short(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	name := strings.Join(parts[len(parts)-2:], "/")
	if ours(t) {
		name = "crossplane-" + name
		packages[name] = strings.Join(parts, ".") + "."
	}
	return name + "." + t.Name()
}

func text(t reflect.Type) string {
	if name, ok := special[full(t)]; ok {
		return name
	}
	if t.Name() != "" && ours(t) && reflect.PointerTo(t).Implements(unmarshaler) {
		fmt.Fprintf(os.Stderr, "%s reads its JSON itself\n", full(t))
		os.Exit(1)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + text(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + text(t.Elem())
	case reflect.Map:
		return "map:" + text(t.Elem())
	case reflect.Struct:
		if ours(t) {
			types[t] = true
		}
		return short(t)
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32:
		return "int32"
	case reflect.Int64, reflect.Int:
		return "int64"
	case reflect.Float64:
		return "double"
	}
	fmt.Fprintf(os.Stderr, "%s\n", t)
	os.Exit(1)
	return ""
}

func write(t reflect.Type, isObject bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "type %s", short(t))
	if isObject {
		b.WriteString(" object")
	}
	b.WriteString("\n")
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		if tag[0] == "-" || f.Type.Name() == "TypeMeta" {
			continue
		}
		name := tag[0]
		if name == "" {
			name = "inline"
		}
		fmt.Fprintf(&b, "  %s - %s", name, text(f.Type))
		for _, o := range tag[1:] {
			if o == "omitempty" || o == "omitzero" {
				b.WriteString(" " + o)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func main() {
	written := map[string]string{}
	isRoot := map[reflect.Type]bool{}
	for _, r := range roots {
		isRoot[reflect.TypeOf(r)] = true
		types[reflect.TypeOf(r)] = true
	}
	for n := -1; n != len(written); {
		n = len(written)
		for t := range types {
			if _, ok := written[short(t)]; !ok {
				written[short(t)] = write(t, isRoot[t])
			}
		}
	}
	names := []string{}
	for n := range written {
		names = append(names, n)
	}
	sort.Strings(names)
	fmt.Println("# Types of the objects in Crossplane's packages, in the format of builtin.txt. Made by tests/interop/packaged-types; do not edit.")
	prefixes := []string{}
	for n, p := range packages {
		prefixes = append(prefixes, "package "+n+" "+p)
	}
	sort.Strings(prefixes)
	fmt.Println(strings.Join(prefixes, "\n"))
	for _, n := range names {
		fmt.Print(written[n])
	}
}
