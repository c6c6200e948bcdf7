package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"text/template"
)

// Whole Compositions from the request to the response: Go renders the template and decodes its documents, and the rules for
// documents are those of docs/spec/functions 3.4.
type responseCase struct {
	Template string         `json:"template"`
	Options  []string       `json:"options,omitempty"`
	Request  map[string]any `json:"request"`
}

const (
	nameAnnotation  = "gotemplating.fn.crossplane.io/composition-resource-name"
	readyAnnotation = "gotemplating.fn.crossplane.io/ready"
	metaVersion     = "meta.gotemplating.fn.crossplane.io/v1alpha1"
	extraKey        = "apiextensions.crossplane.io/extra-resources"
)

// What earlier steps and credentials add to the request of the other suite.
const moreText = `{"desired": {"composite": {"resource": {"status": {"phase": "New", "list": [1, 2], "deep": {"kept": true, "n": 1}}}},
 "resources": {"old": {"resource": {"apiVersion": "v1", "kind": "Old"}}}},
 "credentials": {"cloud": {"credentialData": {"data": {"user": "YWRtaW4=", "password": "aHVudGVyMg=="}}}}}`

func genResponses(seed int64, count int, dir string, emit func(any)) error {
	return handWritten(dir, "compositions*.txt", func(v any) {
		c := v.(templateCase)
		request := requestData()
		var more map[string]any
		fail(json.Unmarshal([]byte(moreText), &more))
		maps.Copy(request, more)
		emit(responseCase{c.Template, c.Options, request})
	})
}

// src wins, arrays are replaced, and an empty object clears nothing.
func deepMerge(dst, src map[string]any) map[string]any {
	out := maps.Clone(dst)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range src {
		a, isMap := out[k].(map[string]any)
		b, alsoMap := v.(map[string]any)
		if isMap && alsoMap {
			out[k] = deepMerge(a, b)
		} else {
			out[k] = v
		}
	}
	return out
}

type response struct {
	Desired struct {
		Composite map[string]any            `json:"composite"`
		Resources map[string]map[string]any `json:"resources,omitempty"`
	} `json:"desired"`
	Conditions   []map[string]any          `json:"conditions,omitempty"`
	Context      map[string]any            `json:"context,omitempty"`
	Requirements map[string]map[string]any `json:"requirements,omitempty"`
}

func (r *response) setReady(into map[string]any, u map[string]any) error {
	annotations, _ := dig(u, "metadata", "annotations").(map[string]any)
	ready, ok := annotations[readyAnnotation].(string)
	if !ok {
		return nil
	}
	delete(annotations, readyAnnotation)
	switch ready {
	case "True":
		into["ready"] = "READY_TRUE"
	case "False":
		into["ready"] = "READY_FALSE"
	case "Unspecified":
	default:
		return fmt.Errorf("invalid function input: invalid %q annotation value %q: must be True, False, or Unspecified", readyAnnotation, ready)
	}
	return nil
}

func (r *response) addConditions(u map[string]any) error {
	conditions, ok := u["conditions"].([]any)
	if !ok {
		return errors.New("cannot get Conditions from input: conditions: no such field")
	}
	for _, one := range conditions {
		c := one.(map[string]any)
		kind, _ := c["type"].(string)
		switch kind {
		case "Ready", "Synced", "Healthy", "UpToDate":
			return fmt.Errorf("cannot set ClaimCondition type: %s is a reserved Crossplane Condition", kind)
		}
		out := map[string]any{"type": kind, "status": "STATUS_CONDITION_UNKNOWN", "reason": c["reason"], "target": "TARGET_COMPOSITE"}
		switch c["status"] {
		case "True":
			out["status"] = "STATUS_CONDITION_TRUE"
		case "False":
			out["status"] = "STATUS_CONDITION_FALSE"
		}
		if c["target"] == "CompositeAndClaim" {
			out["target"] = "TARGET_COMPOSITE_AND_CLAIM"
		}
		if m, _ := c["message"].(string); m != "" {
			out["message"] = m
		}
		r.Conditions = append(r.Conditions, out)
	}
	return nil
}

func (r *response) addRequirements(u map[string]any) error {
	requirements, ok := u["requirements"].(map[string]any)
	if !ok {
		return errors.New("cannot get extra resources requirements: requirements: no such field")
	}
	if r.Requirements == nil {
		r.Requirements = map[string]map[string]any{}
	}
	add := func(kind, key string, v any) {
		if r.Requirements[kind] == nil {
			r.Requirements[kind] = map[string]any{}
		}
		r.Requirements[kind][key] = v
	}
	for key, one := range requirements {
		q := one.(map[string]any)
		out := map[string]any{"apiVersion": q["apiVersion"], "kind": q["kind"]}
		namespace, _ := q["namespace"].(string)
		if name, _ := q["matchName"].(string); name != "" {
			out["matchName"] = name
			if namespace != "" {
				out["namespace"] = namespace
			}
		} else {
			labels := map[string]any{}
			if l, ok := q["matchLabels"].(map[string]any); ok {
				labels = map[string]any{"labels": l}
			}
			out["matchLabels"] = labels
		}
		if _, seen := r.Requirements["extraResources"][key]; seen {
			return fmt.Errorf("duplicate extra resource key %q", key)
		}
		add("resources", key, out)
		if namespace == "" {
			add("extraResources", key, out)
		}
	}
	return nil
}

func (r *response) addMeta(u map[string]any) error {
	switch u["kind"] {
	case "CompositeConnectionDetails":
		data, _ := u["data"].(map[string]any)
		details, _ := r.Desired.Composite["connectionDetails"].(map[string]any)
		if details == nil {
			details = map[string]any{}
		}
		for k, v := range data {
			raw, err := base64.StdEncoding.DecodeString(v.(string))
			if err != nil {
				return err
			}
			details[k] = base64.StdEncoding.EncodeToString(raw)
		}
		if len(details) > 0 {
			r.Desired.Composite["connectionDetails"] = details
		}
		return nil
	case "ClaimConditions":
		return r.addConditions(u)
	case "Context":
		data, ok := u["data"].(map[string]any)
		if !ok {
			return errors.New("cannot get Contexts from input: data: no such field")
		}
		r.Context = deepMerge(r.Context, data)
		return nil
	case "ExtraResources":
		return r.addRequirements(u)
	}
	return fmt.Errorf("invalid kind %q for apiVersion %q - must be one of CompositeConnectionDetails, Context or ExtraResources", u["kind"], metaVersion)
}

func (r *response) add(u map[string]any, xr map[string]any) error {
	annotations, _ := dig(u, "metadata", "annotations").(map[string]any)
	name, isNamed := annotations[nameAnnotation].(string)
	isMeta := u["apiVersion"] == metaVersion
	if isMeta {
		return r.addMeta(u)
	}
	into := map[string]any{}
	isComposite := u["apiVersion"] == xr["apiVersion"] && u["kind"] == xr["kind"] && !isNamed
	if isComposite {
		into = r.Desired.Composite
	}
	if err := r.setReady(into, u); err != nil {
		return err
	}
	if isComposite {
		resource := r.Desired.Composite["resource"].(map[string]any)
		have, _ := resource["status"].(map[string]any)
		status, isSet := u["status"]
		if next, _ := status.(map[string]any); have != nil || isSet {
			resource = maps.Clone(resource)
			resource["status"] = deepMerge(have, next)
			r.Desired.Composite["resource"] = resource
		}
		return nil
	}
	if !isNamed {
		return fmt.Errorf("%q template is missing required %q annotation", u["kind"], nameAnnotation)
	}
	delete(annotations, nameAnnotation)
	into["resource"] = u
	r.Desired.Resources[name] = into
	return nil
}

func respond(c responseCase) (*response, error) {
	t := template.New("manifests")
	t, err := t.Funcs(ownFunctions(t)).Funcs(sprigFunctions()).Parse(c.Template)
	if err != nil {
		return nil, fmt.Errorf("invalid function input: cannot parse the provided templates: %w", err)
	}
	for _, o := range c.Options {
		t = t.Option(o)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, c.Request); err != nil {
		return nil, fmt.Errorf("cannot execute template: %w", err)
	}
	r := &response{Context: dig(c.Request, "context").(map[string]any)}
	r.Desired.Composite = map[string]any{"resource": dig(c.Request, "desired", "composite", "resource")}
	r.Desired.Resources = map[string]map[string]any{}
	for k, v := range dig(c.Request, "desired", "resources").(map[string]any) {
		r.Desired.Resources[k] = v.(map[string]any)
	}
	all, problem := documents(b.String())
	if problem != "" {
		return nil, errors.New(problem)
	}
	for _, u := range all {
		if err := r.add(u.Object, dig(c.Request, "observed", "composite", "resource").(map[string]any)); err != nil {
			return nil, err
		}
	}
	extra, _ := r.Context[extraKey].(map[string]any)
	r.Context = maps.Clone(r.Context)
	r.Context[extraKey] = deepMerge(extra, dig(c.Request, "extraResources").(map[string]any))
	return r, nil
}

// The response as protobuf writes it in JSON, with sorted keys; numbers as a Struct has them.
func runResponse(line []byte) (a answer) {
	var c responseCase
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	fail(d.Decode(&c))
	c.Request = settle(c.Request).(map[string]any)
	r, err := respond(c)
	if err != nil {
		return answer{Err: err.Error()}
	}
	raw, err := json.Marshal(r)
	fail(err)
	var plain any
	fail(json.Unmarshal(raw, &plain))
	raw, err = json.Marshal(plain)
	fail(err)
	return answer{Out: strings.TrimSpace(string(raw))}
}
