// encoding/json on one side and the Kubernetes flavour on the other. Texts travel as hexadecimal bytes both ways, since they
// need not be UTF-8.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"
	sjson "sigs.k8s.io/json"
)

type jsonCase struct {
	Op   string `json:"op"` // go, kubernetes, strict, stream
	Text string `json:"text"`
}

func init() {
	suites["json"] = suite{gen: genJSON, run: runJSON}
}

func jsonEncodings(v any) map[string]any {
	compact, err := json.Marshal(v)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	pretty, _ := json.MarshalIndent(v, "", "  ")
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return map[string]any{
		"compact": hex.EncodeToString(compact),
		"pretty":  hex.EncodeToString(pretty),
		"plain":   hex.EncodeToString(bytes.TrimSuffix(plain.Bytes(), []byte("\n"))),
	}
}

func jsonError(err error) any {
	result := map[string]any{"error": err.Error()}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		result["offset"] = syntax.Offset
	}
	return result
}

func runJSON(raw json.RawMessage) any {
	var c jsonCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("bad case %s: %v", raw, err)
	}
	text, _ := hex.DecodeString(c.Text)
	var v any
	switch c.Op {
	case "go":
		if err := json.Unmarshal(text, &v); err != nil {
			return jsonError(err)
		}
		return jsonEncodings(v)
	case "kubernetes":
		if err := kjson.Unmarshal(text, &v); err != nil {
			return errorResult(err)
		}
		return jsonEncodings(v)
	case "strict":
		strict, err := sjson.UnmarshalStrict(text, &v)
		if err != nil {
			return errorResult(err)
		}
		told := []string{}
		for _, e := range strict {
			told = append(told, e.Error())
		}
		return map[string]any{"told": told}
	default:
		// The decoder words truncated texts differently: only that it fails is compared.
		d := json.NewDecoder(bytes.NewReader(text))
		values := []any{}
		for {
			var v any
			err := d.Decode(&v)
			if err != nil {
				return map[string]any{"values": values, "failed": err != io.EOF}
			}
			values = append(values, jsonEncodings(v)["compact"])
		}
	}
}

var jsonTexts = []string{"", " ", "\n\t\r ", "\f1", "\v1", "\u00a01", "null", "true", "false", "nul", "nulL", "truE", "tru", "t", "fals", "falsy", "n", "nil",
	"NaN", "Infinity", "-Infinity", "undefined", "0", "-0", "00", "01", "-01", "1.", ".1", "-.1", "1.e1", "1e", "1e+", "1e-", "1e1", "1E1", "1e+1", "1E-1", "1e01",
	"0e0", "0E+0", "-", "--1", "+1", "- 1", "1 1", "0x1", "1_0", "1e1.5", "1.5e1.5", "1.0", "1.50", "100", "1e2", "123.456e-2", "1e400", "-1e400", "1e-400",
	"4.9e-324", "1.7976931348623157e308", "1.7976931348623159e308", "9007199254740993", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "-9223372036854775809", "18446744073709551615", "99999999999999999999", "0.1", "0.30000000000000004", "1e-7", "1e21", "1e20",
	"123456789012345678901234567890", "-0.0", "-0e5", "0.0000001", "0.000001",
	`""`, `"`, `"\`, `"\"`, `"\\"`, `"\x"`, `"\u"`, `"\u1"`, `"\u12"`, `"\u123"`, `"\u1234"`, `"\u12345"`, `"\U0041"`, `"\uD83D\uDE00"`, `"\ud83d"`, `"\ud83dx"`,
	`"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\n"`, `"\uDBFF\uDFFF"`, `"\ud83d\u"`, `"\ud83d\ude0"`, `"\u0000"`, `"\/\b\f\n\r\t\"\\"`, `"\a"`, `"\v"`,
	`"\0"`, `"\'"`, "'a'", "\"a\tb\"", "\"a\nb\"", "\"a\x00b\"", "\"\x1f\"", "\"\x7f\"", "\"\x80\"", "\"\xff\xfe\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"",
	"\"\xe2\x82\"", "\"\xe2\x82\xac\"", "\"\xf0\x9f\x98\x80\"", "\"\u2028\u2029\"", "\"<>&\"", "\"\ufeff\"", "\ufeff1", "\xff", "\x80", "\xad", "\xa0", "\xe9", "\x00", "\x1b", "\x7f",
	"[", "]", "[]", "[ ]", "[,]", "[1,]", "[,1]", "[1 2]", "[1,,2]", "[1}", "[1:2]", "[[]", "[]]", "[1]x", "[\"a\"", "[nul]", "[1.]", "[-]", "[1e]", "[\"\\x\"]",
	"{", "}", "{}", "{ }", "{,}", "{a}", "{a:1}", "{'a':1}", "{1:1}", "{null:1}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`, `{"a" 1}`, `{"a",1}`, `{"a":1]`, `{"a"::1}`, `{:1}`,
	`{"a":1}}`, `{"a":1}{}`, `{"a":1,"a":2}`, `{"a":{"b":1,"c":2,"b":3},"a":4}`, `{"b":1,"a":2,"b":3,"a":4}`, `{"":1,"":2}`, `{"\u0061":1,"a":2}`, "{\"\xff\":1,\"\xfe\":2}",
	"/* c */ 1", "1 // c", "1 # c", "[1, // c\n2]", `{"a":1;"b":2}`, "{\"a\n\":1}", "1\x00", "[1e400]", `{"a":1e400,`, "[1e400,1e500]", "1e400x", "\"\\ud800\" x",
	strings.Repeat("[", 500) + strings.Repeat("]", 500), strings.Repeat("[", 300), strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200),
	`"` + strings.Repeat("a", 15) + `"`, `"` + strings.Repeat("a", 16) + `"`, `"` + strings.Repeat("a", 17) + `"`, `"` + strings.Repeat("é", 40) + `"`,
	`"` + strings.Repeat("a", 5000) + `\n` + strings.Repeat("\xff", 500) + `"`, `"` + strings.Repeat("\\u00e9", 700) + `"`, "1 2 3", "{}[]\"a\"1 null", "{} x", "1x", "[1]2", "truefalse", "\"a\"\"b\"", "1 [", " "}

func genJSON(r *rand.Rand, count int, emit func(c any)) {
	ops := []string{"go", "kubernetes", "stream"}
	for _, s := range jsonTexts {
		for _, op := range ops {
			emit(jsonCase{Op: op, Text: hex.EncodeToString([]byte(s))})
		}
	}
	for _, n := range []int{11, 12, 13, 14, 40, 47, 48, 49, 50, 63, 64, 65, 100, 700} {
		emit(jsonCase{Op: "kubernetes", Text: hex.EncodeToString([]byte(jsonManyKeys(r, n, n)))})
		emit(jsonCase{Op: "kubernetes", Text: hex.EncodeToString([]byte(jsonManyKeys(r, n, n*3/4)))})
		emit(jsonCase{Op: "strict", Text: hex.EncodeToString([]byte(jsonManyKeys(r, n, n-2)))})
	}
	for i := 0; i < count; i++ {
		text := []byte(jsonRandom(r, 4, false))
		if i%8 == 7 {
			// Paths of duplicates are compared for plain keys: ours puts keys with dots in brackets, as field paths do.
			emit(jsonCase{Op: "strict", Text: hex.EncodeToString([]byte(jsonRandom(r, 4, true)))})
			continue
		}
		if i%2 == 0 {
			text = jsonMutate(r, text)
		}
		if i%13 == 0 {
			text = append(append(text, []byte(" ")...), []byte(jsonRandom(r, 2, false))...)
		}
		emit(jsonCase{Op: ops[r.Intn(len(ops))], Text: hex.EncodeToString(text)})
	}
}

// An object of n members with `distinct` different keys, in no order.
func jsonManyKeys(r *rand.Rand, n, distinct int) string {
	s := []string{}
	for i, k := range r.Perm(n) {
		s = append(s, fmt.Sprintf("\"key-number-%d\":%d", k%distinct, i))
	}
	return "{" + strings.Join(s, ",") + "}"
}

func jsonSpace(r *rand.Rand) string {
	return []string{"", "", "", "", " ", "\n", "\t ", "\r\n"}[r.Intn(8)]
}

func jsonRandom(r *rand.Rand, depth int, hasDuplicates bool) string {
	kind := r.Intn(10)
	if depth == 0 {
		kind = r.Intn(6)
	}
	switch kind {
	case 0:
		return []string{"null", "true", "false"}[r.Intn(3)]
	case 1:
		return fmt.Sprint(r.Int63() >> r.Intn(63) * int64(1-2*r.Intn(2)))
	case 2:
		return jsonRandomNumber(r)
	case 3, 4, 5:
		return jsonRandomString(r)
	case 6, 7:
		s := []string{}
		for n := r.Intn(6); n > 0; n-- {
			s = append(s, jsonSpace(r)+jsonRandom(r, depth-1, hasDuplicates)+jsonSpace(r))
		}
		return "[" + strings.Join(s, ",") + "]"
	default:
		s := []string{}
		n := r.Intn(8)
		if r.Intn(20) == 0 {
			n = r.Intn(80)
		}
		for ; n > 0; n-- {
			key := `"` + string("abcdefghijklmnopqrstuvwxyz"[r.Intn(26)]) + `"`
			if hasDuplicates {
				key = `"` + []string{"a", "b", "cc", "dddd", "spec", "metadata", "a-key-longer-than-sixteen-bytes"}[r.Intn(7)] + `"`
			} else if r.Intn(3) == 0 {
				key = jsonRandomString(r)
			}
			s = append(s, jsonSpace(r)+key+jsonSpace(r)+":"+jsonSpace(r)+jsonRandom(r, depth-1, hasDuplicates)+jsonSpace(r))
		}
		return "{" + strings.Join(s, ",") + "}"
	}
}

func jsonRandomNumber(r *rand.Rand) string {
	s := fmt.Sprintf("%d", r.Intn(1<<uint(1+r.Intn(30))))
	if r.Intn(2) == 0 {
		s = "-" + s
	}
	if r.Intn(2) == 0 {
		s += fmt.Sprintf(".%0*d", 1+r.Intn(18), r.Int63n(1000000))
	}
	if r.Intn(3) == 0 {
		s += []string{"e", "E"}[r.Intn(2)] + []string{"", "+", "-"}[r.Intn(3)] + fmt.Sprint(r.Intn(320))
	}
	return s
}

func jsonRandomString(r *rand.Rand) string {
	b := []byte{'"'}
	n := r.Intn(12)
	if r.Intn(5) == 0 {
		n = r.Intn(60)
	}
	for ; n > 0; n-- {
		switch r.Intn(14) {
		case 0:
			b = append(b, '\\', `"\/bfnrt`[r.Intn(8)])
		case 1:
			b = append(b, fmt.Sprintf("\\u%04x", r.Intn(65536))...)
		case 2:
			b = append(b, fmt.Sprintf("\\uD8%02X\\udc%02x", r.Intn(256), r.Intn(256))...)
		case 3:
			b = append(b, string(rune(r.Intn(0x11000)))...)
		case 4:
			b = append(b, byte(128+r.Intn(128)))
		case 5:
			b = append(b, "<>&\x7f"[r.Intn(4)])
		case 6:
			b = append(b, string([]rune{0x2028, 0x2029, 0xfffd, 0x1f600, 0xfeff}[r.Intn(5)])...)
		default:
			b = append(b, "abcdefghijklmnopqrstuvwxyz0123456789 ./-_:,[]{}"[r.Intn(46)])
		}
	}
	return string(append(b, '"'))
}

func jsonMutate(r *rand.Rand, text []byte) []byte {
	for n := 1 + r.Intn(2); n > 0 && len(text) > 0; n-- {
		i := r.Intn(len(text))
		interesting := "{}[],:\"\\tfnue0123456789.-+E \n\x00\x1f\x7f\x80\xff'/"
		switch r.Intn(5) {
		case 0:
			text = append(text[:i:i], text[i+1:]...)
		case 1:
			text = append(append(append([]byte{}, text[:i]...), interesting[r.Intn(len(interesting))]), text[i:]...)
		case 2:
			text = append([]byte{}, text...)
			text[i] = interesting[r.Intn(len(interesting))]
		case 3:
			text = text[:i]
		case 4:
			text = append([]byte{}, text...)
			text[i] = byte(r.Intn(256))
		}
	}
	return text
}
