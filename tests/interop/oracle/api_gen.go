// Sequences for the api suite: written ones first, then random ones of several sorts.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

//go:embed testdata/api/kinds.yaml
var apiKindsYAML []byte

//go:embed testdata/api/sequences.yaml
var apiSequencesYAML []byte

type apiGen struct {
	r        *rand.Rand
	custom   []*clusterKind
	builtin  []*clusterKind
	byAlias  map[string]*clusterKind
	n        int // of the sequence
	requests int
}

// genAPI writes sequences with at least that many requests together.
func genAPI(r *rand.Rand, count int, emit func(c any)) {
	g := &apiGen{r: r, custom: readKinds(clusterKindsYAML), builtin: readKinds(apiKindsYAML), byAlias: map[string]*clusterKind{}}
	for _, k := range append(append([]*clusterKind{}, g.custom...), g.builtin...) {
		g.byAlias[k.Alias] = k
	}
	emit(apiCase{About: "what is there before", Setup: clusterSetup(g.custom)})
	written := []apiCase{}
	if err := yaml.Unmarshal(apiSequencesYAML, &written, useNumber); err != nil {
		fail("sequences.yaml: %v", err)
	}
	for i := range written {
		written[i].Namespace = fmt.Sprintf("w%d", i)
		g.requests += len(written[i].Steps)
		emit(written[i])
	}
	sorts := []func() apiCase{g.customWrites, g.customWrites, g.builtinWrites, g.builtinWrites, g.builtinWrites, g.reads, g.reads, g.watches, g.protobufs, g.negotiations, g.badRequests, g.rights}
	for g.requests < count {
		g.n++
		c := sorts[g.r.Intn(len(sorts))]()
		g.requests += len(c.Steps)
		emit(c)
	}
}

func (g *apiGen) chance(percent int) bool       { return g.r.Intn(100) < percent }
func (g *apiGen) pick(choices ...string) string { return choices[g.r.Intn(len(choices))] }

func (g *apiGen) objects(k *clusterKind) *sequenceGen {
	return &sequenceGen{r: g.r, kind: k, byAlias: g.byAlias, name: fmt.Sprintf("r%d", g.n), wild: g.r.Intn(3) == 0, replicas: 10, ownerless: true}
}

// --- Writes ---

func (g *apiGen) customWrites() apiCase {
	o := g.objects(g.custom[g.r.Intn(len(g.custom))])
	c := o.sequence()
	for i := range c.Steps {
		// The garbage collector upstream looks for new kinds twice a minute only.
		if s := &c.Steps[i]; s.Op == "delete" {
			s.Propagation = "Background"
			s.DryRun = false
		}
	}
	return g.settled(o, c)
}

func (g *apiGen) builtinWrites() apiCase {
	o := g.objects(g.builtin[g.r.Intn(len(g.builtin))])
	c := o.sequence()
	for i := range c.Steps {
		if s := &c.Steps[i]; s.Op == "merge" && g.chance(50) && s.Subresource != "scale" {
			s.Op = "strategic"
		}
	}
	return g.settled(o, c)
}

// settled adds steps that wait for the garbage collector after deletes that give it work, so that all further steps find the same.
func (g *apiGen) settled(o *sequenceGen, c clusterCase) apiCase {
	result := apiCase{About: c.About}
	for _, s := range c.Steps {
		step := apiStep{clusterStep: s}
		if g.chance(4) {
			step.Accept = g.pick("application/yaml", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v1;g=meta.k8s.io")
			if step.Op != "get" {
				step.Accept = ""
			}
		}
		result.Steps = append(result.Steps, step)
		if s.Op == "delete" && (s.Propagation == "Foreground" || s.Propagation == "Orphan") {
			path := clusterPath(&clusterStep{Op: "get", Of: s.Of, Namespace: s.Namespace, Name: s.Name})
			await := apiStep{Method: "GET", Path: path, Until: untilSettled}
			await.Op = "await"
			result.Steps = append(result.Steps, await)
		}
	}
	return result
}

// --- Reads ---

const apiTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// populated: a namespace with several objects of a kind that lists can tell apart.
func (g *apiGen) populated(about string) (apiCase, string, int) {
	c := apiCase{About: about, Namespace: fmt.Sprintf("n%d", g.n)}
	of := g.pick("example.org/v1 Widget widgets", "example.org/v1 Widget widgets", "v1 ConfigMap configmaps", "v1 Secret secrets", "coordination.k8s.io/v1 Lease leases", "v1 ServiceAccount serviceaccounts", "rbac.authorization.k8s.io/v1 Role roles")
	parts := strings.Split(of, " ")
	n := 2 + g.r.Intn(5)
	for i := range n {
		labels := map[string]any{"i": fmt.Sprint(i), "half": g.pick("left", "right")}
		if g.chance(50) {
			labels["some"] = g.pick("x", "y")
		}
		object := map[string]any{"apiVersion": parts[0], "kind": parts[1], "metadata": map[string]any{"name": fmt.Sprintf("o%d", i), "labels": labels}}
		switch parts[1] {
		case "Widget":
			object["spec"] = map[string]any{"size": i}
		case "Secret":
			object["type"] = g.pick("Opaque", "example.org/x")
		case "Lease":
			object["spec"] = map[string]any{"holderIdentity": g.pick("me", "you")}
		}
		raw, _ := json.Marshal(object)
		c.Steps = append(c.Steps, apiStep{clusterStep: clusterStep{Op: "create", Of: of, Namespace: "{ns}", Body: raw, Manager: "m"}})
	}
	return c, of, n
}

func collection(of string) string {
	return clusterPath(&clusterStep{Op: "list", Of: of, Namespace: "{ns}"})
}

func (g *apiGen) selectors() url.Values {
	q := url.Values{}
	if g.chance(40) {
		q.Set("labelSelector", g.pick("half=left", "half!=left", "half in (left,right)", "some", "!some", "some notin (x)", "i>1", "i<3,half==right", "i in ()", "some=", "half=left,some", "a b", "i=1=2", "i,", "(", "-bad=1", "i>x", "x/y/z=1", "half in (left", "half in left", "half=left,", "half=ri*ght"))
	}
	if g.chance(30) {
		q.Set("fieldSelector", g.pick("metadata.name=o1", "metadata.name!=o1", "metadata.namespace={ns}", "metadata.name=o1,metadata.name=o2", "type=Opaque", "foo", "spec.size=1", "metadata.name=o1,", "=", "metadata.labels=x", `metadata.name=a\x`, "metadata.name==o0", "status.phase=Active"))
	}
	return q
}

func (g *apiGen) listQuery(n int) url.Values {
	q := g.selectors()
	if g.chance(30) {
		q.Set("limit", g.pick("1", "2", "3", "100", "0", "-1", "x"))
	}
	if g.chance(25) {
		q.Set("resourceVersion", g.pick("", "0", fmt.Sprintf("{%d.metadata.resourceVersion}", n-1), "abc", "-1"))
		if g.chance(60) {
			q.Set("resourceVersionMatch", g.pick("Exact", "NotOlderThan", "Foo", ""))
		} else if g.chance(30) {
			q.Set("resourceVersion", "{0.metadata.resourceVersion}")
			q.Set("resourceVersionMatch", "Exact")
		}
	}
	if g.chance(3) {
		q.Set("resourceVersionMatch", "Exact")
	}
	if g.chance(3) {
		q.Set("sendInitialEvents", "true")
	}
	if g.chance(3) {
		q.Set("continue", g.pick("abc", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0", "eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6ImEifQ"))
	}
	if g.chance(3) {
		q.Set("timeout", g.pick("abc", "10s"))
	}
	return q
}

// encode leaves references in braces as they are.
func encode(q url.Values) string {
	text := strings.NewReplacer("%7B", "{", "%7D", "}").Replace(q.Encode())
	if text != "" {
		return "?" + text
	}
	return ""
}

func (g *apiGen) reads() apiCase {
	c, of, n := g.populated("reads")
	for range 4 + g.r.Intn(5) {
		q := g.listQuery(n)
		s := apiStep{Method: "GET", Path: collection(of), Accept: "application/json"}
		if g.chance(25) {
			s.Accept = g.pick(apiTable, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", apiTable+",application/json")
			if g.chance(40) {
				q.Set("includeObject", g.pick("None", "Metadata", "Object", "Foo", ""))
			}
		}
		if g.chance(15) {
			s.Path += "/" + g.pick("o0", "o1", "none")
			q.Del("limit")
		}
		s.Path += encode(q)
		c.Steps = append(c.Steps, s)
		limit := q.Get("limit")
		for limit == "1" || limit == "2" {
			q = url.Values{"limit": []string{limit}, "labelSelector": q["labelSelector"], "fieldSelector": q["fieldSelector"]}
			if q.Get("labelSelector") == "" {
				q.Del("labelSelector")
			}
			if q.Get("fieldSelector") == "" {
				q.Del("fieldSelector")
			}
			q.Set("continue", fmt.Sprintf("{%d.metadata.continue}", len(c.Steps)-1))
			c.Steps = append(c.Steps, apiStep{Method: "GET", Path: collection(of) + encode(q), Accept: s.Accept})
			if g.chance(40) {
				break
			}
		}
	}
	if g.chance(30) {
		q := g.selectors()
		if g.chance(30) {
			q.Set("limit", "1")
		}
		if g.chance(30) {
			q.Set("dryRun", "All")
		}
		if q.Get("labelSelector") == "" {
			q.Set("labelSelector", "i") // controllers put back what they had put there
		}
		c.Steps = append(c.Steps, apiStep{Method: "DELETE", Path: collection(of) + encode(q)}, apiStep{Method: "GET", Path: collection(of)})
	}
	return c
}

// watches: several watches on one collection, then writes, then the events that each of them must see.
func (g *apiGen) watches() apiCase {
	c, of, n := g.populated("watches")
	names := []string{}
	q := url.Values{"watch": []string{"true"}, "timeoutSeconds": []string{"60"}}
	start := g.pick("", "0", fmt.Sprintf("{%d.metadata.resourceVersion}", n-1), "initial", "initial")
	switch start {
	case "":
	case "initial":
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", "NotOlderThan")
		q.Set("allowWatchBookmarks", "true")
	default:
		q.Set("resourceVersion", start)
	}
	selected := g.chance(40)
	if selected {
		q.Set("labelSelector", "i=0")
	} else {
		q.Set("labelSelector", "i")
	}
	w := apiStep{Method: "GET", Path: collection(of) + encode(q), Accept: "application/json"}
	w.Watch = "w"
	if g.chance(30) {
		w.Accept = g.pick(apiTable, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
	}
	c.Steps = append(c.Steps, w)
	names = append(names, "w")
	count := 0
	if start == "" || start == "0" || start == "initial" {
		count = n
		if selected {
			count = 1
		}
	}
	if start == "initial" {
		count++
	}
	patch := func(name string, body string) {
		s := apiStep{Method: "PATCH", Path: collection(of) + "/" + name + "?fieldManager=p", Type: "application/merge-patch+json"}
		s.Text = body
		c.Steps = append(c.Steps, s)
	}
	patch("o0", `{"metadata":{"annotations":{"x":"1"}}}`)
	patch("o1", `{"metadata":{"annotations":{"x":"1"}}}`)
	patch("o0", `{"metadata":{"labels":{"i":"7"}}}`)
	patch("o1", `{"metadata":{"labels":{"i":"0"}}}`)
	c.Steps = append(c.Steps, apiStep{Method: "DELETE", Path: collection(of) + "/o1"})
	if selected {
		count += 4 // o0 changed and left, o1 came and was deleted
	} else {
		count += 5
	}
	for _, name := range names {
		c.Steps = append(c.Steps, apiStep{clusterStep: clusterStep{Op: "events", Watch: name, Count: count}}, apiStep{clusterStep: clusterStep{Op: "stop", Watch: name}})
	}
	bad := url.Values{"watch": []string{"1"}, "timeoutSeconds": []string{g.pick("1", "x")}}
	bad.Set(g.pick("resourceVersionMatch", "sendInitialEvents", "continue", "resourceVersion", "labelSelector", "fieldSelector"), g.pick("Exact", "true", "abc", "false", "a b"))
	c.Steps = append(c.Steps, apiStep{Method: "GET", Path: collection(of) + encode(bad)})
	return c
}

// --- Protobuf ---

func toProtobuf(raw []byte) []byte {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		return nil // not an object of that kind
	}
	encoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	text, err := runtime.Encode(encoder, object)
	if err != nil {
		return nil
	}
	return text
}

func (g *apiGen) protobufs() apiCase {
	o := g.objects(g.builtin[g.r.Intn(len(g.builtin))])
	o.wild = false
	c := apiCase{About: "protobuf " + o.kind.Kind}
	path := clusterPath(&clusterStep{Op: "list", Of: o.kind.of(), Namespace: o.kind.namespace()})
	send := func(method, path string, object map[string]any) {
		raw, _ := json.Marshal(object)
		bytes := toProtobuf(raw)
		if bytes == nil {
			return
		}
		if g.chance(5) {
			bytes = bytes[:g.r.Intn(len(bytes))]
		}
		s := apiStep{Method: method, Path: path + "?fieldManager=" + g.pick("m1", "m2"), Type: "application/vnd.kubernetes.protobuf", Accept: "application/vnd.kubernetes.protobuf,application/json"}
		s.Bytes = bytes
		s.Accept = "application/json"
		c.Steps = append(c.Steps, s)
	}
	object := o.object(true)
	meta := object["metadata"].(map[string]any)
	delete(meta, "generateName")
	meta["name"] = o.name
	send("POST", path, object)
	for range 1 + g.r.Intn(3) {
		object := o.object(true)
		meta := object["metadata"].(map[string]any)
		delete(meta, "generateName")
		meta["name"] = o.name
		send("PUT", path+"/"+o.name, object)
	}
	c.Steps = append(c.Steps, apiStep{Method: "GET", Path: path + "/" + o.name})
	options, err := runtime.Encode(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), deleteOptions(g.pick("Background", "Nonsense")))
	if err == nil {
		c.Steps = append(c.Steps, apiStep{Method: "DELETE", Path: path + "/" + o.name, Type: "application/vnd.kubernetes.protobuf", Bytes: options})
	}
	return c
}

func deleteOptions(policy string) runtime.Object {
	raw := fmt.Sprintf(`{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":%q}`, policy)
	gvk := schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(raw), &gvk, nil)
	if err != nil {
		fail("%v", err)
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return object
}

// --- Content types, paths, verbs ---

func (g *apiGen) target() (string, string, string) {
	of := g.pick("example.org/v1 Widget widgets", "v1 ConfigMap configmaps", "coordination.k8s.io/v1 Lease leases", "example.org/v1 Continent continents", "rbac.authorization.k8s.io/v1 ClusterRole clusterroles")
	parts := strings.Split(of, " ")
	if parts[2] == "continents" || parts[2] == "clusterroles" {
		return clusterPath(&clusterStep{Op: "list", Of: of}), parts[0], parts[1]
	}
	return collection(of), parts[0], parts[1]
}

func (g *apiGen) negotiations() apiCase {
	c := apiCase{About: "content types", Namespace: fmt.Sprintf("n%d", g.n)}
	path, version, kind := g.target()
	name := fmt.Sprintf("x%d", g.n)
	create := apiStep{Method: "POST", Path: path + "?fieldManager=m", Type: "application/json"}
	create.Text = fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"labels":{"only":%q}}}`, version, kind, name, name)
	c.Steps = append(c.Steps, create)
	accepts := []string{"", "*/*", "application/*", "application/json", "application/yaml", "text/html", "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
		"application/json;as=Table;v=v2;g=meta.k8s.io", "application/json;as=Foo;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
		"text/html,application/json;q=0.5", "application/cbor", "application/json;q=0.1,application/yaml;q=0.9", "application/json;stream=watch", "garbage", "application/json; charset=utf-8", "application/json;pretty=1"}
	types := []string{"", "application/json", "application/yaml", "application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded", "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml", "garbage", "application/cbor"}
	for range 4 + g.r.Intn(4) {
		s := apiStep{Accept: g.pick(accepts...), Type: g.pick(types...)}
		switch g.r.Intn(5) {
		case 0:
			s.Method, s.Path, s.Type = "GET", path+"/"+name, ""
		case 1:
			s.Method, s.Path, s.Type = "GET", path+"?labelSelector=only%3D"+name, ""
		case 2:
			s.Method, s.Path = "PATCH", path+"/"+name+"?fieldManager="+g.pick("m", "n")
			s.Text = g.pick(`{"metadata":{"labels":{"a":"b"}}}`, `[{"op":"add","path":"/metadata/labels","value":{"a":"c"}}]`, `{}`, `[]`, `null`, ``, `{`, `"x"`, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"labels":{"z":"1"}}}`, version, kind, name))
		case 3:
			s.Method, s.Path = "POST", path
			s.Text = strings.ReplaceAll(create.Text, name, name+"y")
		case 4:
			s.Method, s.Path = "PUT", path+"/"+name
			s.Text = g.pick(create.Text, "apiVersion: "+version+"\nkind: "+kind+"\nmetadata:\n  name: "+name+"\n", "{}", "")
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

func (g *apiGen) badRequests() apiCase {
	c := apiCase{About: "bad requests", Namespace: fmt.Sprintf("n%d", g.n)}
	path, version, kind := g.target()
	name := fmt.Sprintf("b%d", g.n)
	good := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q}}`, version, kind, name)
	bodies := []string{good, "", "{", "[]", "null", "5", `"x"`, "{}", strings.Replace(good, kind, "Other", 1), strings.Replace(good, version, "other/v1", 1), strings.Replace(good, name, "Bad_Name", 1),
		strings.Replace(good, `"name"`, `"nam"`, 1), strings.Replace(good, `"metadata":{`, `"metadata":{"namespace":"other",`, 1), strings.Replace(good, `"metadata":{`, `"metadata":{"labels":{"a":5},`, 1),
		strings.Replace(good, `"metadata":{`, `"metadata":{"labels":{"-":"5"},`, 1), strings.Replace(good, `"metadata":{`, `"metadata":{"resourceVersion":"5",`, 1), strings.Replace(good, `"metadata":{`, `"metadata":{"uid":"u",`, 1),
		strings.Replace(good, `"metadata":{`, `"metadata":{"generateName":"x",`, 1), good + "x", `{"a":1,"a":2}`, strings.Replace(good, "{", `{"bogus":1,`, 1), strings.Replace(good, "{", `{"kind":"Twice",`, 1)}
	queries := []string{"", "", "", "?dryRun=All", "?dryRun=", "?dryRun=Foo", "?fieldManager=", "?fieldManager=a%01b", "?fieldValidation=Foo", "?fieldValidation=Strict", "?fieldValidation=Warn", "?fieldValidation=Ignore", "?force=true", "?pretty=true", "?foo=bar", "?fieldManager=" + strings.Repeat("m", 129),
		"?propagationPolicy=Foo", "?propagationPolicy=Foreground&orphanDependents=true", "?gracePeriodSeconds=x", "?gracePeriodSeconds=-1", "?timeout=1x", "?orphanDependents=false", "?limit=x", "?watch=true&timeoutSeconds=1"}
	paths := []string{path, path, path, path + "/" + name, path + "/" + name, path + "/" + name + "/status", path + "/" + name + "/scale", path + "/" + name + "/nothing", path + "/", path + "/" + name + "/", path + "/a%2Fb", path + "//x", strings.Replace(path, "/v1", "/v9", 1),
		strings.Replace(path, "{ns}", "Bad_NS", 1), strings.Replace(path, "{ns}", "missing", 1), strings.Replace(path, "/namespaces/{ns}", "", 1), path + "x", "/apis/none.example.org/v1/things", "/nothing", "/apis/example.org/v1/namespaces/{ns}/continents", "/api/v1/namespaces/{ns}/nothings"}
	for range 6 + g.r.Intn(5) {
		s := apiStep{Method: g.pick("GET", "POST", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "FOO"), Accept: "application/json"}
		s.Path = g.pick(paths...) + g.pick(queries...)
		if s.Method == "DELETE" && !strings.Contains(s.Path, name) && strings.HasPrefix(s.Path, path) && !strings.Contains(path, "{ns}") {
			s.Path = path + "/" + name // a cluster-scoped collection belongs to all sequences
		}
		if s.Method == "GET" && !strings.Contains(s.Path, "{ns}") && !strings.Contains(s.Path, name) && strings.HasPrefix(s.Path, "/api") && !strings.Contains(s.Path, "none.example.org") {
			s.Path = path + "/" + name
		}
		switch s.Method {
		case "POST", "PUT":
			s.Text, s.Type = g.pick(bodies...), "application/json"
		case "PATCH":
			s.Type = g.pick("application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml", "application/strategic-merge-patch+json")
			s.Text = g.pick(append(bodies, `[{"op":"replace","path":"/metadata/labels","value":{"a":"b"}}]`, `[{"op":"foo"}]`, `[{"op":"remove","path":"/nope"}]`, `[{"op":"test","path":"/kind","value":"x"}]`)...)
		case "DELETE":
			s.Text, s.Type = g.pick("", "", "{}", `{"propagationPolicy":"Foo"}`, `{"preconditions":{"uid":"nobody"}}`, `{"preconditions":{"resourceVersion":"1"}}`, `{"dryRun":["All"]}`, `{"gracePeriodSeconds":"x"}`, "[", `{"kind":"Foo","apiVersion":"v1"}`), "application/json"
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}

// --- Who may do what ---

func (g *apiGen) rights() apiCase {
	c := apiCase{About: "rights", Namespace: fmt.Sprintf("n%d", g.n)}
	user := fmt.Sprintf("u%d", g.n)
	verbs := []string{}
	for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*"} {
		if g.chance(30) {
			verbs = append(verbs, verb)
		}
	}
	if len(verbs) == 0 {
		verbs = []string{"get"}
	}
	rule := map[string]any{"apiGroups": []string{g.pick("", "", "example.org", "*")}, "resources": []string{g.pick("configmaps", "configmaps", "widgets", "*", "widgets/status", "*/status")}, "verbs": verbs}
	if g.chance(25) {
		rule["resourceNames"] = []string{"a"}
	}
	post := func(path string, object any) {
		s := apiStep{Method: "POST", Path: path, Type: "application/json"}
		s.Body, _ = json.Marshal(object)
		c.Steps = append(c.Steps, s)
	}
	rbac := "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/"
	post(rbac+"roles", map[string]any{"metadata": map[string]any{"name": "r"}, "rules": []any{rule}})
	post(rbac+"rolebindings", map[string]any{"metadata": map[string]any{"name": "b"}, "roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
		"subjects": []any{map[string]any{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}}})
	// The authorizer learns of roles a moment later.
	review := func(attributes map[string]any) apiStep {
		s := apiStep{Method: "POST", Path: "/apis/authorization.k8s.io/v1/subjectaccessreviews", Type: "application/json"}
		s.Body, _ = json.Marshal(map[string]any{"spec": map[string]any{"user": user, "resourceAttributes": attributes}})
		return s
	}
	resource := rule["resources"].([]string)[0]
	plain, sub, _ := strings.Cut(resource, "/")
	attributes := map[string]any{"namespace": c.Namespace, "verb": verbs[0], "group": rule["apiGroups"].([]string)[0], "resource": strings.ReplaceAll(plain, "*", "any"), "subresource": sub, "name": "a"}
	if attributes["group"] == "*" {
		attributes["group"] = ""
	}
	if verbs[0] == "*" {
		attributes["verb"] = "get"
	}
	known := review(attributes)
	known.Op, known.Until = "await", `"allowed":true`
	c.Steps = append(c.Steps, known)
	for range 4 + g.r.Intn(5) {
		s := apiStep{Headers: map[string]string{"Impersonate-User": user}, Type: "application/json", Accept: "application/json"}
		switch g.r.Intn(9) {
		case 0:
			s.Method, s.Path = "GET", "/api/v1/namespaces/{ns}/configmaps"+g.pick("", "/a", "?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Da", "?fieldSelector=metadata.name%3Da")
		case 1:
			s.Method, s.Path = "POST", "/apis/example.org/v1/namespaces/{ns}/widgets"
			s.Text = fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":%q}}`, g.pick("a", "b"))
		case 2:
			s.Method, s.Path = g.pick("DELETE", "GET", "PUT"), "/apis/example.org/v1/namespaces/{ns}/widgets/"+g.pick("a", "b", "a/status")
		case 3:
			s.Method, s.Path = "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
			s.Body, _ = json.Marshal(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{"resourceAttributes": map[string]any{
				"namespace": g.pick("{ns}", ""), "verb": g.pick("get", "*", "create"), "group": g.pick("", "example.org", "*"), "resource": g.pick("configmaps", "widgets", "*")}}})
		case 4:
			s.Method, s.Path = "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
			s.Text = g.pick(`{"spec":{"nonResourceAttributes":{"verb":"get","path":"/api"}}}`, `{"spec":{}}`, `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/metrics"},"resourceAttributes":{"verb":"get"}}}`, `{}`)
		case 5:
			s.Method, s.Path = "GET", g.pick("/metrics", "/api", "/apis", "/version", "/healthz", "/openapi/v3", "/logs", "/apis/example.org", "/nothing", "/apis/example.org/v1")
			if s.Path == "/openapi/v3" || s.Path == "/apis" || s.Path == "/version" {
				s.Method = "HEAD"
			}
		case 6:
			s.Method, s.Path, s.Text = "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}"
			if g.chance(50) {
				s.Headers["Impersonate-Group"] = "g1"
				s.Headers["Impersonate-Extra-Some"] = "thing"
				s.Headers["Impersonate-Uid"] = "id"
			}
		case 7:
			s.User = g.pick("nobody", "none", "wrong")
			s.Headers = nil
			s.Method, s.Path = "GET", g.pick("/api/v1/namespaces/{ns}/configmaps", "/version", "/healthz", "/metrics", "/api/v1/namespaces/{ns}", "/apis/example.org/v1/namespaces/{ns}/widgets/x/status", "/nothing")
			if s.Path == "/version" {
				s.Method = "HEAD"
			}
		case 8:
			s.User = "nobody"
			s.Method, s.Path = "GET", "/api/v1/namespaces/{ns}/configmaps"
		}
		c.Steps = append(c.Steps, s)
	}
	return c
}
