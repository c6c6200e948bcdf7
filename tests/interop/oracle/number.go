// strconv's FormatFloat, ParseFloat, ParseInt, ParseUint and ParseBool, and the floats of encoding/json. Doubles travel as the
// hexadecimal digits of their bits, texts to parse as hexadecimal bytes.
package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"strconv"
	"strings"
)

type numberCase struct {
	Op        string `json:"op"`
	Bits      string `json:"bits,omitempty"`
	Format    string `json:"format,omitempty"`
	Precision int    `json:"precision"`
	Text      string `json:"text,omitempty"`
}

func init() {
	suites["number"] = suite{gen: genNumber, run: runNumber}
}

func numberBits(d float64) string {
	if math.IsNaN(d) {
		return "nan"
	}
	return fmt.Sprintf("%016x", math.Float64bits(d))
}

func runNumber(raw json.RawMessage) any {
	var c numberCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("bad case %s: %v", raw, err)
	}
	bits, _ := strconv.ParseUint(c.Bits, 16, 64)
	d := math.Float64frombits(bits)
	text, _ := hex.DecodeString(c.Text)
	s := string(text)
	result := map[string]any{}
	var err error
	switch c.Op {
	case "format":
		result["text"] = strconv.FormatFloat(d, c.Format[0], c.Precision, 64)
	case "json":
		b, _ := json.Marshal(d)
		result["text"] = string(b)
	case "float":
		var f float64
		if f, err = strconv.ParseFloat(s, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			result["value"] = numberBits(f)
		}
	case "int":
		var i int64
		if i, err = strconv.ParseInt(s, 10, 64); err == nil {
			result["value"] = strconv.FormatInt(i, 10)
		}
	case "uint":
		var u uint64
		if u, err = strconv.ParseUint(s, 10, 64); err == nil {
			result["value"] = strconv.FormatUint(u, 10)
		}
	case "bool":
		var b bool
		if b, err = strconv.ParseBool(s); err == nil {
			result["value"] = b
		}
	}
	if err != nil {
		result["error"] = err.Error()
	}
	return result
}

// Left out: whole numbers of more than 800 digits with an exponent, such as 1 followed by 901 digits and e-901. ParseFloat loses
// count of the digits it drops there and answers 1e-102; we answer 1.
var numberTexts = []string{"", "1_000", "1__0", "_1", "1_", "0x_1p4", "0x1p4", "0x1", "0x1.8p1", "0x.8p1", "0x.p1", "0x1p", "0x1p+",
	"1e_1", "1_.5", "1._5", "1.5_5", "1e1_0", "0x1_0p1", "0x1p1_0", "0_1", "00_1", "0x__1p1", "inf", "+Inf", "-infinity", "infinit",
	"nan", "+nan", "NaN", "-nan", "Infinity", "iNF", "1e400", "-1e400", "1e-400", "0x1p1024", "0x1p-1080", "0x1p-1075", "0x1.8p-1075",
	"0x1.fffffffffffff8p1023", "0x1.fffffffffffff7p1023", "0x1.fffffffffffff7ffffffffffffp1023", "1e99999999999", "1e-99999999999",
	"0e99999999999", "0x0p99999999", "3.", ".5", ".", "+", "-", "+.5", "1E5", "1e", "1e+", "1e5x", " 1", "1 ", "0b1", "0o7", "1f", "1d",
	"0x1.0000000000000800000001p0", "0x1.00000000000008p0", "0x1.00000000000018p0", "\xff", "1\n", "0X1P4", "-0", "-0x0p0", "1p4",
	"0x1e4", "1_0e5", "0x1_p4", "0x1p_4", "1e1_", "infinity_", "i_nf", "0_x1p4", "_0x1p4", "0x", "0x_", "0xp1", "-0x1p-1074",
	"0x0.0000000000001p-1022", "0x0.00000000000008p-1022", "0x0.00000000000018p-1022", "1.7976931348623157e308",
	"1.7976931348623158e308", "1.7976931348623159e308", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
	"2.2250738585072011e-308", "2.2250738585072014e-308", "9007199254740993", "9007199254740992.999", "1e23", "8.5e22", "1e22",
	"123456789012345678901234567890", "0." + strings.Repeat("0", 400) + "1e401", "1" + strings.Repeat("0", 400) + "e-400",
	strings.Repeat("9", 1000), "0." + strings.Repeat("9", 1000), "1." + strings.Repeat("0", 900) + "1",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
	"18446744073709551616", "99999999999999999999x", "9999999999999999999x", "1", "t", "T", "TRUE", "true", "True", "tRUE", "0", "f",
	"F", "FALSE", "false", "False", "yes", "a\"b\\c\n\u00e9\u2028\x80", "+5", "00", "1.5", "é"}

func genNumber(r *rand.Rand, count int, emit func(c any)) {
	for _, s := range numberTexts {
		for _, op := range []string{"float", "int", "uint", "bool"} {
			emit(numberCase{Op: op, Text: hex.EncodeToString([]byte(s))})
		}
	}
	for e := -1074; e < 1024; e++ {
		emit(numberCase{Op: "json", Bits: numberBits(math.Ldexp(1, e))})
	}
	for _, d := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324, 2.2250738585072014e-308} {
		for _, f := range "eEfgGbxX" {
			for _, p := range []int{-1, 0, 1, 6, 17, 30, 400, 1100} {
				emit(numberCase{Op: "format", Bits: fmt.Sprintf("%016x", math.Float64bits(d)), Format: string(f), Precision: p})
			}
		}
	}
	for i := 0; i < count; i++ {
		switch i % 4 {
		case 0:
			emit(numberCase{Op: "json", Bits: numberBits(numberFinite(r))})
		case 1:
			precision := r.Intn(26) - 1
			if r.Intn(3) == 0 {
				precision = -1
			} else if r.Intn(40) == 0 {
				precision = r.Intn(1200)
			}
			emit(numberCase{Op: "format", Bits: numberBits(numberFinite(r)), Format: string("eEfgGbxX"[r.Intn(8)]), Precision: precision})
		case 2:
			emit(numberCase{Op: "float", Text: hex.EncodeToString([]byte(numberFloatText(r)))})
		case 3:
			emit(numberCase{Op: []string{"int", "uint", "float", "bool"}[r.Intn(4)], Text: hex.EncodeToString([]byte(numberIntText(r)))})
		}
	}
}

func numberFinite(r *rand.Rand) float64 {
	d := numberDouble(r)
	if math.IsInf(d, 0) || math.IsNaN(d) {
		return 1.5
	}
	return d
}

func numberDouble(r *rand.Rand) float64 {
	step := func(d float64) float64 { return math.Float64frombits(math.Float64bits(d) + uint64(r.Intn(5)) - 2) }
	switch r.Intn(10) {
	case 0:
		return step(math.Ldexp(1, r.Intn(2098)-1074))
	case 1:
		d, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", r.Intn(1000)+1, r.Intn(640)-330), 64)
		return step(d)
	case 2:
		return math.Float64frombits(r.Uint64() >> (12 + r.Intn(52)))
	case 3:
		return float64(r.Int63n(1000000)) / math.Pow10(r.Intn(8))
	case 4:
		return float64(r.Int63()>>r.Intn(60)) * float64(1-2*r.Intn(2))
	case 5:
		return (float64(r.Intn(1000)) + 0.5) * math.Pow(2, float64(r.Intn(80)-40))
	case 6:
		return r.NormFloat64() * math.Pow10(r.Intn(50)-25)
	case 7:
		return float64(r.Intn(100000)) * math.Pow10(r.Intn(25))
	default:
		return math.Float64frombits(r.Uint64())
	}
}

// The exact middle between two neighbours, or next to it: the hardest texts to round.
func numberMiddle(r *rand.Rand) string {
	d := math.Abs(numberFinite(r))
	if math.IsInf(math.Nextafter(d, math.Inf(1)), 0) {
		d = 1
	}
	x := new(big.Float).SetPrec(3000).SetFloat64(d)
	y := new(big.Float).SetPrec(3000).SetFloat64(math.Nextafter(d, math.Inf(1)))
	x.Add(x, y).Quo(x, big.NewFloat(2))
	s := x.Text('e', -1)
	mantissa, exponent, _ := strings.Cut(s, "e")
	switch r.Intn(3) {
	case 0:
		if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
		mantissa += strings.Repeat("0", r.Intn(100)) + "1"
	case 1:
		if mantissa[len(mantissa)-1] > '0' {
			mantissa = mantissa[:len(mantissa)-1] + string(mantissa[len(mantissa)-1]-1) + "9"
		}
	}
	return mantissa + "e" + exponent
}

func numberDigits(r *rand.Rand, digits string, n int) string {
	b := []byte{}
	for i := 0; i < n; i++ {
		b = append(b, digits[r.Intn(len(digits))])
		if r.Intn(30) == 0 {
			b = append(b, '_')
		}
	}
	return string(b)
}

func numberFloatText(r *rand.Rand) string {
	if r.Intn(4) == 0 {
		return numberMiddle(r)
	}
	digits, exponent := "0123456789", "e"
	s := []string{"", "", "", "-", "+"}[r.Intn(5)]
	if r.Intn(3) == 0 {
		digits, exponent = "0123456789abcdefABCDEF", "p"
		s += []string{"0x", "0X", "0x_"}[r.Intn(3)]
	}
	s += numberDigits(r, digits, r.Intn(22))
	if r.Intn(2) == 0 {
		s += "." + numberDigits(r, digits, r.Intn(22))
	}
	if r.Intn(4) != 0 {
		s += exponent + []string{"", "-", "+"}[r.Intn(3)]
		if exponent == "p" {
			s += strconv.Itoa(r.Intn(1200))
		} else {
			s += strconv.Itoa(r.Intn(340))
		}
	}
	if r.Intn(10) == 0 && len(s) > 0 {
		i := r.Intn(len(s))
		s = s[:i] + string("._+-eExXpPnN 0"[r.Intn(14)]) + s[i:]
	}
	return s
}

func numberIntText(r *rand.Rand) string {
	s := []string{"", "", "-", "+"}[r.Intn(4)] + numberDigits(r, "0123456789", 1+r.Intn(22))
	if r.Intn(3) > 0 {
		s = strings.ReplaceAll(s, "_", "")
	}
	if r.Intn(15) == 0 {
		i := r.Intn(len(s) + 1)
		s = s[:i] + string([]byte{byte(r.Intn(256))}) + s[i:]
	}
	return s
}
