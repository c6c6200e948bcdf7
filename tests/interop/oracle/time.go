// Times and durations as text, against Go's time package and protojson.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Text that is not UTF-8 travels as hex.
type timeCase struct {
	Op      string `json:"op"`
	Text    string `json:"text,omitempty"`
	Hex     string `json:"hex,omitempty"`
	Seconds int64  `json:"seconds"`
	Nanos   int64  `json:"nanos"`
	Digits  int    `json:"digits"` // -1: as few as protojson writes
}

func init() {
	suites["time"] = suite{gen: genTime, run: runTime}
}

func runTime(raw json.RawMessage) any {
	var c timeCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	text := c.Text
	if c.Hex != "" {
		b, err := hex.DecodeString(c.Hex)
		if err != nil {
			fail("%v", err)
		}
		text = string(b)
	}
	switch c.Op {
	case "parse-time":
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return errorResult(err)
		}
		return map[string]any{"seconds": t.Unix(), "nanos": t.Nanosecond()}
	case "format-time":
		return formatTime(c)
	case "parse-duration":
		d, err := time.ParseDuration(text)
		if err != nil {
			return errorResult(err)
		}
		return map[string]any{"ns": int64(d), "text": d.String()}
	case "format-duration":
		return map[string]any{"text": time.Duration(c.Nanos).String()}
	}
	fail("unknown op %q", c.Op)
	return nil
}

func formatTime(c timeCase) any {
	if c.Digits < 0 {
		b, err := protojson.Marshal(&timestamppb.Timestamp{Seconds: c.Seconds, Nanos: int32(c.Nanos)})
		if err != nil {
			fail("%v", err)
		}
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			fail("%v", err)
		}
		return map[string]any{"text": s}
	}
	layout := "2006-01-02T15:04:05"
	if c.Digits > 0 {
		layout += "." + strings.Repeat("0", c.Digits)
	}
	return map[string]any{"text": time.Unix(c.Seconds, c.Nanos).UTC().Format(layout + "Z")}
}

func textCase(op, text string) timeCase {
	if utf8.ValidString(text) {
		return timeCase{Op: op, Text: text}
	}
	return timeCase{Op: op, Hex: hex.EncodeToString([]byte(text))}
}

var timeTexts = []string{
	"", "2", "2006", "zz", "200x-01-02T15:04:05Z", "20060-01-02T15:04:05Z", "-006-01-02T15:04:05Z", "+006-01-02T15:04:05Z",
	"2006-", "2006-1-02T15:04:05Z", "2006-13-02T15:04:05Z", "2006-00-02T15:04:05Z", "2006-0x-02T15:04:05Z", "2006-x1-02T15:04:05Z",
	"2006/01-02T15:04:05Z", "2006-01", "2006-01-2T15:04:05Z", "2006-01-32T15:04:05Z", "2006-01-00T15:04:05Z", "2006-01- 2T15:04:05Z",
	"2006-02-30T15:04:05Z", "2006-02-30T25:04:05Z", "2006-02-30T15:04:05x", "2006-02-29T15:04:05Z", "2004-02-29T15:04:05Z",
	"1900-02-29T15:04:05Z", "2000-02-29T15:04:05Z", "0000-02-29T00:00:00Z", "2006-01-02t15:04:05Z", "2006-01-02 15:04:05Z",
	"2006-01-02T5:04:05Z", "2006-01-02T24:04:05Z", "2006-01-02T99:04:05Z", "2006-01-02T123:04:05Z", "2006-01-02T:04:05Z",
	"2006-01-02T1x:04:05Z", "2006-01-02T15:4:05Z", "2006-01-02T15:60:05Z", "2006-01-02T15:04:60Z", "2006-01-02T15:04:5Z",
	"2006-01-02T15:04:5", "2006-01-02T15:04:05", "2006-01-02T15:04:05z", "2006-01-02T15:04:05.Z", "2006-01-02T15:04:05.",
	"2006-01-02T15:04:05.1", "2006-01-02T15:04:05.1Z", "2006-01-02T15:04:05,1Z", "2006-01-02T15:04:05,Z",
	"2006-01-02T15:04:05.123456789Z", "2006-01-02T15:04:05.1234567891Z", "2006-01-02T15:04:05.9999999999999999999Z",
	"2006-01-02T15:04:05.0000000000000000000001Z", "2006-01-02T15:04:05.1x", "2006-01-02T15:04:05.5.5Z",
	"2006-01-02T15:04:05+07:00", "2006-01-02T15:04:05-07:00", "2006-01-02T15:04:05+23:59", "2006-01-02T15:04:05+24:00",
	"2006-01-02T15:04:05+25:00", "2006-01-02T15:04:05+24:60", "2006-01-02T15:04:05+24:61", "2006-01-02T15:04:05-23:60",
	"2006-01-02T15:04:05+99:99", "2006-01-02T15:04:05*99:99", "2006-01-02T15:04:05*07:00", "2006-01-02T15:04:05x99:00foo",
	"2006-01-02T15:04:05+0x:99", "2006-01-02T15:04:05+99:0x", "2006-01-02T15:04:05+99x99", "2006-01-02T15:04:05+7:00",
	"2006-01-02T15:04:05+0700", "2006-01-02T15:04:05+07", "2006-01-02T15:04:05+07:0", "2006-01-02T15:04:05+07:000",
	"2006-01-02T15:04:05+07:x0", "2006-01-02T15:04:05+-7:00", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05ZZ",
	"2006-01-02T15:04:05Z\n", " 2006-01-02T15:04:05Z", "2006-01-02T15:04:05Z ", "2006-02-30T15:04:05+99:00", "2006-02-30T15:04:05Zx",
	"0000-01-01T00:00:00Z", "0000-01-01T00:00:00+23:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z",
	"9999-12-31T23:59:59-24:60", "1969-12-31T23:59:59.5Z", "1970-01-01T00:00:00Z", "\"\\\x00\x7f\x80é\u2028日本\n\t",
	"2006-01-02T15:04:05é", "2006-01-02T15:04:05Z\"é\xff\"", "2006-01-02T15:04:05.١Z", "2006-01-02T1٢:04:05Z", "\ufffd", "2006-04-31",
	"2006-04-31T15:04:05.5+01:00", "2006-01-02T9", "2006-01-02T9:", "2006-01-02T24", "2006-13", "2006-01-02T15:99",
}

var durationTexts = []string{
	"", "0", "+0", "-0", "+", "-", "0s", "00", ".", ".s", "-.", "-.s", "1", "1.", "1.s", ".5s", "-.5s", "+5s", "1h30m", "1h 30m", " 1s",
	"1s ", "3000ms", "1us", "1µs", "1μs", "1u", "1µ", "1x", "1xs", "1.5x", "1h2", "1h2.", "1h-2m", "--1s", "+-1s", "1..5s", "1.5.5s",
	"1é", "1é2s", "\x01", "1\x01s", "1\"s", "1\\s", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns",
	"-9223372036854775809ns", "9223372036854775808", "9223372036854775809", "9223372036854775808s", "99999999999999999999ns",
	"9223372036.854775807s", "9223372036.854775808s", "-9223372036.854775808s", "9223372036.8547758075s",
	"2562047h47m16.854775807s", "-2562047h47m16.854775808s", "2562047h47m16.854775808s", "2562048h", "-2562048h",
	"0.000000001s", "0.0000000001s", "0.9999999999s", "0.9999999999999999999999999999999s", "0.3333333333333333333h",
	"0.9223372036854775807h", "0.9223372036854775808h", "0.92233720368547758079999h", ".99999999999999999999999999h",
	"0.100000000000000000000h", "1.123456789123456789ns", "1.9ns", "4611686018427387904ns4611686018427387904ns",
	"-4611686018427387904ns4611686018427387904ns", "-4611686018427387904ns4611686018427387904ns1ns",
	"-9223372036854775808ns9223372036854775808ns", "9223372036854775808ns9223372036854775808ns5s", "9223372036854775807ns0.9ns",
	"9223372036854775807ns1ns", "153722867280912930m", "1d", "1w", "1H", "1S", "1ns1us1ms1s1m1h", "1m1m", "1e3s", "0x1s", "١s", "1s\xff",
	"1\xffs", "18446744073709551615ns", "18446744073709551616ns", "1.s2", "+.5", "1m.", "1m.s", "1m.5s", "1h0", "0h0m0",
	"9223372036854775808.5ns", "-9223372036854775808.5ns", "9223372036854775807.5ns", "-9223372036854775807.5us", "\ufffd", "1\ufffd",
}

func genTime(r *rand.Rand, count int, emit func(c any)) {
	for _, s := range timeTexts {
		emit(textCase("parse-time", s))
	}
	for _, s := range durationTexts {
		emit(textCase("parse-duration", s))
	}
	for _, ns := range []int64{0, 1, -1, 999, 1000, 1001, 999999, 1000000, 999999999, 1000000000, 59999999999, 60000000000,
		3599999999999, 3600000000000, math.MaxInt64, math.MinInt64, math.MinInt64 + 1} {
		emit(timeCase{Op: "format-duration", Nanos: ns})
	}
	// Every day around the turn of each era of the calendar, and the ends of what RFC 3339 can say.
	for _, s := range []int64{-62167219200, -62135596800, -62135596801, 253402300799, 253402300800, 0, -1, 951782400, 4107542400} {
		for d := int64(-3); d <= 3; d++ {
			emit(timeCase{Op: "format-time", Seconds: s + d*86400, Digits: 0})
		}
	}
	for i := 0; i < count; i++ {
		switch i % 4 {
		case 0:
			emit(textCase("parse-time", damage(r, randomTime(r), "0123456789-:.,TZtz+ x\"\xffé")))
		case 1:
			emit(randomFormat(r))
		case 2:
			emit(textCase("parse-duration", damage(r, randomDuration(r), "0123456789.-+hmsnuµ x\"\xff")))
		case 3:
			emit(timeCase{Op: "format-duration", Nanos: int64(r.Uint64()) >> r.Intn(64)})
		}
	}
}

// damage leaves two texts of three as they are and edits a few bytes of the third.
func damage(r *rand.Rand, s, alphabet string) string {
	if r.Intn(3) > 0 {
		return s
	}
	b := []byte(s)
	for n := 1 + r.Intn(2); n > 0 && len(b) > 0; n-- {
		i, c := r.Intn(len(b)), alphabet[r.Intn(len(alphabet))]
		switch r.Intn(4) {
		case 0:
			b[i] = c
		case 1:
			b = append(b[:i], append([]byte{c}, b[i:]...)...)
		case 2:
			b = append(b[:i], b[i+1:]...)
		case 3:
			b = b[:i]
		}
	}
	return string(b)
}

func digits(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + r.Intn(10))
	}
	return string(b)
}

// mostly gives a number below good, and now and then one below all.
func mostly(r *rand.Rand, good, all int) int {
	if r.Intn(12) == 0 {
		return r.Intn(all)
	}
	return r.Intn(good)
}

func randomTime(r *rand.Rand) string {
	s := fmt.Sprintf("%04d-%02d-%02dT", r.Intn(10000), mostly(r, 12, 14)+r.Intn(2), mostly(r, 31, 33)+1)
	if r.Intn(8) == 0 {
		s += fmt.Sprintf("%d", mostly(r, 24, 30))
	} else {
		s += fmt.Sprintf("%02d", mostly(r, 24, 30))
	}
	s += fmt.Sprintf(":%02d:%02d", mostly(r, 60, 70), mostly(r, 60, 70))
	if r.Intn(2) == 0 {
		s += string(".,"[r.Intn(5)/4]) + digits(r, r.Intn(14))
	}
	if r.Intn(2) == 0 {
		return s + "Z"
	}
	return s + fmt.Sprintf("%c%02d:%02d", "+-"[r.Intn(2)], mostly(r, 25, 30), mostly(r, 61, 70))
}

func randomFormat(r *rand.Rand) timeCase {
	c := timeCase{Op: "format-time", Nanos: r.Int63n(1e9), Digits: []int{0, 3, 6, 9, -1}[r.Intn(5)]}
	const first, end = -62135596800, 253402300800 // the years 1 to 9999, which protojson takes
	c.Seconds = first + r.Int63n(end-first)
	if c.Digits >= 0 && r.Intn(3) == 0 {
		c.Seconds = (r.Int63n(2e13) - 1e13) >> r.Intn(40)
	}
	switch r.Intn(4) {
	case 0:
		c.Nanos = 0
	case 1:
		c.Nanos -= c.Nanos % 1e6
	case 2:
		c.Nanos -= c.Nanos % 1e3
	}
	return c
}

func randomDuration(r *rand.Rand) string {
	s := []string{"", "", "", "-", "+"}[r.Intn(5)]
	for n := 1 + r.Intn(3); n > 0; n-- {
		switch r.Intn(6) {
		case 0:
			s += digits(r, r.Intn(21))
		case 1:
			s += fmt.Sprint(r.Uint64() >> r.Intn(64))
		default:
			s += fmt.Sprint(r.Intn(2000))
		}
		if r.Intn(3) == 0 {
			s += "." + digits(r, r.Intn(4)*r.Intn(9))
		}
		s += []string{"ns", "us", "µs", "μs", "ms", "s", "m", "h"}[r.Intn(8)]
	}
	return s
}
