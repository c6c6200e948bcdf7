package main

import (
	"fmt"
	"math"
	"reflect"
	"sort"

	"github.com/anishathalye/porcupine"
)

type kind int

const (
	create kind = iota
	get
	update
	patch
	remove
)

var kindNames = []string{"create", "get", "update", "patch", "delete"}

// An operation is one request and its answer; code 0 stands for no answer.
type operation struct {
	client    int
	kind      kind
	name      string
	value     string
	expected  int64 // the version that an update names
	version   int64
	code      int
	call, end int64
}

// A state of one object. Its version is 0 where only a write without an answer knows it; it is greater than the floor then.
type state struct {
	exists  bool
	value   string
	version int64
	floor   int64 // the greatest version that was seen of the object
}

// at gives the state in which the object has been seen at a version, if that can be.
func (s state) at(version int64) (state, bool) {
	if s.version == version {
		return s, true
	}
	if s.version != 0 || version <= s.floor {
		return s, false
	}
	s.version, s.floor = version, version
	return s, true
}

func written(s state, op operation) (state, bool) {
	if op.version <= s.floor {
		return s, false
	}
	return state{exists: true, value: op.value, version: op.version, floor: op.version}, true
}

func one(s state, ok bool) []any {
	if !ok {
		return nil
	}
	return []any{s}
}

// step gives the states after an operation with its answer; none if it cannot have been answered so.
func step(s state, op operation) []any {
	if op.code == 0 {
		return unknownStep(s, op)
	}
	if op.code == 404 {
		return one(s, !s.exists && op.kind != create)
	}
	switch op.kind {
	case create:
		if op.code == 409 {
			return one(s, s.exists)
		}
		if s.exists {
			return nil
		}
	case get:
		next, ok := s.at(op.version)
		return one(next, ok && s.exists && s.value == op.value && op.code == 200)
	case update:
		if op.code == 409 {
			return one(s, s.exists && s.version != op.expected)
		}
		before, ok := s.at(op.expected)
		if !s.exists || !ok {
			return nil
		}
		s = before
	case patch:
		if !s.exists || op.code != 200 {
			return nil
		}
	case remove:
		return one(state{floor: s.floor}, s.exists && op.code == 200)
	}
	if op.code != 200 && op.code != 201 {
		return nil
	}
	return one(written(s, op))
}

// unknownStep: nothing has happened, or the write was done.
func unknownStep(s state, op operation) []any {
	after := []any{s}
	done := state{exists: true, value: op.value, floor: s.floor}
	switch op.kind {
	case create:
		if !s.exists {
			after = append(after, done)
		}
	case patch:
		if s.exists {
			after = append(after, done)
		}
	case update:
		if _, ok := s.at(op.expected); ok && s.exists {
			done.floor = max(done.floor, op.expected)
			after = append(after, done)
		}
	case remove:
		if s.exists {
			after = append(after, state{floor: s.floor})
		}
	}
	return after
}

var model = (&porcupine.NondeterministicModel{
	Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
		byName := map[string][]porcupine.Operation{}
		for _, op := range all {
			name := op.Input.(operation).name
			byName[name] = append(byName[name], op)
		}
		parts := [][]porcupine.Operation{}
		for _, part := range byName {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{state{}} },
	Step: func(s, input, output any) []any { return step(s.(state), input.(operation)) },
}).ToModel()

func (h *history) check() []string {
	problems := []string{}
	all := []porcupine.Operation{}
	for _, op := range h.operations {
		end := op.end
		if op.code == 0 {
			end = math.MaxInt64 // it may be done at any time, before the server died or even later
		}
		all = append(all, porcupine.Operation{ClientId: op.client, Input: op, Call: op.call, Return: end})
	}
	if !porcupine.CheckOperations(model, all) {
		problems = append(problems, "the operations are not linearizable:"+h.shown())
	}
	problems = append(problems, h.checkWatches()...)
	return append(problems, h.checkLists()...)
}

func (h *history) shown() string {
	sort.Slice(h.operations, func(i, j int) bool { return h.operations[i].call < h.operations[j].call })
	text := ""
	for _, op := range h.operations {
		text += fmt.Sprintf("\n#   %d..%d client %d %s %s %q expecting %d: %d, version %d", op.call-h.operations[0].call, op.end-h.operations[0].call, op.client, kindNames[op.kind], op.name, op.value, op.expected, op.code, op.version)
	}
	return text
}

// checkWatches: all watches tell the same changes, and every answered write is among them.
func (h *history) checkWatches() []string {
	problems := []string{}
	for i, w := range h.watchers {
		if w.problem != "" {
			problems = append(problems, w.problem)
		}
		relisted := false
		for _, e := range w.events {
			relisted = relisted || e.kind == "RELIST"
		}
		if i > 0 && !relisted && !h.relisted() && !reflect.DeepEqual(w.events, h.watchers[0].events) {
			problems = append(problems, fmt.Sprintf("two watches tell different changes: %v and %v", h.watchers[0].events, w.events))
		}
	}
	told := map[int64]event{}
	for _, e := range h.watchers[0].events {
		told[e.version] = e
	}
	if h.relisted() {
		return problems
	}
	for _, op := range h.operations {
		e, ok := told[op.version]
		if op.version == 0 || op.kind == get {
			continue
		}
		if !ok || e.name != op.name || e.value != op.value {
			problems = append(problems, fmt.Sprintf("no watch tells the %s of %s to %q at version %d", kindNames[op.kind], op.name, op.value, op.version))
		}
	}
	return problems
}

func (h *history) relisted() bool {
	for _, e := range h.watchers[0].events {
		if e.kind == "RELIST" {
			return true
		}
	}
	return false
}

// checkLists: a list of version v holds what the changes up to v have made.
func (h *history) checkLists() []string {
	problems := []string{}
	for _, l := range h.lists {
		state := map[string]object{}
		for _, e := range h.watchers[0].events {
			if e.version > l.version {
				break
			}
			switch e.kind {
			case "DELETED":
				delete(state, e.name)
			case "RELIST":
				state = map[string]object{}
				for name, o := range e.state {
					state[name] = o
				}
			default:
				state[e.name] = e.object
			}
		}
		if !reflect.DeepEqual(state, l.items) {
			problems = append(problems, fmt.Sprintf("a list of version %d is no snapshot: it has %v, the changes make %v", l.version, l.items, state))
		}
	}
	return problems
}
