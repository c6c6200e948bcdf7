package main

import (
	"math"
	"strconv"
	"strings"
)

// Texts, numbers and paths that no table has: made by grammars, so that other seeds find other ones.

// join makes n pieces one behind the other.
func (g *ptGen) join(n int, piece func() string) string {
	var b strings.Builder
	for range n {
		b.WriteString(piece())
	}
	return b.String()
}

func (g *ptGen) word() string {
	return g.join(g.Intn(8), func() string {
		return pick(g, "a", "b", "Z", "0", "9", "-", ".", "/", " ", "_", "ü", "ß", "ſ", "İ", "ǅ", "日", "🙂", "\t", "\n", "\\", "\"", "'", "<", "&", "\u2028", "\u00ad", "\u0301", "%", "\x7f", "\u0085", "\ufeff", "K")
	})
}

func (g *ptGen) digits(n int) string {
	return g.join(g.Intn(n+1), func() string { return string(rune('0' + g.Intn(10))) })
}

func (g *ptGen) intText() string {
	return pick(g, "", "-", "+", "", "") + pick(g, "", "0", "", "") + g.digits(pick(g, 3, 20)) + pick(g, "", "", "", "", "_", " ", "x")
}

func (g *ptGen) floatText() string {
	return pick(g, "", "-", "+") + g.digits(pick(g, 3, 22)) + pick(g, "", ".", ".") + g.digits(pick(g, 3, 22)) + pick(g, "", "", "e", "E", "e-", "e+", "p") + g.digits(3) + pick(g, "", "", "", "", "_1", "x")
}

func (g *ptGen) quantityText() string {
	return pick(g, "", "", "-", "+") + g.digits(pick(g, 3, 21)) + pick(g, "", "", ".") + g.digits(pick(g, 2, 12)) + pick(g, "", "m", "n", "u", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "K", "e3", "E-2", "e+5", "e", "mi", "ki", " ", "x")
}

func (g *ptGen) base64Text() string {
	return g.join(g.Intn(7), func() string {
		return pick(g, "aGVs", "bG8=", "YQ==", "a", "=", "==", "/+", "-_", "\n", "\r\n", "A", "////", "w7w=", "//4=", " ", "é")
	})
}

// jsonText is JSON, nearly always.
func (g *ptGen) jsonText(depth int) string {
	space := func() string { return pick(g, "", "", "", " ", "\n", "\t", "\r") }
	switch n := g.Intn(10); {
	case n < 3 && depth > 0:
		items := []string{}
		for range g.Intn(3) {
			items = append(items, space()+g.jsonText(depth-1)+space())
		}
		return "[" + strings.Join(items, ",") + pick(g, "]", "]", "]", "]", "]", "]", ",]", "}", "")
	case n < 6 && depth > 0:
		members := []string{}
		for range g.Intn(3) {
			members = append(members, space()+pick(g, `"a"`, `"b"`, `"a"`, `"\u00fc"`, `"A"`, `""`, `a`)+space()+pick(g, ":", ":", ":", ":", ":", "=")+g.jsonText(depth-1))
		}
		return "{" + strings.Join(members, ",") + pick(g, "}", "}", "}", "}", "}", "}", ",}", "]", "")
	case n < 8:
		return pick(g, "0", "-0", "1", "1.5", "1e5", "1E-7", "1e400", "-1e400", "9223372036854775807", "9223372036854775808", "123456789012345678901234567890", "01", "1.", ".5", "+1", "-", "1e", "0x1", "NaN", "0.1", "1e21", "1e-400")
	}
	return pick(g, "true", "false", "null", "nul", "tru", "True", `"x"`, `"\n"`, `"\u00e9"`, `"\ud83d\ude42"`, `"\ud83d"`, `"\q"`, `"`, `"a`, "\"\t\"", `"é"`, "", "'x'", "\"\x7f\"")
}

func (g *ptGen) text() string {
	switch g.Intn(7) {
	case 0:
		return g.intText()
	case 1:
		return g.floatText()
	case 2:
		return g.quantityText()
	case 3:
		return g.base64Text()
	case 4:
		return pick(g, "", "", " ", "\n") + g.jsonText(3) + pick(g, "", "", " ", "\n", "x", "{}")
	case 5:
		return strconv.FormatFloat(g.anyNumber(), pick(g, byte('g'), byte('f'), byte('e')), -1, 64)
	}
	return g.word()
}

// anyNumber is any finite double, or an integer of any size.
func (g *ptGen) anyNumber() float64 {
	if g.chance(30) {
		return float64(int64(g.Uint64()) >> g.Intn(64))
	}
	if g.chance(30) {
		return float64(g.Intn(2000000)-1000000) / pick(g, 10.0, 1000.0, 1e6, 8, 1e9)
	}
	for {
		if f := math.Float64frombits(g.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
}

// anyFormat makes a format of the verbs; those for integers differ on integral numbers of a request.
func (g *ptGen) anyFormat(verbs string) string {
	return g.join(1+g.Intn(3), func() string {
		if g.chance(25) {
			return pick(g, "-", "x", "ü", "%%", "[1]", ".")
		}
		flags := g.join(pick(g, 0, 0, 1, 2), func() string { return pick(g, "+", "-", "#", "0", " ") })
		number := func() string { return pick(g, "", "", "", "0", "1", "3", "10", "20", "*") }
		index := pick(g, "", "", "", "", "[1]", "[2]", "[0]", "[x]", "[", "[1]*", "[3]")
		precision := pick(g, "", "", "."+number())
		verb := string(verbs[g.Intn(len(verbs))])
		return "%" + flags + number() + precision + index + verb
	})
}

const (
	ptVerbs    = "vvvsssteEfFgGxXTwzy!"
	ptAnyVerbs = "vvssdqxXbcoOUtTeEfFgGwz!"
)

var ptIntegers = strings.Fields("-9223372036854775808 -1 0 1 7 42 65 228 8232 55296 1114112 9223372036854775807")

// formatted is a chain of transforms that formats a string or an int with any verb.
func (g *ptGen) formatted() []any {
	format := func(text string) object {
		return object{"type": "string", "string": object{"type": "Format", "fmt": text}}
	}
	if g.chance(50) {
		return []any{format("%v"), format(g.anyFormat(ptAnyVerbs))}
	}
	list := append(g.always(pick(g, ptIntegers...)), object{"type": "convert", "convert": object{"toType": "int64"}})
	return append(list, format(g.anyFormat(ptAnyVerbs)))
}

// converted is a string of some notation, and the conversion that reads it.
func (g *ptGen) converted() []any {
	text, convert := "", object{}
	switch g.Intn(6) {
	case 0:
		text, convert = g.intText(), object{"toType": pick(g, "int", "int64")}
	case 1:
		text, convert = g.floatText(), object{"toType": "float64"}
	case 2:
		text, convert = g.quantityText(), object{"toType": "float64", "format": "quantity"}
	case 3:
		text, convert = g.jsonText(3)+pick(g, "", " ", "x"), object{"toType": pick(g, "object", "array"), "format": "json"}
	case 4:
		return append(g.always(g.base64Text()), object{"type": "string", "string": object{"type": "Convert", "convert": "FromBase64"}})
	default:
		text, convert = g.text(), object{"toType": "bool"}
	}
	list := append(g.always(text), object{"type": "convert", "convert": convert})
	for range g.Intn(2) {
		list = append(list, g.transform())
	}
	return list
}

// always gives the text, whatever comes in.
func (g *ptGen) always(text string) []any {
	return []any{
		object{"type": "string", "string": object{"type": "Format", "fmt": "%v"}},
		object{"type": "match", "match": object{"patterns": []any{object{"type": "literal", "literal": "never this", "result": "x"}}, "fallbackValue": text}},
	}
}

func (g *ptGen) anyPath() string {
	return pick(g, "spec", "status", "spec", "metadata") + g.join(g.Intn(4), func() string {
		return pick(g, ".a", ".b", ".list", ".obj", ".arr", "[0]", "[1]", "[2]", "[*]", "[*]", ".0", "['a']", "[\"x.y\"]", "[x.y]", ".num", ".any", ".any", "[", "]", ".", "..", "''", "[a]b", "[+1]", "[00]", "[1 ]", ".*", ".ü", "[1024]", "[4294967295]", "[4294967296]")
	})
}
