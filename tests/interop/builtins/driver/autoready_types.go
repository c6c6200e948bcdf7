package main

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The kinds that auto-ready decodes into their Go types.
var typed = []any{corev1.Pod{}, corev1.PersistentVolumeClaim{}, appsv1.ReplicaSet{}, batchv1.Job{}, batchv1.CronJob{}, autoscalingv2.HorizontalPodAutoscaler{}}

// Types that read themselves.
var special = map[reflect.Type]string{
	reflect.TypeOf(metav1.Time{}):        "TIME",
	reflect.TypeOf(metav1.MicroTime{}):   "MICRO_TIME",
	reflect.TypeOf(resource.Quantity{}):  "QUANTITY",
	reflect.TypeOf(intstr.IntOrString{}): "INT_OR_STRING",
	reflect.TypeOf(metav1.FieldsV1{}):    "FIELDS",
}

var kinds = map[reflect.Kind]string{reflect.String: "STRING", reflect.Bool: "BOOL", reflect.Int32: "INT32", reflect.Int64: "INT64"}

type field struct {
	name, shape, kind string
	of                reflect.Type // of OBJECT
}

// The members that a struct has in JSON, embedded ones included.
func fields(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous && strings.Contains(options, "inline") {
			all = append(all, fields(f.Type)...)
			continue
		}
		if name == "" {
			panic(t.Name() + "." + f.Name)
		}
		all = append(all, describe(name, f.Type))
	}
	return all
}

// There is no list of lists or the like.
func (f *field) wrap(shape string) {
	if f.shape != "ONE" {
		panic(f.name + " has two shapes")
	}
	f.shape = shape
}

func describe(name string, t reflect.Type) field {
	f := field{name: name, shape: "ONE"}
	for {
		if kind, ok := special[t]; ok {
			f.kind = kind
			return f
		}
		switch t.Kind() {
		case reflect.Pointer:
		case reflect.Slice:
			if t.Elem().Kind() == reflect.Uint8 {
				panic("bytes in " + name)
			}
			f.wrap("LIST")
		case reflect.Map:
			f.wrap("MAP")
		case reflect.Struct:
			f.kind, f.of = "OBJECT", t
			return f
		default:
			kind, ok := kinds[t.Kind()]
			if !ok {
				panic(name + " is a " + t.String())
			}
			f.kind = kind
			return f
		}
		t = t.Elem()
	}
}

func snake(t reflect.Type) string {
	var b strings.Builder
	for i, r := range t.Name() {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && (t.Name()[i-1] < 'A' || t.Name()[i-1] > 'Z') {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// All types that the typed kinds are made of, by name.
func types() (map[string]reflect.Type, []string) {
	names := map[string]reflect.Type{}
	var order []string
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		if other, ok := names[snake(t)]; ok {
			if other != t {
				panic("two types have the name " + snake(t))
			}
			return
		}
		names[snake(t)] = t
		order = append(order, snake(t))
		for _, f := range fields(t) {
			if f.of != nil {
				visit(f.of)
			}
		}
	}
	for _, o := range typed {
		visit(reflect.TypeOf(o))
	}
	sort.Strings(order)
	return names, order
}

// Prints src/functions/auto-ready-tables.h, up to its layout.
func printTypes() {
	names, order := types()
	fmt.Print("/* Made by `driver types` of tests/interop/builtins: the members of the kinds that auto-ready reads into types, as the\n" +
		" * Kubernetes API has them. */\n#pragma once\n\nenum type_number {\n")
	for _, n := range order {
		fmt.Printf("\tT_%s,\n", strings.ToUpper(n))
	}
	fmt.Print("};\n")
	for _, n := range order {
		fmt.Printf("\nstatic const struct type_field %s_fields[] = {\n", n)
		for _, f := range fields(names[n]) {
			if f.of != nil {
				fmt.Printf("\t{ \"%s\", %s, OBJECT, T_%s },\n", f.name, f.shape, strings.ToUpper(snake(f.of)))
			} else {
				fmt.Printf("\t{ \"%s\", %s, %s, 0 },\n", f.name, f.shape, f.kind)
			}
		}
		fmt.Print("};\n")
	}
	fmt.Print("\nstatic const struct type types[] = {\n")
	for _, n := range order {
		fmt.Printf("\t[T_%s] = TYPE(%s_fields),\n", strings.ToUpper(n), n)
	}
	fmt.Print("};\n")
}
