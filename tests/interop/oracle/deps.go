// Pins the libraries every suite may use.
package main

import (
	_ "github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	_ "github.com/crossplane/function-sdk-go/proto/v1"
	_ "google.golang.org/protobuf/encoding/protojson"
	_ "google.golang.org/protobuf/types/dynamicpb"
	_ "k8s.io/apimachinery/pkg/api/resource"
	_ "k8s.io/apimachinery/pkg/util/yaml"
	_ "sigs.k8s.io/yaml"
)
