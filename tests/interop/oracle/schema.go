// Suites schema and structural: apiextensions' structural schemas, as kube-apiserver uses them for custom resources.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	goruntime "runtime"
	"sort"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A schema, an object in it and, for an update, the stored object. Below is "" or "status".
type schemaCase struct {
	Schema json.RawMessage `json:"schema"`
	Object json.RawMessage `json:"object"`
	Old    json.RawMessage `json:"old,omitempty"`
	Below  string          `json:"below,omitempty"`
}

func init() {
	suites["schema"] = suite{gen: genSchema, run: runSchema, equal: sameErrors, bench: benchSchema}
	suites["structural"] = suite{gen: genStructural, run: runStructural, equal: sameErrors}
}

// Of several things in the default of an embedded resource that cannot be read, the library names the one that it meets first
// in a Go map: any will do, but there must be one. Until then it has brought some of the metadata into form, which shows in what it
// says of the same default's unknown fields.
var unreadable = regexp.MustCompile(`^(.*\.default)\S*\.(apiVersion|kind|metadata): Invalid value: .*(must be a string|json: cannot unmarshal .*) \[FieldValueInvalid\]$`)

var hasUnknown = regexp.MustCompile(`^(.*\.default): Invalid value: .*: must not have unknown fields \[FieldValueInvalid\]$`)

func sameErrors(c json.RawMessage, oracle, subject any) bool {
	normal := func(v any) any {
		m := map[string]any{}
		for k, v := range v.(map[string]any) {
			if l, ok := v.([]any); ok {
				texts := []any{}
				isUnreadable := map[string]bool{}
				for _, t := range l {
					if m := unreadable.FindStringSubmatch(t.(string)); m != nil {
						isUnreadable[m[1]] = true
					}
				}
				for _, t := range l {
					text := unreadable.ReplaceAllString(t.(string), "$1: cannot be read")
					if m := hasUnknown.FindStringSubmatch(text); m != nil && isUnreadable[m[1]] {
						text = m[1] + ": must not have unknown fields"
					}
					texts = append(texts, text)
				}
				sort.Slice(texts, func(i, k int) bool { return texts[i].(string) < texts[k].(string) })
				v = texts
			}
			m[k] = v
		}
		return m
	}
	return reflect.DeepEqual(normal(oracle), normal(subject))
}

func readSchema(raw json.RawMessage) (*apiextensions.JSONSchemaProps, error) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(raw, &v1); err != nil {
		return nil, err
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, internal, nil); err != nil {
		return nil, err
	}
	return internal, nil
}

func readObject(raw json.RawMessage) map[string]any {
	var object map[string]any
	if err := utiljson.Unmarshal(raw, &object); err != nil {
		fail("%v", err)
	}
	return object
}

var schemaKind = schema.GroupVersionKind{Group: "ex.org", Version: "v1", Kind: "Widget"}

// The errors as `field: text [reason]`, sorted: upstream's order between siblings is random.
func errorTexts(errs field.ErrorList) []string {
	texts := []string{}
	for _, e := range errs {
		texts = append(texts, fmt.Sprintf("%s: %s [%s]", e.Field, e.ErrorBody(), string(e.Type)))
	}
	sort.Strings(texts)
	return texts
}

// A CRD around the schema, so that the checks are all that kube-apiserver makes. Paths begin with that of the only version's
// schema.
func crdErrors(props *apiextensions.JSONSchemaProps) field.ErrorList {
	no := false
	crd := &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.ex.org"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group:                 "ex.org",
			Names:                 apiextensions.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Scope:                 apiextensions.ClusterScoped,
			Version:               "v1",
			Versions:              []apiextensions.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}},
			Validation:            &apiextensions.CustomResourceValidation{OpenAPIV3Schema: props},
			PreserveUnknownFields: &no,
			Conversion:            &apiextensions.CustomResourceConversion{Strategy: apiextensions.NoneConverter},
		},
		Status: apiextensions.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}},
	}
	return crdvalidation.ValidateCustomResourceDefinition(context.Background(), crd)
}

func runStructural(raw json.RawMessage) any {
	props, err := readSchema(raw)
	if err != nil {
		fail("%v in %s", err, raw)
	}
	return map[string]any{"errors": errorTexts(crdErrors(props))}
}

type typer struct{}

func (typer) ObjectKinds(runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{schemaKind}, false, nil
}
func (typer) Recognizes(schema.GroupVersionKind) bool { return true }

// What kube-apiserver makes of a schema once.
type compiledSchema struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	status     validation.SchemaValidator
}

func compileSchema(props *apiextensions.JSONSchemaProps) (*compiledSchema, error) {
	var c compiledSchema
	var err error
	if c.structural, err = structuralschema.NewStructural(props); err != nil {
		return nil, err
	}
	if err = defaulting.PruneDefaults(c.structural); err != nil {
		return nil, err
	}
	if c.validator, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	if status, ok := props.Properties["status"]; ok {
		if c.status, _, err = validation.NewSchemaValidator(&status); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

func (c *compiledSchema) admit(object map[string]any) []string {
	unknown := pruning.PruneWithOptions(object, c.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(object, c.structural)
	defaulting.Default(object, c.structural)
	return unknown
}

// The errors without those of metadata, which the objects' names keep away.
func (c *compiledSchema) validate(object, old map[string]any, below string) field.ErrorList {
	ctx := context.Background()
	status := &apiextensions.CustomResourceSubresourceStatus{}
	if below == "" {
		status = nil
	}
	strategy := customresource.NewStrategy(typer{}, false, schemaKind, c.validator, c.status, c.structural, status, nil, nil)
	u := &unstructured.Unstructured{Object: object}
	if old == nil {
		return strategy.Validate(ctx, u)
	}
	if below != "" {
		return customresource.NewStatusStrategy(strategy).ValidateUpdate(ctx, u, &unstructured.Unstructured{Object: old})
	}
	return strategy.ValidateUpdate(ctx, u, &unstructured.Unstructured{Object: old})
}

func runSchema(raw json.RawMessage) any {
	var k schemaCase
	if err := json.Unmarshal(raw, &k); err != nil {
		fail("%v", err)
	}
	props, err := readSchema(k.Schema)
	if err != nil {
		fail("%v in %s", err, k.Schema)
	}
	if errs := crdErrors(props); len(errs) > 0 {
		return map[string]any{"schema": errorTexts(errs)}
	}
	c, err := compileSchema(props)
	if err != nil {
		fail("%v in %s", err, k.Schema)
	}
	object := readObject(k.Object)
	unknown := c.admit(object)
	if unknown == nil {
		unknown = []string{}
	}
	var old map[string]any
	if k.Old != nil {
		old = readObject(k.Old)
		c.admit(old)
	}
	admitted, _ := json.Marshal(object)
	return map[string]any{"unknown": unknown, "object": json.RawMessage(admitted), "errors": errorTexts(c.validate(object, old, k.Below))}
}

// benchSchema times what the library does to an object that a user wrote, and to one as it is stored. Copies are made before the clock
// runs, because the library changes what it is given; metadata is not validated.
func benchSchema(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		fail("%v", err)
	}
	var k schemaCase
	if err := json.Unmarshal(text, &k); err != nil {
		fail("%v", err)
	}
	props, err := readSchema(k.Schema)
	if err != nil {
		fail("%v", err)
	}
	c, err := compileSchema(props)
	if err != nil {
		fail("%v", err)
	}
	written := readObject(k.Object)
	stored := runtime.DeepCopyJSON(written)
	c.admit(stored)
	fmt.Printf("%d as written\n", benchAdmit(c, written).Nanoseconds())
	fmt.Printf("%d as stored\n", benchAdmit(c, stored).Nanoseconds())
}

func benchAdmit(c *compiledSchema, object map[string]any) time.Duration {
	const perRound = 50
	best := time.Hour
	for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); {
		copies := []map[string]any{}
		for range perRound {
			copies = append(copies, runtime.DeepCopyJSON(object))
		}
		goruntime.GC()
		start := processorTime()
		for _, o := range copies {
			pruning.PruneWithOptions(o, c.structural, true, structuralschema.UnknownFieldPathOptions{})
			defaulting.PruneNonNullableNullsWithoutDefaults(o, c.structural)
			defaulting.Default(o, c.structural)
			errs := validation.ValidateCustomResource(nil, o, c.validator)
			errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.structural, o)...)
			errs = append(errs, objectmeta.Validate(nil, o, c.structural, false)...)
			if len(errs) > 0 {
				fail("%v", errs)
			}
		}
		best = min(best, (processorTime()-start)/perRound)
	}
	return best
}
