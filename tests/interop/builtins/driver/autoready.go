package main

import (
	"math/rand"
	"reflect"
	"sort"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

func init() {
	suites["auto-ready"] = func(r *rand.Rand, n int, emit func(*fnv1.RunFunctionRequest)) {
		count := 0
		each := func(req *fnv1.RunFunctionRequest) { count++; emit(req) }
		for _, c := range autoReadyCases() {
			each(c)
		}
		g := &autoReadyGen{r}
		for count < n {
			each(g.request())
		}
	}
}

// autoReadyGen makes random requests. Left out are numbers that are not finite, which ours refuses to decode.
type autoReadyGen struct{ *rand.Rand }

func (g *autoReadyGen) chance(percent int) bool { return g.Intn(100) < percent }

func oneOf[T any](g *autoReadyGen, list ...T) T { return list[g.Intn(len(list))] }

var times = []any{"2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z", "2024-05-01T12:00:00+02:00", "2024-05-01T10:00:00.5Z", "0001-01-01T00:00:00Z"}
var badTimes = []any{"", "x", "2024-05-01", "2024-05-01T10:00:00", "2024-13-01T10:00:00Z", 5.0, true, object{}, "2024-05-01t10:00:00z", "2024-05-01T10:00:00,5Z", "2024-05-01T24:00:00Z"}

// Anything at all.
func (g *autoReadyGen) junk() any {
	return oneOf[any](g, nil, true, false, 0.0, 1.0, 2.0, -1.0, 1.5, 0.5, 2147483648.0, 1e10, 1e19, -1e19, 1e300, "", "x", "True", "1", "5m", " 5 ", "2024-05-01T10:00:00Z",
		[]any{}, []any{nil}, []any{"x"}, []any{1.0}, []any{object{}}, object{}, object{"a": 1.0}, object{"x": "y"}, object{"name": "z"})
}

// set puts a value where the path says, making objects on the way, with a chance that something on the way or the value is junk or not there.
func (g *autoReadyGen) set(o object, path string, v any) {
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		if g.Intn(300) == 0 {
			o[k] = g.junk()
		}
		next, ok := o[k].(object)
		if !ok {
			if _, ok := o[k]; ok {
				return
			}
			next = object{}
			o[k] = next
		}
		o = next
	}
	switch n := g.Intn(100); {
	case n < 4:
		return
	case n < 8:
		v = g.junk()
	}
	o[keys[len(keys)-1]] = v
}

func (g *autoReadyGen) number() any { return oneOf[any](g, 0.0, 1.0, 1.0, 1.0, 2.0, 3.0) }

func (g *autoReadyGen) condition(kinds []string) any {
	if g.Intn(40) == 0 {
		return g.junk()
	}
	c := object{"type": oneOf(g, kinds...), "status": oneOf[any](g, "True", "True", "True", "False", "Unknown", "true", "")}
	for _, f := range []string{"reason", "message"} {
		if g.chance(20) {
			c[f] = "x"
		}
	}
	if g.chance(40) {
		c["lastTransitionTime"] = times[g.Intn(len(times))]
	}
	if g.chance(10) {
		c["observedGeneration"] = oneOf[any](g, 1.0, 0.0, -5.0, 1e18, 9223372036854775807.0, -9223372036854775808.0, 1.5, "1", 1e21, nil)
	}
	if g.Intn(12) == 0 {
		c[oneOf(g, "type", "status", "reason", "message", "lastTransitionTime", "lastProbeTime", "observedGeneration", "other", "Type", "lastUpdateTime")] = g.junk()
	}
	if g.Intn(20) == 0 {
		c["lastTransitionTime"] = badTimes[g.Intn(len(badTimes))]
	}
	return c
}

func (g *autoReadyGen) conditions(o object, kinds ...string) {
	list := []any{}
	for range g.Intn(4) {
		list = append(list, g.condition(append(kinds, "Ready")))
	}
	if g.chance(90) {
		g.set(o, "status.conditions", list)
	}
}

// The kinds with rules: what of them the rules look at.
var autoReadyKinds = []struct {
	version, kind string
	fill          func(g *autoReadyGen, o object)
	typed         reflect.Type
}{
	{"v1", "ConfigMap", nil, nil},
	{"v1", "Secret", nil, nil},
	{"v1", "ServiceAccount", nil, nil},
	{"v1", "Namespace", nil, nil},
	{"example.org/v1", "Bucket", func(g *autoReadyGen, o object) { g.conditions(o, "Ready", "Synced") }, nil},
	{"v1", "Service", func(g *autoReadyGen, o object) {
		g.set(o, "spec.type", oneOf(g, "LoadBalancer", "LoadBalancer", "ClusterIP", "loadbalancer", ""))
		g.ingress(o)
	}, nil},
	{"networking.k8s.io/v1", "Ingress", func(g *autoReadyGen, o object) { g.ingress(o) }, nil},
	{"v1", "PersistentVolumeClaim", func(g *autoReadyGen, o object) {
		g.set(o, "status.phase", oneOf(g, "Bound", "Bound", "Pending", "bound"))
	}, typeOf("persistent_volume_claim")},
	{"v1", "Pod", func(g *autoReadyGen, o object) {
		g.set(o, "status.phase", oneOf(g, "Succeeded", "Succeeded", "Running", "Running", "Running", "Failed", "running"))
		g.set(o, "spec.restartPolicy", oneOf(g, "Always", "Always", "Never", "OnFailure", "", "always"))
		if g.chance(70) {
			g.conditions(o, "Ready", "Initialized")
		}
	}, typeOf("pod")},
	{"apps/v1", "Deployment", func(g *autoReadyGen, o object) {
		g.replicas(o)
		g.set(o, "status.updatedReplicas", g.number())
		g.set(o, "status.availableReplicas", g.number())
		g.conditions(o, "Available", "Available", "Progressing")
	}, nil},
	{"apps/v1", "StatefulSet", func(g *autoReadyGen, o object) {
		g.replicas(o)
		g.set(o, "status.readyReplicas", g.number())
		g.set(o, "status.currentReplicas", g.number())
		g.set(o, "status.currentRevision", oneOf[any](g, "a", "a", "a", "b", ""))
		g.set(o, "status.updateRevision", oneOf[any](g, "a", "a", "a", "b", ""))
	}, nil},
	{"apps/v1", "DaemonSet", func(g *autoReadyGen, o object) {
		n := g.number()
		for _, f := range []string{"desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable"} {
			if g.chance(8) {
				n = g.number()
			}
			g.set(o, "status."+f, n)
		}
	}, nil},
	{"apps/v1", "ReplicaSet", func(g *autoReadyGen, o object) {
		g.replicas(o)
		g.set(o, "metadata.generation", g.number())
		g.set(o, "status.observedGeneration", oneOf[any](g, 2.0, 3.0, 1.0))
		g.set(o, "status.availableReplicas", g.number())
		if g.chance(40) {
			g.conditions(o, "ReplicaFailure", "Other")
		}
	}, typeOf("replica_set")},
	{"batch/v1", "Job", func(g *autoReadyGen, o object) {
		g.conditions(o, "Complete", "Complete", "Failed", "Suspended", "FailureTarget")
	}, typeOf("job")},
	{"batch/v1", "CronJob", func(g *autoReadyGen, o object) {
		if g.chance(40) {
			g.set(o, "spec.suspend", oneOf(g, true, false))
		}
		g.set(o, "status.lastScheduleTime", times[g.Intn(len(times))])
		g.set(o, "status.lastSuccessfulTime", times[g.Intn(len(times))])
		if g.chance(30) {
			g.set(o, "status.active", oneOf(g, []any{}, []any{object{"name": "x"}}, []any{nil}))
		}
	}, typeOf("cron_job")},
	{"autoscaling/v2", "HorizontalPodAutoscaler", func(g *autoReadyGen, o object) {
		g.conditions(o, "ScalingActive", "ScalingActive", "ScalingLimited", "AbleToScale", "FailedGetScale", "FailedUpdateScale", "FailedGetResourceMetric", "InvalidSelector")
	}, typeOf("horizontal_pod_autoscaler")},
}

func typeOf(name string) reflect.Type {
	names, _ := types()
	return names[name]
}

func (g *autoReadyGen) replicas(o object) {
	if g.chance(70) {
		g.set(o, "spec.replicas", oneOf[any](g, 1.0, 1.0, 2.0, 0.0, 3.0, 1.5, -1.0))
	}
}

func (g *autoReadyGen) ingress(o object) {
	g.set(o, "status.loadBalancer.ingress", oneOf(g, []any{}, []any{object{"ip": "1.2.3.4"}}, []any{object{"ip": "1.2.3.4"}}, []any{nil}, []any{"x"}))
}

// A value that the member's type can hold.
func (g *autoReadyGen) right(f field) any {
	switch f.kind {
	case "STRING":
		return oneOf[any](g, "x", "", nil)
	case "BOOL":
		return oneOf[any](g, true, false, nil)
	case "INT32", "INT64":
		return oneOf[any](g, 0.0, 5.0, -5.0, 2147483648.0, 1e19, 1e300, nil)
	case "TIME":
		return times[g.Intn(len(times))]
	case "QUANTITY":
		return oneOf[any](g, "5", "100m", "1.5Gi", "1e3", " 5", "5 ", 5.0, 0.5, 1e30, 1e-9, nil)
	case "INT_OR_STRING":
		return oneOf[any](g, 5.0, -1.0, 2147483647.0, "80%", "", nil)
	case "FIELDS":
		return object{"f:a": object{}}
	}
	return object{}
}

func (g *autoReadyGen) wrong(f field) any {
	switch f.kind {
	case "TIME":
		return badTimes[g.Intn(len(badTimes))]
	case "QUANTITY":
		return oneOf[any](g, "", "x", "5mm", "1.5.5", "5\t", "--5", true, []any{}, object{}, "5ki")
	case "INT_OR_STRING":
		return oneOf[any](g, 1.5, 2147483648.0, true, []any{}, object{})
	}
	return g.junk()
}

// noise sets one member somewhere in an object of the type, rightly or wrongly.
func (g *autoReadyGen) noise(o object, t reflect.Type, depth int) {
	all := fields(t)
	f := all[g.Intn(len(all))]
	if depth == 0 && (f.name == "kind" || f.name == "apiVersion") {
		return
	}
	var v any
	switch {
	case f.of != nil && g.chance(92):
		inner, _ := o[f.name].(object)
		if inner == nil || f.shape != "ONE" {
			inner = object{}
		}
		g.noise(inner, f.of, depth+1)
		v = inner
	case g.chance(50):
		v = g.right(f)
	default:
		v = g.wrong(f)
	}
	if v != nil || g.chance(50) {
		switch {
		case g.chance(4):
		case f.shape == "LIST":
			v = []any{v}
		case f.shape == "MAP":
			v = object{"k": v}
		}
	}
	o[f.name] = v
}

func (g *autoReadyGen) observed() object {
	k := autoReadyKinds[g.Intn(len(autoReadyKinds))]
	o := object{"apiVersion": k.version, "kind": k.kind, "metadata": object{"name": "x"}}
	if k.fill != nil {
		k.fill(g, o)
	}
	if k.typed != nil && g.chance(50) {
		for range 1 + g.Intn(3) {
			g.noise(o, k.typed, 0)
		}
	}
	if k.typed == nil && g.chance(10) {
		g.conditions(o, "Ready")
	}
	switch g.Intn(60) {
	case 0:
		o["apiVersion"] = oneOf[any](g, "/v1", "v1/", "apps/v1/", "apps/v1beta1", "v2", "", nil, 5.0, "/", "a/b/c", "batch/v1")
	case 1:
		o["kind"] = oneOf[any](g, "", "pod", nil, 5.0, "Pods", "Job")
	case 2:
		o[oneOf(g, "metadata", "spec", "status")] = g.junk()
	}
	return o
}

func (g *autoReadyGen) input() object {
	switch g.Intn(8) {
	case 0:
		return object{"ttl": oneOf[any](g, "5m", "1h30m", "0", "", "-1s", "-1ns", "1.5s", "5", "bad", "1d", "9223372036854775807ns", "300000h", "1us", "1µs", "+5s", ".5s", "s", " 5s", nil, 5.0, true)}
	case 1:
		return object{"apiVersion": "autoready.fn.crossplane.io/v1beta1", "kind": "Input", "metadata": object{"name": "x"}}
	case 2:
		return object{"celHealthCheckCustomization": oneOf[any](g, object{"apps_v1_Deployment": "true"}, object{}, nil, object{"a": 1.0}, "x", object{"a": nil}, object{"v1_Pod": "syntax ("}), "celHealthCheckCustomizationFrom": oneOf[any](g, "a.b", "", nil, 5.0)}
	case 3:
		return object{oneOf(g, "foo", "TTL", "Ttl", "spec", "ttl"): g.junk()}
	case 4:
		return object{oneOf(g, "apiVersion", "kind", "metadata"): g.junk()}
	}
	return object{}
}

func (g *autoReadyGen) state() *fnv1.State {
	s := &fnv1.State{}
	if g.chance(50) {
		s.Composite = &fnv1.Resource{Ready: oneOf(g, fnv1.Ready_READY_TRUE, fnv1.Ready_READY_FALSE, fnv1.Ready_READY_UNSPECIFIED, fnv1.Ready(7))}
		if g.chance(80) {
			s.Composite.Resource = mustStruct(object{"kind": "XR", "spec": object{"a": 1.0}})
		}
		if g.chance(30) {
			s.Composite.ConnectionDetails = map[string][]byte{"k": []byte("v")}
		}
	}
	return s
}

func (g *autoReadyGen) request() *fnv1.RunFunctionRequest {
	req := &fnv1.RunFunctionRequest{}
	if g.chance(80) {
		req.Meta = &fnv1.RequestMeta{Tag: oneOf(g, "", "tag")}
	}
	if g.chance(97) {
		req.Observed, req.Desired = g.state(), g.state()
	}
	if g.chance(20) {
		req.Context = mustStruct(oneOf(g, object{}, object{"a": object{"b": object{"v1_Pod": "true"}}}))
	}
	if g.chance(20) {
		req.Input = mustStruct(g.input())
	}
	if req.Desired == nil {
		return req
	}
	req.Observed.Resources, req.Desired.Resources = map[string]*fnv1.Resource{}, map[string]*fnv1.Resource{}
	for range g.Intn(6) {
		name := oneOf(g, "a", "b", "c", "d", "e", "f", "")
		if g.chance(95) {
			req.Observed.Resources[name] = &fnv1.Resource{Resource: mustStruct(g.observed())}
		} else if g.chance(50) {
			req.Observed.Resources[name] = &fnv1.Resource{}
		}
		d := &fnv1.Resource{Ready: oneOf(g, fnv1.Ready_READY_UNSPECIFIED, fnv1.Ready_READY_UNSPECIFIED, fnv1.Ready_READY_UNSPECIFIED, fnv1.Ready_READY_UNSPECIFIED, fnv1.Ready_READY_TRUE, fnv1.Ready_READY_FALSE, fnv1.Ready(7))}
		if g.chance(90) {
			d.Resource = mustStruct(oneOf(g, object{}, object{"kind": "K", "spec": object{"n": 1.5, "l": []any{nil, object{}}}}))
		}
		if g.chance(20) {
			d.ConnectionDetails = map[string][]byte{"k": []byte("v")}
		}
		if g.chance(95) {
			req.Desired.Resources[name] = d
		}
	}
	return req
}

var autoReadyInputs = []object{
	{}, {"ttl": "5m"}, {"ttl": ""}, {"ttl": nil}, {"ttl": "0"}, {"ttl": "-1s"}, {"ttl": "-1ns"}, {"ttl": "bad"}, {"ttl": "5"}, {"ttl": "1d"}, {"ttl": "9223372036854775808ns"}, {"ttl": 5.0}, {"ttl": object{}},
	{"TTL": "5m"}, {"foo": nil}, {"spec": object{}},
	{"apiVersion": 5.0}, {"kind": true}, {"kind": nil}, {"metadata": nil}, {"metadata": "x"}, {"metadata": object{}}, {"metadata": object{"foo": 1.0}}, {"metadata": object{"name": 5.0}}, {"metadata": object{"name": "x", "labels": object{"a": "b"}}},
	{"metadata": object{"labels": object{"a": 1.0}}}, {"metadata": object{"creationTimestamp": nil}}, {"metadata": object{"creationTimestamp": "x"}}, {"metadata": object{"creationTimestamp": "2024-05-01T10:00:00Z"}}, {"metadata": object{"generation": 1.5}},
	{"metadata": object{"generation": 1.0}}, {"metadata": object{"ownerReferences": []any{object{"foo": 1.0}}}}, {"metadata": object{"ownerReferences": []any{object{"name": "x"}}}}, {"metadata": object{"finalizers": []any{1.0}}}, {"metadata": object{"managedFields": []any{object{"fieldsV1": object{"f:a": object{}}}}}},
	{"metadata": object{"managedFields": []any{object{"foo": object{}}}}}, {"metadata": object{"Name": "x"}},
	{"celHealthCheckCustomization": object{"a": "b"}}, {"celHealthCheckCustomization": object{"a": nil}}, {"celHealthCheckCustomization": object{"a": 1.0}}, {"celHealthCheckCustomization": []any{}}, {"celHealthCheckCustomizationFrom": "a.b"}, {"celHealthCheckCustomizationFrom": 1.0},
}

// One observed resource, not marked.
func asks(o object) *fnv1.RunFunctionRequest {
	return &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{Resources: map[string]*fnv1.Resource{"a": {Resource: mustStruct(o)}}},
		Desired:  &fnv1.State{Resources: map[string]*fnv1.Resource{"a": {Resource: mustStruct(object{"a": 1.0})}}},
	}
}

// Every member of every type that the typed kinds are made of, once with each of a few values, in a Pod that is ready otherwise. A type
// that a Pod does not have is reached in its own kind, which need not be ready to show a difference: those come at random.
func autoReadyCases() []*fnv1.RunFunctionRequest {
	var all []*fnv1.RunFunctionRequest
	for _, k := range autoReadyKinds {
		all = append(all, asks(object{"apiVersion": k.version, "kind": k.kind}))
	}
	for _, input := range autoReadyInputs {
		req := asks(object{"apiVersion": "v1", "kind": "Secret"})
		req.Input = mustStruct(input)
		all = append(all, req)
	}
	ready := map[string]func() object{
		"pod": func() object {
			return object{"apiVersion": "v1", "kind": "Pod", "spec": object{}, "status": object{"phase": "Succeeded"}}
		},
		"persistent_volume_claim": func() object {
			return object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": object{"phase": "Bound"}}
		},
		"replica_set": func() object {
			return object{"apiVersion": "apps/v1", "kind": "ReplicaSet", "status": object{"availableReplicas": 5.0}}
		},
		"job": func() object {
			return object{"apiVersion": "batch/v1", "kind": "Job", "status": object{"conditions": []any{object{"type": "Complete", "status": "True"}}}}
		},
		"cron_job": func() object {
			return object{"apiVersion": "batch/v1", "kind": "CronJob", "spec": object{"suspend": true}}
		},
		"horizontal_pod_autoscaler": func() object {
			return object{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "status": object{"conditions": []any{object{"type": "ScalingActive", "status": "True"}}}}
		},
	}
	names, _ := types()
	seen := map[reflect.Type]bool{}
	var kinds []string
	for k := range ready {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	for _, k := range kinds {
		all = append(all, asks(ready[k]()))
		eachMember(names[k], nil, seen, func(path []field) {
			last := path[len(path)-1]
			for _, v := range []any{nil, "x", 1.5, true, []any{}, object{}} {
				o := ready[k]()
				if len(path) == 1 && (last.name == "kind" || last.name == "apiVersion") {
					continue
				}
				place(o, path, v)
				all = append(all, asks(o))
			}
		})
	}
	return all
}

// eachMember visits every member of the type and of the types below it, each type once.
func eachMember(t reflect.Type, path []field, seen map[reflect.Type]bool, visit func([]field)) {
	if seen[t] {
		return
	}
	seen[t] = true
	for _, f := range fields(t) {
		here := append(append([]field{}, path...), f)
		visit(here)
		if f.of != nil {
			eachMember(f.of, here, seen, visit)
		}
	}
}

// place puts v at the path; in lists and maps it is the one element.
func place(o object, path []field, v any) {
	f := path[0]
	if len(path) > 1 {
		inner, ok := o[f.name].(object)
		if !ok || f.shape != "ONE" {
			inner = object{}
		}
		place(inner, path[1:], v)
		v = inner
	}
	switch {
	case f.shape == "LIST":
		v = []any{v}
	case f.shape == "MAP":
		v = object{"k": v}
	}
	o[f.name] = v
}
