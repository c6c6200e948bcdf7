// Generators of YAML documents, streams and values.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
)

func newLineReader(text []byte) *bufio.Reader {
	return bufio.NewReader(bytes.NewReader(text))
}

// go-yaml forgets that an empty flow collection may be a key, and so looks at nothing behind it; libyaml reads on.
var emptyFlow = regexp.MustCompile(`[\[{][\s?,]*[\]}][ \t]*[^\s,\]}#]|(?m)^[\[{][\s?,]*[\]}]\s`)

// The same for a flow collection whose first entry begins with a question mark: of `{? a}: b` go-yaml reads no more than {a: null}.
var keyedFlow = regexp.MustCompile(`[\[{]\s*\?[^\n]*[\]}]\s*:`)

// With a second byte order mark on an otherwise empty first line go-yaml loses the first character of the next line.
// Behind a plain scalar that is nothing but such marks it loses a line that should be an error.
var lostText = regexp.MustCompile(`^\x{feff}\x{feff}[ \t]*(#.*)?[\r\n]|[\s,:\[{-]\x{feff}+\s`)

// Quotes behind the comma or bracket with which a tag goes on for go-yaml; for libyaml they begin a scalar, which may have no end.
var quotedTag = regexp.MustCompile(`![^\s]*[,\[\]][^\s]*['"]`)

// What is left out on purpose; each with its reason.
func isKnownDifference(c yamlCase) bool {
	if c.Write != nil {
		// go-yaml writes the key << without quotes and then reads it as a merge; we quote it.
		return bytes.Contains(c.Write, []byte(`"\u003c\u003c":`))
	}
	text := append(append([]byte{}, c.Read...), c.Stream...)
	return emptyFlow.Match(c.Read) || bytes.Contains(c.Stream, []byte("{}")) || keyedFlow.Match(text) || lostText.Match(text) || quotedTag.Match(text)
}

// A tag that go-yaml lets go on past a comma or bracket.
var longTag = regexp.MustCompile(`![^\s]*[,\[\]]`)

// What ends a plain scalar of a flow collection in go-yaml, and what begins an entry whose brackets it looks behind no further.
var question = regexp.MustCompile(`[\[{,][^\]}]*\?`)

// Ways in which both refuse a document, but for different reasons: libyaml notices earlier than go-yaml that a line without a
// colon cannot be a key, and it may meet another error right behind a tag that go-yaml takes to be longer. Around a question mark
// in a flow collection one scanner looks further than the other, and so meets its own error before the parser's.
func equalYAML(raw json.RawMessage, oracle, subject any) bool {
	o, _ := oracle.(map[string]any)["error"].(string)
	s, _ := subject.(map[string]any)["error"].(string)
	var c yamlCase
	if o == "" || s == "" || json.Unmarshal(raw, &c) != nil {
		return false
	}
	if strings.HasPrefix(o, "yaml: invalid map key: ") && sortedBytes(o) == sortedBytes(s) {
		return true // Go prints keys of different types in the order of their types' addresses, which is each build's own
	}
	text := append(append([]byte{}, c.Read...), c.Stream...)
	return strings.HasSuffix(s, ": could not find expected ':'") || longTag.Match(text) || question.Match(text)
}

func sortedBytes(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

type yamlGen struct {
	r       *rand.Rand
	anchors []string
}

func (g *yamlGen) pick(s []string) string { return s[g.r.Intn(len(s))] }

var yamlScalars = []string{
	"a", "b", "key", "x y", "a b c", "~", "null", "Null", "", "y", "n", "yes", "No", "on", "OFF", "true", "False", "TRUE",
	"0", "1", "-1", "+12", "007", "08", "0o17", "0x1F", "0b101", "-0x10", "1_000", "0b-1", "1e3", "1.5", ".5", "1.", "-.5", "1e", "1e400",
	"9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775809",
	"0.1", "1e21", "1e-7", "123456789012345678", "1.2345678901234567e18", ".inf", "-.inf", ".nan", ".NaN", "1:30", "2001-01-01", "2001-12-14T21:59:43.1-05:00",
	"<<", "=", "a:b", "a#b", "-a", "?a", ":a", "a,b", "http://x/y?z", "{{ x }}", "a]b", "é", "日本", "\U0001F600", "a\u00a0b", "-", "?", ":", "*", "&", "@x", "`x", "%x", "|", ">", "!x",
}

var yamlQuoted = []string{
	`'a'`, `''`, `'it''s'`, `"a"`, `""`, `"\n"`, `"\t\"\\"`, `"\x41\u00e9\U0001F600"`, `"a\
  b"`, `"\/"`, `"\q"`, `"\ud83d\ude00"`, `"\x4"`, `"a
  b"`, `'a

  b'`, `"1"`, `'true'`, `"a: b"`, `"\_\N\L\P\e\0"`,
}

var yamlTags = []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!binary", "!!timestamp", "!!map", "!!seq", "!foo", "!", "!!foo", "!<tag:yaml.org,2002:str>", "!e!x", "!!merge"}

func (g *yamlGen) scalar() string {
	switch n := g.r.Intn(20); {
	case n < 4:
		return g.pick(yamlQuoted)
	case n == 4:
		return g.pick(yamlTags) + " " + g.pick(yamlScalars)
	case n == 5 && len(g.anchors) > 0:
		return "*" + g.pick(g.anchors)
	case n == 6:
		return g.pick([]string{"!!binary aGVsbG8=", "!!binary gIGC", "!!str 12", "!!int \"7\"", "!!float 3", "*nope"})
	case n == 7:
		return g.pick(yamlScalars) + " " + g.pick(yamlScalars)
	default:
		return g.pick(yamlScalars)
	}
}

func (g *yamlGen) anchor() string {
	if g.r.Intn(8) != 0 {
		return ""
	}
	name := fmt.Sprintf("x%d", g.r.Intn(4))
	g.anchors = append(g.anchors, name)
	return "&" + name + " "
}

func (g *yamlGen) flow(depth int) string {
	a := g.anchor()
	if depth == 0 || g.r.Intn(3) == 0 {
		return a + g.scalar()
	}
	items := []string{}
	isMap := g.r.Intn(2) == 0
	for i := g.r.Intn(4); i > 0; i-- {
		switch {
		case isMap && g.r.Intn(8) == 0:
			items = append(items, "<<: "+g.flow(depth-1))
		case isMap && g.r.Intn(10) == 0:
			items = append(items, "? "+g.flow(depth-1)+" : "+g.flow(depth-1))
		case isMap && g.r.Intn(10) == 0:
			items = append(items, g.scalar())
		case isMap:
			items = append(items, g.scalar()+g.pick([]string{": ", ": ", ": ", ":", " : "})+g.flow(depth-1))
		default:
			items = append(items, g.flow(depth-1))
		}
	}
	separator := g.pick([]string{", ", ", ", ",", " ,", ",\n  "})
	end := g.pick([]string{"", "", "", ",", " "})
	if isMap {
		return a + "{" + strings.Join(items, separator) + end + "}"
	}
	return a + "[" + strings.Join(items, separator) + end + "]"
}

func (g *yamlGen) blockScalar(indent string) string {
	s := g.pick([]string{"|", ">", "|-", "|+", ">-", ">+", "|2", ">1-", "|-2", "|0", "| # c"}) + "\n"
	for i := g.r.Intn(4); i >= 0; i-- {
		s += indent + g.pick([]string{"  ", "  ", "   ", "    ", "\t", ""}) + g.pick([]string{"text", "text", "more text", "", "# no comment", "---", "- a", "a: b", "\ttab"}) + "\n"
	}
	return s
}

func (g *yamlGen) comment() string {
	return g.pick([]string{"", "", "", "", "", "", " # comment", "#no", " #"})
}

// block gives the lines of a block node at the indent; the first line has none.
func (g *yamlGen) block(depth int, indent string) string {
	a := g.anchor()
	n := g.r.Intn(10)
	switch {
	case depth == 0 || n < 2:
		return a + g.scalar() + g.comment() + "\n"
	case n == 2:
		return a + g.flow(2) + g.comment() + "\n"
	case n == 3:
		return a + g.blockScalar(indent)
	case n < 6:
		s := ""
		for i := g.r.Intn(3); i >= 0; i-- {
			s += indent + "-" + g.pick([]string{" ", " ", " ", "  ", "\n" + indent + "  "}) + g.block(depth-1, indent+"  ")
		}
		if a != "" || g.r.Intn(2) == 0 {
			return a + "\n" + s
		}
		return strings.TrimPrefix(s, indent)
	default:
		s := ""
		for i := g.r.Intn(4); i >= 0; i-- {
			s += indent + g.mapKey() + ":" + g.mapValue(depth, indent)
			if g.r.Intn(12) == 0 {
				s += g.pick([]string{"\n", indent + "# comment\n", "   \n", "#\n"})
			}
		}
		if a != "" {
			return a + "\n" + s
		}
		return strings.TrimPrefix(s, indent)
	}
}

func (g *yamlGen) mapKey() string {
	switch g.r.Intn(12) {
	case 0:
		return "<<"
	case 1:
		return g.scalar()
	case 2:
		return g.pick(yamlQuoted)
	case 3:
		return g.anchor() + g.pick(yamlScalars)
	default:
		return string(rune('a' + g.r.Intn(6)))
	}
}

func (g *yamlGen) mapValue(depth int, indent string) string {
	if g.r.Intn(3) == 0 {
		inner := indent + g.pick([]string{"  ", "  ", " ", "    ", ""})
		return g.comment() + "\n" + inner + g.block(depth-1, inner)
	}
	return " " + g.flow(depth-1) + g.comment() + "\n"
}

func (g *yamlGen) document() string {
	head := g.pick([]string{"", "", "", "", "---\n", "--- ", "# c\n", "%YAML 1.1\n---\n", "\n", "\ufeff"})
	tail := g.pick([]string{"", "", "", "...\n", "---\nb: 2\n", "\n\n", "# end"})
	return head + g.block(3, "") + tail
}

var yamlNoise = []string{
	" ", "  ", "\n", "\t", "-", "- ", "? ", ":", ": ", ",", "[", "]", "{", "}", "#", " #", "&a", "&a ", "*a", "!", "!!str ", "|", ">", "'", "\"", "%", "@", "`",
	"\\", "\r\n", "\r", "\n---\n", "\n...\n", "<<: ", "0", "a", "\u0085", "\u2028", "\ufeff", "\x00", "\x07", "\x7f", "\xff", "\xc3", "é", "\U0001F600", "\n\t", "\n ", "~", "\"\\", "=", "|2", ">-",
}

func (g *yamlGen) mutate(d string) string {
	b := []byte(d)
	for i := g.r.Intn(3); i >= 0; i-- {
		at := 0
		if len(b) > 0 {
			at = g.r.Intn(len(b) + 1)
		}
		switch g.r.Intn(5) {
		case 0:
			end := min(len(b), at+1+g.r.Intn(4))
			b = append(append([]byte{}, b[:at]...), b[end:]...)
		case 1, 2:
			b = append(append(append([]byte{}, b[:at]...), g.pick(yamlNoise)...), b[at:]...)
		case 3:
			if at < len(b) {
				b = append(append(append([]byte{}, b[:at]...), g.pick(yamlNoise)...), b[at+1:]...)
			}
		case 4:
			b = b[:at]
		}
	}
	return string(b)
}

func (g *yamlGen) stream() string {
	s := ""
	if g.r.Intn(3) == 0 {
		for i := g.r.Intn(4); i >= 0; i-- {
			s += g.pick([]string{`{"a":1}`, `{"b":{"c":[1,2.5,"x"]}}`, `{}`, `null`, `{"a":1,}`, `{"a" "b"}`, `[1]`, `{a: 1}`, `{"a":"\/"}`, "x: 1\n", `1`, `"s"`, "{\"a\":\n 1}"})
			s += g.pick([]string{"", "\n", " ", "\n\n", "\n---\n", "---\n", " \n---\n", "\n--- \n", "-"})
		}
		return g.pick([]string{"", "", "\n", "  ", "---\n", "# c\n"}) + s
	}
	for i := g.r.Intn(5); i >= 0; i-- {
		s += g.pick([]string{"a: 1\n", "", "# only a comment\n", "- x\n- y\n", "null\n", "a: |\n  x\n  ---\n", "a: |\n---\n", "\"\n", "~", "b: [", "x", "%YAML 1.1\n", "a: 1", "{\"j\": 1}\n", g.block(2, "")})
		s += g.pick([]string{"---\n", "---\n", "--- \n", "--- # c\n", "---\t\n", "---#c\n", "\n---\n", "---\r\n", "--- x\n", "----\n", " ---\n", "...\n", "---", "\r\n---\r\n"})
	}
	return g.pick([]string{"", "", "---\n", "\ufeff", "\n", "--- # first\n"}) + s
}

var yamlPieces = []string{
	"a", "b", "word", " ", "  ", "\n", "\n\n", "\t", "\r", ":", ": ", "#", " #", "-", "- ", "? ", ",", "[", "]", "{", "}", "'", "\"", "\\", "%", "@", "!", "&", "*", "|", ">", "`",
	"é", "日本語", "\U0001F600", "\u0085", "\u00a0", "\u2028", "\u2029", "\ufeff", "\ufffd", "\u0000", "\u0001", "\u001b", "\u007f", "\u0080", "\uffff", "---", "...", "<<", "=", "~", "true", "0", "1", "1.5", "0x1", "2001-01-01", "1:30",
	"a long run of words that makes the line go past the width ", "averyveryverylongwordwithoutanyspaceinitwhichcannotbefoldedanywhereatall", "/", "a.b/c", "${x}", "{{ .y }}",
}

func (g *yamlGen) text() string {
	s := ""
	for i := g.r.Intn(8); i > 0; i-- {
		s += g.pick(yamlPieces)
	}
	if g.r.Intn(20) == 0 {
		s = strings.Repeat(s+" x", 12)
	}
	return s
}

func (g *yamlGen) key() string {
	switch g.r.Intn(8) {
	case 0:
		return g.text()
	case 1:
		return g.pick(yamlScalars)
	case 2:
		return fmt.Sprintf("%s%d%s", g.pick([]string{"", "a", "item-", "é", "_"}), g.r.Intn(200), g.pick([]string{"", "", "b", ".c", "-"}))
	case 3:
		return strings.Repeat("k", 120+g.r.Intn(16))
	default:
		return g.pick([]string{"a", "b", "spec", "metadata", "x-y", "a.b/c", "A", "Z", "_z", "0", "00", "01", "10", "2", "a1", "a01", "a10", "a2"})
	}
}

func (g *yamlGen) value(depth int) any {
	switch n := g.r.Intn(12); {
	case n < 2 && depth > 0:
		list := []any{}
		for i := g.r.Intn(4); i > 0; i-- {
			list = append(list, g.value(depth-1))
		}
		return list
	case n < 6 && depth > 0:
		m := map[string]any{}
		for i := g.r.Intn(5); i > 0; i-- {
			m[g.key()] = g.value(depth - 1)
		}
		return m
	case n == 6:
		return nil
	case n == 7:
		return g.r.Intn(2) == 0
	case n == 8:
		return g.r.Int63()>>uint(g.r.Intn(63)) - int64(g.r.Intn(1000))
	case n == 9:
		f := (g.r.Float64() - 0.5) * pow10(g.r.Intn(60)-30)
		if g.r.Intn(3) == 0 {
			f = float64(int64(f))
		}
		return f
	default:
		return g.text()
	}
}

func pow10(n int) float64 {
	f := 1.0
	for ; n > 0; n-- {
		f *= 10
	}
	for ; n < 0; n++ {
		f /= 10
	}
	return f
}

// Strings that are written as values, items and keys.
var yamlStrings = append(append([]string{
	"", " ", "a ", " a", "a\n", "\n", "\n\n", "a\nb", "a\nb\n", "a\n\nb\n\n", " a\nb", "a \nb", "a\n b", "a\nb ", "\ta\nb", "a\tb", "a\rb", "a\r\nb", "a\u0085b", "a\u2028b", "a\u2028b\nc", "\u2028",
	"- a", "-a", "--", "---", "---a", "...", "?", "? a", ": a", "a:", "a: b", "a #b", "#a", "'a'", "\"a\"", "1:30", "1:60", "-1:30", "1_0:30:59.5", "2001-1-1", "2001-02-30", "2001-01-01T1:2:3Z", "2001-01-01t1:2:3.5+01:00", "2001-01-01 1:2:3", "2001-01-01  1:2:3",
	"2001-01-01T1:2:3", "2001-01-01 1:2:3Z", "2001-01-01T24:00:00Z", "2001-01-01T01:02:03+25:00", "2001-01-01T01:02:03,5Z", "10000-01-01", "2000-02-29", "1900-02-29", "0x", "0b", "0o8", "1e400", "a\x00b", "\x1b", "\x7f", "\uffff", "\ufeff",
	strings.Repeat("word ", 30), strings.Repeat("word ", 30) + "end: x", strings.Repeat("word ", 30) + "\t", strings.Repeat("x", 200), "a: " + strings.Repeat("word  ", 30), strings.Repeat("word ", 30) + "\nline",
	strings.Repeat("k", 127), strings.Repeat("k", 128), strings.Repeat("k", 129), strings.Repeat("é", 64), strings.Repeat("é", 65), strings.Repeat("k", 1025), "\"" + strings.Repeat("k", 127),
}, yamlScalars...), yamlPieces...)

var yamlValues = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `-0.0`, `1e21`, `1e20`, `1e19`, `1.8446744073709552e19`, `-1e19`, `123456789012`, `1.25e10`, `123456789.5`, `1e-7`, `0.00001`, `9223372036854775807`, `-9223372036854775808`, `[]`, `{}`, `[[]]`, `[{}]`,
	`{"a":[]}`, `{"a":{}}`, `{"a":null,"b":[1,[2,[3,{"c":[4]}]]]}`, `[[1,2],[3,[4,5]],{"a":{"b":[1]}}]`, `{"a\nb":{"c":[1,{"d":2}]}}`, `[{"a\nb":[1]}]`, `{"a":{"b":{"c":"x\ny"}}}`, `[["a\nb"]]`, `{"a":["x\n",["y\nz"]]}`,
	`{"1":1,"2":2,"10":10,"a1":1,"a2":1,"a10":1,"a01":1,"B":1,"b":1,"_":1,"":1,"-":1,"é":1,"~":1,"a b":1,"a-b":1,"a.b":1,"a/b":1}`, `{"a0":1,"a00":1,"a000":1,"a9":1,"a09":1,"a10":1}`, `{"x1y":1,"x1":1,"xy":1,"x":1,"x-1":1,"x_1":1}`,
	`{"100":1,"10a":1,"10":1,"a99999999999999999999":1,"a99999999999999999998":1}`, `{"٣":1,"٢":1,"1":1,"ß":1,"z":1}`,
}
