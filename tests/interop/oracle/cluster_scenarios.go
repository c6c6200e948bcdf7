// Scenarios of tests/cluster-conformance on a real Kubernetes API: oracle scenarios FILE.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"
)

type scenarioFile struct {
	Kinds map[string]struct {
		Of         string `json:"of"`
		Namespaced bool   `json:"namespaced"`
	} `json:"kinds"`
	Setup     []json.RawMessage `json:"setup"`
	Scenarios []struct {
		About string           `json:"about"`
		Steps []map[string]any `json:"steps"`
	} `json:"scenarios"`
}

func runScenarios(name string) {
	raw, err := os.ReadFile(name)
	if err != nil {
		fail("%v", err)
	}
	var f scenarioFile
	if err := yaml.Unmarshal(raw, &f, useNumber); err != nil {
		fail("%s: %v", name, err)
	}
	api := newClusterAPI()
	for _, object := range f.Setup {
		api.establish(object)
	}
	failures := make([]string, len(f.Scenarios))
	var done sync.WaitGroup
	for i := range f.Scenarios {
		done.Add(1)
		go func() {
			defer done.Done()
			failures[i] = api.scenario(&f, i)
		}()
	}
	done.Wait()
	failed := 0
	for i, failure := range failures {
		if failure == "" {
			fmt.Printf("ok %d - conformance of kube-apiserver: %s\n", i+1, f.Scenarios[i].About)
			continue
		}
		failed++
		fmt.Printf("not ok %d - conformance of kube-apiserver: %s\n# %s\n", i+1, f.Scenarios[i].About, strings.ReplaceAll(failure, "\n", "\n# "))
	}
	fmt.Printf("1..%d\n", len(failures))
	if failed > 0 {
		os.Exit(1)
	}
}

func (api *clusterAPI) scenario(f *scenarioFile, i int) string {
	name := fmt.Sprintf("s%d", i)
	r := &clusterRun{api: api, watches: map[string]*clusterWatch{}}
	namespace, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	api.establish(namespace)
	for n, written := range f.Scenarios[i].Steps {
		s, want := f.step(written, name)
		if difference := r.until(s, want); difference != "" {
			return fmt.Sprintf("step %d (%s %s): %s", n, s.Op, s.Name, difference)
		}
	}
	for _, w := range r.watches {
		w.stop()
	}
	return ""
}

// step: with what a written one leaves out.
func (f *scenarioFile) step(written map[string]any, name string) (*clusterStep, any) {
	raw, _ := json.Marshal(written)
	v, err := decodeNumbers([]byte(strings.ReplaceAll(string(raw), "{n}", name)))
	if err != nil {
		fail("%v", err)
	}
	m := v.(map[string]any)
	want := m["want"]
	delete(m, "want")
	of, _ := m["of"].(string)
	if kind, ok := f.Kinds[of]; ok {
		m["of"] = kind.Of
		if m["ns"] == nil && kind.Namespaced {
			m["ns"] = name
		}
	}
	parts := strings.Split(fmt.Sprint(m["of"]), " ")
	body, _ := m["body"].(map[string]any)
	if (m["op"] == "create" || m["op"] == "apply") && body["apiVersion"] == nil {
		m["body"] = mergePatched(map[string]any{"apiVersion": parts[0], "kind": parts[1], "metadata": map[string]any{"name": m["name"]}}, body)
	}
	raw, _ = json.Marshal(m)
	s := &clusterStep{}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		fail("%s: %v", raw, err)
	}
	return s, want
}

// until does the step once, or until it answers what is wanted.
func (r *clusterRun) until(s *clusterStep, want any) string {
	answers, first, last := r.answers, r.first, r.last
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		result := r.do(s)
		raw, _ := json.Marshal(result)
		got, _ := decodeNumbers(raw)
		difference := ""
		if want != nil {
			difference = r.lacks(got, want, "")
		}
		if difference == "" || !s.Eventually || time.Now().After(end) {
			if difference != "" {
				difference += fmt.Sprintf("\nin %s", raw)
			}
			return difference
		}
		r.answers, r.first, r.last = answers, first, last
	}
}

// lacks says where the answer is not as wanted.
func (r *clusterRun) lacks(got, want any, path string) string {
	switch want := want.(type) {
	case nil:
		if got != nil && got != "" {
			return fmt.Sprintf("%s is %v, but must not be there", path, got)
		}
		return ""
	case map[string]any:
		m, _ := got.(map[string]any)
		for _, k := range memberNames(want) {
			if difference := r.lacks(m[k], want[k], path+"."+k); difference != "" {
				return difference
			}
		}
		return ""
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			return fmt.Sprintf("%s has %d items, wanted %d", path, len(list), len(want))
		}
		for i := range want {
			if difference := r.lacks(list[i], want[i], fmt.Sprintf("%s[%d]", path, i)); difference != "" {
				return difference
			}
		}
		return ""
	case string:
		if want == "*" {
			if got == nil || got == "" {
				return path + " is not there"
			}
			return ""
		}
		if wanted := r.resolve(want); !reflect.DeepEqual(got, wanted) {
			return fmt.Sprintf("%s is %v, wanted %v", path, got, wanted)
		}
		return ""
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("%s is %v, wanted %v", path, got, want)
	}
	return ""
}
