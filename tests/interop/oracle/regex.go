package main

import (
	"encoding/base64"
	"encoding/json"
	"math/rand"
	"regexp"
	"regexp/syntax"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Texts that are not UTF-8 travel as `base64:` and their base64, in cases as in results.
func regexText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return "base64:" + base64.StdEncoding.EncodeToString([]byte(s))
}

func regexUntext(s string) string {
	if e, ok := strings.CutPrefix(s, "base64:"); ok {
		b, err := base64.StdEncoding.DecodeString(e)
		if err != nil {
			fail("%v", err)
		}
		return string(b)
	}
	return s
}

func regexTexts(all []string) []string {
	ret := []string{}
	for _, s := range all {
		ret = append(ret, regexText(s))
	}
	return ret
}

type regexCase struct {
	Op       string `json:"op"`
	Pattern  string `json:"pattern,omitempty"`
	Text     string `json:"text,omitempty"`
	Template string `json:"template,omitempty"`
	Limit    int    `json:"limit"`
}

func init() {
	suites["regex"] = suite{gen: regexGen, run: regexRun, equal: regexEqual}
}

func regexAllRunes() string {
	var b strings.Builder
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r < 0xD800 || r > 0xDFFF {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func regexRun(raw json.RawMessage) any {
	var c regexCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	text := regexUntext(c.Text)
	if c.Op == "quote" {
		return map[string]any{"quoted": regexText(regexp.QuoteMeta(text))}
	}
	re, err := regexp.Compile(regexUntext(c.Pattern))
	if err != nil {
		return map[string]any{"error": regexText(err.Error())}
	}
	if c.Op == "class" {
		return map[string]any{"all": regexPairs(re.FindAllStringIndex(regexAllRunes(), -1))}
	}
	template := regexUntext(c.Template)
	all := regexPairs(re.FindAllStringSubmatchIndex(text, -1))
	result := map[string]any{
		"names":           regexTexts(re.SubexpNames()),
		"matches":         re.MatchString(text),
		"all":             all,
		"allByFind":       all,
		"replaced":        regexText(re.ReplaceAllString(text, template)),
		"replacedLiteral": regexText(re.ReplaceAllLiteralString(text, template)),
		"found":           regexTexts(re.FindAllString(text, c.Limit)),
		"split":           regexTexts(re.Split(text, c.Limit)),
	}
	if first := re.FindStringSubmatchIndex(text); first != nil {
		result["first"] = first
	}
	return result
}

func regexPairs(all [][]int) [][]int {
	if all == nil {
		return [][]int{}
	}
	return all
}

// regexEqual allows two things. A pattern whose program is large may be refused for its size: we bound the memory of one
// expression far below Go's 128 MB. And our messages are C strings, so a NUL ends what they quote.
func regexEqual(raw json.RawMessage, oracle, subject any) bool {
	var c regexCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	o, u := oracle.(map[string]any), subject.(map[string]any)
	if want, ok := o["error"].(string); ok {
		got, _ := u["error"].(string)
		want, _, hasNUL := strings.Cut(regexUntext(want), "\x00")
		return hasNUL && regexUntext(got) == want+"`"
	}
	if _, ok := u["limit"]; ok {
		return regexSize(regexUntext(c.Pattern)) > 30000
	}
	return false
}

// regexSize counts the instructions and ranges of the compiled program.
func regexSize(pattern string) int {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0
	}
	size := 0
	for _, inst := range prog.Inst {
		size += 1 + len(inst.Rune)
	}
	return size
}

// Every error code in several places, and every quirk we know of.
var regexPatterns = []string{
	"", "a", "abc", "a(b", "a)b", "a|)", "(a", "((a)", "(a))", ")", "(", "[a", "[]", "[^]", "[]a", "x[a-", "x[a\\", "[z-a]", "[\\d-z]",
	"[a-\\d]", "[a-\\pL]", "*", "+", "?", "*?", "+?", "??", "a**", "a+*", "a*??", "a*?*", "a??", "a???", "a|*", "(*)", "(?i)*", "a(?i)*",
	"a*(?i)*", "a*(?i)+?", "a{2}(?i){3}", "a*(?i)*(?i)*", "(a*(?i)*)b", "^*", "^**", "\\b+", "$?", "{", "{1}", "{1}?", "{,1}", "a{1}", "a{,2}",
	"a{2,1}", "a{1001}", "a{1001}?", "a{1,1001}", "a{1001,}", "a{1000}", "a{0,1000}", "a{1000,}", "a{1000}{1000}", "(a{1000}){1000}", "(a{334}){3}", "(a{334}){3}?", "(a{333}){3}",
	"(a{100}){11}", "((a{10}){10}){11}", "((a{10}){10}){10}", "(a{1000}){1}", "(a{1000}){1,}", "(a{1000}){2,}", "(a{2,}){501}", "(a{2,}){500}",
	"(a{500}|b{2}){3}", "(a{0,}){1000}", "(a*){1000}", "(a{1000})*", "a{99999999999999}", "a{00}", "a{01}", "a{0}", "a{1", "a{1,", "a{1,2", "a{1,2}{3}", "a{0}{0}",
	"(a{1000}){0}", "((a{1000}){0}){1000}", "a{2}*", "a{2}**", "a*{2}", "a*{1001}", "a{1001}*", "{1001}", "a{1,02}", "a{1,0}", "a{0,0}", "(a){0}", "(a){0}(b)", "a{ 1}", "a{1 }", "a{1,2,3}", "a{-1}", "a{1}b{2,}c{3,4}",
	"\\", "a\\", "[\\", "\\1", "\\8", "\\9", "\\12", "\\18", "\\0", "\\08", "\\400", "\\777", "\\1234", "\\x", "\\x1", "\\x1g", "\\xg", "\\x{", "\\x{}", "\\x{1", "\\x{110000}", "\\x{10FFFF}",
	"\\x{D800}", "[\\x{D800}-\\x{DFFF}]", "\\x{00000000000041}", "\\x{g}", "\\x{41g}", "\\x{{", "\\x1{", "\\x{1{", "\\x{FFFD}", "\\x41\\x42", "\\Z", "\\C", "\\G", "\\K", "\\R", "\\X", "\\h", "\\c", "\\e", "\\g1", "\\k<a>", "\\u0041", "\\y",
	"\\pX", "\\p", "\\P", "[\\p", "[\\p]", "\\p{", "\\p{X", "[\\p{X]", "\\p{X}y", "\\p{^Greek}", "\\P{^Greek}", "\\p{}", "\\p{^}", "\\pN", "\\p^", "\\p^L", "\\p{greek}", "\\p{G r-e_ek}", "\\p{Letter}", "\\pl", "\\p{^^Greek}", "\\p{ ^Greek}", "\\p{^ Greek}",
	"[\\p{X}]", "[\\pL\\PL]", "[^\\pL\\PL]", "[^\\PL]", "\\p{Any}", "\\P{Any}", "\\p{any}", "\\p{ASCII}", "\\p{Assigned}", "\\p{Cn}", "\\p{LC}", "\\p{L&}", "\\p{Lu}", "\\p{Old_Italic}", "\\p{OldItalic}", "\\p{Latn}", "\\p{Latin", "\\p{IsLatin}", "\\p{Uppercase_Letter}", "\\p{uppercaseletter}", "\\p}", "\\p{\\}",
	"[[:foo:]]", "[[:alpha:]", "[[:alpha:", "[[:^alpha:]]", "[[:ALPHA:]]", "[:alpha:]", "[[:a", "[[:a]", "[[::]]", "[[:^:]]", "[[:d:]]", "[[:w:]]", "[[:^^alpha:]]", "[[:alpha:]-z]", "[a-[:alpha:]]", "[[:word:][:space:]]", "[^[:^word:]]", "[[.a.]]", "[[=a=]]", "[[:alpha:]a-z[:digit:]]", "[[:]", "[[:]]", "[[:]:]]",
	"(?P<x", "(?P<", "(?P<x>", "(?P<>a)", "(?P<a b>c)", "(?P<a>b)(?P<a>c)", "(?<a>b)(?P<a>c)", "(?P<1>a)", "(?P<_>a)", "(?P<a-b>c)", "(?P<é>c)", "(?P=a)", "(?P>a)", "(?<", "(?<a", "(?<>", "(?<>)", "(?<=a)", "(?<!a)", "(?<n>a)", "(?=a)", "(?!a)", "(?q)", "(?i", "(?", "(?P", "(?PP<a>b)", "(?'a'b)",
	"(?i-", "(?i-)", "(?-)", "(?-:a)", "(?i-s:a)", "(?--i)", "(?i-i)", "(?i-i-i)", "(?ii)", "(?imsU)a", "(?-imsU)a", "(?x)a", "(?i:a", "(?:", "(?:)*", "(?)", "(?:a", "(?#c)", "(?>a)", "(?|a)", "(?R)", "(?1)", "a++", "a?+", "a{1}+", "a*+b", "(a)++", "(?:a)**",
	"\xff", "a\xffb", "[\xff]", "[a-\xff]", "\\\xff", "[\\\xff]", "\\p\xff", "\\p{\xff}", "\\p{\xff", "\\p{L\xff}x", "(?P<\xff>a)", "(?P<a\xffb>c)", "(?P<\xff", "(?<\xff", "(?\xff)", "(?i\xff)", "\\Q\xff", "\\Qa\xffb\\Ec", "\\x{\xff}", "\\x{1\xff}", "\\x\xff", "\\x1\xff", "[[:\xff:]]", "a)\xff", "\xff)", "(\xff", "(((\xff", "[a\xff", "[\xff", "a**\xff", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80",
	"\\Qa\\E*", "\\Q", "\\Q\\", "\\Qab\\E+", "\\Q\\E*", "a\\Q\\E*", "a*\\Q\\E*", "\\E", "a\\E*", "\\Qa\\\\E", "\\Q(*[\\E)", "\\Q(*[\\E", "\\Q\\Q\\E\\E", "(?i)\\Qkß\\E", "\\Qa|b\\E|c",
	"é**", "[é-a]", "\\é", "\\_", "\\-", "\\ ", "\\\x00", "\\\x7f", "\x00", "[\x00-\x01]", "a\x00b", "\\/", "\\#", "\\\"", "\\<", "\\>", "(?P<n>a", "||", "(|)", "()", "a||b", "(a|b|)", "|", "a|", "|a", "(|a)*", "(|a)+", "(a|)*", "(a*)*", "(a*)+", "(a*?)*?", "(a?)*b", "(a|b)*c", "(a*|b)+", "(?:(a)|b)*", "(?:(a)|(b)|(c))*", "(a(b)?)+", "((a)|(b))*?c", "(?:a??)*", "(a??b??)*",
	"(?:|.+?)*b", "(?:|.+?)+b", "((?:.+?)??)*b", "(?:(?:.+?)??)*b", "(?:|c*.+?)*b", "(?:|.{2,}?)*b", "(?:(a|)*?)*", "(?:(a|)*?)+b", "(?:(?:a+?)?)*?b", "(?:|(b|a+?)*?)*(c)", "(?:a*){2,}(b)", "(?:a*){2,3}", "(?:a+){1}*", "(?:\\b)*(a)", "(?m:^)+(a)?", "(?:(?:a)?){0,}(b)", "(?:a|b*?)*(c)",
	"x{2}{", "x{2}{a", "x*{", "x*{,2}", "[\\Q]\\E]", "[\\Qa]", "[\\E]", "[\\A]", "[\\b]", "[\\z]", "[\\B]", "[\\C]", "[\\8]", "[\\1]", "[\\12]", "[\\x{110000}]", "[a-\\x{110000}]", "[^\\x00-\\x{10FFFF}]", "[^\\x00-\\x{10FFFF}]*", "a|[^\\x00-\\x{10FFFF}]", "[\\x00-\\x{10FFFF}]", "(?s).", ".", "(?s).*", "(?-s).*", "(?m)^$", "(?m)^", "(?m)$", "^", "$", "^$", "\\A", "\\z", "(?m)\\A", "(?m)\\z", "\\z*", "\\A{2,3}", "(?m)^*", "(?m:^a$)|b$", "\\b", "\\B", "\\b\\B", "\\Bx|\\B", "\\B\\B", "(\\B)", "\\B*", "\\Ba*", "(?:\\B|é)+", "a*\\B", "\\B$", "^\\B",
	"(?U)a*?", "(?U)a*", "(?U)a+b{2,3}?", "(?U:a*)b", "[^\\n]", "[^a]", "[\\--a]", "[a--]", "[--a]", "[a-]", "[-a]", "[-]", "[a-b-c]", "[]-a]", "[^]-a]", "[^^]", "[^-]", "[[]", "[[a]]", "[]]", "[]]]", "[a&&b]", "[a\\]b]", "[\\d\\w]", "[^\\d\\W]", "[\\D\\d]", "[^\\D\\d]", "[\\s\\S]", "[ -~]", "[\\t\\n\\v\\f\\r\\a]", "[a-zA-Z0-9_.-]", "[.]", "[.-/]", "[+--]",
	"(?i)[k]", "(?i)k", "(?i)\\x{212A}", "(?i)ſ", "(?i)s", "(?i)[^k]", "(?i)[^\\x{212A}]", "(?i)\\w", "(?i)\\W", "(?i)[\\W]", "(?i)[\\Wk]", "(?i)[[:lower:]]", "(?i)[[:^upper:]]", "(?i)\\p{Lu}", "(?i)\\P{Lu}", "(?i)[^\\p{Lu}]", "(?i)\\p{LC}", "(?i)\\x{1F80}", "(?i)θ", "(?i)ß", "(?i)ẞ", "(?i)ǅ", "(?i)İ", "(?i)ı", "(?i)i", "(?i)σ", "(?i)é|É", "(?i)a(?-i)b", "(?i:a)b", "a(?i)b|c", "(a(?i)b)c", "(?i)[a-z]+", "(?i)[à-þ]", "(?i)straße",
	"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "^(?P<y>\\d{4})-(?P<m>\\d\\d)-(?P<d>\\d\\d)$", "(?:a|ab)(?:c|bcd)(?:d*)", "(a+)(b+)", "a.c", "^a.*b$", "(a|ab)(c|bcd)(d*)", "(?:ab|a)(?:bc)?", "x*y*z*", "(^a|b$)", "(a)(b)?(c)?", "\\[([^\\[\\]]+)\\]|([^.\\[\\]]+)", "([\\w.]+)@([\\w.]+)", "\\$\\{(\\w+)\\}", "(?s)^.*$", "(.)(.)(.)", "(a)|b", "((((((((((a))))))))))(b)",
}

var regexTextTable = []string{
	"", "a", "b", "aaa", "baac", "ab", "abcbcdd", "xay", "a\nb\n", "\n", "\n\n", "aé", "éa", "é", "éé x", "日本語", "\xff", "a\xffb", "\xff\xfe\xff", "a\xc3", "\xc3\xa9\xc3", "é\xffé", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\uFFFD", "\uFFFD\xff\uFFFD", "\x00", "a\x00b", "kKK", "sSſ", "σςΣ", "ßẞ", "θϑΘϴ", "ǄǅǆÉé", "İıiI", "Aa1_ \t-", "2024-05-06", "foo.bar[baz][0].qux", "me@ex.org you@ex.com", "${a} ${b}", "xxyyzz", "a-b_c.d", "bbab", "((([", "\u0345\u03b9\u0399\u1fbe", "😀a😀", "a😀", "\u1f80\u1f88",
}

var regexTemplates = []string{
	"", "-", "$0", "[$1]", "${1}x", "$1x", "$x", "${n}", "$n", "$$", "$", "a$", "${", "${}", "${1", "$ 1", "${1 }", "$01", "$00", "$10", "$2$1", "$a-${a}", "$é", "$1é", "${é}", "$_", "$1_", "$99999999", "$999999999", "$9999999999999999999", "\\1", "$-", "$$1", "$$$1", "$y/$m/$d", "x${y}${z}", "$\xff", "\xff$1\xff", "$1\x00", "日$1本", "${日本}$日",
}

func regexGen(r *rand.Rand, count int, emit func(c any)) {
	n := 0
	put := func(pattern, text, template string, limit int) {
		emit(regexCase{"match", regexText(pattern), regexText(text), regexText(template), limit})
		n++
	}
	for _, p := range regexPatterns {
		for i := 0; i < 2; i++ {
			put(p, regexTextTable[r.Intn(len(regexTextTable))], regexTemplates[r.Intn(len(regexTemplates))], r.Intn(5)-1)
		}
	}
	regexGenLarge(put)
	for _, t := range regexTextTable {
		emit(regexCase{Op: "quote", Text: regexText(t)})
		put(regexp.QuoteMeta(t), t, "x", -1)
		for _, p := range []string{"a*", "\\B", "[^b]*b|\\B", "(\\B)(é)?", "\\B(.)|(a)\\B", "\\b", "", "(?m)^|$", ".", "\\PL*?", "[^a]", "(?i)[k-sθ]+|ß"} {
			put(p, t, regexTemplates[r.Intn(len(regexTemplates))], r.Intn(5)-1)
		}
	}
	for _, t := range regexTemplates {
		put("(?P<a>a)?(?P<n>.)(?P<a>b)?", "xaybznab", t, -1)
		put("(?<x>a)|(?<_>b)|(?<x>c)", "abc", t, 2)
	}
	for i := 0; i < 2+count/2000; i++ {
		emit(regexCase{Op: "class", Pattern: regexClassPattern(r)})
		n++
	}
	g := regexGrammar{r}
	for n < count {
		pattern, sample := g.pattern()
		text := sample()
		for k := r.Intn(3); k > 0; k-- {
			text += g.text() + sample()
		}
		switch r.Intn(4) {
		case 0:
			pattern = g.mutate(pattern)
		case 1:
			text = g.text() + text
		}
		template := regexTemplates[r.Intn(len(regexTemplates))]
		if r.Intn(3) == 0 {
			template = g.mutate("$1" + template)
		}
		put(pattern, text, template, r.Intn(6)-2)
	}
}

// Patterns at the limits of nesting and size. Not here: alternatives with a common beginning, which Go shares before it
// counts and we do not, so that close to the limits it takes a little more.
func regexGenLarge(put func(pattern, text, template string, limit int)) {
	nest := func(n int, open, inner, closing string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
	}
	for _, n := range []int{998, 999, 1000, 1001} {
		for _, p := range []string{
			nest(n, "(", "a", ")"), nest(n, "(", "", ")"), nest(n, "(?:", "a", ")"), nest(n, "(?:", "a", ")*"), nest(n, "(?:", "a", ")+?"),
			nest(n, "(", "a", ""), nest(n, "(?i:", "a", ")"), "a" + strings.Repeat("*(?i)", n), "a" + strings.Repeat("{1}(?i)", n),
			nest(n/2, "(", "a", ")*"), nest(n/2, "(x", "a", ")"), nest(n/2, "(xx|", "ab", ")"), nest(n/2, "(x*|", "b", ")"), nest(n/2, "(a|", "b", ")"),
			nest(n/3, "(\\d*|", "b", "c)"), nest(n, "(", "a", ")") + ")", nest(n, "(", "a", ")") + "*", nest(n, "(", "ab", ")"), nest(n, "(", "a|b", ")"), nest(n, "(", "a|bc", ")"), nest(n, "(", "a*", ")"),
		} {
			put(p, "aab", "$1", -1)
		}
	}
	for _, n := range []int{3356, 3400} {
		c := strings.Repeat(`\d`, n)
		for _, p := range []string{"(?:" + c + "){1000}", "(?:" + c + "){999,1000}", "(?:" + c + "){1000,}", "(?:" + strings.Repeat("a", n) + "){1000}", "(" + c + "){1000}"} {
			put(p, "a", "", -1)
		}
	}
	put("(?:"+strings.Repeat(`\d`, 3355)+"){1000}", "a", "", -1)
	for _, p := range []string{
		`(?:\d{1000}\d{1000}\d{1000}\d{1000}){1000}`, "(?:" + strings.Repeat(`(\d\w)`, 839) + "){1000}",
		"(?:" + strings.Repeat(`\d*`, 1119) + "){1000}", "(?:" + strings.Repeat(`\d?`, 1678) + "){1000}", "(?:" + strings.Repeat(`\d+`, 1678) + "){1000}", "(?:" + strings.Repeat(`\d{1,}`, 1678) + "){1000}",
		"(?:" + strings.Repeat(`\d{0,}`, 1119) + "){1000}", `\pL{200}`, `\pL{1000}`, `(?i)\pL{30}`, `.{1000}`, `(.{31}){31}`, strings.Repeat("a", 5000), strings.Repeat("(a)", 1000), strings.Repeat("a|", 5000), strings.Repeat("(?i)k", 2000),
	} {
		put(p, "a1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "$0", -1)
	}
}

func regexClassPattern(r *rand.Rand) string {
	names := []string{"Any", "ASCII", "Assigned", "Cn", "LC"}
	for _, m := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts} {
		for n := range m {
			names = append(names, n)
		}
	}
	for n := range unicode.CategoryAliases {
		names = append(names, n)
	}
	sort.Strings(names)
	one := func() string {
		switch r.Intn(8) {
		case 0:
			return []string{`\d`, `\D`, `\s`, `\S`, `\w`, `\W`, "[:alpha:]", "[:^word:]", "[:punct:]"}[r.Intn(9)]
		case 1:
			a, b := rune(r.Intn(0x2000)+0x100), rune(r.Intn(0x300)) // no surrogates, no class syntax
			return string(a) + "-" + string(a+b)
		default:
			return []string{`\p{`, `\P{`, `\p{^`}[r.Intn(3)] + names[r.Intn(len(names))] + "}"
		}
	}
	p := "["
	if r.Intn(3) == 0 {
		p = "[^"
	}
	for k := 1 + r.Intn(3); k > 0; k-- {
		p += one()
	}
	p += "]+"
	if r.Intn(2) == 0 {
		p = "(?i)" + p
	}
	return p
}

// regexGrammar makes patterns together with texts that they are likely to match.
type regexGrammar struct{ r *rand.Rand }

func (g regexGrammar) pick(s ...string) string { return s[g.r.Intn(len(s))] }

func (g regexGrammar) text() string {
	pieces := []string{"a", "b", "c", "A", "B", "k", "K", "K", "s", "ſ", "x", "y", "0", "7", "_", " ", "\n", "\t", "-", ".", "é", "É", "ß", "σ", "ς", "日", "😀", "\xff", "\x80", "\xc3", "\uFFFD", "\x00", "ab", "abc", "[", "]", "(", "\\", "$"}
	s := ""
	for k := g.r.Intn(6); k > 0; k-- {
		s += pieces[g.r.Intn(len(pieces))]
	}
	return s
}

func (g regexGrammar) pattern() (string, func() string) {
	p, s := g.alternate(3)
	if g.r.Intn(5) == 0 {
		p = g.pick("(?i)", "(?m)", "(?s)", "(?U)", "(?im)", "(?i-s)", "(?sU)") + p
	}
	return p, s
}

func (g regexGrammar) alternate(depth int) (string, func() string) {
	p, s := g.concat(depth)
	for g.r.Intn(4) == 0 {
		q, t := g.concat(depth)
		u := s
		p, s = p+"|"+q, func() string {
			if g.r.Intn(2) == 0 {
				return u()
			}
			return t()
		}
	}
	return p, s
}

func (g regexGrammar) concat(depth int) (string, func() string) {
	p, s := "", func() string { return "" }
	for k := g.r.Intn(4); k > 0; k-- {
		q, t := g.repeat(depth)
		u := s
		p, s = p+q, func() string { return u() + t() }
	}
	return p, s
}

func (g regexGrammar) repeat(depth int) (string, func() string) {
	p, s := g.atom(depth)
	if g.r.Intn(5) < 3 {
		return p, s
	}
	op := g.pick("*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{1,}", "{0,}", "{2,}?", "{0}", "{3,4}")
	return p + op, func() string {
		t := ""
		for k := g.r.Intn(4); k > 0; k-- {
			t += s()
		}
		return t
	}
}

func (g regexGrammar) atom(depth int) (string, func() string) {
	literal := func(p, s string) (string, func() string) { return p, func() string { return s } }
	if depth > 0 && g.r.Intn(3) == 0 {
		p, s := g.alternate(depth - 1)
		open := g.pick("(", "(", "(?:", "(?P<n>", "(?<x>", "(?P<a1>", "(?i:", "(?m:", "(?s:", "(?U:", "(?-i:", "(?i-m:")
		return open + p + ")", s
	}
	switch g.r.Intn(12) {
	case 0:
		return literal(g.pick("^", "$", "\\b", "\\B", "\\A", "\\z", "(?i)", "(?m)", "(?-i)", "(?s-m)", "\\Q\\E", "(?:)", "()"), "")
	case 1, 2:
		return g.class()
	case 3:
		return literal(".", g.pick("a", "\n", "é", "\xff", "日"))
	case 4:
		c := g.pick(".", "*", "[", "]", "(", "|", "\\", "^", "$", "{", "}", "-", "/", " ")
		return literal(regexp.QuoteMeta(c), c)
	case 5:
		return literal(g.pick("\\x41", "\\x{41}", "\\101", "\\Qa.b\\E", "\\x{e9}", "\\x{1F600}", "\\t", "\\n", "\\a", "\\x00", "\\x{FFFD}"), g.pick("A", "a.b", "é", "😀", "\t", "\n", "\a", "\x00", "\xff"))
	default:
		c := g.pick("a", "b", "c", "A", "k", "K", "s", "ſ", "x", "0", "_", "-", "é", "É", "ß", "σ", "日", "😀", "ab", "abc", "{", "}", ",", ":", "=")
		return literal(c, c)
	}
}

func (g regexGrammar) class() (string, func() string) {
	if g.r.Intn(3) == 0 {
		p := g.pick("\\d", "\\D", "\\s", "\\S", "\\w", "\\W", "\\pL", "\\PL", "\\p{Greek}", "\\P{Lu}", "\\p{^Ll}", "\\pN", "\\p{Han}", "\\p{Z}")
		return p, func() string { return g.pick("1", " ", "a", "é", "σ", "日", "\xff", "_") }
	}
	p := g.pick("[", "[", "[^", "[]", "[^]", "[-")
	for k := 1 + g.r.Intn(3); k > 0; k-- {
		p += g.pick("a", "b", "a-c", "A-Z", "0-9", "k", "K", "é", "à-ÿ", "\\d", "\\W", "\\s", "\\pL", "\\PN", "[:alpha:]", "[:^digit:]", "[:space:]", "\\]", "\\-", "^", "[", ".", "\\x{100}-\\x{17f}", "\\n", "\\x00-\\x1f", "日-本", "$", "|", "\\101", "😀")
	}
	return p + g.pick("]", "]", "]", "-]"), func() string { return g.pick("a", "b", "K", "1", "é", "\n", "日", "\xff", "-", "]", "k") }
}

// mutate spoils a text a little: cuts, doubles, swaps and inserts pieces of syntax or any byte.
func (g regexGrammar) mutate(s string) string {
	for k := 1 + g.r.Intn(3); k > 0; k-- {
		i := g.r.Intn(len(s) + 1)
		j := i + g.r.Intn(min(4, len(s)-i+1))
		switch g.r.Intn(5) {
		case 0:
			s = s[:i] + s[j:]
		case 1:
			s = s[:j] + s[i:]
		case 2:
			s = s[:i] + string([]byte{byte(g.r.Intn(256))}) + s[i:]
		default:
			s = s[:i] + g.pick("(", ")", "[", "]", "*", "+", "?", "{", "}", "{2,1}", "{1001}", "{1000}", "{2}", "|", "\\", "^", "-", "(?", "(?P<", "(?<", ">", ":", "[:", ":]", "\\p{", "\\p", "\\x", "\\x{", "\\Q", "\\E", "\\1", "\\8", "\\C", "\\Z", "$", "${", ",", "0", "1", "(?i", "(?-", "[^", "[z-a]", "(?:", "\\pX", "[[:foo:]]", "**", "??") + s[i:]
		}
	}
	return s
}
