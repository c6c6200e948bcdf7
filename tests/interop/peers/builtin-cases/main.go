// builtin-cases writes random objects of the built-in kinds, one line of JSON each: in protobuf, as JSON, and with the defaults that Go's code
// gives.
//
//	builtin-cases SEED N KIND...    KIND: group/version.Kind, or version.Kind
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane"
	kjson "sigs.k8s.io/json"
)

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// Texts that code for defaults looks at, and others.
var texts = []string{"", "a", "a.b/c", "x y", "é\u2028<&>", "RollingUpdate", "OnDelete", "Recreate", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName",
	"ClientIP", "None", "User", "Group", "ServiceAccount", "nginx", "nginx:latest", "nginx:1.2", "r.io:5000/x", "r.io:5000/x:latest",
	"x@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "x:latest@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"Always", "Never", "TCP", "UDP", "HTTP", "Ingress", "Egress", "Pending", "True"}

var quantities = []string{"0", "1", "100m", "1.5", "0.5Gi", "1024Mi", "12e6", "1k", "0.1m", "5n", "-3", "1Ei", "1000000", "0.001"}

var documents = []string{`{}`, `{"a":1}`, `{"a":{"b":[1,"x",null,true,1.5]},"c":"é"}`, `{"apiVersion":"v1","kind":"X"}`}

type generator struct {
	*rand.Rand
}

func (g *generator) text() string { return texts[g.Intn(len(texts))] }

func (g *generator) time() time.Time {
	return time.Unix(g.Int63n(4000000000)-1000000000, 0)
}

// special fills a value whose form is its own; false for all others.
func (g *generator) special(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *metav1.Time:
		*p = metav1.NewTime(g.time())
	case *metav1.MicroTime:
		*p = metav1.NewMicroTime(g.time().Add(time.Duration(g.Intn(1000000)) * time.Microsecond))
	case *metav1.Duration:
		p.Duration = time.Duration(g.Int63n(100000)) * time.Millisecond
	case *metav1.FieldsV1:
		p.Raw = []byte(documents[g.Intn(len(documents))])
	case *resource.Quantity:
		*p = resource.MustParse(quantities[g.Intn(len(quantities))])
	case *intstr.IntOrString:
		if g.Intn(2) == 0 {
			*p = intstr.FromInt32(g.Int31n(3) * 40)
		} else {
			*p = intstr.FromString(g.text())
		}
	case *runtime.RawExtension:
		if g.Intn(4) > 0 {
			p.Raw = []byte(documents[g.Intn(len(documents))])
		}
	case *apiextensions.JSON:
		p.Raw = []byte([]string{`1`, `"x"`, `true`, `[1]`, `{"a":1.5}`}[g.Intn(5)])
	case *apiextensions.JSONSchemaPropsOrBool:
		p.Allows = g.Intn(2) == 0
		if g.Intn(2) == 0 {
			p.Allows = true
			p.Schema = &apiextensions.JSONSchemaProps{Type: g.text()}
		}
	case *apiextensions.JSONSchemaPropsOrArray:
		if g.Intn(2) == 0 {
			p.Schema = &apiextensions.JSONSchemaProps{Type: g.text()}
		} else {
			p.JSONSchemas = []apiextensions.JSONSchemaProps{{Type: g.text()}, {}}
		}
	case *apiextensions.JSONSchemaPropsOrStringArray:
		if g.Intn(2) == 0 {
			p.Schema = &apiextensions.JSONSchemaProps{Type: g.text()}
		} else {
			p.Property = []string{g.text(), "b"}
		}
	default:
		return false
	}
	return true
}

// item is the depth of a list in a map: never nil, because the wire has no such thing.
const item = -1

func (g *generator) fill(v reflect.Value, depth int) {
	if g.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if depth < 12 && g.Intn(3) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(v.Elem(), depth+1)
		}
	case reflect.Struct:
		if v.Type().Name() == "TypeMeta" {
			return
		}
		for i := 0; i < v.NumField(); i++ {
			if g.Intn(3) > 0 || v.Field(i).Kind() == reflect.Struct && !strings.HasSuffix(v.Field(i).Type().Name(), "Time") {
				g.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if depth > 12 || depth != item && g.Intn(2) == 0 {
			return
		}
		n := 1 + g.Intn(2)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := 0; i < n; i++ {
			g.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		if depth > 12 || g.Intn(2) == 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for i := 0; i <= g.Intn(2); i++ {
			key := reflect.New(v.Type().Key()).Elem()
			key.SetString([]string{"cpu", "memory", "a.b/c", "x"}[g.Intn(4)])
			value := reflect.New(v.Type().Elem()).Elem()
			if value.Kind() == reflect.Slice {
				g.fill(value, item)
			} else {
				g.fill(value, depth+1)
			}
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(g.text())
	case reflect.Bool:
		v.SetBool(g.Intn(2) == 0)
	case reflect.Int32:
		v.SetInt([]int64{0, 1, 80, -1, 2147483647, -2147483648}[g.Intn(6)])
	case reflect.Int64:
		v.SetInt([]int64{0, 1, 30, -1, 9007199254740993, -9223372036854775808}[g.Intn(6)])
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, 1.5, -2.25, 1e21}[g.Intn(5)])
	case reflect.Uint8:
		v.SetUint(uint64(g.Intn(256)))
	default:
		fail("cannot fill %s", v.Type())
	}
}

// mutate changes one place of a document: another type, null, or one more member.
func (g *generator) mutate(v any) any {
	others := []any{nil, true, float64(1), 1.5, "x", []any{}, map[string]any{}, []any{"x"}, map[string]any{"a": "b"}}
	switch t := v.(type) {
	case map[string]any:
		if len(t) == 0 || g.Intn(8) == 0 {
			t["zz"] = others[g.Intn(len(others))]
			return t
		}
		keys := make([]string, 0, len(t))
		for k := range t {
			if k != "apiVersion" && k != "kind" {
				keys = append(keys, k)
			}
		}
		if len(keys) == 0 {
			return t
		}
		sort.Strings(keys)
		k := keys[g.Intn(len(keys))]
		t[k] = g.mutate(t[k])
		return t
	case []any:
		if len(t) > 0 && g.Intn(4) > 0 {
			i := g.Intn(len(t))
			t[i] = g.mutate(t[i])
			return t
		}
	}
	return others[g.Intn(len(others))]
}

// wrong is an object with a mistake, and what Go's decoder says of it: an error, or the unknown fields.
func (g *generator) wrong(scheme *runtime.Scheme, gvk schema.GroupVersionKind, name string, plain []byte) any {
	var document any
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		fail("%v", err)
	}
	body := mustJSON(g.mutate(document))
	object, err := scheme.New(gvk)
	if err != nil {
		fail("%v", err)
	}
	strict, err := kjson.UnmarshalStrict(body, object)
	text := ""
	if err != nil {
		text = err.Error()
	} else {
		var names []string
		for _, e := range strict {
			unknown, _ := strconv.Unquote(strings.TrimPrefix(e.Error(), "unknown field "))
			names = append(names, unknown)
		}
		text = strings.Join(names, ",")
	}
	return map[string]any{"kind": name, "body": json.RawMessage(body), "error": text}
}

func parseKind(text string) schema.GroupVersionKind {
	gv, kind, _ := strings.Cut(text[strings.LastIndex(text, "/")+1:], ".")
	group := ""
	if i := strings.LastIndex(text, "/"); i >= 0 {
		group = text[:i]
	}
	return schema.GroupVersionKind{Group: group, Version: gv, Kind: kind}
}

func mustJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		fail("%v", err)
	}
	return text
}

func main() {
	if len(os.Args) < 4 {
		fail("usage: builtin-cases SEED N KIND...")
	}
	seed, _ := strconv.ParseInt(os.Args[1], 10, 64)
	count, _ := strconv.Atoi(os.Args[2])
	scheme := legacyscheme.Scheme
	if err := apiextensions.AddToScheme(scheme); err != nil {
		fail("%v", err)
	}
	serializer := protobuf.NewSerializer(scheme, scheme)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	g := &generator{rand.New(rand.NewSource(seed))}
	for i := 0; i < count; i++ {
		gvk := parseKind(os.Args[3+i%(len(os.Args)-3)])
		object, err := scheme.New(gvk)
		if err != nil {
			fail("%v", err)
		}
		g.fill(reflect.ValueOf(object).Elem(), 0)
		object.GetObjectKind().SetGroupVersionKind(gvk)
		if pod, ok := object.(*core.Pod); ok {
			pod.Spec.Resources = nil // requests of a whole pod are not summed up
		}
		var encoded bytes.Buffer
		if err := serializer.Encode(object, &encoded); err != nil {
			fail("%s: %v", gvk, err)
		}
		// What storage keeps: lists and maps without items are gone, large numbers are as JSON has them.
		plain := mustJSON(object)
		scheme.Default(object)
		line := mustJSON(map[string]any{"kind": os.Args[3+i%(len(os.Args)-3)], "protobuf": encoded.Bytes(), "json": plain, "defaulted": object})
		out.Write(line)
		out.WriteByte('\n')
		out.Write(mustJSON(g.wrong(scheme, gvk, os.Args[3+i%(len(os.Args)-3)], plain)))
		out.WriteByte('\n')
	}
}
