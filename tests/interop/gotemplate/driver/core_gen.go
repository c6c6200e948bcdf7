package main

import (
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// Hand-written cases: templates separated by lines of `%%`; a first line `#! missingkey=error` sets options, `#< L R` delimiters.
func handWritten(dir, pattern string, emit func(any)) error {
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return err
	}
	sort.Strings(files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		for _, one := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n%%\n") {
			emit(caseOf(one))
		}
	}
	return nil
}

func caseOf(text string) templateCase {
	c := templateCase{}
	for strings.HasPrefix(text, "#! ") || strings.HasPrefix(text, "#< ") {
		head, rest, _ := strings.Cut(text, "\n")
		if strings.HasPrefix(head, "#! ") {
			c.Options = append(c.Options, head[3:])
		} else {
			c.Left, c.Right, _ = strings.Cut(head[3:], " ")
		}
		text = rest
	}
	c.Template = text
	return c
}

type grammar struct {
	*rand.Rand
	depth int
	vars  []string
	funcs func(g *grammar) string // a call with its arguments
	// In a careful template most arguments fit their parameters, so that execution comes to its end.
	careful bool
	defined int // templates that exist
}

func (g *grammar) one(of ...string) string { return of[g.Intn(len(of))] }

func (g *grammar) path() string {
	if g.careful {
		return g.one("$.s", "$.e", "$.t", "$.n", "$.d", "$.big", "$.bigd", "$.l", "$.nums", "$.mixed", "$.m", "$.em", "$.m.b.c", "$.m.b.d", "$.missing", "$.nul", "$.html", "$.list", "$.missing.x.y", ".")
	}
	return g.one(".s", ".e", ".t", ".f", ".n", ".z", ".neg", ".d", ".big", ".bigd", ".nul", ".html", ".u", ".l", ".nums", ".mixed",
		".el", ".m", ".em", ".m.a", ".m.b", ".m.b.c", ".m.b.d", ".m.nul", ".m.nul.x", ".missing", ".missing.x", ".missing.x.y", ".s.x", ".n.x",
		".l.x", ".list", ".observed.composite.resource.spec.count", ".observed.composite.resource.metadata", "$.s", "$.m.b.c", "$", ".", "$.missing", "$.n.x")
}

func (g *grammar) literal() string {
	if g.Intn(3) > 0 {
		return g.one(`"a"`, "1", "2", `"b c"`, "true", "3.5", "'a'")
	}
	return g.one(`"a"`, `"b c"`, `""`, "`raw`", `"q\"\t\u00e9"`, "0", "1", "2", "-1", "3.5", "1e3", "0x10", "1_000", "'a'", "'\\n'", "true", "false", "nil",
		"0b11", "0o17", "017", "1.0", "2i", "1+2i", "99999999999999999999", "9223372036854775808", "0x1p4", ".5")
}

func (g *grammar) variable() string {
	if len(g.vars) == 0 {
		return "$"
	}
	v := g.vars[g.Intn(len(g.vars))]
	if g.Intn(4) == 0 {
		v += g.one(".x", ".a", ".name", ".b.c")
	}
	return v
}

func (g *grammar) argument() string {
	switch n := g.Intn(10); {
	case n < 4:
		return g.path()
	case n < 7:
		return g.literal()
	case n < 8:
		return g.variable()
	case g.depth < 3:
		g.depth++
		defer func() { g.depth-- }()
		s := "(" + g.pipeline() + ")"
		if g.Intn(4) == 0 {
			s += g.one(".x", ".a", ".b.c", ".name")
		}
		return s
	default:
		return g.path()
	}
}

func (g *grammar) str() string {
	return g.one("$.s", "$.e", `"a"`, `"%v"`, "$.m.b.c", "`r`", "(print 1 2)", `(printf "%d" 3)`, "(index $.l 1)", "(html $.html)")
}

func (g *grammar) integer() string {
	return g.one("0", "1", "2", "(len $.l)", "'a'", "(fnInt 3)", "1.0", "(index fnInts 0)")
}

func carefulCall(g *grammar) string {
	switch g.Intn(16) {
	case 0:
		return "len " + g.one("$.l", "$.m", "$.s", "$.nums", "fnInts", "fnBytes", "fnNilMap")
	case 1:
		return "index " + g.one("$.l", "$.nums", "$.mixed", "fnStrings $") + " " + g.one("0", "1")
	case 2:
		return "index $.m " + g.str()
	case 3:
		return "slice " + g.one("$.l", "$.s", "$.nums", "fnBytes") + " " + g.one("0", "1", "1 2", "0 1")
	case 4:
		return "print " + g.argument() + " " + g.argument() + " " + g.argument()
	case 5, 6:
		return "printf " + g.one(`"%v"`, `"%d"`, `"%s"`, `"%q"`, `"%5.2f"`, `"%T"`, `"%x"`, `"%#v"`, `"%+v"`, `"%t"`, `"%-8s|"`, `"%08d"`, `"%[1]v %[1]T"`, `"%c"`, `"%e"`, `"%6v|"`, `"%U"`, `"% x"`, `"%+d"`, `"%.3v"`, `"%o"`, `"%b"`) + " " + g.argument()
	case 7:
		return g.one("html", "js", "urlquery", "println") + " " + g.argument()
	case 8:
		return g.one("and", "or") + " " + g.argument() + " " + g.argument()
	case 9:
		return "eq " + g.str() + " " + g.str()
	case 10:
		return g.one("lt", "le", "gt", "ge", "eq", "ne") + " " + g.integer() + " " + g.one("$.n", "1", g.integer())
	case 11:
		return "fnTwo " + g.str() + " " + g.integer()
	case 12:
		return "fnMany " + g.str() + " " + g.integer() + " " + g.integer()
	case 13:
		return g.one("fnNilMap", "fnNilList", "fnStrings", "fnInts", "fnSplit", "fnBytes")
	case 14:
		return "fnString " + g.str()
	default:
		return "fnAny " + g.argument()
	}
}

func coreCall(g *grammar) string {
	if g.careful {
		return carefulCall(g)
	}
	a := g.argument
	switch g.Intn(24) {
	case 0:
		return "len " + a()
	case 1, 2:
		return "index " + a() + " " + a()
	case 3:
		return "index " + a() + " " + a() + " " + a()
	case 4:
		return "slice " + a() + " " + a()
	case 5:
		return "slice " + a() + " " + a() + " " + a()
	case 6:
		return "print " + a() + " " + a()
	case 7:
		return "printf " + g.one(`"%v"`, `"%d"`, `"%s"`, `"%q"`, `"%5.2f"`, `"%T"`, `"%x"`, `"%#v"`, `"%+v"`, `"%t"`, `"%-8s|"`, `"%08d"`, `"%v %v"`, `"%*d"`, `"%[2]v"`, `"%c"`, `"%e"`, `"%6v|"`, `"%%"`, `"%!"`, `"no verb"`) + " " + a()
	case 8:
		return "println " + a() + " " + a()
	case 9:
		return g.one("html", "js", "urlquery") + " " + a()
	case 10:
		return g.one("and", "or") + " " + a() + " " + a()
	case 11:
		return "not " + a()
	case 12, 13:
		return g.one("eq", "ne") + " " + a() + " " + a()
	case 14:
		return g.one("lt", "le", "gt", "ge") + " " + a() + " " + a()
	case 15:
		return "eq " + a() + " " + a() + " " + a()
	case 16:
		return "call " + a()
	case 17:
		return g.one("fnNilMap", "fnNilList", "fnStrings", "fnInts", "fnSplit", "fnBytes", "fnPanic")
	case 18:
		return "fnTwo " + a() + " " + a()
	case 19:
		return "fnMany " + a() + " " + a() + " " + a()
	case 20:
		return g.one("len", "index", "eq", "not", "printf", "html", "fnMany", "fnTwo", "fnInt", "and", "lt")
	default:
		return g.one("fnString", "fnInt", "fnInt64", "fnFloat", "fnBool", "fnMap", "fnList", "fnAny", "fnAny", "fnFail") + " " + a()
	}
}

func (g *grammar) command() string {
	switch n := g.Intn(10); {
	case n < 6:
		return g.funcs(g)
	case n < 8:
		return g.path()
	case n < 9:
		return g.argument()
	case g.careful:
		return g.literal()
	default:
		return g.argument() + " " + g.argument()
	}
}

func (g *grammar) pipeline() string {
	s := g.command()
	for g.Intn(4) == 0 {
		if g.careful {
			s += " | " + g.one("printf \"%v\"", "fnAny", "html", "print 1", "not", "println", "js")
			continue
		}
		s += g.one(" | ", "|", " |", "\n| ") + g.one("len", "printf \"%v\"", "fnString", "fnAny", "html", "print 1", "not", "index .m", "eq 1", "fnInt", g.command())
	}
	return s
}

func (g *grammar) left() string  { return g.one("{{", "{{", "{{", "{{ ", "{{- ", "{{-\n") }
func (g *grammar) right() string { return g.one("}}", "}}", "}}", " }}", " -}}", "\n-}}") }

func (g *grammar) text() string {
	return g.one("", "x", " ", "\n", " a \n b ", "}", "{{/* c */}}", "\n\n", "\t|", "{{- /* c\nc */ -}}", "é")
}

func (g *grammar) body() string {
	if g.depth > 3 {
		return g.text()
	}
	g.depth++
	defer func() { g.depth-- }()
	mark := len(g.vars)
	defer func() { g.vars = g.vars[:mark] }()
	var s strings.Builder
	for range 1 + g.Intn(3) {
		s.WriteString(g.text())
		s.WriteString(g.action())
	}
	s.WriteString(g.text())
	return s.String()
}

func (g *grammar) newVar() string {
	v := "$" + g.one("x", "y", "v", "i") + strconv.Itoa(g.Intn(3))
	g.vars = append(g.vars, v)
	return v
}

func (g *grammar) wrong() string {
	return g.one("{{", "{{end}}", "{{else}}", "{{if}}", "{{.a-b}}", "{{$undefined}}", "{{nofn 1}}", "{{break}}", "{{(1}}", "{{1)}}", "{{\"open}}", "{{`open", "{{'ab'}}", "{{3-}}",
		"{{..}}", "{{.a.}}", "{{true.x}}", "{{/* open", "{{/*a*/ }}", "{{1 | 2}}", "{{range $a, $b, $c := .l}}{{end}}", "{{$a, $b := .l}}", "{{|1}}", "{{1 |}}", "{{,}}", "{{template 1}}", "{{define}}", "{{if 1}}{{define \"z\"}}{{end}}{{end}}",
		"{{template \"none\"}}", "{{\"\\z\"}}", "{{= 1}}", "{{:}}", "{{: =}}", "{{!}}", "{{\x01}}", "{{é}}", "{{.é}}", "{{nil}}", "{{$x = 1}}", "{{end", "{{if .t}}", "{{else if}}", "{{range}}{{end}}", "{{with}}{{end}}", "{{continue}}", "{{0x}}", "{{1e}}", "{{08}}", "{{1__0}}", "{{ .n 1 }}", "{{ 3 4 }}", "{{\n\n.x-}}", "{{- -1 -}}", "{{-3}}", "{{1 2\n}}", "{{(.m).a}}", "{{(.m).nul.x}}", "{{nil.x}}", "{{(nil).x}}", "{{.m.b.c.d}}")
}

func (g *grammar) action() string {
	l, r := g.left(), g.right()
	switch g.Intn(18) {
	case 0:
		return l + "if " + g.pipeline() + r + g.body() + "{{end}}"
	case 1:
		return l + "if " + g.pipeline() + r + g.body() + l + "else" + r + g.body() + "{{end}}"
	case 2:
		return "{{if " + g.pipeline() + r + g.body() + "{{else if " + g.pipeline() + "}}" + g.body() + "{{else}}" + g.body() + "{{end}}"
	case 3:
		return "{{with " + g.pipeline() + r + g.body() + g.one("", "{{else}}"+g.body(), "{{else with "+g.pipeline()+"}}"+g.body()) + "{{end}}"
	case 4, 5:
		mark := len(g.vars)
		over := g.one(".l", ".nums", ".list", ".m", ".em", ".el", "3", ".n", ".mixed", ".missing", ".nul", "fnInts", "fnSplit", "$.list", "$.m", g.pipeline())
		decl := ""
		switch g.Intn(3) {
		case 0:
			decl = g.newVar() + " := "
		case 1:
			decl = g.newVar() + ", " + g.newVar() + " := "
		}
		s := "{{range " + decl + over + r + g.body() + g.one("", "", "{{break}}", "{{continue}}", "{{if .}}{{break}}{{end}}z") + g.one("", "{{else}}"+g.body()) + "{{end}}"
		g.vars = g.vars[:mark]
		return s
	case 6, 7:
		p := g.pipeline()
		return l + g.newVar() + " := " + p + r
	case 8:
		if len(g.vars) > 0 {
			return l + g.vars[g.Intn(len(g.vars))] + " = " + g.pipeline() + r
		}
		return g.left() + g.pipeline() + r
	case 9:
		if g.depth > 1 || g.careful && g.defined == 0 {
			return g.text()
		}
		n := g.Intn(4)
		if g.careful {
			n = g.Intn(g.defined)
		}
		return l + "template \"d" + strconv.Itoa(n) + "\" " + g.one("", g.pipeline()) + r
	case 10:
		if !g.careful && g.Intn(3) == 0 {
			return g.wrong()
		}
		return l + g.path() + r
	default:
		return l + g.pipeline() + r
	}
}

func (g *grammar) template() templateCase {
	g.vars = nil
	g.careful = g.Intn(3) > 0
	var s strings.Builder
	g.defined = 0
	for i := range g.Intn(3) {
		g.depth = 2
		s.WriteString("{{define \"d" + strconv.Itoa(i) + "\"}}" + g.body() + "{{end}}" + g.text())
		g.vars = nil
		g.depth = 0
		g.defined = i + 1
	}
	for range 1 + g.Intn(3) {
		s.WriteString(g.text() + g.action())
	}
	c := templateCase{Template: s.String()}
	if g.Intn(5) == 0 {
		c.Options = []string{g.one("missingkey=error", "missingkey=zero", "missingkey=default", "missingkey=invalid")}
	}
	return c
}

func genCore(seed int64, count int, dir string, emit func(any)) error {
	if err := handWritten(dir, "core*.txt", emit); err != nil {
		return err
	}
	g := &grammar{Rand: rand.New(rand.NewSource(seed)), funcs: coreCall}
	for range count {
		emit(g.template())
	}
	return nil
}
