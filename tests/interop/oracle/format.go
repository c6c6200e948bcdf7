// Suite format: fmt.Sprintf, strconv's quoting and its facts about runes.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// One case. Formats and strings travel as base64 since they need not be UTF-8; arguments are tagged, so that ints, doubles
// and special doubles stay apart.
type formatCase struct {
	Op     string `json:"op"`
	Format string `json:"format,omitempty"`
	Args   []any  `json:"args,omitempty"`
	Text   string `json:"text,omitempty"`
	Rune   int64  `json:"rune,omitempty"`
}

func init() {
	suites["format"] = suite{gen: genFormat, run: runFormat}
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func unb64(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		fail("%v", err)
	}
	return string(b)
}

// formatTagged turns a Go value into its form in a case: {"i": "42"}, {"d": bits in hex}, {"s": base64}, {"b": true},
// {"a": [...]}, {"o": [[key, value], ...]} in random order, or null.
func formatTagged(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		return map[string]any{"b": v}
	case int64:
		return map[string]any{"i": strconv.FormatInt(v, 10)}
	case float64:
		return map[string]any{"d": strconv.FormatUint(math.Float64bits(v), 16)}
	case string:
		return map[string]any{"s": b64(v)}
	case []any:
		items := []any{}
		for _, item := range v {
			items = append(items, formatTagged(r, item))
		}
		return map[string]any{"a": items}
	case map[string]any:
		members := []any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			members = append(members, []any{b64(k), formatTagged(r, v[k])})
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return map[string]any{"o": members}
	}
	panic("type")
}

func formatUntagged(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for tag, x := range m {
		switch tag {
		case "b":
			return x
		case "i":
			i, _ := strconv.ParseInt(x.(string), 10, 64)
			return i
		case "d":
			u, _ := strconv.ParseUint(x.(string), 16, 64)
			return math.Float64frombits(u)
		case "s":
			return unb64(x.(string))
		case "a":
			items := []any{}
			for _, item := range x.([]any) {
				items = append(items, formatUntagged(item))
			}
			return items
		case "o":
			members := map[string]any{}
			for _, member := range x.([]any) {
				members[unb64(member.([]any)[0].(string))] = formatUntagged(member.([]any)[1])
			}
			return members
		}
	}
	panic("tag")
}

var formatStrings = []string{
	"", "a", "hello", "héllo wörld", "日本語", "\x00", "\x7f", "\a\b\f\n\r\t\v", `\`, `"`, "'", "`", "a`b", "tab\there", "line\nbreak",
	"\x80", "\xff\xfe", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "\ufffd", "\ufeff", "\u2028\u2029", "\u00a0", "\u00ad",
	"\u200b\u202e", "😀", "👩‍👩‍👧", "\U000e0001", "\U0010ffff", "e\u0301", "%", "%d", "%!d(string=x)", "\U0001fae8\u0378\u0530", "ǅ", "\u1680\u3000",
	strings.Repeat("x", 70), strings.Repeat("é", 40), "true", "<nil>", "0x12", "-5", "\xe2\x82", "\xf0\x9f\x98",
}

var formatDoubles = []float64{
	0, math.Copysign(0, -1), 1, -1, 3, 3.7, -2.5, 0.1, 1e5, 123456, 999999, 1e6, 1234567, 1e15, 1e16, 1e20, 1e21, 1e22, 1e23, 0.0001, 0.00001,
	1e-7, 123456789.125, 100, 1 << 53, 1<<53 + 2, 1 << 62, -(1 << 63), 1 << 63, math.MaxFloat64, math.SmallestNonzeroFloat64, 2.2250738585072014e-308,
	math.NaN(), math.Inf(1), math.Inf(-1), math.Pi, -math.E, 0.5, 1.5, 2.5, 1e100, 9.999999e5, 999999.5, 9.5, 0.05, 65, 0x1F600, 0xD800, 0x110000,
	math.Float64frombits(0xFFF8000000000001),
}

var formatInts = []int64{
	0, 1, -1, 5, 7, 9, 10, 42, -42, 65, 97, 127, 128, 255, 256, 1000, 0x378, 0xFFFD, 0xFEFF, 0xD800, 0xDFFF, 0x1F600, 0x10FFFF, 0x110000, 1 << 31, 1 << 32,
	-(1 << 31), math.MaxInt64, math.MinInt64, 39, 34, 92, 96, 8, 0xA0, 0xE9, 1000000, 1000001, -1000001,
}

func formatRandomString(r *rand.Rand) string {
	switch r.Intn(4) {
	case 0, 1:
		return formatStrings[r.Intn(len(formatStrings))]
	case 2:
		b := make([]byte, r.Intn(12))
		r.Read(b)
		return string(b)
	}
	runes := make([]rune, r.Intn(8))
	for i := range runes {
		runes[i] = rune(r.Intn([]int{0x80, 0x300, 0x3000, 0x10000, 0x110000}[r.Intn(5)]))
	}
	return string(runes)
}

func formatRandomDouble(r *rand.Rand) float64 {
	switch r.Intn(5) {
	case 0, 1:
		return formatDoubles[r.Intn(len(formatDoubles))]
	case 2:
		return math.Float64frombits(r.Uint64())
	case 3:
		return float64(r.Intn(2000000) - 1000000)
	}
	return math.Round(r.NormFloat64()*1e6) / math.Pow(10, float64(r.Intn(10)))
}

func formatRandomInt(r *rand.Rand) int64 {
	switch r.Intn(4) {
	case 0:
		return int64(r.Uint64()) >> r.Intn(64)
	case 1:
		return int64(r.Intn(40) - 10)
	}
	return formatInts[r.Intn(len(formatInts))]
}

func formatRandomArgument(r *rand.Rand, depth int) any {
	n := 12
	if depth > 2 {
		n = 10
	}
	switch r.Intn(n) {
	case 0:
		return nil
	case 1:
		return r.Intn(2) == 0
	case 2, 3, 4:
		return formatRandomInt(r)
	case 5, 6, 7:
		return formatRandomDouble(r)
	case 8, 9:
		return formatRandomString(r)
	case 10:
		items := []any{}
		for range r.Intn(4) {
			items = append(items, formatRandomArgument(r, depth+1))
		}
		return items
	}
	members := map[string]any{}
	for range r.Intn(4) {
		members[formatRandomString(r)] = formatRandomArgument(r, depth+1)
	}
	return members
}

// %p of an array or object prints an address, so p is a verb here only behind scalars (see genFormat).
const formatVerbs = "vvvvvvdddsssqqxXeEfFgGbtoOcUTw"

func formatRandomWidth(r *rand.Rand) string {
	switch r.Intn(40) {
	case 0:
		return "1000000"[:r.Intn(4)+1]
	case 1:
		return strconv.Itoa(r.Intn(1300))
	case 2:
		return []string{"99999999", "10000001", "1000001x", "000012", "1x", "00"}[r.Intn(6)]
	}
	return strconv.Itoa(r.Intn(25))
}

func formatRandomIndex(r *rand.Rand) string {
	switch r.Intn(12) {
	case 0:
		return "[]"
	case 1:
		return []string{"[x]", "[-1]", "[0]", "[99]", "[1", "[", "[1x]", "[ 1]", "[99999999]", "[1][2]", "[1]5", "[1]."}[r.Intn(12)]
	}
	return "[" + strconv.Itoa(r.Intn(4)+1) + "]"
}

func formatRandomVerb(r *rand.Rand) string {
	var b strings.Builder
	b.WriteByte('%')
	for r.Intn(2) == 0 {
		b.WriteByte("#0+- "[r.Intn(5)])
	}
	if r.Intn(8) == 0 {
		b.WriteString(formatRandomIndex(r))
	}
	switch r.Intn(8) {
	case 0, 1:
		b.WriteString(formatRandomWidth(r))
	case 2:
		b.WriteByte('*')
	}
	if r.Intn(3) == 0 {
		b.WriteByte('.')
		if r.Intn(12) == 0 {
			b.WriteString(formatRandomIndex(r))
		}
		switch r.Intn(4) {
		case 0, 1:
			b.WriteString(formatRandomWidth(r))
		case 2:
			b.WriteByte('*')
		}
	}
	if r.Intn(8) == 0 {
		b.WriteString(formatRandomIndex(r))
	}
	switch r.Intn(20) {
	case 0:
		b.WriteString([]string{"!", "", "é", "日", "\x80", "%", "z", "i", "u", "n", "S", "V", "]", "-", "\xff", "😀", "ﬁ", "y", "_", "\x00"}[r.Intn(20)])
	default:
		b.WriteByte(formatVerbs[r.Intn(len(formatVerbs))])
	}
	return b.String()
}

func formatRandom(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.Intn(3) {
		if r.Intn(3) == 0 {
			b.WriteString(formatRandomString(r))
		}
		b.WriteString(formatRandomVerb(r))
	}
	if r.Intn(10) == 0 {
		b.WriteString([]string{"%", "%5", "%.", "%5.", "%[1]", "%[", "%-", "%*", "%.*", "%[1", "%[]", "%[1].", "%!"}[r.Intn(13)])
	}
	return b.String()
}

func formatRandomArguments(r *rand.Rand) []any {
	args := []any{}
	for range r.Intn(4) {
		args = append(args, formatRandomArgument(r, 0))
	}
	return args
}

// genFormat emits the tables of quirks first, then count random cases.
func genFormat(r *rand.Rand, count int, emit func(c any)) {
	out := func(c formatCase) { emit(c) }
	sprintf := func(format string, args ...any) {
		list := []any{}
		for _, a := range args {
			list = append(list, formatTagged(r, a))
		}
		out(formatCase{Op: "sprintf", Format: b64(format), Args: list})
	}
	out(formatCase{Op: "runes"})
	for _, s := range formatStrings {
		out(formatCase{Op: "quote", Text: b64(s)})
	}
	for _, i := range formatInts {
		out(formatCase{Op: "rune", Rune: int64(int32(i))})
	}
	composite := []any{"a", int64(1), 1.5, nil, true, []any{}, map[string]any{"k": []any{int64(65)}, "b": nil}}
	values := []any{nil, true, int64(65), int64(-3), 3.0, -2.75, "héy", composite, map[string]any{"k": 1.0, "a": "x", "é": nil}, []any{}, map[string]any{}}
	for verb := rune('!'); verb <= '~'; verb++ {
		for _, v := range values {
			if _, isArray := v.([]any); verb == 'p' && (isArray || fmt.Sprintf("%T", v)[0] == 'm') {
				continue
			}
			for _, flags := range []string{"", "#", "+", "012", "-7.2", "# ", ".3"} {
				sprintf("%"+flags+string(verb), v)
			}
		}
	}
	for _, format := range []string{
		"", "no verbs", "%", "%%", "%5%", "%-5%x", "100%", "%!", "%z %d", "%[1]s", "%[2]s %[1]s", "%[3]d", "%[0]d", "%[-1]d", "%[x]d", "%[]d", "%[", "%[5", "%[5s",
		"%[1]-5s", "%[1]5s", "%[1].2s", "%.[1]2s", "%[2]*[1]s", "%[1]*[2]s", "%.[2]*[1]s", "%[1]*.[2]*[1]s", "%*s", "%.*s", "%*.*s", "%-*s", "%0*d", "%5.", "%5.s", "%.",
		"%.5", "%..s", "%.-3s", "%+-#0 5v", "% +d", "%1000000000s", "%.1000000000s", "%1000001s", "%[1000000000]s", "%s %s %s", "%s", "%v %v", "%é", "%\x80", "\xff%s\xfe",
		"%[1]s %s %[1]s %s %s", "%[2]s", "%s%[1]%", "%[9]%", "%[1]", "%s %", "%06d|%-06d|%+06d", "%x %X %#x % x %# x", "%q %#q %+q %#+q", "%c%c%U%#U", "%08.3f|%+.2e|%g",
		"%t %t", "%T %T %T", "%10T|%.3T|%-10T|", "%w", "%5w", "%#w", "%]", "%[]", "%[]]d", "%[1]]", "%[1][1]d", "%[2][1]d", "%*[1]d", "%[1]*d", "%.[1]*d", "%[2]*.[1]*d",
	} {
		for _, args := range [][]any{
			{}, {nil}, {"foo"}, {int64(5)}, {3.0}, {int64(3), "bar"}, {int64(-8), "bar"}, {3.0, "bar"}, {"a", int64(2), "b"}, {int64(6), int64(2), 3.14159}, {true, nil, 1.0},
			{int64(1000001), "x"}, {int64(-1000001), "x"}, {[]any{"a", 1.0}, map[string]any{"b": int64(1), "a": nil}}, {composite, "x", int64(2), nil},
		} {
			sprintf(format, args...)
		}
	}
	for _, d := range formatDoubles {
		for _, verb := range []string{"%v", "%g", "%#g", "%e", "%#.0e", "%f", "%.0f", "%x", "%#x", "%X", "%.3x", "%b", "%G", "%.3g", "%#.3g", "%20.5f", "%+v", "% v", "%010v", "%-10v|",
			"%+010.2f", "%.1200f", "%.1200e", "%.1200x", "%#.1200g", "%.1200g", "%#v", "%.10v", "%d", "%#.1200x"} {
			sprintf(verb, d)
		}
		out(formatCase{Op: "integral", Format: b64("%d %x %U %c %q %o %O %5d %v %b %s %T"), Args: formatRepeat(12, formatTagged(r, d))})
	}
	for range count {
		switch r.Intn(12) {
		case 0:
			out(formatCase{Op: "quote", Text: b64(formatRandomString(r) + formatRandomString(r))})
		case 1:
			out(formatCase{Op: "rune", Rune: int64(r.Intn(0x120000) - 0x1000)})
		default:
			sprintf(formatRandom(r), formatRandomArguments(r)...)
		}
	}
}

func formatRepeat(n int, v any) []any {
	list := []any{}
	for range n {
		list = append(list, v)
	}
	return list
}

// formatIntegral is the deliberate difference: what Sprintf gives when integral doubles are passed as ints to the verbs that only
// ints have.
func formatIntegral(format string, args []any) string {
	verbs := strings.Split(format, " ")
	for i, a := range args {
		verb := verbs[i][len(verbs[i])-1]
		if d, ok := a.(float64); ok && strings.IndexByte("doOcqU", verb) >= 0 && d == math.Trunc(d) && d >= -(1<<63) && d < 1<<63 {
			args[i] = int64(d)
		}
	}
	return fmt.Sprintf(format, args...)
}

// formatRuneFacts is a hash over what is said about every rune, so that one case compares the whole table.
func formatRuneFacts() string {
	h := fnv.New64a()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		fmt.Fprintf(h, "%t %x %x\n", strconv.IsPrint(r), unicode.ToUpper(r), unicode.ToLower(r))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func runFormat(raw json.RawMessage) any {
	var c formatCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	args := []any{}
	for _, a := range c.Args {
		args = append(args, formatUntagged(a))
	}
	switch c.Op {
	case "sprintf":
		return b64(fmt.Sprintf(unb64(c.Format), args...))
	case "integral":
		return b64(formatIntegral(unb64(c.Format), args))
	case "quote":
		s := unb64(c.Text)
		return []any{b64(strconv.Quote(s)), b64(strconv.QuoteToASCII(s)), strconv.CanBackquote(s)}
	case "rune":
		return []any{strconv.QuoteRune(rune(c.Rune)), strconv.QuoteRuneToASCII(rune(c.Rune))}
	case "runes":
		return formatRuneFacts()
	}
	panic(c.Op)
}
