// Suite name: apimachinery's checks of names and guessed plurals; deterministic names by Crossplane's rule (its package is
// internal, so the rule is written down here, with vectors taken from live names in the unit test).
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

type nameCase struct {
	Check    string `json:"check"`
	AsPrefix bool   `json:"asPrefix"`
	Name     string `json:"name"`
	UID      string `json:"uid,omitempty"`
	Resource string `json:"resource,omitempty"`
}

func init() {
	suites["name"] = suite{gen: genName, run: runName}
}

var nameChecks = []string{"subdomain", "label", "label1035", "path", "qualified", "value", "key", "plural"}

var nameTexts = []string{
	"", "a", "A", "a.b", "a..b", "-a", "a-", "a--", "a---", "-", "--", "-a-", "a/b", "a%b", "a/-", "%-", ".", "..", "...", "..a", "a..", "a b", "x/", "/x", "/", "//", "x/y/z", "ex.org/a_b", "EX.org/a", "ex.org/-b", "é", "a\x00", "_a", "a_", "1a", "9", "a1-",
	"x/y-", "X", "a-.b", "a.-b", "a.-", ".-", "..-", "a.b-", "1-", "Policy", "Key", "Bus", "Endpoints", "y", "s", "Ы", "İ", "Day", "A.B", "ex.org/", "-/a", "./a", "a/.", "a\n", "a\u2028",
	strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254), strings.Repeat("a", 253) + "-", strings.Repeat("a", 63) + "-", strings.Repeat("a", 254) + "-", strings.Repeat("A", 64), strings.Repeat("_", 254),
	strings.Repeat("a", 253) + "/" + strings.Repeat("a", 63), strings.Repeat("a", 254) + "/" + strings.Repeat("a", 64), strings.Repeat("é", 32), strings.Repeat("a.", 127) + "a",
}

func genName(r *rand.Rand, count int, emit func(c any)) {
	for _, name := range nameTexts {
		for _, check := range nameChecks {
			emit(nameCase{Check: check, Name: name})
			emit(nameCase{Check: check, Name: name, AsPrefix: true})
		}
	}
	letters := []string{"a", "b", "z", "A", "Z", "0", "9", "-", "-", ".", "_", "/", "%", "é", " "}
	text := func(max int) string {
		var b strings.Builder
		kinds := 1 + r.Intn(len(letters))
		for range r.Intn(max) {
			b.WriteString(letters[r.Intn(kinds)])
		}
		return b.String()
	}
	for range count {
		if r.Intn(4) == 0 {
			emit(nameCase{Check: "deterministic", Name: strings.Repeat("p", r.Intn(70)) + []string{"", "-", "-x", "--"}[r.Intn(4)], UID: text(40), Resource: text(20)})
			continue
		}
		emit(nameCase{Check: nameChecks[r.Intn(len(nameChecks))], Name: text([]int{6, 12, 70, 300}[r.Intn(4)]), AsPrefix: r.Intn(3) == 0})
	}
}

// deterministicName is base, a dash, and the first 12 digits of the SHA-256 of UID and resource; the base is cut so that
// all of it has at most 63 characters, and still ends in a dash.
func deterministicName(base, uid, resource string) string {
	digest := sha256.Sum256([]byte(uid + resource))
	suffix := hex.EncodeToString(digest[:])[:12]
	if base != "" && !strings.HasSuffix(base, "-") {
		base += "-"
	}
	if len(base)+len(suffix) > 63 {
		if base = base[:51]; !strings.HasSuffix(base, "-") {
			base = base[:50] + "-"
		}
	}
	return base + suffix
}

func runName(raw json.RawMessage) any {
	var c nameCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	var texts []string
	switch c.Check {
	case "subdomain":
		texts = apivalidation.NameIsDNSSubdomain(c.Name, c.AsPrefix)
	case "label":
		texts = apivalidation.NameIsDNSLabel(c.Name, c.AsPrefix)
	case "label1035":
		texts = apivalidation.NameIsDNS1035Label(c.Name, c.AsPrefix)
	case "path":
		texts = path.ValidatePathSegmentName(c.Name, c.AsPrefix)
	case "qualified":
		texts = validation.IsQualifiedName(c.Name)
	case "value":
		texts = validation.IsValidLabelValue(c.Name)
	case "key":
		texts = validation.IsConfigMapKey(c.Name)
	case "plural":
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: c.Name})
		return plural.Resource
	case "deterministic":
		return deterministicName(c.Name, c.UID, c.Resource)
	}
	if texts == nil {
		texts = []string{}
	}
	return texts
}
