// Steps of a sequence, done on a real Kubernetes API over HTTP.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// A clusterStep is one call of the cluster interface. tests/cluster-conformance/step.h says what its fields mean.
type clusterStep struct {
	Op          string          `json:"op"`
	Of          string          `json:"of,omitempty"` // "example.org/v1 Widget widgets"
	Namespace   string          `json:"ns,omitempty"`
	Name        string          `json:"name,omitempty"`
	Subresource string          `json:"sub,omitempty"`
	Body        json.RawMessage `json:"body,omitempty"`
	Text        string          `json:"text,omitempty"` // the body as text, where keys repeat
	Base        string          `json:"base,omitempty"` // the answer that the body is a merge patch on
	Manager     string          `json:"manager,omitempty"`
	Force       bool            `json:"force,omitempty"`
	DryRun      bool            `json:"dryRun,omitempty"`
	Validation  string          `json:"validation,omitempty"`
	Propagation string          `json:"propagation,omitempty"`
	UID         string          `json:"uid,omitempty"` // preconditions of a delete
	Version     string          `json:"version,omitempty"`
	// list and watch
	Labels    string `json:"labels,omitempty"`
	Fields    string `json:"fields,omitempty"`
	Limit     int    `json:"limit,omitempty"`
	Continue  string `json:"continue,omitempty"`
	Match     string `json:"match,omitempty"`
	Watch     string `json:"watch,omitempty"`
	Count     int    `json:"count,omitempty"`
	Initial   bool   `json:"initial,omitempty"`
	Bookmarks bool   `json:"bookmarks,omitempty"`
	// scenarios
	Want       any  `json:"want,omitempty"`
	Eventually bool `json:"eventually,omitempty"`
}

type clusterAPI struct {
	url, token string
	client     *http.Client
}

func newClusterAPI() *clusterAPI {
	ca, err := os.ReadFile(os.Getenv("KUBE_CA"))
	if err != nil {
		fail("this suite needs a Kubernetes API (tests/interop/kube-peer.sh): %v", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	return &clusterAPI{url: os.Getenv("KUBE_URL"), token: os.Getenv("KUBE_TOKEN"), client: &http.Client{Transport: transport}}
}

// clusterRun is one sequence on its way: what the steps so far have answered.
type clusterRun struct {
	api     *clusterAPI
	answers []map[string]any // of each step, nil if it gave no object
	first   map[string]any
	last    map[string]any
	phases  []int64 // the second in which each phase began
	watches map[string]*clusterWatch
}

func decodeNumbers(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func (r *clusterRun) answer(which string) map[string]any {
	switch which {
	case "first":
		return r.first
	case "last":
		return r.last
	}
	if n, err := strconv.Atoi(which); err == nil && n < len(r.answers) {
		return r.answers[n]
	}
	return nil
}

// resolve replaces strings such as "@last.metadata.uid" or "@2.metadata.managedFields" by what that answer holds, null if nothing.
func (r *clusterRun) resolve(v any) any {
	switch v := v.(type) {
	case string:
		if !strings.HasPrefix(v, "@") {
			return v
		}
		parts := strings.Split(v[1:], ".")
		var at any = r.answer(parts[0])
		for _, p := range parts[1:] {
			if n, err := strconv.Atoi(p); err == nil {
				if list, ok := at.([]any); ok && n < len(list) {
					at = list[n]
					continue
				}
			}
			m, _ := at.(map[string]any)
			at = m[p]
		}
		return at
	case map[string]any:
		for k := range v {
			v[k] = r.resolve(v[k])
		}
	case []any:
		for i := range v {
			v[i] = r.resolve(v[i])
		}
	}
	return v
}

func (r *clusterRun) resolveString(s string) string {
	s, _ = r.resolve(s).(string)
	return s
}

func mergePatched(doc, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	d, ok := doc.(map[string]any)
	if !ok {
		d = map[string]any{}
	}
	result := map[string]any{}
	for k, v := range d {
		result[k] = v
	}
	for k, v := range p {
		if v == nil {
			delete(result, k)
		} else {
			result[k] = mergePatched(result[k], v)
		}
	}
	return result
}

func (r *clusterRun) body(s *clusterStep) []byte {
	if s.Text != "" {
		return []byte(s.Text)
	}
	if len(s.Body) == 0 && s.Base == "" {
		return nil
	}
	var v any = map[string]any{}
	if len(s.Body) > 0 {
		var err error
		if v, err = decodeNumbers(s.Body); err != nil {
			fail("bad body %s: %v", s.Body, err)
		}
	}
	v = r.resolve(v)
	if s.Base != "" {
		v = mergePatched(r.answer(s.Base), v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		fail("%v", err)
	}
	return raw
}

func clusterPath(s *clusterStep) string {
	parts := strings.Split(s.Of, " ")
	path := "/apis/" + parts[0]
	if !strings.Contains(parts[0], "/") {
		path = "/api/" + parts[0]
	}
	if s.Namespace != "" {
		path += "/namespaces/" + s.Namespace
	}
	path += "/" + parts[2]
	if s.Name != "" && s.Op != "create" && s.Op != "list" && s.Op != "watch" && s.Op != "deletecollection" {
		path += "/" + url.PathEscape(s.Name)
	}
	if s.Subresource != "" {
		path += "/" + s.Subresource
	}
	return path
}

var clusterMethods = map[string][2]string{
	"create":           {"POST", "application/json"},
	"update":           {"PUT", "application/json"},
	"json":             {"PATCH", "application/json-patch+json"},
	"merge":            {"PATCH", "application/merge-patch+json"},
	"strategic":        {"PATCH", "application/strategic-merge-patch+json"},
	"apply":            {"PATCH", "application/apply-patch+yaml"},
	"delete":           {"DELETE", "application/json"},
	"deletecollection": {"DELETE", "application/json"},
	"get":              {"GET", ""},
	"list":             {"GET", ""},
	"watch":            {"GET", ""},
}

func (r *clusterRun) query(s *clusterStep) url.Values {
	q := url.Values{}
	set := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	set("fieldManager", s.Manager)
	set("fieldValidation", s.Validation)
	set("labelSelector", s.Labels)
	set("fieldSelector", s.Fields)
	set("resourceVersionMatch", s.Match)
	set("continue", r.resolveString(s.Continue))
	if s.Limit > 0 {
		q.Set("limit", strconv.Itoa(s.Limit))
	}
	if s.Force {
		q.Set("force", "true")
	}
	if s.DryRun && s.Op != "delete" {
		q.Set("dryRun", "All")
	}
	if s.Op == "get" || s.Op == "list" || s.Op == "watch" {
		set("resourceVersion", r.resolveString(s.Version))
	}
	if s.Op == "watch" {
		q.Set("watch", "true")
		q.Set("timeoutSeconds", "120")
		if s.Initial {
			q.Set("sendInitialEvents", "true")
			q.Set("resourceVersionMatch", "NotOlderThan")
		}
		if s.Bookmarks {
			q.Set("allowWatchBookmarks", "true")
		}
	}
	return q
}

func (r *clusterRun) deleteOptions(s *clusterStep) []byte {
	options := map[string]any{}
	preconditions := map[string]any{}
	if s.UID != "" {
		preconditions["uid"] = r.resolve(s.UID)
	}
	if s.Version != "" {
		preconditions["resourceVersion"] = r.resolve(s.Version)
	}
	if len(preconditions) > 0 {
		options["preconditions"] = preconditions
	}
	if s.Propagation != "" {
		options["propagationPolicy"] = s.Propagation
	}
	if s.DryRun {
		options["dryRun"] = []string{"All"}
	}
	raw, _ := json.Marshal(options)
	return raw
}

func (r *clusterRun) request(s *clusterStep) *http.Request {
	method := clusterMethods[s.Op]
	body := r.body(s)
	if method[0] == "DELETE" {
		body = r.deleteOptions(s)
	}
	request, err := http.NewRequest(method[0], r.api.url+clusterPath(s)+"?"+r.query(s).Encode(), bytes.NewReader(body))
	if err != nil {
		fail("%v", err)
	}
	request.Header.Set("Authorization", "Bearer "+r.api.token)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "")
	if method[1] != "" {
		request.Header.Set("Content-Type", method[1])
	}
	return request
}

// The texts of Warning headers: 299 - "text".
func warnings(h http.Header) []any {
	texts := []any{}
	for _, w := range h.Values("Warning") {
		w = strings.TrimPrefix(w, "299 - ")
		if text, err := strconv.Unquote(w); err == nil {
			w = text
		}
		texts = append(texts, w)
	}
	return texts
}

// do performs the step; the result is {code, object | removed | status, warnings}.
func (r *clusterRun) do(s *clusterStep) map[string]any {
	switch s.Op {
	case "tick":
		r.tick()
		r.answers = append(r.answers, nil)
		return map[string]any{}
	case "watch":
		r.answers = append(r.answers, nil)
		return r.openWatch(s)
	case "events":
		r.answers = append(r.answers, nil)
		return r.nextEvents(s)
	case "stop":
		r.answers = append(r.answers, nil)
		r.watches[s.Watch].stop()
		return map[string]any{}
	}
	response, err := r.api.client.Do(r.request(s))
	if err != nil {
		fail("%v", err)
	}
	raw, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		fail("%v", err)
	}
	v, err := decodeNumbers(raw)
	object, ok := v.(map[string]any)
	if err != nil || !ok {
		object = map[string]any{"kind": "Status", "status": "Failure", "message": strings.TrimSpace(string(raw))}
	}
	result := map[string]any{"code": response.StatusCode, "warnings": warnings(response.Header)}
	answer := map[string]any(nil)
	switch {
	case object["kind"] == "Status" && object["status"] == "Success":
		details, _ := object["details"].(map[string]any)
		result["removed"] = details["uid"]
	case object["kind"] == "Status":
		status := map[string]any{}
		for _, k := range []string{"reason", "message", "details"} {
			if object[k] != nil {
				status[k] = object[k]
			}
		}
		result["status"] = status
	default:
		result["object"] = object
		answer = object
		if s.Subresource != "scale" && s.Op != "list" && s.Op != "deletecollection" && !s.DryRun {
			if r.first == nil {
				r.first = object
			}
			r.last = object
		}
	}
	r.answers = append(r.answers, answer)
	return result
}

// tick begins a new phase: times of what follows are later than times of what was.
func (r *clusterRun) tick() {
	now := time.Now()
	next := now.Truncate(time.Second).Add(time.Second)
	time.Sleep(next.Sub(now) + 5*time.Millisecond)
	r.phases = append(r.phases, next.Unix())
}

// --- Watches ---

type clusterWatch struct {
	body   io.ReadCloser
	events chan map[string]any
}

func (w *clusterWatch) stop() {
	w.body.Close()
	for range w.events {
	}
}

func (r *clusterRun) openWatch(s *clusterStep) map[string]any {
	response, err := r.api.client.Do(r.request(s))
	if err != nil {
		fail("%v", err)
	}
	if response.StatusCode != 200 {
		raw, _ := io.ReadAll(response.Body)
		response.Body.Close()
		v, _ := decodeNumbers(raw)
		return map[string]any{"code": response.StatusCode, "status": v}
	}
	w := &clusterWatch{body: response.Body, events: make(chan map[string]any, 1000)}
	go func() {
		defer close(w.events)
		d := json.NewDecoder(response.Body)
		d.UseNumber()
		for {
			var e map[string]any
			if d.Decode(&e) != nil {
				return
			}
			w.events <- e
		}
	}()
	r.watches[s.Watch] = w
	return map[string]any{"code": 200}
}

// isPeriodicBookmark tells the bookmarks that a clock sends from the one that ends the initial events. A server may send them
// between any two events.
func isPeriodicBookmark(event map[string]any) bool {
	if event["type"] != "BOOKMARK" {
		return false
	}
	object, _ := event["object"].(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations["k8s.io/initial-events-end"] == nil
}

// nextEvents waits for as many events as asked for; one that never comes is an error, an end of the watch is the event CLOSED.
func (r *clusterRun) nextEvents(s *clusterStep) map[string]any {
	events := []any{}
	for len(events) < s.Count {
		select {
		case e, ok := <-r.watches[s.Watch].events:
			if !ok {
				events = append(events, map[string]any{"type": "CLOSED"})
				return map[string]any{"events": events}
			}
			if !isPeriodicBookmark(e) {
				events = append(events, e)
			}
		case <-time.After(30 * time.Second):
			events = append(events, map[string]any{"type": "NOTHING"})
			return map[string]any{"events": events}
		}
	}
	return map[string]any{"events": events}
}

// --- What a sequence stands on ---

// establish creates the object (a CRD or a namespace) and waits until the kind it describes is served.
func (api *clusterAPI) establish(object json.RawMessage) {
	v, err := decodeNumbers(object)
	if err != nil {
		fail("%v", err)
	}
	m := v.(map[string]any)
	path := "/api/v1/namespaces"
	if m["kind"] == "CustomResourceDefinition" {
		path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	}
	if code, body := api.call("POST", path, object); code != 201 && code != 409 {
		fail("cannot create: %d %s", code, body)
	}
	if m["kind"] != "CustomResourceDefinition" {
		return
	}
	spec := m["spec"].(map[string]any)
	for _, version := range spec["versions"].([]any) {
		path := fmt.Sprintf("/apis/%s/%s/%s", spec["group"], version.(map[string]any)["name"], spec["names"].(map[string]any)["plural"])
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			code, body := api.call("GET", path, nil)
			if code == 200 {
				break
			}
			if time.Now().After(end) {
				fail("%s is not served: %d %s", path, code, body)
			}
		}
	}
}

func (api *clusterAPI) call(method, path string, body []byte) (int, []byte) {
	request, err := http.NewRequest(method, api.url+path, bytes.NewReader(body))
	if err != nil {
		fail("%v", err)
	}
	request.Header.Set("Authorization", "Bearer "+api.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := api.client.Do(request)
	if err != nil {
		fail("%v", err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		fail("%v", err)
	}
	return response.StatusCode, raw
}
