// A function of the shape of function-go-templating on the Go SDK: it executes the inline template of its input with text/template,
// sprig and toYaml on the request as JSON, decodes the documents and adds them to the desired composed resources.
//
//	templating --address ADDRESS
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/crossplane/function-sdk-go"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
	"github.com/crossplane/function-sdk-go/resource"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/encoding/protojson"
	yamlv3 "gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const nameAnnotation = "gotemplating.fn.crossplane.io/composition-resource-name"

type templating struct {
	fnv1.UnimplementedFunctionRunnerServiceServer
}

func functions() template.FuncMap {
	return template.FuncMap{
		"toYaml": func(v any) (string, error) { b, err := yamlv3.Marshal(v); return string(b), err },
		"setResourceNameAnnotation": func(name string) string {
			return nameAnnotation + ": " + name
		},
	}
}

// Numbers as Kubernetes decodes them: int64 where they have neither fraction nor exponent.
func settle(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = settle(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = settle(v[k])
		}
	}
	return v
}

func data(req *fnv1.RunFunctionRequest) (map[string]any, error) {
	raw, err := protojson.Marshal(req)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return settle(v).(map[string]any), nil
}

func render(req *fnv1.RunFunctionRequest) (string, error) {
	input := req.GetInput().AsMap()
	inline, _ := input["inline"].(map[string]any)
	text, _ := inline["template"].(string)
	t, err := template.New("manifests").Funcs(functions()).Funcs(sprig.TxtFuncMap()).Parse(text)
	if err != nil {
		return "", err
	}
	d, err := data(req)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, d)
	return b.String(), err
}

func add(desired map[resource.Name]*resource.DesiredComposed, text string) error {
	d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 1024)
	for {
		u := &unstructured.Unstructured{}
		err := d.Decode(u)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if u.Object == nil {
			continue
		}
		annotations := u.GetAnnotations()
		name, ok := annotations[nameAnnotation]
		if !ok {
			return fmt.Errorf("%q template is missing required %q annotation", u.GetKind(), nameAnnotation)
		}
		delete(annotations, nameAnnotation)
		u.SetAnnotations(annotations)
		one := resource.NewDesiredComposed()
		one.Resource.Object = u.Object
		desired[resource.Name(name)] = one
	}
}

func (templating) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, response.DefaultTTL)
	text, err := render(req)
	if err != nil {
		response.Fatal(rsp, err)
		return rsp, nil
	}
	desired, err := request.GetDesiredComposedResources(req)
	if err == nil {
		err = add(desired, text)
	}
	if err == nil {
		err = response.SetDesiredComposedResources(rsp, desired)
	}
	if err != nil {
		response.Fatal(rsp, err)
	}
	return rsp, nil
}

func main() {
	address := flag.String("address", "127.0.0.1:9443", "where to listen")
	_ = flag.Bool("insecure", true, "without TLS, always")
	flag.Parse()
	if err := function.Serve(templating{}, function.Listen("tcp", *address), function.Insecure(true)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
