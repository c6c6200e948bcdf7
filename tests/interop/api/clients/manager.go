package main

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	managerNamespace = "managers"
	finalizer        = group + "/controller"
	leaseName        = "managers.clients.example.org"
)

func sortedStrings(list []string) []string {
	sort.Strings(list)
	return list
}

func newGadget() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Gadget"})
	return u
}

// A reconciler keeps a ConfigMap for each Gadget, by the cache of its manager, and says so in the Gadget's status.
type reconciler struct {
	client.Client
	manager manager.Manager
	name    string
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	gadget := newGadget()
	if err := r.Get(ctx, request.NamespacedName, gadget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if gadget.GetDeletionTimestamp() != nil {
		controllerutil.RemoveFinalizer(gadget, finalizer)
		return ctrl.Result{}, client.IgnoreNotFound(r.Update(ctx, gadget))
	}
	if controllerutil.AddFinalizer(gadget, finalizer) {
		return ctrl.Result{}, r.Update(ctx, gadget)
	}
	m := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, m, func() error {
		size, _, _ := unstructured.NestedInt64(gadget.Object, "spec", "size")
		m.Data = map[string]string{"size": fmt.Sprint(size)}
		return controllerutil.SetControllerReference(gadget, m, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if result != controllerutil.OperationResultNone {
		r.manager.GetEventRecorderFor("gadgets").Event(gadget, "Normal", "Kept", "the ConfigMap was "+string(result))
		r.manager.GetEventRecorder("gadgets").Eventf(gadget, nil, "Normal", "Seen", "Keep", "the ConfigMap was %s", result)
	}
	before := gadget.DeepCopy()
	if err := unstructured.SetNestedField(gadget.Object, m.Data["size"], "status", "size"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Patch(ctx, gadget, client.MergeFrom(before))
}

// startManager runs a manager until the returned function is called.
func startManager(rc *rest.Config, name string) (manager.Manager, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	lease, renew, retry := 4*time.Second, 3*time.Second, 300*time.Millisecond
	skip := true
	m, err := ctrl.NewManager(rc, manager.Options{LeaderElection: true, LeaderElectionID: leaseName, LeaderElectionNamespace: managerNamespace,
		LeaderElectionReleaseOnCancel: true, LeaseDuration: &lease, RenewDeadline: &renew, RetryPeriod: &retry,
		Controller: config.Controller{SkipNameValidation: &skip}, Metrics: server.Options{BindAddress: "0"}})
	check(err, "manager")
	r := &reconciler{Client: m.GetClient(), manager: m, name: name}
	check(ctrl.NewControllerManagedBy(m).Named(name).For(newGadget()).Owns(&core.ConfigMap{}).Complete(r), "controller")
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(m.Start(ctx), "manager "+name)
	}()
	return m, func() {
		cancel()
		<-done
	}
}

func runManager(rc *rest.Config) {
	log.SetLogger(zap.New(zap.WriteTo(devNull{})))
	ctx := context.Background()
	direct, err := client.New(rc, client.Options{})
	check(err, "client")
	check(direct.Create(ctx, &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: managerNamespace}}), "create namespace")
	establish(ctx, rc, "Gadget", "gadgets")
	first, stopFirst := startManager(rc, "first")
	<-first.Elected()
	second, stopSecond := startManager(rc, "second")
	fmt.Println("the first manager leads")
	makeGadgets(ctx, direct, 0, 10)
	select {
	case <-second.Elected():
		fail("two managers lead")
	default:
	}
	stopFirst()
	<-second.Elected()
	fmt.Println("the second manager leads after the first has gone")
	makeGadgets(ctx, direct, 10, 20)
	changeGadgets(ctx, direct)
	report(ctx, direct)
	stopSecond()
	lease := &coordination.Lease{}
	check(direct.Get(ctx, client.ObjectKey{Namespace: managerNamespace, Name: leaseName}, lease), "get lease")
	fmt.Printf("the lease has changed hands %d times, its holder is %q\n", *lease.Spec.LeaseTransitions, *lease.Spec.HolderIdentity)
}

type devNull struct{}

func (devNull) Write(p []byte) (int, error) { return len(p), nil }

func gadgetName(i int) string { return fmt.Sprintf("gadget%02d", i) }

func sizeInStatus(ctx context.Context, c client.Client, name string) string {
	gadget := newGadget()
	if c.Get(ctx, client.ObjectKey{Namespace: managerNamespace, Name: name}, gadget) != nil {
		return ""
	}
	size, _, _ := unstructured.NestedString(gadget.Object, "status", "size")
	return size
}

func makeGadgets(ctx context.Context, c client.Client, from, to int) {
	for i := from; i < to; i++ {
		gadget := newGadget()
		gadget.SetNamespace(managerNamespace)
		gadget.SetName(gadgetName(i))
		check(unstructured.SetNestedField(gadget.Object, int64(i), "spec", "size"), "size")
		check(c.Create(ctx, gadget), "create Gadget")
	}
	for i := from; i < to; i++ {
		eventually(gadgetName(i)+" has a status", func() bool { return sizeInStatus(ctx, c, gadgetName(i)) == fmt.Sprint(i) })
	}
}

// changeGadgets: sizes by patches and by apply, ConfigMaps that come back, gadgets that go.
func changeGadgets(ctx context.Context, c client.Client) {
	for i := range 5 {
		gadget := newGadget()
		gadget.SetNamespace(managerNamespace)
		gadget.SetName(gadgetName(i))
		check(c.Patch(ctx, gadget, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"size":100}}`))), "patch Gadget")
	}
	for i := 5; i < 10; i++ {
		gadget := newGadget()
		gadget.SetNamespace(managerNamespace)
		gadget.SetName(gadgetName(i))
		check(unstructured.SetNestedField(gadget.Object, int64(100), "spec", "size"), "size")
		check(c.Apply(ctx, client.ApplyConfigurationFromUnstructured(gadget), client.ForceOwnership, client.FieldOwner("applier")), "apply Gadget")
	}
	for i := range 10 {
		eventually(gadgetName(i)+" has the new size", func() bool { return sizeInStatus(ctx, c, gadgetName(i)) == "100" })
	}
	m := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: gadgetName(10)}}
	check(c.Delete(ctx, m), "delete ConfigMap")
	eventually("the ConfigMap comes back", func() bool { return c.Get(ctx, client.ObjectKeyFromObject(m), m) == nil })
	for i := 15; i < 20; i++ {
		gadget := newGadget()
		gadget.SetNamespace(managerNamespace)
		gadget.SetName(gadgetName(i))
		check(c.Delete(ctx, gadget), "delete Gadget")
		m := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: gadgetName(i)}}
		eventually(gadgetName(i)+" and its ConfigMap go", func() bool {
			return errors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(gadget), gadget)) && errors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(m), m))
		})
	}
}

func managers(o metav1.Object) string {
	list := []string{}
	for _, e := range o.GetManagedFields() {
		list = append(list, fmt.Sprintf("%s/%s/%s %s", e.Manager, e.Operation, e.Subresource, e.FieldsV1.GetRawString()))
	}
	return strings.Join(sortedStrings(list), "; ")
}

func report(ctx context.Context, c client.Client) {
	gadgets := &unstructured.UnstructuredList{}
	gadgets.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "GadgetList"})
	check(c.List(ctx, gadgets, client.InNamespace(managerNamespace)), "list Gadgets")
	for _, g := range gadgets.Items {
		fmt.Printf("gadget %s g%d %v %v %s\n", g.GetName(), g.GetGeneration(), g.Object["spec"], g.Object["status"], managers(&g))
	}
	maps := &core.ConfigMapList{}
	check(c.List(ctx, maps, client.InNamespace(managerNamespace)), "list ConfigMaps")
	for _, m := range maps.Items {
		if owner := metav1.GetControllerOf(&m); owner != nil {
			fmt.Printf("configmap %s %v of %s %s\n", m.Name, m.Data, owner.Kind, owner.Name)
		}
	}
	eventually("all events are there", func() bool {
		recorded := &core.EventList{}
		check(c.List(ctx, recorded, client.InNamespace(managerNamespace)), "list Events")
		n := int32(0)
		for _, e := range recorded.Items {
			if e.Reason == "Kept" {
				n += e.Count
			}
		}
		return n == 20+10+1
	})
	eventually("all events of the new recorder are there, in both groups", func() bool {
		recorded, mirrored := &events.EventList{}, &core.EventList{}
		check(c.List(ctx, recorded, client.InNamespace(managerNamespace)), "list Events of events.k8s.io")
		check(c.List(ctx, mirrored, client.InNamespace(managerNamespace)), "list Events")
		seen := map[string]bool{}
		for _, e := range recorded.Items {
			if e.Reason == "Seen" && e.Action == "Keep" && strings.HasPrefix(e.Note, "the ConfigMap was ") {
				seen[e.Regarding.Name] = true
			}
		}
		return len(seen) == 20 && len(recorded.Items) == len(mirrored.Items)
	})
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: "GadgetList"})
	check(c.List(ctx, metadata, client.InNamespace(managerNamespace), client.Limit(7)), "list metadata")
	fmt.Printf("metadata of %d, more to come: %v, %d left\n", meta.LenList(metadata), metadata.Continue != "", *metadata.RemainingItemCount)
}
