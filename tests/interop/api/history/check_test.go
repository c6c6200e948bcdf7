package main

import "testing"

// The judge itself: histories that are wrong in one way each, and one that is right.
func TestCheck(t *testing.T) {
	made := operation{kind: create, name: "o", value: "a", version: 5, code: 201, call: 1, end: 2}
	changed := operation{kind: patch, name: "o", value: "b", version: 6, code: 200, call: 3, end: 4}
	added := event{kind: "ADDED", object: object{name: "o", value: "a", version: 5}}
	modified := event{kind: "MODIFIED", object: object{name: "o", value: "b", version: 6}}
	snapshot := func(version int64, value string, of int64) list {
		return list{version: version, items: map[string]object{"o": {name: "o", value: value, version: of}}}
	}
	read := func(value string, version int64) operation {
		return operation{kind: get, name: "o", value: value, version: version, code: 200, call: 5, end: 6}
	}
	lost := operation{kind: patch, name: "o", value: "c", code: 0, call: 4, end: 5}
	for _, c := range []struct {
		name   string
		ops    []operation
		events []event
		lists  []list
		isFine bool
	}{
		{"all well", []operation{made, changed, read("b", 6)}, []event{added, modified}, []list{snapshot(5, "a", 5), snapshot(6, "b", 6)}, true},
		{"a write without an answer that was done", []operation{made, changed, lost, {kind: get, name: "o", value: "c", version: 9, code: 200, call: 6, end: 7}}, []event{added, modified}, nil, true},
		{"a stale read", []operation{made, changed, read("a", 5)}, []event{added, modified}, nil, false},
		{"a lost write", []operation{made, changed, {kind: get, name: "o", code: 404, call: 5, end: 6}}, []event{added, modified}, nil, false},
		{"a version that goes back", []operation{made, {kind: patch, name: "o", value: "b", version: 4, code: 200, call: 3, end: 4}}, []event{added}, nil, false},
		{"an event that never comes", []operation{made, changed}, []event{added}, nil, false},
		{"a list that is no snapshot", []operation{made, changed}, []event{added, modified}, []list{snapshot(6, "a", 5)}, false},
	} {
		h := &history{operations: c.ops, lists: c.lists, watchers: []*watcher{{events: c.events}}}
		if problems := h.check(); (len(problems) == 0) != c.isFine {
			t.Errorf("%s: %v", c.name, problems)
		}
	}
	w := &watcher{version: 5}
	if w.take(added); w.problem == "" {
		t.Error("a change that was told before is not noticed")
	}
}
