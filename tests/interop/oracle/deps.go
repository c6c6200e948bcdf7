// Pins the libraries every suite may use.
package main

import (
	_ "github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	_ "github.com/crossplane/crossplane/apis/v2/core/v2"
	_ "github.com/crossplane/function-sdk-go/proto/v1"
	_ "google.golang.org/protobuf/encoding/protojson"
	_ "google.golang.org/protobuf/types/dynamicpb"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	_ "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	_ "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	_ "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	_ "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	_ "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	_ "k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	_ "k8s.io/apimachinery/pkg/api/resource"
	_ "k8s.io/apimachinery/pkg/fields"
	_ "k8s.io/apimachinery/pkg/labels"
	_ "k8s.io/apimachinery/pkg/util/managedfields"
	_ "k8s.io/apimachinery/pkg/util/yaml"
	_ "sigs.k8s.io/structured-merge-diff/v6/merge"
	_ "sigs.k8s.io/yaml"
)
