// Suite jsonpath: client-go's JSONPath, as the columns of CRDs use it.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"sort"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

type jsonpathCase struct {
	Path string          `json:"path,omitempty"`
	Hex  string          `json:"hex,omitempty"` // the path, where it is not UTF-8
	Doc  json.RawMessage `json:"doc"`
}

func init() {
	suites["jsonpath"] = suite{gen: genJSONPath, run: runJSONPath, equal: equalJSONPath}
}

func (c jsonpathCase) text() string {
	if c.Hex == "" {
		return c.Path
	}
	b, err := hex.DecodeString(c.Hex)
	if err != nil {
		fail("%v", err)
	}
	return string(b)
}

func runJSONPath(raw json.RawMessage) any {
	var c jsonpathCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	return jsonpathResult(c)
}

func jsonpathResult(c jsonpathCase) (result any) {
	defer func() {
		if r := recover(); r != nil {
			result = map[string]any{"panic": fmt.Sprint(r)}
		}
	}()
	text := c.text()
	if !strings.HasPrefix(text, "{") {
		text = "{" + text + "}"
	}
	j := jsonpath.New("case").AllowMissingKeys(true)
	if err := j.Parse(text); err != nil {
		return map[string]any{"error": err.Error()}
	}
	results, err := j.FindResults(kubeDecode(c.Doc))
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	found := []any{}
	if len(results) > 0 {
		for _, v := range results[0] {
			switch v := v.Interface().(type) {
			case int: // a literal of the path
				found = append(found, int64(v))
			case uint8: // of a string
				found = append(found, int64(v))
			default:
				found = append(found, typed(v))
			}
		}
	}
	return map[string]any{"found": found}
}

// equalJSONPath ignores the order of what is found where it hangs on the order of a Go map.
func equalJSONPath(raw json.RawMessage, oracle, subject any) bool {
	if reflect.DeepEqual(oracle, subject) {
		return true
	}
	var c jsonpathCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	if text := c.text(); !strings.Contains(text, "*") && !strings.Contains(text, "..") {
		return false
	}
	sorted := func(v any) []string {
		m, _ := v.(map[string]any)
		list, ok := m["found"].([]any)
		if !ok {
			return []string{fmt.Sprint(v)}
		}
		texts := []string{}
		for _, item := range list {
			b, _ := json.Marshal(item)
			texts = append(texts, string(b))
		}
		sort.Strings(texts)
		return texts
	}
	return reflect.DeepEqual(sorted(oracle), sorted(subject))
}

var jsonpathKeys = []string{"a", "b", "c", "d", "type", "status", "a.b", "x-y", "", "é", "true", "0", "a b", "'", "*", "$"}

func jsonpathValue(r *rand.Rand, depth int) any {
	n := 12
	if depth <= 0 {
		n = 8
	}
	switch k := r.Intn(n); k {
	case 0:
		return nil
	case 1:
		return r.Intn(2) == 0
	case 2, 3:
		return r.Intn(7) - 2
	case 4:
		return []float64{0.5, 1.5, 2.25, -1e21, 1e-9}[r.Intn(5)]
	case 5:
		return []string{"", "x", "True", "Ready", "a)b", "5", "é\"", "it's"}[r.Intn(8)]
	case 6:
		return []any{}
	case 7:
		return "Ready"
	case 8, 9:
		list := make([]any, r.Intn(5))
		for i := range list {
			if r.Intn(3) == 0 {
				list[i] = map[string]any{"type": []string{"Ready", "Synced", "Ready"}[r.Intn(3)], "status": []string{"True", "False"}[r.Intn(2)], "n": r.Intn(4)}
			} else {
				list[i] = jsonpathValue(r, depth-1)
			}
		}
		return list
	default:
		return jsonpathObject(r, depth-1)
	}
}

func jsonpathObject(r *rand.Rand, depth int) map[string]any {
	m := map[string]any{}
	for range 1 + r.Intn(5) {
		m[jsonpathKeys[r.Intn(len(jsonpathKeys))]] = jsonpathValue(r, depth)
	}
	return m
}

func jsonpathPick(r *rand.Rand, of ...string) string {
	return of[r.Intn(len(of))]
}

func jsonpathOperand(r *rand.Rand) string {
	if r.Intn(3) == 0 {
		return "@" + jsonpathSteps(r, 1+r.Intn(2))
	}
	return jsonpathPick(r, `"Ready"`, `'True'`, `"x"`, "1", "2", "-1", "1.5", "0.5", "true", "false", "@", "$", `"a)b"`, `"é\""`, `'it\'s'`, "@.type", "@.n", "@.status", "@[0]", "nope", `"\x41"`, "+3", "1.2.3", `"`, "''")
}

func jsonpathSteps(r *rand.Rand, n int) string {
	text := ""
	for range n {
		switch r.Intn(16) {
		case 0, 1, 2, 3:
			text += "." + jsonpathPick(r, "a", "b", "c", "d", "type", "status", `a\.b`, "x-y", "é", "*", "", "true", `\$`, "a b", `a\`)
		case 4:
			text += "['" + jsonpathPick(r, "a", "b", "c", "a.b", `a\.b`, "x-y", "", "*", "a b", "a}b", "$", "[") + "']"
		case 5, 6:
			text += "[" + jsonpathPick(r, "0", "1", "2", "-1", "-2", "*", ":", "0:2", "1:", ":-1", "-2:", "::2", "0:4:2", "::-1", "::0", "", "1:1", "2:1", "-", "5", "-5", "99999999999999999999", "x", "9223372036854775807", "0:1:2:3", ":9", "01", " 1") + "]"
		case 7:
			text += "[" + jsonpathPick(r, "0,1", "'a','b'", "'a', 'c'", "0, 'a'", "*,0", ",", "'a.b',", "x,y", "1:,:1", "-1,-2") + "]"
		case 8, 9, 10:
			text += "[?(" + jsonpathOperand(r) + jsonpathPick(r, "", " ") + jsonpathPick(r, "==", "!=", "<", ">", "<=", ">=", "==", "==", "=", "===", "<>", "!") + jsonpathPick(r, "", " ") + jsonpathOperand(r) + ")]"
		case 11:
			text += "[?(" + jsonpathOperand(r) + ")]"
		case 12:
			text += ".."
		case 13:
			text += ".." + jsonpathPick(r, "a", "b", "type", "[0]", "*", "[*]", "['a']")
		case 14:
			text += ".*"
		default:
			text += jsonpathPick(r, " ", "@", "$", "'text'", `"t\n"`, "5", "2.5", "true", "end", "word", "}", "{", "}{.a", "} x", "é", "\t", "\n", "#", "=", `'\q'`, "(", "]", ",")
		}
	}
	return text
}

const jsonpathBytes = ".[]{}?()'\"\\@$*,:-+=!<>0123ab \xff\xc3"

func jsonpathMutate(r *rand.Rand, s string) string {
	b := []byte(s)
	for range r.Intn(3) {
		if len(b) == 0 {
			break
		}
		i := r.Intn(len(b))
		switch r.Intn(3) {
		case 0:
			b = append(b[:i], b[i+1:]...)
		case 1:
			b[i] = jsonpathBytes[r.Intn(len(jsonpathBytes))]
		default:
			b = append(b[:i], append([]byte{jsonpathBytes[r.Intn(len(jsonpathBytes))]}, b[i:]...)...)
		}
	}
	return string(b)
}

// jsonpathGuided makes a path that leads somewhere in the document, now and then with a step that does not.
func jsonpathGuided(r *rand.Rand, v any) string {
	text := ""
	for range 6 {
		if r.Intn(8) == 0 {
			return text + jsonpathSteps(r, 1+r.Intn(2))
		}
		switch of := v.(type) {
		case map[string]any:
			keys := slices.Sorted(maps.Keys(of))
			if len(keys) == 0 {
				return text
			}
			key := keys[r.Intn(len(keys))]
			v = of[key]
			escaped := strings.NewReplacer(".", `\.`, " ", `\ `, "$", `\$`).Replace(key)
			if key == "'" || r.Intn(2) == 0 {
				text += "." + escaped
			} else {
				text += "['" + escaped + "']"
			}
		case []any:
			if len(of) == 0 {
				return text
			}
			i := r.Intn(len(of))
			v = of[i]
			switch r.Intn(4) {
			case 0:
				text += fmt.Sprintf("[%d]", i)
			case 1:
				text += fmt.Sprintf("[%d]", i-len(of))
			case 2:
				text += fmt.Sprintf("[%d:%d]", i, i+1+r.Intn(len(of)-i))
			default:
				text += "[?(" + jsonpathPick(r, "@.type", "@.status", "@.n", "@") + jsonpathPick(r, "==", "!=", "<", ">=", "") + jsonpathPick(r, `"Ready"`, "1", "'True'", "true", "0.5") + ")]"
			}
		default:
			return text
		}
	}
	return text
}

// jsonpathIsSettled: whether the answer is the same in every order in which Go walks a map.
func jsonpathIsSettled(c jsonpathCase) bool {
	raw, _ := json.Marshal(c)
	answer := func() any {
		b, _ := json.Marshal(jsonpathResult(c))
		return decode(b)
	}
	first := answer()
	for range 20 {
		if !equalJSONPath(raw, first, answer()) {
			return false
		}
	}
	return true
}

func genJSONPath(r *rand.Rand, count int, emit func(c any)) {
	for n := 0; n < count; {
		object := jsonpathObject(r, 4)
		doc, err := json.Marshal(object)
		if err != nil {
			fail("%v", err)
		}
		text := jsonpathGuided(r, object)
		if r.Intn(2) == 0 {
			text = jsonpathSteps(r, 1+r.Intn(4))
		}
		if r.Intn(6) == 0 {
			text = "{" + text + jsonpathPick(r, "}", "", "} and {.a}")
		}
		if r.Intn(4) == 0 {
			text = jsonpathMutate(r, text)
		}
		if strings.Contains(text, "range") {
			continue
		}
		c := jsonpathCase{Path: text, Doc: doc}
		if b, _ := json.Marshal(text); true {
			var back string
			if json.Unmarshal(b, &back); back != text {
				c.Path, c.Hex = "", hex.EncodeToString([]byte(text))
			}
		}
		if m, ok := jsonpathResult(c).(map[string]any); ok && m["panic"] != nil || !jsonpathIsSettled(c) {
			continue
		}
		emit(c)
		n++
	}
}
