// Suite quantity: apimachinery's resource.Quantity.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// One text to read and print, or two to compare.
type quantityCase struct {
	A string  `json:"a"`
	B *string `json:"b,omitempty"`
}

func init() {
	suites["quantity"] = suite{gen: genQuantity, run: runQuantity}
}

// Exponents stay within 1,000,000: beyond that we refuse the text, while the library computes for minutes, crashes, or cuts
// the exponent to 32 bits (1e4294967299 is 1e3 there).
var quantityTexts = []string{
	"", "0", "00", "-0", "+0", "0m", "0Ki", "0e3", ".", "-", "+", "-.", "+.", "m", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", ".Ei", "-Ei", "e3", "E3", "e", "E", "e-20", "-.e-20", ".n", "-.5", ".5", "5.",
	"1", "01", "0001", "+1", "-1", "-01", "1.", "1.0", "+1.", "1.5", "1.50", "1.001", "+1.001", "1000", "01000", "+1000", "999", "+999", "1001", "1024", "1048576", "1e3", "1E3", "1e+3", "1e-3", "1E-3", "1e03",
	"1e0", "1E0", "1e00", "1e1", "1e2", "1e4", "1e5", "12e6", "1.2e3", "1200e3", "1000e3", "1e9", "1e10", "1e18", "1e19", "1e20", "1e21", "10e17", "92e17", "93e17", "1e99", "1e300", "1e308", "1e309", "1e400", "1e1000",
	"0e400", "0e309", "0.0000000000000000000e2000", "0e-400", "1e1000000", "-1e1000000", "123456789012345678901e1000", "1e-9", "1e-10", "15e-10", "1e-1000", "-1e-100000",
	"1n", "1u", "1m", "1k", "1M", "1G", "1T", "1P", "1E", "10E", "999E", "1000E", "1001E", "1000000E", "0.1n", "1.5n", "-1.5n", "999999999n", "1000000000n", "-1n", "-999999999n", "0.0001", "0.0000000001", "1.0000000001", "-1.0000000001",
	"1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", "7Ei", "8Ei", "-7Ei", "-8Ei", "-9Ei", "16Ei", "0.5Ki", "1.5Ki", "1.25Ki", "1.3Ki", "0.1Ki", "0.9Ei", "-0.9Ei", "0.00001Ki", "0.0000001Ki", "1023Ki", "1024Ki", "1025Ki", "+8Ki", "+9Ki",
	"+16Ki", "+1000Mi", "99Ti", "100Ti", "99999Gi", "100000Gi", "99999999Mi", "100000000Mi", "99999999999Ki", "100000000000Ki", "999999999999999Ki", "9007199254740991.9990234375Ki", "7.999999999999999999999Ei", "-1Ki", "-1023", "-1023Ki",
	"-1024Ki", "1000Ki", "1536Mi", "1.5Gi", "0.3Gi", "12345Ki", "1.Ki", "01Ki", "8192", "0.0009765625Ki", "0.0009765624Ki", "0.000976563Ki", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"92233720368547758070", "999999999999999999", "1000000000000000000", "123456789123456789", "1234567891234567891", "12345678912345678912", "-12345678912345678912", "12345678912345678912m", "-12345678912345678912n",
	"922337203685477580k", "922337203685477581k", "99999999999999999k", "9223372036854775P", "999999999999999999e1", "999999999999999999e2", "999999999999999999e3", "999999999999999999e4", "999999999999999999e6", "999999999999999999e9", "-999999999999999999e9",
	"100000000000000000000000", "1000000000000000000000000", "0.000000000000000000000000001", "999999999.9999999999", "0.9999999999", "-0.9999999999", "9.9999999995", "123456789.123456789", "1234567890.1234567891",
	"1K", "1ki", "1KI", "1B", "1Kb", "1mm", "1e", "1Ee3", "1ee3", "1EiB", "1e3.5", "1e3k", "1k1", "1m1", "1n-1", "1..", "1.5.5", "++1", "+-1", "-+1", "1 ", " 1", "1\n", "1e+-3", "1e--3", "1e+", "1e-", "1_000", "0x10", "1,5", "１", "1µ", "½", "Inf", "NaN", "e3e3",
	"1e9223372036854775808", "1e99999999999999999999", "1e-99999999999999999999", "1e000000000000000000003", "\x00", "1\x00", "i", "in", "1i", "1in", "1Kin", "1Ki3", "1Ei3", "1E-", "1E+3", "1E+03", "+.e+5", "0.e5", "5k", "5.5k", "5.55k", "5.5555k", "5.5e-2",
}

func quantityDigits(r *rand.Rand, n int) string {
	b := make([]byte, n)
	mode := r.Intn(4)
	for i := range b {
		switch mode {
		case 0:
			b[i] = "09"[r.Intn(2)]
		case 1:
			b[i] = "0001"[r.Intn(4)]
		default:
			b[i] = byte('0' + r.Intn(10))
		}
	}
	return string(b)
}

func quantityRandom(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString([]string{"", "", "", "", "-", "-", "+"}[r.Intn(7)])
	switch r.Intn(6) {
	case 0, 1:
		b.WriteString(strconv.Itoa(r.Intn(5000)))
	case 2:
		b.WriteString(strconv.Itoa(1 << r.Intn(31)))
	case 3:
		b.WriteString(quantityDigits(r, r.Intn(24)))
	case 4:
		b.WriteString(quantityDigits(r, r.Intn(8)))
	case 5:
		b.WriteString(strconv.FormatUint(r.Uint64()>>r.Intn(64), 10))
	}
	if r.Intn(3) == 0 {
		b.WriteByte('.')
		b.WriteString(quantityDigits(r, []int{0, 1, 2, 3, 6, 9, 10, 12, 20, r.Intn(30)}[r.Intn(10)]))
	}
	switch r.Intn(12) {
	case 0:
		fmt.Fprintf(&b, "%s%d", []string{"e", "E", "e+", "e-", "E-", "e0"}[r.Intn(6)], r.Intn([]int{4, 12, 30, 400}[r.Intn(4)]))
	case 1:
		b.WriteString([]string{"K", "ki", "mi", "e", "i", "Ei1", "m1", "ee", "e+", "e-", ".", "+", "-", "k ", "kk", "KI", "1e1", "E1", "E+1", "EE", "nu"}[r.Intn(21)])
	case 2, 3, 4:
	default:
		b.WriteString([]string{"n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}[r.Intn(15)])
	}
	return b.String()
}

// quantityNear changes a text a little, so that pairs are close or equal in value.
func quantityNear(r *rand.Rand, s string) string {
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return s
	}
	switch r.Intn(5) {
	case 0:
		return q.String()
	case 1:
		return q.AsDec().String()
	case 2:
		return strings.Replace(s, "1", "01", 1)
	case 3:
		return strings.NewReplacer("k", "e3", "m", "e-3", "Ki", "k", "Mi", "M").Replace(s)
	}
	q.Add(resource.MustParse([]string{"1n", "1", "-1n", "1u"}[r.Intn(4)]))
	return q.AsDec().String()
}

func genQuantity(r *rand.Rand, count int, emit func(c any)) {
	compare := func(a, b string) { emit(quantityCase{A: a, B: &b}) }
	for _, s := range quantityTexts {
		emit(quantityCase{A: s})
		for range 3 {
			compare(s, quantityTexts[r.Intn(len(quantityTexts))])
		}
	}
	for n := range 5000 {
		if n < 1100 || r.Intn(8) == 0 {
			emit(quantityCase{A: fmt.Sprintf("+%d%s", n, []string{"Ki", "Mi", "", "k", "m", "e3", "Gi"}[r.Intn(7)])})
		}
	}
	for e := -12; e < 320; e++ {
		emit(quantityCase{A: fmt.Sprintf("%de%d", 1+r.Intn(1000), e)})
		emit(quantityCase{A: fmt.Sprintf("%s.%se%d", quantityDigits(r, 12), quantityDigits(r, 12), e)})
	}
	for range count {
		s := quantityRandom(r)
		switch r.Intn(4) {
		case 0:
			compare(s, quantityRandom(r))
		case 1:
			compare(s, quantityNear(r, s))
		default:
			emit(quantityCase{A: s})
		}
	}
}

func runQuantity(raw json.RawMessage) any {
	var c quantityCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	a, err := resource.ParseQuantity(c.A)
	if err != nil {
		return errorResult(err)
	}
	if c.B != nil {
		b, err := resource.ParseQuantity(*c.B)
		if err != nil {
			return errorResult(err)
		}
		return a.Cmp(b)
	}
	number, suffix := a.CanonicalizeBytes(nil)
	double := fmt.Sprintf("%016x", math.Float64bits(a.AsApproximateFloat64()))
	if math.IsNaN(a.AsApproximateFloat64()) {
		double = "NaN"
	}
	return map[string]any{
		"format": a.Format, "string": a.String(), "canonical": string(number) + string(suffix),
		"value": a.Value(), "milli": a.MilliValue(), "double": double,
	}
}
