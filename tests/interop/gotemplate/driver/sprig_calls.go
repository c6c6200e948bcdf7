package main

import (
	"math/rand"
	"reflect"
	"sort"
	"strings"
	"time"
)

// Functions whose result is random or the time of day, or that ask the system or are too slow for thousands of calls. Unit tests and the
// suite seals judge them.
var leftOut = map[string]bool{
	"ago": true, "bcrypt": true, "buildCustomCert": true, "derivePassword": true, "encryptAES": true, "genCA": true, "genCAWithKey": true,
	"genPrivateKey": true, "genSelfSignedCert": true, "genSelfSignedCertWithKey": true, "genSignedCert": true, "genSignedCertWithKey": true,
	"getHostByName": true, "htpasswd": true, "now": true, "randAlpha": true, "randAlphaNum": true, "randAscii": true, "randBytes": true,
	"randInt": true, "randNumeric": true, "shuffle": true, "uuidv4": true,
}

// Maps that they change must be new ones, and must not come to hold themselves: Go would not come back from printing them.
var changesMap = map[string]bool{
	"set": true, "unset": true, "merge": true, "mergeOverwrite": true, "mustMerge": true, "mustMergeOverwrite": true,
}

// What a parameter of a function is mostly given, by the function's name and the parameter's index.
var usual = map[string][][]string{
	"semver": {versions}, "semverCompare": {constraints, versions},
	"urlParse": {urls}, "toDate": {layouts, dates}, "mustToDate": {layouts, dates},
	"date": {layouts, times}, "dateInZone": {layouts, times, zones}, "date_in_zone": {layouts, times, zones},
	"htmlDate": {times}, "htmlDateInZone": {times, zones}, "durationRound": {durations}, "duration": {durations},
	"dateModify": {durations, dateCalls}, "date_modify": {durations, dateCalls}, "mustDateModify": {durations, dateCalls},
	"must_date_modify": {durations, dateCalls}, "unixEpoch": {dateCalls},
	"regexMatch": {regexes}, "regexFind": {regexes}, "regexFindAll": {regexes}, "regexReplaceAll": {regexes, nil, replacements},
	"regexReplaceAllLiteral": {regexes, nil, replacements}, "regexSplit": {regexes},
	"mustRegexMatch": {regexes}, "mustRegexFind": {regexes}, "mustRegexFindAll": {regexes},
	"mustRegexReplaceAll": {regexes, nil, replacements}, "mustRegexReplaceAllLiteral": {regexes, nil, replacements}, "mustRegexSplit": {regexes},
	"fromJson": {jsons}, "mustFromJson": {jsons}, "b64dec": {encodings}, "b32dec": {encodings}, "decryptAES": {nil, encodings},
	"base": {paths}, "dir": {paths}, "clean": {paths}, "ext": {paths}, "isAbs": {paths},
	"osBase": {paths}, "osDir": {paths}, "osClean": {paths}, "osExt": {paths}, "osIsAbs": {paths},
	"typeIs": {typeNames}, "typeIsLike": {typeNames}, "kindIs": {typeNames}, "get": {nil, keyNames}, "hasKey": {nil, keyNames},
	"untilStep": {smallInts, smallInts, smallInts}, "until": {smallInts}, "seq": {smallInts, smallInts, smallInts},
	"repeat": {smallInts}, "indent": {smallInts}, "nindent": {smallInts}, "atoi": {numbers}, "toDecimal": {numbers}, "urlJoin": {urlDicts},
}

var (
	strs = []string{`""`, `"a"`, `"hello world"`, `"Hello World"`, `"héllo wörld"`, `"日本語 テキスト"`, `"a\nb\n\nc"`, `"  x y  "`, `"foo_bar-baz QuxQuux"`,
		`"HTTPServer2Go"`, `"ǆ ß İ ı ﬁ"`, `"a,b,,c"`, `"$x$"`, `"%d%s"`, `"\x01\x7f"`, `"a\xffb"`, `"\U0001F600 smile"`, `"e\u0301"`, `"<a href='x'>&\"</a>"`,
		`"12"`, `"-3"`, `"true"`, "$.s", "$.u", "$.html", "$.num", `"aAbB1 2_3"`, `"_x__y_"`, `"x\ty\r\nz"`, `"ALLCAPS"`, `"v1.2.3"`, `"\u2028\u00a0"`, `"don't"`,
		`"one two three four five six seven eight nine ten"`, `"/a/b.c"`, `"K K"`, `"ΑΣ ΟΔΟΣ"`, `"voilà à lą x"`,
		`"abc123Def 4x HTTP2xx"`, `"中文Abc x.Y-Z__w"`, `"٣٤ Ⅷ½"`}
	smallInts = []string{"0", "1", "2", "3", "5", "-1", "-2", "10", "(int 4)", "7"}
	ints      = []string{"0", "1", "2", "3", "-1", "5", "10", "72", "100", "-100", "(int $.n)", "(len $.l)", "'a'"}
	numbers   = []string{`"0"`, `"1"`, `"-5"`, `"0x1f"`, `"0b11"`, `"0o17"`, `"017"`, `"1_000"`, `"1.5"`, `"1e3"`, `"3.0"`, `"3.10"`, `"99999999999999999999"`,
		`"-9223372036854775808"`, `"9223372036854775807"`, `" 1"`, `"1 "`, `"+7"`, `"inf"`, `"NaN"`, `"0x1p4"`, `".5"`, `"5."`, `"08"`, `"-0"`, `"1e400"`, `"777"`, `""`}
	numerics = []string{"0", "1", "2", "-3", "7", "1.5", "-2.5", "-2.3", "-7.049", "0.1", "0.2", "1e10", "1e300", "9223372036854775807", "-9223372036854775808", "$.n", "$.d", "$.bigd", "$.neg",
		"true", "false", "nil", "$.nul", "(int64 5)", "(float64 2.25)", "3.7", "100", "2.675", "1e-7", "(semver \"1.2.3\").Major", "(index \"abc\" 1)", "(list)", "$.m"}
	lists = []string{"(list)", "(list 1 2 3)", `(list "a" "b" "a")`, `(list 1 "a" nil true 2.5 "")`, "$.l", "$.nums", "$.mixed", "$.el", "(until 5)", `(splitList "," "c,a,b")`,
		"(list (list 1) (list 1) (dict))", "(list nil 0 \"\" false)", `(list "b" "A" "a" "é")`, "fnStrings", "fnInts", "fnNilList", "fnBytes", "(chunk 2 $.l)",
		"(list 3 1 2 1.5)"}
	dicts = []string{"(dict)", `(dict "a" 1)`, `(dict "a" (dict "b" (dict "c" 3)))`, `(dict "a" nil "b" "" "c" 0)`, "$.m", "$.em", `(dict "x" (list 1 2) "a" "y")`,
		`(dict "a" (dict "b" 1 "x" 2) "l" (list 1))`, "fnNilMap", "fnSplit", "$.missing"}
	newDicts = []string{"(dict)", `(dict "a" 1)`, `(dict "a" (dict "b" (dict "c" 3)))`, `(dict "a" nil "b" "" "c" 0)`, `(dict "x" (list 1 2) "a" "y")`,
		`(dict "a" (dict "b" 1 "x" 2) "l" (list 1))`, `(dict "a" (dict "b" "" "y" (list)))`, `(dict "b" false "c" 0.0 "d" (dict))`, `(split "," "a,b")`}
	keyNames  = []string{`"a"`, `"b"`, `"none"`, `"x-y"`, `"_0"`, `""`, `"nul"`}
	typeNames = []string{`"string"`, `"int"`, `"int64"`, `"float64"`, `"bool"`, `"map"`, `"slice"`, `"map[string]interface {}"`, `"[]interface {}"`, `"invalid"`, `"<nil>"`, `"struct"`, `"ptr"`,
		`"*int"`, `"[]string"`, `"time.Time"`, `"*semver.Version"`, `"semver.Version"`}
	versions = []string{`"1.2.3"`, `"v1.2.3-alpha.1+build"`, `"1"`, `"1.2"`, `"v2"`, `"01.2.3"`, `"1.2.3-"`, `"1.2.3-01"`, `"x"`, `""`, `"1.2.3.4"`, `"99999999999999999999.0.0"`,
		`"1.2.3-rc.1"`, `"0.0.0"`, `"1.2.3+é"`, `"1.0.0-beta+exp.sha.5114f85"`}
	constraints = []string{`"^1.2"`, `">=1.2.3"`, `"~1"`, `">1 <3"`, `">1, <3 || =4"`, `"1.2.x"`, `"*"`, `"1.2 - 2.3.4"`, `"!=1.2.3"`, `"=>1"`, `"^0.0.3"`, `"x"`, `""`, `">=1.2.3-0"`, `"~>1.2.3"`,
		`"1.2.3"`, `">= 1.2.3-alpha"`, `"||"`, `"<=v2"`}
	urls = []string{`"http://user:pa%20ss@host:8080/a%2Fb/c?q=1&r#frag"`, `"https://example.com"`, `"//h/p"`, `"/just/path?x"`, `"mailto:a@b.c"`, `"http://[::1]:80/"`, `"http://[fe80::1%25en0]/"`,
		`"http://h:port/"`, `"ht tp://x"`, `":x"`, `"http://a b/"`, `"http://h/%zz"`, `"a:b:c"`, `""`, `"?q"`, `"#f"`, `"http://é.com/ü?ö#ä"`, `"http://h/a b"`, `"1http://x"`, `"http://u@h@i/"`,
		`"http://h\x7f/"`, `"HTTP://H/"`, `"x/y:z"`, `"http://h/%41%2f?%41#%41"`, `"file:///etc"`, `"http:opaque?q"`, `"http://h:/"`, `"http://%41/"`, `"*"`}
	urlDicts = []string{`(urlParse "http://u:p@h:1/a b?q#f")`, `(urlParse "mailto:x@y")`, `(dict "host" "h" "path" "p")`, `(dict "scheme" "http" "path" "//x")`, `(dict "path" "a:b")`,
		`(dict "userinfo" "a b" "host" "h")`, `(dict "userinfo" "a:b:c" "scheme" "s")`, `(dict "host" "é h" "fragment" "ü" "query" "a b")`, `(dict "host" 1)`, `(dict "opaque" "o" "scheme" "s" "query" "q")`,
		`(dict "userinfo" "a%zz" "host" "h")`}
	layouts = []string{`"2006-01-02"`, `"2006-01-02T15:04:05Z07:00"`, `"Mon Jan _2 15:04:05 MST 2006"`, `"3:04PM"`, `"02/01/06 .000 -0700"`, `"Monday, January 2 2006 15h"`, `""`, `"x"`, `"2006-002"`, `"15:04:05.999999999"`}
	dates   = []string{`"2024-02-29"`, `"2023-02-29"`, `"2024-02-29T12:34:56Z"`, `"2024-02-29T12:34:56+01:30"`, `"Thu Feb 29 12:34:56 CET 2024"`, `"3:04PM"`, `""`, `"x"`, `"2024-13-01"`, `"0000-01-01"`, `"29/02/24 .123 +0100"`,
		`"23:59:59.5"`}
	dateCalls    = []string{`(toDate "2006-01-02" "2024-02-29")`, `(toDate "2006-01-02T15:04:05Z07:00" "2024-02-29T23:59:59+05:30")`, `(toDate "2006-01-02" "x")`, `(toDate "2006-01-02" "1969-12-31")`}
	times        = append([]string{"0", "1700000000", "(int64 -1)", "$.n", "951782400"}, dateCalls...)
	zones        = []string{`"UTC"`, `"Europe/Berlin"`, `"America/New_York"`, `""`, `"Local"`, `"Nowhere/City"`, `"Asia/Kolkata"`, `"europe/berlin"`, `"../x"`}
	durations    = []string{`"1h"`, `"-1.5h"`, `"1h30m10.5s"`, `"2400h"`, `"100ms"`, `"1µs"`, `"x"`, `""`, `"1"`, `"-5"`, `"999999h"`, `"9999999999h"`, `"8760h1s"`, `"(int64 5)"`, `"95"`, "(int64 90000)", "(int64 86400000000001)", "1", `"60s"`, `"61s"`}
	regexes      = []string{`"a"`, `"[a-z]+"`, `"(a)(b)?"`, `"^"`, `"$"`, `""`, `"("`, `"[z-a]"`, `"(?i)HELLO"`, `"\\d+"`, `"\\p{L}"`, `"(?P<n>l+)"`, `"x*"`, `"a{2,1}"`, `"\\"`, `"(?s)."`, `"é|ö"`, `"o\\b"`, `"*"`, `"(?=a)"`, `","`, `"\\s+"`, `"[[:alpha:]]"`, `"a**"`}
	replacements = []string{`"-"`, `""`, `"$1"`, `"${1}x"`, `"$n"`, `"$$"`, `"${"`, `"$1x"`, `"\\1"`, `"$0$0"`}
	jsons        = []string{`"{\"a\":1}"`, `"[1,2.5,\"x\",null,true]"`, `"1"`, `"1e3"`, `"\"s\""`, `"null"`, `"{"`, `""`, `"{\"a\":1,\"a\":2}"`, `"[1,]"`, `"nul"`, `" {} x"`, `"\"\\ud800\""`, `"9223372036854775808"`, `"-0"`, `"{\"a\":{\"b\":[]}}"`, `"1e999"`, `"\"\x01\""`, `"[01]"`}
	encodings    = []string{`"YWJj"`, `"YWI="`, `"YQ=="`, `"YQ"`, `"!!!!"`, `"YWJj\nZGVm"`, `""`, `"MFRGG==="`, `"MFRGGZDF"`, `"ME======"`, `"mfrgg"`, `"M"`, `"MF"`, `"MFRG1==="`, `"YQ==YQ=="`, `"YQ=a"`, `"/+=="`, `"-_-_"`}
	paths        = []string{`"/a/b.c"`, `"a//b/../c"`, `""`, `"."`, `".."`, `"/"`, `"//"`, `"a/"`, `"a/b/"`, `".hidden"`, `"a.tar.gz"`, `"/../x"`, `"./a"`, `"é/ü.ö"`, `"a/../.."`, `"a."`, `"../../a"`}
	bools        = []string{"true", "false", "$.t", "$.f", "(eq 1 1)"}
)

func init() { time.Local = time.UTC }

type caller struct {
	*rand.Rand
	names []string
	funcs map[string]reflect.Type
}

func newCaller(r *rand.Rand) *caller {
	c := &caller{Rand: r, funcs: map[string]reflect.Type{}}
	for name, f := range sprigFunctions() {
		if !leftOut[name] {
			c.names = append(c.names, name)
			c.funcs[name] = reflect.TypeOf(f)
		}
	}
	sort.Strings(c.names)
	return c
}

func (c *caller) one(of []string) string { return of[c.Intn(len(of))] }

func (c *caller) anything() string {
	return c.one([][]string{strs, numbers, numerics, lists, dicts, bools, ints, dateCalls}[c.Intn(8)])
}

// An argument that fits the type of its parameter, mostly.
func (c *caller) fitting(t reflect.Type, depth int) string {
	if c.Intn(25) == 0 {
		return c.anything()
	}
	switch t.Kind() {
	case reflect.String:
		if depth > 0 && c.Intn(8) == 0 {
			return "(" + c.call(depth-1) + " | toString)"
		}
		return c.one(strs)
	case reflect.Int, reflect.Int64:
		return c.one(ints)
	case reflect.Float64:
		return c.one([]string{"0.5", "1", "0.0", "1.5", "(float64 \"0.9\")", "-1.0"})
	case reflect.Bool:
		return c.one(bools)
	case reflect.Map:
		return c.one(dicts)
	case reflect.Slice:
		return c.one(lists)
	case reflect.Struct:
		return c.one(dateCalls)
	}
	if depth > 0 && c.Intn(6) == 0 {
		return "(" + c.call(depth-1) + ")"
	}
	return c.anything()
}

func (c *caller) argument(name string, i int, t reflect.Type, depth int) string {
	isDate := strings.HasPrefix(name, "date") || strings.HasPrefix(name, "htmlDate") || name == "durationRound"
	if changesMap[name] && t.Kind() == reflect.Map {
		return c.one(newDicts)
	}
	if changesMap[name] {
		return c.one([]string{`"a"`, `"b"`, "1", "nil", `""`, "(list 1)", "(dict)"})
	}
	if pools := usual[name]; i < len(pools) && pools[i] != nil && (isDate || c.Intn(8) > 0) {
		return c.one(pools[i])
	}
	return c.fitting(t, depth)
}

// A call of any function with as many arguments as it takes, mostly.
func (c *caller) call(depth int) string {
	name := c.one(c.names)
	t := c.funcs[name]
	n := t.NumIn()
	if t.IsVariadic() {
		n += c.Intn(4) - 1
	}
	if c.Intn(60) == 0 {
		n += c.Intn(3) - 1
	}
	words := []string{name}
	for i := 0; i < n; i++ {
		p := reflect.TypeOf("")
		if t.NumIn() > 0 {
			p = t.In(min(i, t.NumIn()-1))
		}
		if t.IsVariadic() && i >= t.NumIn()-1 {
			p = p.Elem()
		}
		words = append(words, c.argument(name, i, p, depth))
	}
	text := strings.Join(words, " ")
	if len(words) > 1 && c.Intn(4) == 0 {
		text = words[len(words)-1] + " | " + strings.Join(words[:len(words)-1], " ")
	}
	if name == "keys" || name == "values" {
		text += " | sortAlpha"
	}
	return text
}

func (c *caller) template() templateCase {
	text := "{{" + c.call(2) + "}}"
	switch c.Intn(6) {
	case 0:
		text = "{{" + c.call(2) + " | " + c.one([]string{"toJson", "quote", "typeOf", "toString", "printf \"%v %T\" 1", "len", "kindOf"}) + "}}"
	case 1:
		text = `{{$x := ` + c.call(2) + `}}{{printf "%T %v" $x $x}}`
	}
	return templateCase{Template: text}
}
