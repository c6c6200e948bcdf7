package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	apps "k8s.io/api/apps/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	informersNamespace = "informers"
	customInformers    = 16
)

// A journal keeps what the informers tell of objects of this program, by informer and object.
type journal struct {
	sync.Mutex
	entries map[string][]string
}

func (j *journal) add(informer, event string, object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	m, err := meta.Accessor(object)
	check(err, "object of an informer")
	if m.GetLabels()["of"] != "informers" {
		return
	}
	j.Lock()
	defer j.Unlock()
	key := informer + " " + m.GetName()
	j.entries[key] = append(j.entries[key], fmt.Sprintf("%s g%d %v", event, m.GetGeneration(), m.GetLabels()))
}

func (j *journal) handler(informer string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { j.add(informer, "added", o) },
		UpdateFunc: func(_, o any) { j.add(informer, "updated", o) },
		DeleteFunc: func(o any) { j.add(informer, "deleted", o) },
	}
}

func (j *journal) count() int {
	j.Lock()
	defer j.Unlock()
	n := 0
	for _, list := range j.entries {
		n += len(list)
	}
	return n
}

func runInformers(config *rest.Config) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, err := kubernetes.NewForConfig(config)
	check(err, "client")
	_, err = client.CoreV1().Namespaces().Create(ctx, &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: informersNamespace, Labels: map[string]string{"of": "informers"}}}, metav1.CreateOptions{})
	check(err, "create namespace")
	resources := []schema.GroupVersionResource{}
	for i := range customInformers {
		resources = append(resources, establish(ctx, config, fmt.Sprintf("Thing%d", i), fmt.Sprintf("thing%ds", i)))
	}
	j := &journal{entries: map[string][]string{}}
	stores, synced := startInformers(ctx, config, client, resources, j)
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		fail("the informers do not get in step")
	}
	fmt.Printf("%d informers are in step\n", len(stores))
	wanted := j.count() + changeTyped(ctx, client) + changeCustom(ctx, config, resources)
	eventually(fmt.Sprintf("%d events", wanted), func() bool { return j.count() >= wanted })
	for _, key := range sorted(j.entries) {
		say(key, j.entries[key])
	}
	reportStores(stores)
}

func startInformers(ctx context.Context, config *rest.Config, client kubernetes.Interface, resources []schema.GroupVersionResource, j *journal) (map[string][]cache.Store, []cache.InformerSynced) {
	stores := map[string][]cache.Store{}
	synced := []cache.InformerSynced{}
	add := func(name string, informer cache.SharedIndexInformer) {
		registration, err := informer.AddEventHandler(j.handler(name))
		check(err, "handler")
		stores[name] = append(stores[name], informer.GetStore())
		synced = append(synced, informer.HasSynced, registration.HasSynced)
	}
	typed := informers.NewSharedInformerFactory(client, 0)
	add("configmaps", typed.Core().V1().ConfigMaps().Informer())
	add("secrets", typed.Core().V1().Secrets().Informer())
	add("serviceaccounts", typed.Core().V1().ServiceAccounts().Informer())
	add("services", typed.Core().V1().Services().Informer())
	add("events", typed.Core().V1().Events().Informer())
	add("namespaces", typed.Core().V1().Namespaces().Informer())
	add("deployments", typed.Apps().V1().Deployments().Informer())
	add("roles", typed.Rbac().V1().Roles().Informer())
	add("rolebindings", typed.Rbac().V1().RoleBindings().Informer())
	add("clusterroles", typed.Rbac().V1().ClusterRoles().Informer())
	add("clusterrolebindings", typed.Rbac().V1().ClusterRoleBindings().Informer())
	add("leases", typed.Coordination().V1().Leases().Informer())
	add("validatingwebhookconfigurations", typed.Admissionregistration().V1().ValidatingWebhookConfigurations().Informer())
	add("mutatingwebhookconfigurations", typed.Admissionregistration().V1().MutatingWebhookConfigurations().Informer())
	typed.Start(ctx.Done())
	client2, err := dynamic.NewForConfig(config)
	check(err, "dynamic client")
	custom := dynamicinformer.NewDynamicSharedInformerFactory(client2, 0)
	for _, r := range resources {
		add(r.Resource, custom.ForResource(r).Informer())
	}
	custom.Start(ctx.Done())
	return stores, synced
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": "informers"}}
}

// changeTyped makes, changes and deletes objects of built-in kinds and returns how many events that is.
func changeTyped(ctx context.Context, client kubernetes.Interface) int {
	o := metav1.CreateOptions{}
	events := 0
	for i := range 10 {
		name := fmt.Sprintf("o%d", i)
		m, err := client.CoreV1().ConfigMaps(informersNamespace).Create(ctx, &core.ConfigMap{ObjectMeta: named(name), Data: map[string]string{"i": name}}, o)
		check(err, "create ConfigMap")
		m.Labels["step"] = "2"
		_, err = client.CoreV1().ConfigMaps(informersNamespace).Update(ctx, m, metav1.UpdateOptions{})
		check(err, "update ConfigMap")
		_, err = client.CoreV1().Secrets(informersNamespace).Create(ctx, &core.Secret{ObjectMeta: named(name), StringData: map[string]string{"i": name}}, o)
		check(err, "create Secret")
		check(client.CoreV1().Secrets(informersNamespace).Delete(ctx, name, metav1.DeleteOptions{}), "delete Secret")
		events += 4
	}
	_, err := client.CoreV1().ServiceAccounts(informersNamespace).Create(ctx, &core.ServiceAccount{ObjectMeta: named("sa")}, o)
	check(err, "create ServiceAccount")
	_, err = client.CoreV1().Services(informersNamespace).Create(ctx, &core.Service{ObjectMeta: named("service"), Spec: core.ServiceSpec{ClusterIP: "None", Ports: []core.ServicePort{{Port: 80}}}}, o)
	check(err, "create Service")
	_, err = client.CoreV1().Events(informersNamespace).Create(ctx, &core.Event{ObjectMeta: named("event"), InvolvedObject: core.ObjectReference{Namespace: informersNamespace}, Reason: "R"}, o)
	check(err, "create Event")
	_, err = client.RbacV1().Roles(informersNamespace).Create(ctx, &rbac.Role{ObjectMeta: named("role"), Rules: []rbac.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}}, o)
	check(err, "create Role")
	_, err = client.RbacV1().RoleBindings(informersNamespace).Create(ctx, &rbac.RoleBinding{ObjectMeta: named("binding"), RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: "role"}}, o)
	check(err, "create RoleBinding")
	_, err = client.CoordinationV1().Leases(informersNamespace).Create(ctx, &coordination.Lease{ObjectMeta: named("lease")}, o)
	check(err, "create Lease")
	label := map[string]string{"a": "b"}
	_, err = client.AppsV1().Deployments(informersNamespace).Create(ctx, &apps.Deployment{ObjectMeta: named("deployment"), Spec: apps.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: label},
		Template: core.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: label}, Spec: core.PodSpec{Containers: []core.Container{{Name: "c", Image: "i"}}}}}}, o)
	check(err, "create Deployment")
	_, err = client.AppsV1().Deployments(informersNamespace).Patch(ctx, "deployment", types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"d","image":"j"}]}}}}`), metav1.PatchOptions{})
	check(err, "patch Deployment")
	check(client.RbacV1().Roles(informersNamespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "of=informers"}), "delete Roles")
	return events + 7 + 1 + 1
}

// changeCustom does the same with custom kinds.
func changeCustom(ctx context.Context, config *rest.Config, resources []schema.GroupVersionResource) int {
	client, err := dynamic.NewForConfig(config)
	check(err, "dynamic client")
	for i, r := range resources {
		things := client.Resource(r).Namespace(informersNamespace)
		thing := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1", "kind": fmt.Sprintf("Thing%d", i),
			"metadata": map[string]any{"name": "thing", "labels": map[string]any{"of": "informers"}}, "spec": map[string]any{"n": int64(i)}}}
		thing, err := things.Create(ctx, thing, metav1.CreateOptions{})
		check(err, "create Thing")
		thing.Object["status"] = map[string]any{"phase": "Up"}
		thing, err = things.UpdateStatus(ctx, thing, metav1.UpdateOptions{})
		check(err, "update status")
		thing.Object["spec"] = map[string]any{"n": int64(i + 1)}
		_, err = things.Update(ctx, thing, metav1.UpdateOptions{})
		check(err, "update Thing")
		applied := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1", "kind": fmt.Sprintf("Thing%d", i),
			"metadata": map[string]any{"name": "applied", "labels": map[string]any{"of": "informers"}}}}
		_, err = things.Apply(ctx, "applied", applied, metav1.ApplyOptions{FieldManager: "informers"})
		check(err, "apply Thing")
		check(things.Delete(ctx, "applied", metav1.DeleteOptions{}), "delete Thing")
	}
	return 5 * len(resources)
}

// reportStores prints what each cache holds at the end of objects of this program.
func reportStores(stores map[string][]cache.Store) {
	held := map[string][]string{}
	for name, list := range stores {
		held[name] = []string{}
		for _, store := range list {
			for _, o := range store.List() {
				m, err := meta.Accessor(o)
				check(err, "object of a cache")
				if labels.Set(m.GetLabels()).Get("of") == "informers" {
					held[name] = append(held[name], m.GetNamespace()+"/"+m.GetName())
				}
			}
		}
	}
	for _, name := range sorted(held) {
		list := held[name]
		fmt.Printf("cache of %s: %d, %s\n", name, len(list), strings.Join(sortedStrings(list), " "))
	}
}
