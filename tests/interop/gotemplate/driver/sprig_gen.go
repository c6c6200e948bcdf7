package main

import (
	"encoding/json"
	"math/rand"
)

// Calls of sprig's functions on lists, maps, numbers and types, with arguments that mostly fit.
func sprigCall(g *grammar) string {
	a := g.argument
	if g.Intn(6) == 0 {
		return coreCall(&grammar{Rand: g.Rand, funcs: sprigCall, careful: true, depth: g.depth})
	}
	list := func() string {
		return g.one("$.l", "$.nums", "$.mixed", "$.el", "(list 1 2 2)", `(list "a" "" 0 nil)`, "(until 3)", "(keys (dict \"k\" 1))", "(list)", a())
	}
	dict := func() string {
		return g.one("$.m", "$.em", `(dict "a" 1 "z" (list 1))`, `(dict "b" (dict "c" 2))`, "(dict)", "$.missing", a())
	}
	text := func() string {
		return g.one("$.s", `"a"`, `""`, `"b c"`, `"a,b,,c"`, `","`, `"t"`, `"x\ny\n"`, `"é"`, `" "`, "$.m.b.c", "$.html", a())
	}
	num := func() string {
		return g.one("0", "1", "2", "-3", "7", "1.5", `"12"`, `"0x1f"`, `"x"`, "$.n", "$.d", "true", "nil", `"3.0"`, `"010"`, a())
	}
	switch g.Intn(60) {
	case 0:
		return "default " + a() + " " + a()
	case 1:
		return "empty " + a()
	case 2:
		return "coalesce " + a() + " " + a()
	case 3:
		return "ternary " + a() + " " + a() + " " + g.one("true", "false", "$.t", "$.f", a())
	case 4:
		return g.one("quote", "squote", "cat") + " " + a() + " " + a()
	case 5:
		return g.one("all", "any") + " " + a() + " " + a()
	case 6:
		return g.one("toJson", "toPrettyJson", "toRawJson", "mustToJson", "toString") + " " + a()
	case 7:
		return g.one("fromJson", "mustFromJson") + " " + g.one(`"{\"a\":[1,2.5,null]}"`, `"[1"`, `"3"`, `""`, `"x"`, "$.s", `"true"`)
	case 8:
		return g.one("typeOf", "kindOf") + " " + a()
	case 9:
		return g.one("typeIs", "typeIsLike", "kindIs") + " " + g.one(`"string"`, `"int64"`, `"map"`, `"slice"`, `"invalid"`) + " " + a()
	case 10:
		return "deepEqual " + a() + " " + a()
	case 11:
		return "dict " + g.one(`"a"`, "1", "$.s") + " " + a() + " " + g.one(`"b"`, `"a"`) + " " + g.one("", a())
	case 12:
		return "get " + dict() + " " + g.one(`"a"`, `"b"`, `"none"`)
	case 13:
		return "hasKey " + dict() + " " + g.one(`"a"`, `"b"`, `"none"`)
	case 14:
		// Never a map into itself: Go would not come back from printing it.
		return g.one("set", "set", "unset") + " " + g.one(`(dict "a" 1)`, "(dict)", "$.em", "fnNilMap", "$.s") + ` "a" ` + g.one("1", "$.s", "(list 1)", "")
	case 15:
		return g.one("keys "+g.one("(dict \"a\" 1)", "$.em"), "values $.em", "keys $.em (dict \"q\" 1)")
	case 16:
		return g.one("pick", "omit") + " " + dict() + ` "a" "b"`
	case 17:
		return `pluck "a" ` + dict() + " " + dict()
	case 18:
		return "dig " + g.one(`"a"`, `"b" "c"`, `"none"`, `"b" "none"`, "1") + " " + a() + " " + dict()
	case 19, 20:
		return g.one("merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite") + " (dict \"a\" " + g.one("0", "1", `""`, "(dict \"x\" 1)") + ") " + dict()
	case 21:
		return "deepCopy " + a()
	case 22:
		return "list " + a() + " " + a()
	case 23, 24:
		return g.one("first", "last", "rest", "initial", "reverse", "uniq", "compact", "mustFirst", "mustRest", "mustUniq") + " " + list()
	case 25:
		return g.one("append", "prepend", "push", "mustAppend") + " " + list() + " " + a()
	case 26:
		return "concat " + list() + " " + list()
	case 27:
		return "without " + list() + " " + a() + " " + a()
	case 28:
		return "has " + a() + " " + list()
	case 29:
		return "slice " + list() + " " + g.one("0", "1", "1 2", "0 9", "-1", "")
	case 30:
		return "chunk " + g.one("1", "2", "3") + " " + list()
	case 31:
		return g.one("int", "int64", "float64") + " " + num()
	case 32:
		return "atoi " + g.one(`"12"`, `"-3"`, `"x"`, `"0x1"`, `""`)
	case 33, 34:
		return g.one("add", "sub", "mul", "div", "mod", "max", "min", "maxf", "minf", "biggest") + " " + num() + " " + num()
	case 35:
		return g.one("add1", "floor", "ceil") + " " + num()
	case 36:
		return "until " + g.one("0", "3", "-2", "$.n", "(int $.n)")
	case 37:
		return "untilStep " + g.one("0 5 2", "5 0 -2", "0 5 0", "0 5 -1", "3 3 1")
	case 38:
		return "seq " + g.one("3", "0", "-2", "2 5", "5 2", "1 2 9", "9 -3 0", "1 0 5", "1 2 -5", "1 2 10", "")
	case 39:
		return g.one("upper", "lower", "trim", "b64enc", "b64dec") + " " + text()
	case 40:
		return g.one("trimAll", "trimall", "trimPrefix", "trimSuffix", "hasPrefix", "hasSuffix", "contains", "splitList", "split") + " " + text() + " " + text()
	case 41:
		return "replace " + text() + " " + text() + " " + text()
	case 42, 43:
		return g.one("indent", "nindent", "repeat", "trunc") + " " + g.one("0", "1", "2", "4", "-1", "-2", "9") + " " + text()
	case 44:
		return "substr " + g.one("0", "1", "-1", "3") + " " + g.one("0", "2", "-1", "99") + " " + text()
	case 45:
		return "join " + text() + " " + list()
	case 46:
		return g.one("sortAlpha", "toStrings") + " " + list()
	case 47:
		return "splitn " + text() + " " + g.one("0", "1", "2", "-1", "9") + " " + text()
	case 51, 52, 53, 54:
		re := g.one(`"a+"`, `"[a-z]+"`, `"(t)(e)"`, `"("`, `"x*"`, "`\\d`", `"^t"`, `"[`+"`"+`"`, `","`, `""`)
		switch g.Intn(5) {
		case 0:
			return g.one("regexMatch", "mustRegexMatch", "regexFind", "mustRegexFind") + " " + re + " " + text()
		case 1:
			return g.one("regexFindAll", "mustRegexFindAll", "regexSplit", "mustRegexSplit") + " " + re + " " + text() + " " + g.one("-1", "0", "1", "2")
		case 2:
			return "regexQuoteMeta " + text()
		default:
			return g.one("regexReplaceAll", "regexReplaceAllLiteral", "mustRegexReplaceAll", "mustRegexReplaceAllLiteral") + " " + re + " " + text() + " " + g.one(`"-"`, `"$1"`, `"${2}$1"`, `"$$"`, `""`)
		}
	case 48, 49, 50:
		return g.one("upper", "lower", "trim", "b64dec") + " " + g.one(`"ÄÖü ß"`, `"  x\n\t"`, `"aGk="`, `"aGk"`, `"*"`, `"a\xffb"`, `"\u2003x"`)
	default:
		return "fail " + a()
	}
}

func genSprig(seed int64, count int, dir string, emit func(any)) error {
	if err := handWritten(dir, "sprig*.txt", emit); err != nil {
		return err
	}
	g := &grammar{Rand: rand.New(rand.NewSource(seed)), funcs: sprigCall}
	c := newCaller(g.Rand)
	for i := range count {
		if i%2 == 0 {
			emit(c.template())
			continue
		}
		if g.Intn(2) == 0 {
			g.careful = g.Intn(3) > 0
			emit(templateCase{Template: "{{" + sprigCall(g) + "}}"})
			continue
		}
		emit(g.template())
	}
	return nil
}

func runSprig(line []byte) answer {
	var c templateCase
	fail(json.Unmarshal(line, &c))
	return execute(c, testFunctions(), sprigFunctions())
}
