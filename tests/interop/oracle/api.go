// The api suite: sequences of HTTP requests, sent to a real kube-apiserver and to ours. The answers must have the same status, headers and bodies.
package main

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"
)

// An apiStep is a step of the cluster suite, or a request as it is sent if it has a method. Paths and header values hold
// references in braces: {ns} is the sequence's namespace, {0.metadata.resourceVersion} a field of that answer.
type apiStep struct {
	clusterStep
	Method  string            `json:"method,omitempty"`
	Path    string            `json:"path,omitempty"`
	Accept  string            `json:"accept,omitempty"`
	Type    string            `json:"type,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	User    string            `json:"user,omitempty"`  // nobody, or none
	Bytes   []byte            `json:"bytes,omitempty"` // a body that is no text
	Until   string            `json:"until,omitempty"` // await: a pattern that the text of the answer has at last
}

// An apiCase is a sequence. The first one says what is there before.
type apiCase struct {
	About     string            `json:"about,omitempty"`
	Setup     []json.RawMessage `json:"setup,omitempty"`
	Namespace string            `json:"namespace,omitempty"` // one of its own, created before the first step
	Steps     []apiStep         `json:"steps,omitempty"`
}

func init() {
	suites["api"] = suite{gen: genAPI, all: allAPI, equal: equalAPI, explain: explainAPI, finish: finishAPI}
}

const apiWorkers = 12

func allAPI(cases []json.RawMessage) []any {
	api := newClusterAPI()
	results := make([]any, len(cases))
	work := make(chan int)
	var done sync.WaitGroup
	for range apiWorkers {
		done.Add(1)
		go func() {
			defer done.Done()
			for i := range work {
				results[i] = api.requests(cases[i])
			}
		}()
	}
	for i, raw := range cases {
		var c apiCase
		if err := json.Unmarshal(raw, &c); err != nil {
			fail("%v", err)
		}
		if c.Setup == nil {
			work <- i
			continue
		}
		for _, object := range c.Setup {
			api.establish(object)
		}
		results[i] = map[string]any{}
	}
	close(work)
	done.Wait()
	return results
}

type apiRun struct {
	clusterRun
	namespace string
}

func (api *clusterAPI) requests(raw json.RawMessage) any {
	var c apiCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	r := &apiRun{namespace: c.Namespace}
	r.clusterRun = clusterRun{api: api, watches: map[string]*clusterWatch{}, phases: []int64{time.Now().Unix() - 1}}
	if c.Namespace != "" {
		api.ownNamespace(c.Namespace)
	}
	steps := []any{}
	for i := range c.Steps {
		steps = append(steps, r.step(&c.Steps[i]))
	}
	return map[string]any{"steps": steps, "phases": r.phases}
}

// ownNamespace creates the namespace and waits for what controllers put into it.
func (api *clusterAPI) ownNamespace(name string) {
	object, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	if code, body := api.call("POST", "/api/v1/namespaces", object); code != 201 && code != 409 {
		fail("cannot create namespace %s: %d %s", name, code, body)
	}
	for _, path := range []string{"/serviceaccounts/default", "/configmaps/kube-root-ca.crt"} {
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if code, _ := api.call("GET", "/api/v1/namespaces/"+name+path, nil); code == 200 {
				break
			}
			if time.Now().After(end) {
				fail("namespace %s never gets its %s", name, path)
			}
		}
	}
}

var referencePattern = regexp.MustCompile(`\{([a-z0-9]+(?:\.[A-Za-z0-9]+)*)\}`)

// expand puts values for the references in a text.
func (r *apiRun) expand(text string) string {
	return referencePattern.ReplaceAllStringFunc(text, func(reference string) string {
		name := reference[1 : len(reference)-1]
		if name == "ns" {
			return r.namespace
		}
		if value := r.resolve("@" + name); value != nil {
			return fmt.Sprint(value)
		}
		return "nothing"
	})
}

func (r *apiRun) httpRequest(s *apiStep) *http.Request {
	request := (*http.Request)(nil)
	if s.Method == "" {
		if s.Namespace == "{ns}" {
			s.Namespace = r.namespace
		}
		request = r.request(&s.clusterStep)
	} else {
		body := s.Bytes
		if body == nil {
			body = []byte(r.expand(string(r.body(&s.clusterStep))))
		}
		path := r.expand(s.Path)
		var err error
		if request, err = http.NewRequest(s.Method, r.api.url, bytes.NewReader(body)); err != nil {
			fail("%v", err)
		}
		plain, query, _ := strings.Cut(path, "?")
		request.URL.Opaque = "//" + request.URL.Host + plain
		request.URL.RawQuery = query
		request.Header.Set("User-Agent", "")
	}
	r.setHeaders(s, request)
	return request
}

func (r *apiRun) setHeaders(s *apiStep, request *http.Request) {
	set := func(key, value string) {
		if value != "" {
			request.Header.Set(key, value)
		}
	}
	set("Accept", s.Accept)
	set("Content-Type", s.Type)
	set("Authorization", "Bearer "+r.api.token)
	switch s.User {
	case "nobody":
		set("Authorization", "Bearer "+os.Getenv("KUBE_NOBODY"))
	case "none":
		request.Header.Del("Authorization")
	case "wrong":
		set("Authorization", "Bearer wrong")
	}
	for key, value := range s.Headers {
		request.Header.Set(key, r.expand(value))
	}
}

func (r *apiRun) step(s *apiStep) any {
	switch {
	case (s.Op == "stop" || s.Op == "events") && r.watches[s.Watch] == nil:
		r.answers = append(r.answers, nil)
		return "there is no such watch"
	case s.Op == "tick", s.Op == "stop", s.Op == "events":
		return r.do(&s.clusterStep)
	case s.Op == "await":
		return r.await(s)
	case s.Op == "watch" || s.Watch != "":
		r.answers = append(r.answers, nil)
		return r.follow(s)
	}
	code, header, raw := r.send(s)
	return r.take(s, code, header, raw)
}

func (r *apiRun) send(s *apiStep) (int, http.Header, []byte) {
	response, err := r.api.client.Do(r.httpRequest(s))
	if err != nil {
		return 0, http.Header{}, []byte(err.Error())
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, http.Header{}, []byte(err.Error())
	}
	return response.StatusCode, response.Header, raw
}

// await asks until the answer has the pattern, then takes that answer.
func (r *apiRun) await(s *apiStep) any {
	reached := regexp.MustCompile(s.Until).MatchString
	if s.Until == untilSettled {
		reached = isSettled
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		code, header, raw := r.send(s)
		if reached(fmt.Sprintf("%d %s", code, raw)) {
			return r.take(s, code, header, raw)
		}
		if time.Now().After(end) {
			r.answers = append(r.answers, nil)
			return map[string]any{"never": s.Until, "code": code}
		}
	}
}

// untilSettled waits until the garbage collector has done what a delete asked of it.
const untilSettled = "settled"

func isSettled(answer string) bool {
	return !strings.Contains(answer, `"foregroundDeletion"`) && !strings.Contains(answer, `"orphan"`)
}

func (r *apiRun) follow(s *apiStep) any {
	response, err := r.api.client.Do(r.httpRequest(s))
	if err != nil {
		return map[string]any{"code": 0, "text": err.Error()}
	}
	answer := map[string]any{"code": response.StatusCode, "headers": headersThatMatter(response.Header)}
	if response.StatusCode != 200 {
		raw, _ := io.ReadAll(response.Body)
		response.Body.Close()
		answer["body"], err = decodeNumbers(raw)
		if err != nil {
			answer["body"] = string(raw)
		}
		return answer
	}
	w := &clusterWatch{body: response.Body, events: make(chan map[string]any, 1000)}
	r.watches[s.Watch] = w
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
	return answer
}

func headersThatMatter(h http.Header) map[string]any {
	result := map[string]any{}
	for _, key := range []string{"Content-Type", "Cache-Control", "Retry-After", "Location", "Vary", "Www-Authenticate", "Allow"} {
		if values := h.Values(key); len(values) > 0 {
			result[key] = strings.Join(values, ", ")
		}
	}
	for _, key := range []string{"Etag", "Audit-Id"} {
		if h.Get(key) != "" {
			result[key] = "is there"
		}
	}
	if texts := warnings(h); len(texts) > 0 {
		result["Warning"] = texts
	}
	return result
}

// take makes an answer of a response and keeps its object for the steps that follow.
func (r *apiRun) take(s *apiStep, code int, header http.Header, raw []byte) any {
	answer := map[string]any{"code": code, "headers": headersThatMatter(header)}
	if text, err := yaml.YAMLToJSON(raw); err == nil && header.Get("Content-Type") == "application/yaml" {
		raw = text
	}
	v, err := decodeNumbers(raw)
	object, ok := v.(map[string]any)
	if err == nil && ok {
		answer["body"] = object
	} else {
		answer["text"] = string(raw)
		object = nil
	}
	if object != nil && object["kind"] == "Status" {
		object = nil
	}
	if object != nil && code < 300 && isItem(object) && !s.DryRun && !strings.Contains(s.Path, "dryRun") {
		if r.first == nil {
			r.first = object
		}
		r.last = object
	}
	r.answers = append(r.answers, object)
	return answer
}

// isItem: an object of the sequence itself, whose whole body can be sent again.
func isItem(object map[string]any) bool {
	meta, _ := object["metadata"].(map[string]any)
	return meta["uid"] != nil && object["kind"] != "Scale" && object["kind"] != "PartialObjectMetadata"
}

// --- Comparing ---

func equalAPI(raw json.RawMessage, oracle, subject any) bool {
	return explainAPI(raw, oracle, subject) == ""
}

// A known difference has a reason, and patterns for the sequence, what is asked, where the answers differ, and both values there.
type knownDifference struct {
	Name    string `json:"name"`
	Reason  string `json:"reason"`
	About   string `json:"about"`
	Request string `json:"request"`
	At      string `json:"at"`
	Oracle  string `json:"oracle"`
	Subject string `json:"subject"`
	seen    int
}

//go:embed testdata/api/known.yaml
var apiKnownYAML []byte

var apiKnown = sync.OnceValue(func() []*knownDifference {
	known := []*knownDifference{}
	if err := yaml.UnmarshalStrict(apiKnownYAML, &known); err != nil {
		fail("known.yaml: %v", err)
	}
	return known
})

func isKnown(about, request, path, oracle, subject string) bool {
	for _, k := range apiKnown() {
		matches := true
		for _, pair := range [][2]string{{about, k.About}, {request, k.Request}, {path, k.At}, {oracle, k.Oracle}, {subject, k.Subject}} {
			matches = matches && regexp.MustCompile(pair[1]).MatchString(pair[0])
		}
		if matches {
			k.seen++
			return true
		}
	}
	return false
}

// mostShown bounds how many differences of one answer are shown.
const mostShown = 6

// explainAPI shows the steps that differ by more than what is known.
func explainAPI(raw json.RawMessage, oracle, subject any) string {
	var c apiCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	o, _ := normalizeAPI(raw, oracle).([]any)
	s, _ := normalizeAPI(raw, subject).([]any)
	if len(o) != len(s) {
		return "  in the number of steps\n"
	}
	out := ""
	for i := range o {
		apiCompared++
		if reflect.DeepEqual(o[i], s[i]) {
			continue
		}
		apiDifferent++
		step, _ := json.Marshal(c.Steps[i])
		shown := 0
		differences("", o[i], s[i], func(path string, o, s any) {
			a, _ := json.Marshal(o)
			b, _ := json.Marshal(s)
			if isKnown(c.About, string(step), path, string(a), string(b)) {
				return
			}
			if shown++; shown == 1 {
				out += fmt.Sprintf("  %s, step %d: %s\n", c.About, i, step)
			}
			if shown <= mostShown {
				out += fmt.Sprintf("    at %s\n      oracle:  %s\n      subject: %s\n", path, a, b)
			}
		})
	}
	return out
}

// Requests that were compared, and those whose answers differ, known or not.
var apiCompared, apiDifferent int

// mostKnown is the share of requests, in percent, whose answers may differ in what is known.
const mostKnown = 20

// finishAPI says how often each known difference was met; too many are a failure.
func finishAPI() bool {
	for _, k := range apiKnown() {
		fmt.Printf("api: known difference %q: %d times (%s)\n", k.Name, k.seen, k.Reason)
	}
	fmt.Printf("api: %d answers compared, %d differ in some way\n", apiCompared, apiDifferent)
	return apiDifferent*100 <= apiCompared*mostKnown
}

var (
	agePattern   = regexp.MustCompile(`^([0-9]+(s|m|h|d|y))+( \(.*\))?$`)
	microPattern = regexp.MustCompile(`20[2-9][0-9]-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]+Z`)
	// Peers are built into files whose names end with a digest.
	controllerPattern = regexp.MustCompile(`(kube-controller-manager|kube-apiserver)-[0-9a-f]{16}`)
	serverPattern     = regexp.MustCompile(`\b127\.0\.0\.1:[0-9]{4,5}\b`)
	addressPattern    = regexp.MustCompile(`\b10\.(0\.0\.[0-9]+|(9[6-9]|10[0-9]|11[01])\.[0-9]+\.[0-9]+)\b`)
	pemPattern        = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]+-----.*-----END [A-Z ]+-----\n?`)
	issuerPattern     = regexp.MustCompile(`https://(localhost|kubernetes\.default\.svc\.cluster\.local)`)
	jwtPattern        = regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`)
	largePattern      = regexp.MustCompile(`(current|resource version): [0-9]+(, current: [0-9]+)?( \([0-9]+\))?`)
)

// normalizeAPI replaces the same as the cluster suite does, and also versions of lists, tokens to continue, ages, allocated addresses and
// certificates.
func normalizeAPI(raw json.RawMessage, result any) any {
	text, _ := json.Marshal(result)
	v := decode(text)
	m, _ := v.(map[string]any)
	if m == nil || m["steps"] == nil {
		return v
	}
	m["steps"] = prepare(m["steps"])
	return normalizeCluster(raw, m)
}

func prepare(v any) any {
	switch v := v.(type) {
	case string:
		v = microPattern.ReplaceAllString(v, "MICROTIME")
		v = controllerPattern.ReplaceAllString(v, "$1")
		v = serverPattern.ReplaceAllString(v, "SERVER")
		v = addressPattern.ReplaceAllString(v, "ADDRESS")
		v = pemPattern.ReplaceAllString(v, "PEM")
		v = issuerPattern.ReplaceAllString(v, "ISSUER")
		v = jwtPattern.ReplaceAllString(v, "JWT")
		return largePattern.ReplaceAllString(v, "$1: N")
	case []any:
		for i := range v {
			v[i] = prepare(v[i])
		}
	case map[string]any:
		prepareObject(v)
	}
	return v
}

func prepareObject(m map[string]any) {
	// Items of lists may say their type; descriptions are ours to word.
	if items, ok := m["items"].([]any); ok {
		for _, item := range items {
			if object, ok := item.(map[string]any); ok && object["metadata"] != nil {
				delete(object, "apiVersion")
				delete(object, "kind")
			}
		}
	}
	if columns, ok := m["columnDefinitions"].([]any); ok {
		for _, column := range columns {
			delete(column.(map[string]any), "description")
		}
	}
	list := m["items"] != nil || m["columnDefinitions"] != nil || m["kind"] == "Table"
	for _, k := range memberNames(m) {
		if cells, ok := m[k].([]any); ok && k == "cells" {
			for i, cell := range cells {
				if text, ok := cell.(string); ok && agePattern.MatchString(text) {
					cells[i] = "AGE"
				}
			}
		}
		m[k] = prepare(m[k])
	}
	for _, k := range []string{"resourceRules", "nonResourceRules"} {
		if rules, ok := m[k].([]any); ok {
			sortBy(rules, func(r any) string { return fmt.Sprint(r) })
		}
	}
	if resources, ok := m["resources"].([]any); ok && m["kind"] == "APIResourceList" {
		sortBy(resources, func(r any) string { return fmt.Sprint(r.(map[string]any)["name"]) })
	}
	meta, _ := m["metadata"].(map[string]any)
	if meta == nil {
		return
	}
	if token, ok := meta["continue"].(string); ok && token != "" {
		meta["continue"] = "TOKEN"
		if _, err := base64.RawURLEncoding.DecodeString(token); err != nil {
			meta["continue"] = "TOKEN that is not base64"
		}
	}
	annotations, _ := meta["annotations"].(map[string]any)
	if list || annotations["k8s.io/initial-events-end"] != nil {
		if number, err := strconv.Atoi(fmt.Sprint(meta["resourceVersion"])); err == nil {
			meta["resourceVersion"] = "VERSION OF A LIST"
			if number < newestItem(m["items"]) {
				meta["resourceVersion"] = "VERSION OLDER THAN AN ITEM"
			}
		}
	}
}

func newestItem(items any) int {
	list, _ := items.([]any)
	newest := 0
	for _, item := range list {
		object, _ := item.(map[string]any)
		meta, _ := object["metadata"].(map[string]any)
		if number, err := strconv.Atoi(fmt.Sprint(meta["resourceVersion"])); err == nil && number > newest {
			newest = number
		}
	}
	return newest
}
