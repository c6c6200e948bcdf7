// The cluster suite: sequences of writes by several managers, on a real kube-apiserver and on our store.
package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A clusterCase is a sequence of steps on objects of its own; the first case of all says what is there before.
type clusterCase struct {
	About string            `json:"about,omitempty"`
	Setup []json.RawMessage `json:"setup,omitempty"`
	Steps []clusterStep     `json:"steps,omitempty"`
}

func init() {
	suites["cluster"] = suite{gen: genCluster, all: allCluster, equal: equalCluster, explain: explainCluster}
}

const clusterWorkers = 16

func allCluster(cases []json.RawMessage) []any {
	api := newClusterAPI()
	results := make([]any, len(cases))
	work := make(chan int)
	var done sync.WaitGroup
	for i, raw := range cases {
		var c clusterCase
		if err := json.Unmarshal(raw, &c); err != nil {
			fail("%v", err)
		}
		for _, object := range c.Setup {
			api.establish(object)
		}
		if c.Setup != nil {
			results[i] = map[string]any{"setup": len(c.Setup)}
		}
	}
	for range clusterWorkers {
		done.Add(1)
		go func() {
			defer done.Done()
			for i := range work {
				results[i] = api.sequence(cases[i])
			}
		}()
	}
	for i := range cases {
		if results[i] == nil {
			work <- i
		}
	}
	close(work)
	done.Wait()
	return results
}

func (api *clusterAPI) sequence(raw json.RawMessage) any {
	var c clusterCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	r := &clusterRun{api: api, watches: map[string]*clusterWatch{}, phases: []int64{time.Now().Unix() - 1}}
	steps := []any{}
	for i := range c.Steps {
		steps = append(steps, r.do(&c.Steps[i]))
	}
	return map[string]any{"steps": steps, "phases": r.phases}
}

// --- Comparing ---

// What no two runs have in common is replaced by what they must have in common: uids by the order in which they are met, resource
// versions by their rank, times by the phase they fall in, generated names by their prefix. Causes and managed fields are
// sorted, since the one's order is random upstream and the other's depends on the second in which a request came; that
// managed fields were sorted by the API's rule in the first place is part of the result.
type clusterNormalizer struct {
	uids     map[string]string
	versions map[string]string
	names    []*regexp.Regexp
	phases   []int64
}

var (
	uuidPattern    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern    = regexp.MustCompile(`20[2-9][0-9]-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z`)
	versionPattern = regexp.MustCompile(`(resourceVersion\\*":\\*"|in record \(|in the precondition \()([0-9]+)`)
)

var prefixPattern = regexp.MustCompile(`generateName\\*":\\*"([^"\\]+)\\*"`)

func equalCluster(raw json.RawMessage, oracle, subject any) bool {
	ours := normalizeCluster(raw, subject)
	return reflect.DeepEqual(normalizeCluster(raw, oracle), ours) || reflect.DeepEqual(normalizeCluster(raw, withoutIdleWrites(oracle)), ours)
}

// withoutIdleWrites: upstream stores what was applied as it came, and drops what is unknown or empty when it reads, so that a later
// write that changes nothing moves the version. Ours never does; here such a version is the one before.
func withoutIdleWrites(result any) any {
	raw, _ := json.Marshal(result)
	v := decode(raw)
	m, _ := v.(map[string]any)
	steps, _ := m["steps"].([]any)
	last := map[any]map[string]any{}
	same := map[any]any{}
	for _, s := range steps {
		step, _ := s.(map[string]any)
		object, _ := step["object"].(map[string]any)
		meta, _ := object["metadata"].(map[string]any)
		if meta == nil || meta["resourceVersion"] == nil {
			continue
		}
		version := meta["resourceVersion"]
		if known, ok := same[version]; ok {
			meta["resourceVersion"] = known
		} else if before := last[meta["uid"]]; before != nil {
			meta["resourceVersion"] = before["metadata"].(map[string]any)["resourceVersion"]
			if reflect.DeepEqual(before, object) {
				same[version] = meta["resourceVersion"]
			} else {
				meta["resourceVersion"] = version
			}
		}
		if object["kind"] != "Scale" {
			last[meta["uid"]] = object
		}
	}
	return v
}

// explainCluster shows the first step that differs, and where.
func explainCluster(raw json.RawMessage, oracle, subject any) string {
	var c clusterCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	o, _ := normalizeCluster(raw, oracle).([]any)
	s, _ := normalizeCluster(raw, subject).([]any)
	for i := range c.Steps {
		if i >= len(o) || i >= len(s) || reflect.DeepEqual(o[i], s[i]) {
			continue
		}
		step, _ := json.Marshal(c.Steps[i])
		out := fmt.Sprintf("  %s, step %d: %s\n", c.About, i, step)
		differences("", o[i], s[i], func(path string, o, s any) {
			a, _ := json.Marshal(o)
			b, _ := json.Marshal(s)
			out += fmt.Sprintf("    at %s\n      oracle:  %s\n      subject: %s\n", path, a, b)
		})
		return out
	}
	return "  in the number of steps\n"
}

func differences(path string, o, s any, report func(path string, o, s any)) {
	if reflect.DeepEqual(o, s) {
		return
	}
	a, isMap := o.(map[string]any)
	b, areMaps := s.(map[string]any)
	if isMap && areMaps {
		both := map[string]any{}
		for k := range a {
			both[k] = nil
		}
		for k := range b {
			both[k] = nil
		}
		for _, k := range memberNames(both) {
			x, hasX := a[k]
			y, hasY := b[k]
			if hasX != hasY && x == nil && y == nil {
				report(path+"."+k, fmt.Sprint("is there: ", hasX), fmt.Sprint("is there: ", hasY))
			}
			differences(path+"."+k, x, y, report)
		}
		return
	}
	c, isList := o.([]any)
	d, areLists := s.([]any)
	if isList && areLists && len(c) == len(d) {
		for i := range c {
			differences(fmt.Sprintf("%s[%d]", path, i), c[i], d[i], report)
		}
		return
	}
	report(path, o, s)
}

func normalizeCluster(raw json.RawMessage, result any) any {
	m, ok := result.(map[string]any)
	if !ok || m["steps"] == nil {
		return result
	}
	n := &clusterNormalizer{uids: map[string]string{}, versions: map[string]string{}}
	for _, prefix := range prefixPattern.FindAllSubmatch(raw, -1) {
		n.names = append(n.names, regexp.MustCompile("("+regexp.QuoteMeta(string(prefix[1]))+")[bcdfghjklmnpqrstvwxz2456789]{5}"))
	}
	phases, _ := m["phases"].([]any)
	for _, p := range phases {
		second, _ := strconv.ParseInt(fmt.Sprint(p), 10, 64)
		n.phases = append(n.phases, second)
	}
	n.collect(m["steps"])
	ranks := []int{}
	for v := range n.versions {
		number, _ := strconv.Atoi(v)
		ranks = append(ranks, number)
	}
	sort.Ints(ranks)
	for i, v := range ranks {
		n.versions[strconv.Itoa(v)] = fmt.Sprintf("V%d", i)
	}
	return n.value(m["steps"])
}

func (n *clusterNormalizer) collect(v any) {
	switch v := v.(type) {
	case map[string]any:
		if version, ok := v["resourceVersion"].(string); ok {
			if _, err := strconv.Atoi(version); err == nil {
				n.versions[version] = ""
			}
		}
		for _, x := range v {
			n.collect(x)
		}
	case []any:
		for _, x := range v {
			n.collect(x)
		}
	}
}

func (n *clusterNormalizer) text(s string) string {
	for _, name := range n.names {
		s = name.ReplaceAllString(s, "$1*****")
	}
	s = uuidPattern.ReplaceAllStringFunc(s, func(uid string) string {
		if n.uids[uid] == "" {
			n.uids[uid] = fmt.Sprintf("U%d", len(n.uids))
		}
		return n.uids[uid]
	})
	s = timePattern.ReplaceAllStringFunc(s, func(text string) string {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil || len(n.phases) == 0 || t.Unix() < n.phases[0] {
			return text
		}
		phase := 0
		for phase+1 < len(n.phases) && n.phases[phase+1] <= t.Unix() {
			phase++
		}
		return fmt.Sprintf("T%d", phase)
	})
	return versionPattern.ReplaceAllStringFunc(s, func(text string) string {
		parts := versionPattern.FindStringSubmatch(text)
		if rank := n.versions[parts[2]]; rank != "" {
			return parts[1] + rank
		}
		return text
	})
}

func (n *clusterNormalizer) value(v any) any {
	switch v := v.(type) {
	case string:
		return n.text(v)
	case []any:
		result := []any{}
		for _, x := range v {
			result = append(result, n.value(x))
		}
		return result
	case map[string]any:
		return n.object(v)
	}
	return v
}

func (n *clusterNormalizer) object(m map[string]any) any {
	keys := []string{}
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	result := map[string]any{}
	for _, k := range keys {
		if text, ok := m[k].(string); ok && k == "resourceVersion" && n.versions[text] != "" {
			result[k] = n.versions[text]
			continue
		}
		if text, ok := m[k].(string); ok && k == "message" {
			result[k] = n.text(n.patched(text))
			continue
		}
		result[n.text(k)] = n.value(m[k])
	}
	if entries, ok := m["managedFields"].([]any); ok {
		result["managedFieldsAreSorted"] = sort.SliceIsSorted(entries, func(i, j int) bool { return managerKey(entries[i]) < managerKey(entries[j]) })
		sortBy(result["managedFields"].([]any), managerKey)
	}
	if causes, ok := result["causes"].([]any); ok {
		sortBy(causes, func(c any) string { return fmt.Sprint(c) })
	}
	if message, ok := result["message"].(string); ok {
		result["message"] = orderless(message)
	}
	if details, ok := result["details"].(map[string]any); ok {
		if message, ok := result["message"].(string); ok {
			result["message"] = sortedMessage(message, details["causes"])
		}
	}
	return result
}

var (
	unknownField = regexp.MustCompile(`(?s)^(failed to [^:(]*(?:\([^)]*\))?(?:: failed to [^:]*)?): .*field not declared in schema.*$`)
	patchResult  = regexp.MustCompile(`(?s)^(.*Invalid value: )("(?:[^"\\]|\\.)*")(.*)$`)
)

// orderless: a field that a struct does not have ends upstream's walk through it, which follows a Go map, so that which fields are
// named is chance, as is the order of several errors.
func orderless(message string) string {
	if unknownField.MatchString(message) {
		return unknownField.ReplaceAllString(message, "$1: ... field not declared in schema")
	}
	if head, list, ok := strings.Cut(message, "errors:\n"); ok {
		lines := strings.Split(list, "\n")
		sort.Strings(lines)
		return head + "errors:\n" + strings.Join(lines, "\n")
	}
	return message
}

// patched: the object inside the text about a patch's result, in its own right.
func (n *clusterNormalizer) patched(message string) string {
	parts := patchResult.FindStringSubmatch(message)
	if parts == nil {
		return message
	}
	text, err := strconv.Unquote(parts[2])
	if err != nil || !strings.HasPrefix(text, "{") {
		return message
	}
	v, err := decodeNumbers([]byte(text))
	if err != nil {
		return message
	}
	raw, _ := json.Marshal(n.value(v))
	return parts[1] + string(raw) + parts[3]
}

func sortBy(list []any, key func(any) string) {
	sort.SliceStable(list, func(i, j int) bool { return key(list[i]) < key(list[j]) })
}

func managerKey(v any) string {
	m, _ := v.(map[string]any)
	key := ""
	for _, k := range []string{"operation", "time", "manager", "apiVersion", "subresource"} {
		text, _ := m[k].(string)
		key += text + "\x00"
	}
	return key
}

// The message of an Invalid with several causes lists them in their random order. Each is said once.
func sortedMessage(message string, causes any) string {
	list, _ := causes.([]any)
	start := strings.Index(message, " is invalid: [")
	if start < 0 || !strings.HasSuffix(message, "]") {
		return message
	}
	start += len(" is invalid: [")
	rest := message[start : len(message)-1]
	said := map[string]bool{}
	length := 0
	texts := []string{}
	for _, c := range list {
		m, _ := c.(map[string]any)
		text := fmt.Sprintf("%v: %v", m["field"], m["message"])
		if said[text] {
			continue
		}
		said[text] = true
		if !strings.Contains(rest, text) {
			return message
		}
		length += len(text) + 2
		texts = append(texts, text)
	}
	if length-2 != len(rest) {
		return message
	}
	sort.Strings(texts)
	return message[:start] + strings.Join(texts, ", ") + "]"
}
