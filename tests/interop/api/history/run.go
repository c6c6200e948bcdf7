package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	objects     = 4
	maxWatchers = 3
)

// A list is what one request for all objects answered.
type list struct {
	version int64
	items   map[string]object
}

type history struct {
	server     *server
	seed       int64
	path       string // of the collection
	mutex      sync.Mutex
	operations []operation
	lists      []list
	unknown    int
	watchers   []*watcher
	done       atomic.Int64 // operations so far
	up         sync.RWMutex // written to while the server is down
	watching   context.Context
	unwatch    context.CancelFunc
}

func newHistory(s *server, seed int64) *history {
	namespace := fmt.Sprintf("history-%d-%d", seed, time.Now().UnixNano())
	h := &history{server: s, seed: seed, path: "/api/v1/namespaces/" + namespace + "/configmaps"}
	h.watching, h.unwatch = context.WithCancel(context.Background())
	if code, w := s.api.call("POST", "/api/v1/namespaces", "application/json", map[string]any{"metadata": map[string]any{"name": namespace}}); code != 201 {
		fail("cannot create namespace: %d %s", code, w.Message)
	}
	return h
}

const selector = "?labelSelector=of%3Dhistory"

func (h *history) run() {
	code, w := h.server.api.call("GET", h.path+selector, "", nil)
	if code != 200 {
		fail("cannot list: %d %s", code, w.Message)
	}
	start := (&wire{Metadata: w.Metadata}).object().version
	for range maxWatchers {
		h.watchers = append(h.watchers, newWatcher(h, start))
	}
	stop := make(chan struct{})
	go h.killer(stop)
	together(*clients, h.client)
	close(stop)
	h.up.RLock()
	defer h.up.RUnlock()
	h.finishWatchers()
}

// killer kills the server when shares of the operations are done.
func (h *history) killer(stop chan struct{}) {
	if len(h.server.command) == 0 {
		return
	}
	total := int64(*clients * *operations)
	for i := range int64(*kills) {
		for h.done.Load() < total*(i+1)/int64(*kills+1) {
			select {
			case <-stop:
				return
			default:
				time.Sleep(200 * time.Microsecond)
			}
		}
		h.up.Lock()
		h.server.kill()
		h.server.start()
		h.up.Unlock()
	}
}

func (h *history) client(number int) {
	r := rand.New(rand.NewSource(h.seed*1000 + int64(number)))
	seen := map[string]int64{} // versions that this client knows
	for i := range *operations {
		name := fmt.Sprintf("o%d", r.Intn(objects))
		value := fmt.Sprintf("%d.%d", number, i)
		switch r.Intn(10) {
		case 0, 1:
			h.do(number, operation{kind: create, name: name, value: value}, seen)
		case 2, 3:
			h.do(number, operation{kind: get, name: name}, seen)
		case 4, 5:
			h.do(number, operation{kind: update, name: name, value: value, expected: seen[name]}, seen)
		case 6, 7:
			h.do(number, operation{kind: patch, name: name, value: value}, seen)
		case 8:
			h.do(number, operation{kind: remove, name: name}, seen)
		case 9:
			h.list()
		}
		h.done.Add(1)
	}
}

func (h *history) do(client int, op operation, seen map[string]int64) {
	if op.kind == update && op.expected == 0 {
		op.kind = get // nothing is known of it yet
	}
	// Requests begin while the server is up or goes down, not while it is known to be down.
	h.up.RLock()
	h.up.RUnlock()
	op.client = client
	op.call = time.Now().UnixNano()
	var code int
	var w wire
	path := h.path + "/" + op.name
	switch op.kind {
	case create:
		code, w = h.server.api.call("POST", h.path, "application/json", configMap(op.name, op.value, 0))
	case get:
		code, w = h.server.api.call("GET", path, "", nil)
	case update:
		code, w = h.server.api.call("PUT", path, "application/json", configMap(op.name, op.value, op.expected))
	case patch:
		code, w = h.server.api.call("PATCH", path, "application/merge-patch+json", map[string]any{"data": map[string]any{"value": op.value}})
	case remove:
		code, w = h.server.api.call("DELETE", path, "", nil)
	}
	op.end = time.Now().UnixNano()
	op.code = code
	if o := w.object(); (code == 200 || code == 201) && op.kind != remove {
		op.version = o.version
		if op.kind == get {
			op.value = o.value
		}
		seen[op.name] = o.version
	}
	if code >= 500 || code == 429 {
		op.code = 0
	}
	if op.code == 0 && op.kind == get {
		return // tells nothing
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if op.code == 0 {
		h.unknown++
	}
	h.operations = append(h.operations, op)
}

func (h *history) list() {
	code, w := h.server.api.call("GET", h.path+selector, "", nil)
	if code != 200 {
		return
	}
	l := list{version: w.object().version, items: map[string]object{}}
	for i := range w.Items {
		o := w.Items[i].object()
		l.items[o.name] = o
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.lists = append(h.lists, l)
}

// --- Watches ---

type event struct {
	kind string // ADDED, MODIFIED, DELETED; RELIST where a watch had to begin anew
	object
	state map[string]object // of a RELIST
}

// A watcher follows the collection from a version on, across restarts.
type watcher struct {
	h       *history
	mutex   sync.Mutex
	events  []event
	version int64 // of the last event
	stopped atomic.Bool
	gone    chan struct{}
	problem string
}

func newWatcher(h *history, version int64) *watcher {
	w := &watcher{h: h, version: version, gone: make(chan struct{})}
	go func() {
		defer close(w.gone)
		for !w.stopped.Load() {
			w.follow()
		}
	}()
	return w
}

func (w *watcher) follow() {
	q := url.Values{"watch": {"true"}, "labelSelector": {"of=history"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {strconv.FormatInt(w.version, 10)}, "timeoutSeconds": {"300"}}
	response, err := w.h.server.api.streams.Do(w.h.server.api.request("GET", w.h.path+"?"+q.Encode(), "", nil).WithContext(w.h.watching))
	if err != nil {
		time.Sleep(time.Millisecond)
		return
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusGone {
		w.relist()
		return
	}
	if response.StatusCode != 200 {
		time.Sleep(time.Millisecond)
		return
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Type   string `json:"type"`
			Object wire   `json:"object"`
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			return // cut off
		}
		if e.Type == "ERROR" {
			w.relist()
			return
		}
		w.take(event{kind: e.Type, object: e.Object.object()})
	}
}

func (w *watcher) take(e event) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if e.version <= w.version && e.kind != "BOOKMARK" || e.version < w.version {
		w.problem = fmt.Sprintf("a watch at version %d tells %s of version %d", w.version, e.kind, e.version)
	}
	w.version = e.version
	if e.kind != "BOOKMARK" {
		w.events = append(w.events, e)
	}
}

func (w *watcher) relist() {
	code, answer := w.h.server.api.call("GET", w.h.path+selector, "", nil)
	if code != 200 {
		return
	}
	state := map[string]object{}
	for i := range answer.Items {
		o := answer.Items[i].object()
		state[o.name] = o
	}
	w.take(event{kind: "RELIST", object: object{version: answer.object().version}, state: state})
}

func (w *watcher) at() int64 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.version
}

// finishWatchers makes a last change and waits until all have seen it.
func (h *history) finishWatchers() {
	code, w := h.server.api.call("POST", h.path, "application/json", configMap("last", "last", 0))
	if code != 201 {
		fail("cannot make the last object: %d %s", code, w.Message)
	}
	last := w.object().version
	for _, watcher := range h.watchers {
		for end := time.Now().Add(30 * time.Second); watcher.at() < last; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				watcher.mutex.Lock()
				watcher.problem = fmt.Sprintf("a watch never tells the last change, of version %d", last)
				watcher.mutex.Unlock()
				break
			}
		}
		watcher.stopped.Store(true)
	}
	h.unwatch()
	for _, watcher := range h.watchers {
		<-watcher.gone
	}
}
