// Suite gotime: times written and read by Go's layouts, in zones of the tz database.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"regexp"
	"sort"
	"strings"
	"time"
)

type gotimeCase struct {
	Layout  string  `json:"layout"`
	Text    *string `json:"text,omitempty"` // to be read; absent: the time below is written
	Seconds int64   `json:"seconds,omitempty"`
	Nanos   int64   `json:"nanos,omitempty"`
	Zone    string  `json:"zone,omitempty"`
}

func init() {
	suites["gotime"] = suite{gen: genGotime, run: runGotime}
}

var gotimeElements = strings.Fields("January Jan Monday Mon MST 01 02 03 04 05 06 002 15 1 2006 2 __2 _2 3 4 5 PM pm -070000 -07:00:00 -0700 -07:00 -07 Z070000 Z07:00:00 Z0700 Z07:00 Z07 .000 ,000 .999 ,999999999 .000000000 .0000000000 .99")

var gotimeZones = []string{"UTC", "", "Local", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "Asia/Tokyo", "Africa/Casablanca", "Europe/Dublin",
	"Nowhere/X", "../etc", "EST5EDT", "America/Sao_Paulo", "Antarctica/Troll", "Pacific/Apia", "Asia/Kathmandu", "Etc/GMT+5", "America/Nuuk"}

func gotimeLayout(r *rand.Rand) string {
	if r.Intn(5) == 0 {
		return pick(r, "2006-01-02", time.RFC3339, "2006-01-02 15:04:05 MST", time.RFC1123Z, time.Stamp, time.Kitchen, time.RFC822, "2006-01-02 15:04:05.999999999 -0700 MST", "2006-002", "2006-__2", time.RFC850)
	}
	text := ""
	for range 1 + r.Intn(6) {
		text += pick(r, gotimeElements...) + pick(r, " ", "-", "/", ":", "T", "", " ", "  ", ",", ".", "x", "h", "_", "at ", "Mond", "Janu", "0", "7")
	}
	return text
}

var gotimeElement = func() *regexp.Regexp {
	all := append([]string{}, gotimeElements...)
	sort.Slice(all, func(i, j int) bool { return len(all[i]) > len(all[j]) })
	for i := range all {
		all[i] = regexp.QuoteMeta(all[i])
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}()

func gotimeOffset(r *rand.Rand, element string) string {
	if r.Intn(5) == 0 {
		return "Z"
	}
	colon := ""
	if strings.Contains(element, ":") {
		colon = ":"
	}
	parts := []string{}
	for i := range (len(strings.ReplaceAll(element, ":", "")) - 1) / 2 {
		parts = append(parts, fmt.Sprintf("%02d", r.Intn([]int{26, 62, 62}[i])))
	}
	return pick(r, "+", "-", "+", "-", "x") + strings.Join(parts, colon)
}

// What could stand in a text for an element of its layout.
func gotimeFill(r *rand.Rand, e string) string {
	if r.Intn(25) == 0 {
		return pick(r, "", "x", "99", "-1", "+", "0")
	}
	number := func(n int, formats ...string) string { return fmt.Sprintf(pick(r, formats...), r.Intn(n)) }
	switch e {
	case "January":
		return time.Month(1 + r.Intn(12)).String()
	case "Jan":
		return time.Month(1 + r.Intn(12)).String()[:3]
	case "Monday":
		return time.Weekday(r.Intn(7)).String()
	case "Mon":
		return time.Weekday(r.Intn(7)).String()[:3]
	case "MST":
		return pick(r, "UTC", "CET", "EST", "GMT", "GMT+3", "GMT-12", "GMT+24", "WITA", "ChST", "+03", "-5", "ABCDE", "ABCDT", "AEST", "ab", "CEST", "XYZW", "+99")
	case "01", "1", "03", "3":
		return number(14, "%02d", "%d")
	case "02", "2", "_2":
		return number(33, "%02d", "%d", " %d", "%2d")
	case "002", "__2":
		return number(368, "%03d", "%d", "%3d")
	case "04", "4", "05", "5":
		return number(62, "%02d", "%d", "%02d.5", "%02d,123456789012")
	case "06":
		return number(100, "%02d")
	case "15":
		return number(26, "%02d", "%d")
	case "2006":
		return number(10000, "%04d", "%04d", "%04d", "%04d", "%d", "-%03d")
	case "PM", "pm":
		return pick(r, "PM", "AM", "pm", "am", "XM")
	}
	if e[0] == '-' || e[0] == 'Z' {
		return gotimeOffset(r, e)
	}
	return pick(r, "", e[:1], fmt.Sprintf("%s%0*d", e[:1], len(e)-1, r.Intn(1000)), e[:1]+"123456789012")
}

func genGotime(r *rand.Rand, count int, emit func(c any)) {
	for range count {
		c := gotimeCase{Layout: gotimeLayout(r)}
		if r.Intn(5) < 2 {
			c.Seconds = []int64{r.Int63n(315537897600) - 62135596800, r.Int63n(4102444800), 1500000000 + r.Int63n(500000000), -r.Int63n(3000000000)}[r.Intn(4)]
			c.Nanos = []int64{0, 0, r.Int63n(1000000000), 500000000, 120000}[r.Intn(5)]
			c.Zone = pick(r, gotimeZones...)
		} else {
			text := gotimeElement.ReplaceAllStringFunc(c.Layout, func(e string) string { return gotimeFill(r, e) }) + pick(r, "", "", "", "", "", "", "", "", " ", "x")
			c.Text = &text
		}
		emit(c)
	}
}

func runGotime(raw json.RawMessage) any {
	var c gotimeCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	if c.Text != nil {
		t, err := time.ParseInLocation(c.Layout, *c.Text, time.UTC)
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return fmt.Sprintf("%s %d", t, t.Unix())
	}
	zone := time.UTC
	if c.Zone != "Local" {
		var err error
		if zone, err = time.LoadLocation(c.Zone); err != nil {
			return map[string]any{"error": "no such zone"}
		}
	}
	t := time.Unix(c.Seconds, c.Nanos).In(zone)
	return fmt.Sprintf("%s|%s|%d", t.Format(c.Layout), t, t.YearDay())
}
