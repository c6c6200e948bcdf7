package main

import (
	"encoding/json"
	"fmt"
	"os"
	goruntime "runtime"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// benchManaged times applies of the field manager to an object that other steps have made. Decoding, copying and everything else that
// an API server does around it does not count.
func benchManaged(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		fail("%v", err)
	}
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		fail("%v", err)
	}
	var c struct {
		managedCase
		Measure []struct {
			Name string
			Step managedStep
		}
	}
	decoded := mustMarshal(kubeDecode(raw))
	if err := json.Unmarshal(decoded, &c); err != nil {
		fail("%v", err)
	}
	whole := kubeDecode(decoded).(map[string]any) // numbers as Kubernetes reads them
	run := newManagedRun(c.managedCase)
	for i, s := range c.Steps {
		s.Object = whole["steps"].([]any)[i].(map[string]any)["object"].(map[string]any)
		if result := run.step(s).(map[string]any); result["error"] != nil {
			fail("%v", result["error"])
		}
	}
	for i, m := range c.Measure {
		config := &unstructured.Unstructured{Object: whole["measure"].([]any)[i].(map[string]any)["step"].(map[string]any)["object"].(map[string]any)}
		fmt.Printf("%d %s\n", benchApply(run, m.Step, config).Nanoseconds(), m.Name)
	}
}

// benchApply gives the best of many rounds. Each apply has copies of its own, made before the clock runs.
func benchApply(run *managedRun, s managedStep, config *unstructured.Unstructured) time.Duration {
	const perRound = 50
	fm := run.worlds[s.Schema].manager(s.Version, s.Sub, run.status)
	best := time.Hour
	for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); {
		lives, configs := []*unstructured.Unstructured{}, []*unstructured.Unstructured{}
		for range perRound {
			lives, configs = append(lives, run.live.DeepCopy()), append(configs, config.DeepCopy())
		}
		goruntime.GC()
		start := processorTime()
		for i := range perRound {
			if _, err := fm.Apply(lives[i], configs[i], s.Manager, s.Force); err != nil {
				fail("%v", err)
			}
		}
		best = min(best, (processorTime()-start)/perRound)
	}
	return best
}

// processorTime of the process: other work on the machine does not count.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		fail("%v", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
