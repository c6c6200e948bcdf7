// Cases for the suites schema and structural.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"strings"
)

type sObject = map[string]any
type sList = []any

func schemaChance(r *rand.Rand, percent int) bool { return r.Intn(100) < percent }

func schemaPick[T any](r *rand.Rand, from ...T) T { return from[r.Intn(len(from))] }

// What each format takes, nearly takes, and does not.
var formatTexts = map[string][]string{
	"bsonobjectid":   {"507f1f77bcf86cd799439011", "507F1F77BCF86CD799439011", "507f1f77bcf86cd79943901", "507f1f77bcf86cd79943901g", ""},
	"byte":           {"", "QQ==", "QUI=", "QUJD", "QUJD\n", "QQ=", "QQ", "Q===", "QUJDQQ==", "-_==", "Q Q=", "=QUI", "QUJD====", "ab=c"},
	"cidr":           {"10.0.0.0/8", "10.0.0.1/8", "10.0.0.1/33", "10.0.0.1", "::/0", "fe80::1/64", "fe80::1/129", "1.2.3.004/8", "1.2.3.4/08", "/8", "1.2.3.4/", "1.2.3.4/-1", "::ffff:1.2.3.4/96", "1.2.3.4/8/8", "fe80::1%eth0/64"},
	"creditcard":     {"4111111111111111", "4111-1111-1111-1111", "4111 1111 1111 1111", "4111111111111112", "378282246310005", "5555555555554444", "6011111111111117", "3530111333300000", "30569309025904", "6200000000000005", "0000000000000000", "", "411111111111111", "abc4111111111111111", "2223003122003222", "4222222222222", "6759649826438453"},
	"date":           {"2020-01-02", "2020-1-2", "2020-02-29", "2021-02-29", "2020-13-01", "2020-01-02T00:00:00Z", "0000-01-01", "10000-01-01", "2020-01-00", "2020/01/02", "", " 2020-01-02", "2020-01-02 "},
	"date-time":      {"2020-01-02T03:04:05Z", "2020-01-02t03:04:05z", "2020-01-02T03:04:05", "2020-01-02T03:04:05.123Z", "2020-01-02T03:04:05.123456789123Z", "2020-01-02T03:04:05+01:00", "2020-01-02T03:04:05+0100", "2020-01-02T24:00:00Z", "2020-01-02T23:59:60Z", "2020-01-02 03:04:05Z", "2020-13-02T03:04:05Z", "2020-02-30T03:04:05Z", "", "2020-01-02", "2020-01-02T03:04Z", "2020-01-02T03:04:05,5Z", "2020-01-02T03:04:05-25:00", "0001-01-01T00:00:00Z", "2020-01-02T3:04:05Z", "2020-01-02T03:04:05.Z", "2020-01-02T03:04:05+24:00", "2020-01-02T03:04:05+23:60"},
	"duration":       {"1h30m", "1 h", "1H", "1min", "1 day", "3 weeks", "1d", "-1s", "1.5h", "1h 30m", "10ms", "0", "P1D", "PT5M", "1", "1y", "P1Y", "abc", "", "+1s", "1us", "1µs", "1ns", "2 weeks 1 day", "1 d 1 h", "1week", "1w", "1 hour", "2hours", "1 minute", "5 mins", "1 sec", "1 second", "3secs", "1 millisecond", "1 nano", "1 milli", "1 micro", "PT1H30M5S", "P1DT1H", "P", "PT", "PT1", "P1W", "P1M", "-PT5M", "PT1.5S", "1d1h", "-1d", "1.5d", "1,5h", "1h1", "1 hh", "9999999999h", "1e3s", ".5s", "5.s", "-0", "00", "1 Day", "1DAY", " 1d", "1d ", "1 day 2", "x 1d", "1d x"},
	"email":          {"a@b", "a@b.c", "A B <a@b.c>", "a", "@b", "a@", "", "a b@c", "\"a b\"@c.d", "a@b.c, d@e.f", "a@b@c", "<a@b>", "a@[1.2.3.4]", "a.b@c.d", ".a@b.c", "a.@b.c", "a..b@c.d", "a@b..c", "ä@b.c", "a@b.c (comment)", "(c) a@b", "a+b@c-d.e", "A <a@b", "a@b>", "\"A\" <a@b.c>", "=?utf-8?q?a?= <a@b.c>", " a@b ", "a@b\n", "a,b@c", "a@b c", "a@-b.c", "a@b_c.d", "a;b@c", "A. B <a@b.c>", "a@b.", "Group: a@b;", "a@b.c;", "undisclosed:;", "\"\"@b", "a@\tb"},
	"hexcolor":       {"#fff", "fff", "#FFFFFF", "ffffff", "#ffff", "#ggg", "", "##fff", "#fff "},
	"hostname":       {"x", "1", "a-", "EXAMPLE.com", "a.b", "a_b", "a.com.", "", "-a", "a.-b.com", "a..com", "a.b1", "a.12", "1.2.3.4", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 63) + ".com", "ä.com", "xn--a.com", "a b", "a.co-m", "a.com-", "a.123com", "localhost", "a.bc", "a.b.cd", "my-host.example.org", strings.Repeat("abcdefghi.", 25) + "com", strings.Repeat("abcdefghi.", 30) + "com", "a.c0m", "A-.bc", "a.com\n", "x.yz-", "1a.com", "a.1b"},
	"ipv4":           {"1.2.3.4", "1.2.3.004", "1.2.3", "1.2.3.256", "", "::1", "1.2.3.4.5", "01.2.3.4", "1.2.3.-4", "1.2.3.4 ", "::ffff:1.2.3.4", "0x1.2.3.4", "1.2.3.00004", "1..2.3"},
	"ipv6":           {"::1", "::", "1.2.3.4", "fe80::1", "fe80::1%eth0", ":::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7::", "12345::", "::ffff:1.2.3.4", "", "g::1", "1::2::3", "::1.2.3.04", "1:2:3:4:5:6:7:8:9", "::12345", "1:2:3:4:5:6:1.2.3.4", "::1:", ":1::"},
	"isbn":           {"0-306-40615-2", "0306406152", "978-0-306-40615-7", "9780306406157", "978 0 306 40615 7", "0306406153", "", "080442957X", "080442957x", "97803064061570"},
	"isbn10":         {"0306406152", "0-306-40615-2", "9780306406157", "080442957X", "0804 42957X", "0306406153", "X306406152"},
	"isbn13":         {"9780306406157", "978-0-306-40615-7", "0306406152", "9780306406158", "978030640615X"},
	"k8s-long-name":  {"a", "a.b", "A", "a_b", "", "a-", "-a", "a..b", "a." + strings.Repeat("b", 251), "a." + strings.Repeat("b", 252), "1.2", "a.b."},
	"k8s-short-name": {"a", "a.b", "A", "", "1", "a-b", "a-", strings.Repeat("a", 63), strings.Repeat("a", 64)},
	"mac":            {"01:02:03:04:05:06", "01-02-03-04-05-06", "0102.0304.0506", "01:02:03:04:05", "01:02:03:04:05:06:07:08", "0102.0304.0506.0708", "", "0g:02:03:04:05:06", "01:02:03-04:05:06", "1:2:3:4:5:6", "01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:0f:10:11:12:13:14", "010203040506", "0102030405060708", "0102030405060708090a0b0c0d0e0f1011121314", "0102-0304-0506"},
	"password":       {"", "x", "anything at all"},
	"rgbcolor":       {"rgb(0,0,0)", "rgb(255, 255, 255)", "rgb(256,0,0)", "rgb( 1 , 2 , 3 )", "RGB(1,2,3)", "rgb(1,2)", "", "rgb(01,2,3)", "rgb(1,2,3,4)", "rgb (1,2,3)", "rgb(199,1,1)", "rgb(260,1,1)", "rgb(1,2,3) "},
	"ssn":            {"123-45-6789", "123456789", "123 45 6789", "123-456789", "12-45-6789", "", "123-45-678", "123-45-67890"},
	"uri":            {"/abs", "//x", "http:", "urn:a:b", "x", "a/b", "", "http://a b", "http://a/b c", "http://[::1]:80/", "http://[::1", "http://a:b/", "http://a:80x/", "http://%zz", "http://a/%zz", "http://a/%20", "http://a?b#c", "*", "mailto:a@b", "1http://a", "ht_tp://a", "http://user:pass@host", "http://us er@host", "http://a\x7f", "/a\tb", ":x", "://a", "http://a\\b", "/ä", "http://ä", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://a%20b/", "http://a<b", "http://user@:80", "http://@", "a:b:c", "/a?b=%zz", "//%41", "//a:1:2", "http://[a]b", "/[", "?a", "#a", "http://a/#%zz", "x-y.z+1:abc", "HTTP://A"},
	"uuid":           {"550e8400-e29b-41d4-a716-446655440000", "550e8400e29b41d4a716446655440000", "550E8400-E29B-41D4-A716-446655440000", "550e8400-e29b-41d4-a716-44665544000", "g50e8400-e29b-41d4-a716-446655440000", "", "{550e8400-e29b-41d4-a716-446655440000}", "550e8400-e29b41d4a716446655440000", "550e8400-e29b-31d4-a716-446655440000", "urn:uuid:550e8400-e29b-41d4-a716-446655440000"},
	"uuid3":          {"550e8400-e29b-31d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000", "550e8400e29b31d4a716446655440000", "550e8400-e29b-31d4-0716-446655440000", ""},
	"uuid4":          {"550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-31d4-a716-446655440000", "550e8400-e29b-41d4-0716-446655440000", "550e8400e29b41d48716446655440000", ""},
	"uuid5":          {"550e8400-e29b-51d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-51d4-c716-446655440000", ""},
}

var formatNames = func() []string {
	names := []string{"int32", "int64", "float", "double", "datetime", "binary", "quantity", "zzz", "bson-object-id", "uu-id"}
	for n := range formatTexts {
		names = append(names, n)
	}
	schemaSortStrings(names)
	return names
}()

func schemaSortStrings(s []string) {
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

var schemaPatterns = []string{"^[a-z]+$", "a", "^$", "[0-9]{2,}", "^(a|b)c?$", "\\d", "^.{1,3}$", "^\\p{Lu}"}

var schemaNumberValues = sList{0, 1, -1, 2, 3, 4, 5, 7, 10, 100, 1.5, 0.5, 2.5, -1.5, 0.1, 0.35, 1.0, 3.0, 1e10, 1e30, 2147483647, 2147483648, -2147483649, 9007199254740991.0, 9007199254740993, 1.0000000001, 0.3, 97, 1e300, math.MaxInt64, 1e-7, -1.0000000001, 0.9999999999, 1e-10, -4.5}

func genSchemaNumber(r *rand.Rand) any { return schemaNumberValues[r.Intn(len(schemaNumberValues))] }

var schemaWords = []string{"", "a", "b", "c", "ab", "abc", "abcd", "abcdef", "ä", "äöü", "A1", "12", "x", "é€", "a b", "Zz", "\"q\"", "<&>"}

func genSchemaText(r *rand.Rand) string { return schemaWords[r.Intn(len(schemaWords))] }

func genSchemaAny(r *rand.Rand, depth int) any {
	switch n := r.Intn(12); {
	case n < 3:
		return genSchemaText(r)
	case n < 6:
		return genSchemaNumber(r)
	case n == 6:
		return nil
	case n == 7:
		return schemaChance(r, 50)
	case depth <= 0:
		return sObject{}
	case n < 10:
		o := sObject{}
		for range r.Intn(3) {
			o[genSchemaKey(r)] = genSchemaAny(r, depth-1)
		}
		return o
	}
	l := sList{}
	for range r.Intn(3) {
		l = append(l, genSchemaAny(r, depth-1))
	}
	return l
}

func genSchemaKey(r *rand.Rand) string {
	return schemaPick(r, "a", "b", "c", "d", "e", "name", "kind", "metadata", "x.y", "long-key", "apiVersion")
}

func genSchemaPropertyKey(r *rand.Rand) string {
	return schemaPick(r, "a", "b", "c", "d", "e", "name", "x.y", "long-key")
}

// Keywords that check a value without giving it a type; they stand in types and in groups alike.
func schemaAddChecks(r *rand.Rand, s sObject, kind string, percent int) {
	on := func() bool { return schemaChance(r, percent) }
	if kind == "" {
		kind = schemaPick(r, "string", "integer", "number", "array", "object")
	}
	switch kind {
	case "string", "intorstring":
		if on() {
			s["minLength"] = r.Intn(4)
		}
		if on() {
			s["maxLength"] = r.Intn(4)
		}
		if on() {
			s["pattern"] = schemaPick(r, schemaPatterns...)
		}
		if on() {
			s["format"] = schemaPick(r, formatNames...)
		}
	case "integer", "number":
		if on() {
			s["minimum"] = genSchemaNumber(r)
			if on() {
				s["exclusiveMinimum"] = schemaChance(r, 80)
			}
		}
		if on() {
			s["maximum"] = genSchemaNumber(r)
			if on() {
				s["exclusiveMaximum"] = schemaChance(r, 80)
			}
		}
		if on() {
			s["multipleOf"] = schemaPick[any](r, 1, 2, 3, 0.1, 0.5, 1.5, 2.5, 7, 1e10)
		}
		if on() {
			s["format"] = schemaPick(r, "int32", "int64", "float", "double", "date")
		}
	case "array":
		if on() {
			s["minItems"] = r.Intn(4)
		}
		if on() {
			s["maxItems"] = r.Intn(4)
		}
	case "object":
		if on() {
			s["minProperties"] = r.Intn(4)
		}
		if on() {
			s["maxProperties"] = r.Intn(4)
		}
	}
	if schemaChance(r, percent/2) {
		e := sList{}
		for range 1 + r.Intn(3) {
			e = append(e, genSchemaAny(r, 1))
		}
		s["enum"] = e
	}
}

// A schema inside allOf, anyOf, oneOf or not: constraints alone, on what the schema outside declares.
func genSchemaBranch(r *rand.Rand, outside sObject, depth int) sObject {
	s := sObject{}
	kind, _ := outside["type"].(string)
	schemaAddChecks(r, s, kind, 30)
	if p, ok := outside["properties"].(sObject); ok {
		inner := sObject{}
		for _, k := range schemaSortedKeys(p) {
			if schemaChance(r, 40) && k != "metadata" {
				inner[k] = genSchemaBranch(r, p[k].(sObject), depth-1)
			}
		}
		if len(inner) > 0 {
			s["properties"] = inner
		}
		if schemaChance(r, 40) {
			s["required"] = sList{genSchemaPropertyKey(r)}
		}
	}
	if i, ok := outside["items"].(sObject); ok && schemaChance(r, 40) {
		s["items"] = genSchemaBranch(r, i, depth-1)
	}
	if depth > 0 && schemaChance(r, 15) {
		schemaAddGroup(r, s, outside, depth-1)
	}
	return s
}

func schemaSortedKeys(o sObject) []string {
	keys := []string{}
	for k := range o {
		keys = append(keys, k)
	}
	schemaSortStrings(keys)
	return keys
}

func schemaAddGroup(r *rand.Rand, s, outside sObject, depth int) {
	branches := sList{}
	for range 1 + r.Intn(3) {
		branches = append(branches, genSchemaBranch(r, outside, depth))
	}
	switch schemaPick(r, "anyOf", "oneOf", "allOf", "not") {
	case "anyOf":
		s["anyOf"] = branches
	case "oneOf":
		s["oneOf"] = branches
	case "allOf":
		s["allOf"] = branches
	default:
		s["not"] = branches[0]
	}
}

func genSchemaList(r *rand.Rand, depth int) sObject {
	s := sObject{"type": "array"}
	switch r.Intn(6) {
	case 0:
		s["x-kubernetes-list-type"] = "set"
		item := genSchemaScalar(r)
		if schemaChance(r, 20) {
			item = sObject{"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": genSchemaScalar(r)}
		} else if schemaChance(r, 20) {
			item = sObject{"type": "array", "x-kubernetes-list-type": "atomic", "items": genSchemaScalar(r)}
		}
		delete(item, "nullable")
		s["items"] = item
	case 1:
		s["x-kubernetes-list-type"] = "map"
		props := sObject{"a": sObject{"type": "string"}, "v": genSchemaType(r, depth-1)}
		item := sObject{"type": "object", "properties": props, "required": sList{"a"}}
		s["x-kubernetes-list-map-keys"] = sList{"a"}
		if schemaChance(r, 50) {
			props["b"] = sObject{"type": "integer", "default": r.Intn(3)}
			s["x-kubernetes-list-map-keys"] = sList{"b", "a"}
		}
		s["items"] = item
	case 2:
		s["x-kubernetes-list-type"] = "atomic"
		s["items"] = genSchemaType(r, depth-1)
	default:
		s["items"] = genSchemaType(r, depth-1)
	}
	return s
}

func genSchemaScalar(r *rand.Rand) sObject {
	kind := schemaPick(r, "string", "string", "integer", "number", "boolean", "intorstring")
	s := sObject{"type": kind}
	if kind == "intorstring" {
		s = sObject{"x-kubernetes-int-or-string": true}
		if schemaChance(r, 30) {
			s["anyOf"] = sList{sObject{"type": "integer"}, sObject{"type": "string"}}
		} else if schemaChance(r, 20) {
			s["allOf"] = sList{sObject{"anyOf": sList{sObject{"type": "integer"}, sObject{"type": "string"}}}, sObject{"minimum": 2}}
		} else if schemaChance(r, 20) {
			s["type"] = schemaPick(r, "string", "integer")
		}
	}
	schemaAddChecks(r, s, kind, 18)
	return s
}

func genSchemaObject(r *rand.Rand, depth int) sObject {
	s := sObject{"type": "object"}
	switch r.Intn(8) {
	case 0:
		s["additionalProperties"] = genSchemaType(r, depth-1)
	case 1:
		s["additionalProperties"] = schemaChance(r, 60)
	case 2:
		s["x-kubernetes-preserve-unknown-fields"] = true
		if schemaChance(r, 40) {
			s["x-kubernetes-embedded-resource"] = true
		}
		if schemaChance(r, 60) {
			s["properties"] = sObject{"spec": genSchemaType(r, depth-1), "a": genSchemaType(r, depth-1)}
		}
	case 3:
		if schemaChance(r, 40) {
			s["x-kubernetes-embedded-resource"] = true
			s["properties"] = sObject{"spec": genSchemaType(r, depth-1)}
			break
		}
		fallthrough
	default:
		props := sObject{}
		for range 1 + r.Intn(4) {
			props[genSchemaPropertyKey(r)] = genSchemaType(r, depth-1)
		}
		s["properties"] = props
		if schemaChance(r, 35) {
			required := sList{}
			for range 1 + r.Intn(2) {
				if k := genSchemaPropertyKey(r); len(required) == 0 || required[0] != k {
					required = append(required, k)
				}
			}
			s["required"] = required
		}
		if schemaChance(r, 5) {
			s["x-kubernetes-map-type"] = schemaPick(r, "atomic", "granular")
		}
	}
	return s
}

func genSchemaType(r *rand.Rand, depth int) sObject {
	var s sObject
	switch n := r.Intn(10); {
	case depth <= 0 || n < 4:
		s = genSchemaScalar(r)
	case n < 6:
		s = genSchemaList(r, depth)
	case n == 6:
		s = sObject{"x-kubernetes-preserve-unknown-fields": true}
		if schemaChance(r, 30) {
			schemaAddChecks(r, s, "", 40)
		}
	default:
		s = genSchemaObject(r, depth)
	}
	if kind, _ := s["type"].(string); kind == "array" || kind == "object" {
		schemaAddChecks(r, s, kind, 8)
	}
	if schemaChance(r, 12) {
		s["nullable"] = true
	}
	if schemaChance(r, 12) {
		schemaAddGroup(r, s, s, 2)
	}
	if schemaChance(r, 15) {
		s["default"] = genSchemaValue(r, s, 4)
		if s["default"] == nil {
			delete(s, "default")
		}
	}
	return s
}

func genSchemaRoot(r *rand.Rand) sObject {
	props := sObject{"spec": genSchemaObject(r, 3)}
	delete(props["spec"].(sObject), "x-kubernetes-embedded-resource")
	if schemaChance(r, 30) {
		props["status"] = genSchemaObject(r, 2)
	}
	if schemaChance(r, 10) {
		props["metadata"] = sObject{"type": "object", "properties": sObject{"name": sObject{"type": "string", "maxLength": r.Intn(4), "pattern": "^[a-z]+$"}}}
	}
	if schemaChance(r, 10) {
		props["kind"] = sObject{"type": "string", "enum": sList{"Widget", "Gadget"}}
	}
	if schemaChance(r, 10) {
		props["data"] = genSchemaType(r, 2)
	}
	s := sObject{"type": "object", "properties": props}
	if schemaChance(r, 20) {
		s["required"] = sList{schemaPick(r, "spec", "status", "x")}
	}
	if schemaChance(r, 5) {
		s["x-kubernetes-preserve-unknown-fields"] = true
	}
	if schemaChance(r, 10) {
		s["x-kubernetes-validations"] = sList{sObject{"rule": "true"}}
	}
	return s
}

// A value that fits the schema but for `wrong` percent of its parts.
func genSchemaValue(r *rand.Rand, s sObject, wrong int) any {
	if schemaChance(r, wrong) {
		return genSchemaAny(r, 2)
	}
	if e, ok := s["enum"].(sList); ok && schemaChance(r, 80) {
		return e[r.Intn(len(e))]
	}
	if s["x-kubernetes-int-or-string"] == true {
		return schemaPick[any](r, genSchemaText(r), genSchemaNumber(r))
	}
	switch s["type"] {
	case "string":
		if texts, ok := formatTexts[fmt.Sprint(s["format"])]; ok {
			return schemaPick(r, texts...)
		}
		return genSchemaText(r)
	case "integer":
		if schemaChance(r, 85) {
			return r.Intn(12)
		}
		return genSchemaNumber(r)
	case "number":
		return genSchemaNumber(r)
	case "boolean":
		return schemaChance(r, 50)
	case "array":
		l := sList{}
		items, _ := s["items"].(sObject)
		for range r.Intn(4) {
			l = append(l, genSchemaValue(r, items, wrong))
		}
		if len(l) > 0 && schemaChance(r, 15) {
			l = append(l, l[0])
		}
		if schemaChance(r, 2) {
			for i := range 20 {
				l = append(l, fmt.Sprint(i%17))
			}
		}
		return l
	case "object":
		return genSchemaMembers(r, s, wrong)
	}
	return genSchemaAny(r, 2)
}

func genSchemaMembers(r *rand.Rand, s sObject, wrong int) sObject {
	o := sObject{}
	if props, ok := s["properties"].(sObject); ok {
		for _, k := range schemaSortedKeys(props) {
			if schemaChance(r, 75) {
				o[k] = genSchemaValue(r, props[k].(sObject), wrong)
			}
		}
	}
	if additional, ok := s["additionalProperties"].(sObject); ok {
		for range r.Intn(3) {
			o[genSchemaPropertyKey(r)] = genSchemaValue(r, additional, wrong)
		}
	}
	if s["additionalProperties"] == true || s["additionalProperties"] == false || s["x-kubernetes-preserve-unknown-fields"] == true {
		for range r.Intn(3) {
			o[genSchemaKey(r)] = genSchemaAny(r, 2)
		}
	}
	if s["x-kubernetes-embedded-resource"] == true {
		if schemaChance(r, 85) {
			o["apiVersion"] = schemaPick[any](r, "v1", "a/v1", "a/b/c", "", 1)
		}
		// Of two that are no strings Kubernetes names either.
		if o["apiVersion"] == 1 {
			o["kind"] = "Pod"
		} else if schemaChance(r, 85) {
			o["kind"] = schemaPick[any](r, "Pod", "Pod", "9x", "", "aB-", 1)
		}
		if schemaChance(r, 60) {
			o["metadata"] = schemaPick[any](r, sObject{"name": "a"}, sObject{"name": "A_", "labels": sObject{"a": "b"}}, sObject{"labels": sObject{"a b": "c d"}}, sObject{"namespace": "X_"}, sObject{"annotations": sObject{"A B": "x"}}, sObject{}, sObject{"generation": -1})
		}
	}
	if schemaChance(r, wrong*3) {
		o[genSchemaKey(r)] = genSchemaAny(r, 1)
	}
	return o
}

// A copy with some parts changed.
func schemaChanged(r *rand.Rand, v any, percent int) any {
	if schemaChance(r, percent) {
		return genSchemaAny(r, 1)
	}
	switch v := v.(type) {
	case sObject:
		o := sObject{}
		for _, k := range schemaSortedKeys(v) {
			if !schemaChance(r, percent/3) {
				o[k] = schemaChanged(r, v[k], percent)
			}
		}
		return o
	case sList:
		l := sList{}
		for _, item := range v {
			l = append(l, schemaChanged(r, item, percent))
		}
		if len(l) > 1 && schemaChance(r, 20) {
			l[0], l[1] = l[1], l[0]
		}
		return l
	}
	return v
}

func schemaResource(o sObject) sObject {
	o["metadata"] = sObject{"name": "abc", "resourceVersion": "1"}
	o["apiVersion"] = "ex.org/v1"
	o["kind"] = "Widget"
	return o
}

func schemaRaw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		fail("%v", err)
	}
	return b
}

func genSchemaRandom(r *rand.Rand, count int, emit func(c any)) {
	for range count {
		root := genSchemaRoot(r)
		for range 1 + r.Intn(2) {
			o := schemaResource(genSchemaMembers(r, root, schemaPick(r, 0, 3, 8)))
			c := schemaCase{Schema: schemaRaw(root), Object: schemaRaw(o)}
			if schemaChance(r, 45) {
				old, ok := schemaChanged(r, o, schemaPick(r, 2, 10)).(sObject)
				if !ok {
					old = sObject{}
				}
				c.Old = schemaRaw(schemaResource(old))
				if props := root["properties"].(sObject); props["status"] != nil && schemaChance(r, 40) {
					c.Below = "status"
				}
			}
			emit(c)
		}
	}
}

func genSchemaTables(r *rand.Rand, emit func(c any)) {
	spec := func(s sObject, v any) {
		root := sObject{"type": "object", "properties": sObject{"spec": sObject{"type": "object", "properties": sObject{"a": s}}}}
		emit(schemaCase{Schema: schemaRaw(root), Object: schemaRaw(schemaResource(sObject{"spec": sObject{"a": v}}))})
	}
	for _, f := range formatNames {
		for _, t := range formatTexts[f] {
			spec(sObject{"type": "string", "format": f}, t)
		}
		for _, kind := range []string{"string", "integer", "number", "boolean"} {
			for _, v := range (sList{1, 1.5, true, "x", sList{1}, sObject{}}) {
				spec(sObject{"type": kind, "format": f}, v)
			}
		}
		spec(sObject{"x-kubernetes-int-or-string": true, "format": f}, 5)
		spec(sObject{"x-kubernetes-preserve-unknown-fields": true, "format": f}, 5.5)
	}
	for _, v := range schemaNumberValues {
		for _, kind := range []string{"integer", "number"} {
			for _, b := range schemaNumberValues {
				spec(sObject{"type": kind, "minimum": b}, v)
				spec(sObject{"type": kind, "maximum": b, "exclusiveMaximum": true}, v)
				if schemaChance(r, 50) {
					spec(sObject{"type": kind, "multipleOf": b}, v)
					spec(sObject{"type": kind, "enum": sList{b}}, v)
				}
			}
		}
	}
}

// Metadata of resources inside resources, good and bad in every field.
var schemaMetadata = sList{
	nil, 1, "x", sList{}, sObject{}, sObject{"name": 1}, sObject{"name": nil}, sObject{"name": "a", "foo": 1}, sObject{"Name": "a"},
	sObject{"name": "", "namespace": ""}, sObject{"name": "x", "generateName": 3, "zzz": sList{1}, "selfLink": "s"},
	sObject{"labels": sObject{"a": 1, "b": "x"}}, sObject{"labels": sObject{"a": nil, "b": "x"}}, sObject{"labels": sList{}}, sObject{"labels": sObject{}},
	sObject{"labels": sObject{"a": "b"}, "annotations": sObject{"x": 1}}, sObject{"name": "a", "labels": sObject{"bad key!": "x"}},
	sObject{"finalizers": sList{"a", 1}}, sObject{"finalizers": sList{"a", nil}}, sObject{"finalizers": sList{}}, sObject{"finalizers": sList{"a", "a/b", "a b"}},
	sObject{"finalizers": sList{"orphan", "foregroundDeletion"}},
	sObject{"ownerReferences": sList{sObject{"apiVersion": "v1", "kind": "P", "name": "n", "uid": "u"}, sObject{"apiVersion": 1}}},
	sObject{"ownerReferences": sList{sObject{"kind": "x", "foo": 1}}}, sObject{"ownerReferences": sList{1}}, sObject{"ownerReferences": sList{nil}},
	sObject{"creationTimestamp": "bad"}, sObject{"creationTimestamp": nil}, sObject{"creationTimestamp": "2020-01-01T00:00:00.5+01:00"},
	sObject{"creationTimestamp": 1, "name": "x"}, sObject{"generation": 1.5, "name": "x"}, sObject{"generation": 0}, sObject{"generation": 1, "uid": 2},
	sObject{"deletionGracePeriodSeconds": 0}, sObject{"deletionGracePeriodSeconds": "x"},
	sObject{"managedFields": 1, "name": "q"}, sObject{"managedFields": sList{sObject{"manager": 1}}},
	sObject{"managedFields": sList{sObject{"manager": "a", "fieldsV1": sObject{"f:x": sObject{}}}, sObject{"operation": "Apply", "fieldsType": "x"}}},
	sObject{"managedFields": sList{sObject{"operation": "Update", "manager": strings.Repeat("é", 65), "subresource": strings.Repeat("é", 129)}}},
	sObject{"managedFields": sList{sObject{"operation": "apply", "fieldsType": "FieldsV1", "manager": "a\nb\u200bc", "subresource": strings.Repeat("s", 256)}}},
}

// Resources inside resources: given, and as defaults, which are looked at in properties and brought into form unseen below additional
// ones.
func genSchemaEmbedded(emit func(c any)) {
	spec := func(s sObject, v any) {
		root := sObject{"type": "object", "properties": sObject{"spec": s}}
		emit(schemaCase{Schema: schemaRaw(root), Object: schemaRaw(schemaResource(sObject{"spec": v}))})
	}
	with := func(s sObject, dflt any) sObject {
		o := sObject{"default": dflt}
		for k, v := range s {
			o[k] = v
		}
		return o
	}
	object := func(properties sObject) sObject { return sObject{"type": "object", "properties": properties} }
	embedded := sObject{"type": "object", "x-kubernetes-embedded-resource": true, "properties": sObject{"spec": object(sObject{"a": sObject{"type": "string"}})}}
	resources := sList{}
	for _, m := range schemaMetadata {
		resources = append(resources, sObject{"apiVersion": "v1", "kind": "Pod", "metadata": m, "spec": sObject{"a": "x", "b": "y"}}, sObject{"apiVersion": "v1", "kind": "Pod", "metadata": m})
	}
	for _, v := range (sList{1, nil, "", sObject{}, sList{"x"}, "/a/b/"}) {
		resources = append(resources, sObject{"apiVersion": v, "kind": "Pod"}, sObject{"apiVersion": "v1", "kind": v, "metadata": sObject{"name": 1}})
	}
	for _, resource := range resources {
		spec(embedded, resource)
		dflts := []sObject{
			with(embedded, resource),
			with(object(sObject{"r": embedded}), sObject{"r": resource}),
			with(sObject{"type": "array", "items": embedded}, sList{resource, resource}),
			with(sObject{"type": "object", "additionalProperties": embedded}, sObject{"k": resource}),
		}
		for _, dflt := range dflts {
			spec(object(sObject{"e": dflt}), sObject{})
			spec(sObject{"type": "object", "additionalProperties": object(sObject{"e": dflt})}, sObject{"x": sObject{}})
		}
		spec(sObject{"type": "object", "additionalProperties": with(embedded, resource)}, sObject{"x": nil})
		emit(schemaCase{Schema: schemaRaw(with(object(sObject{"spec": sObject{"type": "object"}}), resource)), Object: schemaRaw(schemaResource(sObject{}))})
	}
}

func genSchema(r *rand.Rand, count int, emit func(c any)) {
	genSchemaTables(r, emit)
	genSchemaEmbedded(emit)
	genSchemaRandom(r, count, emit)
}

// What may stand in a schema, right or wrong.
func genSchemaKeyword(r *rand.Rand) (string, any) {
	leaf := func() any { return genSchemaScalar(r) }
	switch k := schemaPick(r, "type", "type", "items", "properties", "additionalProperties", "default", "default", "nullable", "enum", "required", "title", "description", "pattern", "format",
		"uniqueItems", "id", "$ref", "$schema", "definitions", "dependencies", "patternProperties", "additionalItems", "anyOf", "oneOf", "allOf", "not", "minimum", "maxItems", "example", "externalDocs",
		"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "metadata"); k {
	case "type":
		return k, schemaPick(r, "object", "array", "string", "integer", "number", "boolean", "null", "foo", "")
	case "items":
		return k, schemaPick[any](r, leaf(), sObject{}, sList{leaf(), leaf()}, genSchemaType(r, 1))
	case "properties":
		return k, sObject{schemaPick(r, "a", "metadata", "kind", "apiVersion", "zz"): schemaPick[any](r, leaf(), sObject{}, sObject{"minLength": 1}, genSchemaType(r, 1))}
	case "additionalProperties":
		return k, schemaPick[any](r, true, false, leaf(), sObject{}, sObject{"minLength": 1})
	case "default":
		return k, genSchemaAny(r, 2)
	case "nullable", "uniqueItems", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields":
		return k, schemaChance(r, 75)
	case "enum":
		return k, sList{genSchemaAny(r, 1)}
	case "required":
		return k, sList{genSchemaPropertyKey(r)}
	case "title", "description", "id", "$ref", "$schema":
		return k, schemaPick(r, "x", "", "#/a")
	case "pattern":
		return k, schemaPick(r, "(", "a", "(?=x)", "[", "*", "\\p{Foo}", "a{1001}", "^[a-z]+$")
	case "format":
		return k, schemaPick(r, schemaPick(r, formatNames...), "zzz")
	case "definitions", "patternProperties":
		return k, schemaPick(r, sObject{}, sObject{"a": leaf()})
	case "dependencies":
		return k, sObject{"a": sList{"b"}}
	case "additionalItems":
		return k, schemaPick[any](r, true, false, leaf())
	case "anyOf", "oneOf", "allOf":
		branches := sList{}
		for range schemaPick(r, 1, 1, 2, 3) {
			branches = append(branches, genSchemaBroken(r))
		}
		if schemaChance(r, 20) {
			branches = sList{sObject{"type": "integer"}, sObject{"type": "string"}}
		}
		return k, branches
	case "not":
		return k, genSchemaBroken(r)
	case "minimum", "maxItems":
		return k, r.Intn(5)
	case "example":
		return k, genSchemaAny(r, 1)
	case "externalDocs":
		return k, sObject{"url": "x"}
	case "x-kubernetes-list-type":
		return k, schemaPick(r, "set", "map", "atomic", "foo", "")
	case "x-kubernetes-list-map-keys":
		return k, schemaPick(r, sList{"a"}, sList{"a", "a"}, sList{"zz"}, sList{}, sList{"b", "a"}, sList{"v"})
	case "x-kubernetes-map-type":
		return k, schemaPick(r, "atomic", "granular", "foo")
	}
	return "properties", sObject{"metadata": schemaPick[any](r, sObject{"type": "object"}, sObject{"type": "string"}, sObject{}, sObject{"type": "object", "properties": sObject{"name": sObject{"type": "string", "maxLength": 3}}}, sObject{"type": "object", "properties": sObject{"labels": sObject{"type": "object"}}},
		sObject{"type": "object", "default": sObject{}}, sObject{"type": "object", "nullable": true}, sObject{"type": "object", "properties": sObject{"name": sObject{"type": "string", "default": "x"}, "generateName": sObject{"type": "string", "pattern": "a"}}}, sObject{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, sObject{"type": "object", "description": "x"})}
}

// A schema for a group, with what must not be there.
func genSchemaBroken(r *rand.Rand) sObject {
	s := genSchemaBranch(r, sObject{"type": schemaPick(r, "string", "object"), "properties": sObject{"a": sObject{}, "spec": sObject{"properties": sObject{"a": sObject{}}}}}, 1)
	for range r.Intn(2) {
		k, v := genSchemaKeyword(r)
		s[k] = v
	}
	return s
}

// Every schema in s, s itself first.
func schemaNodes(s sObject) []sObject {
	nodes := []sObject{s}
	if p, ok := s["properties"].(sObject); ok {
		for _, k := range schemaSortedKeys(p) {
			if child, ok := p[k].(sObject); ok {
				nodes = append(nodes, schemaNodes(child)...)
			}
		}
	}
	for _, k := range []string{"items", "additionalProperties", "not"} {
		if child, ok := s[k].(sObject); ok {
			nodes = append(nodes, schemaNodes(child)...)
		}
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if l, ok := s[k].(sList); ok {
			for _, child := range l {
				nodes = append(nodes, schemaNodes(child.(sObject))...)
			}
		}
	}
	return nodes
}

func genStructural(r *rand.Rand, count int, emit func(c any)) {
	for i := range count {
		root := genSchemaRoot(r)
		if i%3 == 0 {
			root = sObject{"type": "object", "properties": sObject{"spec": sObject{"type": "object", "properties": sObject{"a": genSchemaType(r, 2)}}}}
		}
		for range r.Intn(4) {
			nodes := schemaNodes(root)
			node := nodes[r.Intn(len(nodes))]
			if schemaChance(r, 15) {
				node = root
			}
			if k, v := genSchemaKeyword(r); schemaChance(r, 12) {
				delete(node, k)
			} else {
				node[k] = v
			}
		}
		// A default of apiVersion, kind or metadata is forbidden whatever it is; what Kubernetes says of its value besides is
		// left out.
		if props, ok := root["properties"].(sObject); ok {
			for _, k := range []string{"apiVersion", "kind", "metadata"} {
				if p, ok := props[k].(sObject); ok {
					for _, n := range schemaNodes(p) {
						delete(n, "default")
					}
					if schemaChance(r, 20) {
						p["default"] = map[string]any{"apiVersion": "v1", "kind": "Widget", "metadata": sObject{}}[k]
					}
				}
			}
		}
		// Rules are not compiled yet; types and uniqueItems that are refused do not check defaults on top of that; and of a
		// list of type map whose items are a list upstream prints its own Go struct.
		nodes := schemaNodes(root)
		unknown := false
		for _, n := range nodes {
			delete(n, "x-kubernetes-validations")
			unknown = unknown || n["type"] == "null" || n["type"] == "foo" || n["uniqueItems"] == true
			if _, ok := n["items"].(sList); ok {
				delete(n, "x-kubernetes-list-type")
			}
		}
		for _, n := range nodes {
			if unknown {
				delete(n, "default")
			}
		}
		emit(root)
	}
}
