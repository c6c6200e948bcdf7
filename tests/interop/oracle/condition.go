// Suite condition: setting and comparing conditions as Crossplane does.
package main

import (
	"encoding/json"
	"math/rand"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Sets of conditions, one after the other, on a status that begins with none.
type conditionCase struct {
	Sets [][]conditionValue `json:"sets"`
	Get  string             `json:"get"`
}

type conditionValue struct {
	Type       string `json:"type"`
	Status     string `json:"status"`
	Reason     string `json:"reason"`
	Message    string `json:"message"`
	Generation int64  `json:"generation"`
	Seconds    int64  `json:"seconds"`
}

func (v conditionValue) condition() xpv2.Condition {
	c := xpv2.Condition{Type: xpv2.ConditionType(v.Type), Status: corev1.ConditionStatus(v.Status), Reason: xpv2.ConditionReason(v.Reason), Message: v.Message, ObservedGeneration: v.Generation}
	if v.Seconds != 0 {
		c.LastTransitionTime = metav1.NewTime(time.Unix(v.Seconds, 0).UTC())
	}
	return c
}

func init() {
	suites["condition"] = suite{gen: genCondition, run: runCondition}
}

func genCondition(r *rand.Rand, count int, emit func(c any)) {
	second := int64(1700000000)
	value := func() conditionValue {
		second++
		v := conditionValue{Type: []string{"Ready", "Synced", "", "Custom"}[r.Intn(4)], Status: []string{"True", "False", "Unknown"}[r.Intn(3)], Reason: []string{"A", "B", ""}[r.Intn(3)], Seconds: second}
		v.Message = []string{"", "", "m", "other <&> \" text"}[r.Intn(4)]
		v.Generation = int64(r.Intn(3))
		if r.Intn(10) == 0 {
			v.Seconds = 0
		}
		return v
	}
	for range count {
		c := conditionCase{Sets: [][]conditionValue{}, Get: []string{"Ready", "Synced", "", "Nope"}[r.Intn(4)]}
		for range 1 + r.Intn(6) {
			set := []conditionValue{}
			for range r.Intn(4) {
				if len(c.Sets) > 0 && len(c.Sets[len(c.Sets)-1]) > 0 && r.Intn(2) == 0 {
					// One that was set before, perhaps with a small change.
					last := c.Sets[len(c.Sets)-1]
					v := last[r.Intn(len(last))]
					switch r.Intn(5) {
					case 0:
						v.Message = "m"
					case 1:
						v.Generation = int64(r.Intn(3))
					case 2:
						v.Reason = "B"
					}
					second++
					v.Seconds = second
					set = append(set, v)
					continue
				}
				set = append(set, value())
			}
			c.Sets = append(c.Sets, set)
		}
		emit(c)
	}
}

func runCondition(raw json.RawMessage) any {
	var c conditionCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	s := &xpv2.ConditionedStatus{}
	equal := []bool{}
	for _, set := range c.Sets {
		conditions := []xpv2.Condition{}
		for i, v := range set {
			conditions = append(conditions, v.condition())
			equal = append(equal, v.condition().Equal(set[0].condition()), set[i].condition().Equal(s.GetCondition(xpv2.ConditionType(v.Type))))
		}
		s.SetConditions(conditions...)
	}
	conditions := s.Conditions
	if conditions == nil {
		conditions = []xpv2.Condition{}
	}
	return map[string]any{"conditions": conditions, "get": s.GetCondition(xpv2.ConditionType(c.Get)), "equal": equal}
}
