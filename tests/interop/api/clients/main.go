// Clients of the Kubernetes API as others write them: 30 shared informers, and two managers of controller-runtime that elect a leader. They
// run unchanged on any server and print what they have seen; the texts of two servers must be equal.
//
//	clients informers|manager    on the API of KUBECONFIG
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const group = "clients.example.org"

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "clients: "+format+"\n", args...)
	os.Exit(1)
}

func check(err error, doing string) {
	if err != nil {
		fail("%s: %v", doing, err)
	}
}

// eventually waits for a condition, a minute at most.
func eventually(what string, done func() bool) {
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			fail("never: %s", what)
		}
	}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check(err, "KUBECONFIG")
	config.QPS = -1
	if len(os.Args) < 2 {
		fail("usage: clients informers|manager")
	}
	switch os.Args[1] {
	case "informers":
		runInformers(config)
	case "manager":
		runManager(config)
	default:
		fail("unknown client %s", os.Args[1])
	}
}

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// establish makes a kind of the name with a status and any other fields, and waits until it is served.
func establish(ctx context.Context, config *rest.Config, kind, plural string) schema.GroupVersionResource {
	client, err := dynamic.NewForConfig(config)
	check(err, "client")
	preserve := true
	crd := &apiextensions.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensions.CustomResourceDefinitionSpec{Group: group, Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Kind: kind, Plural: plural},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{Type: "object",
					Properties: map[string]apiextensions.JSONSchemaProps{
						"spec":   {Type: "object", XPreserveUnknownFields: &preserve},
						"status": {Type: "object", XPreserveUnknownFields: &preserve}}}}}}}}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	check(err, "CRD")
	_, err = client.Resource(crds).Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	if !errors.IsAlreadyExists(err) {
		check(err, "create CRD "+plural)
	}
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: plural}
	eventually(plural+" is served", func() bool {
		_, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
		return err == nil
	})
	return resource
}

// say prints a value as one line.
func say(what string, value any) {
	text, err := json.Marshal(value)
	check(err, what)
	fmt.Printf("%s %s\n", what, text)
}

func sorted(m map[string][]string) []string {
	names := []string{}
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
