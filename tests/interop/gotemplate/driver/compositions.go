package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"gopkg.in/yaml.v3"
)

// The request that whole Compositions are rendered on.
const requestText = `{"meta": {"tag": "t"}, "observed": {"composite": {"resource": {"apiVersion": "example.org/v1", "kind": "XApp", "metadata": {"name": "shop", "labels": {"team": "web", "crossplane.io/claim-namespace": "prod"}},
 "spec": {"count": 3, "region": "eu-west-1", "size": "large", "public": true, "port": 8080, "cidr": "10.0.0.0/16", "zones": ["a", "b", "c"], "tags": {"env": "prod", "cost": "42"},
  "users": [{"name": "ann", "roles": ["admin", "dev"]}, {"name": "bob", "roles": []}], "database": {"engine": "postgres", "version": "14.9", "storageGB": 20}, "nothing": null}},
 "connectionDetails": {"k": "dg=="}},
 "resources": {"bucket": {"resource": {"kind": "Bucket", "metadata": {"name": "shop-bucket"}, "status": {"atProvider": {"arn": "arn:aws:s3:::shop"}, "conditions": [{"type": "Ready", "status": "True", "reason": "Available", "lastTransitionTime": "2024-01-02T03:04:05Z"}]}}, "connectionDetails": {"endpoint": "aHR0cDovL3g="}}}},
 "context": {"apiextensions.crossplane.io/environment": {"account": "123456789012", "vpc": {"id": "vpc-1", "subnets": ["s-1", "s-2"]}}},
 "extraResources": {"nets": {"items": [{"resource": {"metadata": {"name": "net-1"}, "spec": {"id": 7}}}]}}}`

func requestData() map[string]any {
	d := json.NewDecoder(strings.NewReader(requestText))
	d.UseNumber()
	var v map[string]any
	fail(d.Decode(&v))
	return settle(v).(map[string]any)
}

func dig(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// The functions that function-go-templating adds, as its documentation describes them.
func ownFunctions(t *template.Template) template.FuncMap {
	included := map[string]int{}
	return template.FuncMap{
		"toYaml": func(v any) (string, error) { b, err := yaml.Marshal(v); return string(b), err },
		"fromYaml": func(s string) (any, error) {
			var v any
			err := yaml.Unmarshal([]byte(s), &v)
			return v, err
		},
		"setResourceNameAnnotation": func(name string) string {
			return fmt.Sprintf("gotemplating.fn.crossplane.io/composition-resource-name: %s", name)
		},
		"getComposedResource": func(req map[string]any, name string) map[string]any {
			m, _ := dig(req, "observed", "resources", name, "resource").(map[string]any)
			return m
		},
		"getCompositeResource": func(req map[string]any) map[string]any {
			m, _ := dig(req, "observed", "composite", "resource").(map[string]any)
			return m
		},
		"getComposedConnectionDetails": func(req map[string]any, name string) map[string]any {
			m, _ := dig(req, "observed", "resources", name, "connectionDetails").(map[string]any)
			return m
		},
		"getExtraResources": func(req map[string]any, name string) []any {
			l, _ := dig(req, "extraResources", name, "items").([]any)
			return l
		},
		"getExtraResourcesFromContext": func(req map[string]any, name string) []any {
			l, _ := dig(req, "context", "apiextensions.crossplane.io/extra-resources", name, "items").([]any)
			return l
		},
		"getCredentialData": func(req map[string]any, name string) map[string][]byte {
			data, _ := dig(req, "credentials", name, "credentialData", "data").(map[string]any)
			out := map[string][]byte{}
			for k, v := range data {
				out[k], _ = base64.StdEncoding.DecodeString(v.(string))
			}
			if len(out) == 0 {
				return nil
			}
			return out
		},
		"getResourceCondition": getResourceCondition,
		"include": func(name string, data any) (string, error) {
			if included[name] > 1000 {
				return "", fmt.Errorf("rendering template has a nested reference name: %s: unable to execute template", name)
			}
			included[name]++
			defer func() { included[name]-- }()
			var b strings.Builder
			err := t.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
	}
}

type conditionStatus string

type condition struct {
	Type, Status, Reason conditionStatus
	Message              string
}

// The condition of that type in the resource's status, or in the value's own.
func getResourceCondition(kind string, res map[string]any) condition {
	status, ok := dig(res, "resource", "status").(map[string]any)
	if !ok {
		status, _ = dig(res, "status").(map[string]any)
	}
	conditions, _ := status["conditions"].([]any)
	for _, one := range conditions {
		if dig(one, "type") == kind {
			text := func(key string) string { s, _ := dig(one, key).(string); return s }
			return condition{conditionStatus(kind), conditionStatus(text("status")), conditionStatus(text("reason")), text("message")}
		}
	}
	return condition{Type: conditionStatus(kind), Status: "Unknown"}
}

func runComposition(line []byte) (a answer) {
	var c templateCase
	fail(json.Unmarshal(line, &c))
	t := template.New("manifests")
	t, err := t.Funcs(ownFunctions(t)).Funcs(sprigFunctions()).Parse(c.Template)
	if err != nil {
		return answer{Err: err.Error()}
	}
	for _, o := range c.Options {
		t = t.Option(o)
	}
	var b bytes.Buffer
	err = t.Execute(&b, requestData())
	a.Out = b.String()
	if err != nil {
		a.Err = err.Error()
	}
	return a
}

func genCompositions(seed int64, count int, dir string, emit func(any)) error {
	return handWritten(dir, "compositions*.txt", emit)
}
