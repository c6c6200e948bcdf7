// Suite selector: apimachinery's labels and fields packages, and label selectors in object form.
package main

import (
	"encoding/json"
	"math/rand"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// One selector, in one of the three forms, and a set of labels (or fields) to match.
type selectorCase struct {
	Label  *string               `json:"label,omitempty"`
	Field  *string               `json:"field,omitempty"`
	Object *metav1.LabelSelector `json:"object,omitempty"`
	Set    map[string]string     `json:"set"`
}

func init() {
	suites["selector"] = suite{gen: genSelector, run: runSelector}
}

var labelTexts = []string{
	"", "a", "!a", "a=b", "a==b", "a!=b", "a in (b,c)", "a notin (c,b,b)", "a in ()", "a in (,)", "a in (,,)", "a in (b,,c)", "a in (b,,,c)", "a in (,b)", "a in (b,)", "a in (b,,)", "a=", "a==", "a!=", "a>1", "a<-1", "a>x", "a>",
	"a> 1,b<2", "a>-x", "a gt 1", "a lt 1", "gt", "in", "in in (in,notin)", "notin=notin", "a b", "i=1=2", "i,", ",i", "(", "a in b", "a in (b", "a in (", "a in (b,", "a in", "a notin", "a,,b", "a =b , c= d", "!", "!!a", "!a=b", "a!", "a=!b", "a=b!",
	"a=(", "a=b)", "a=)", "a=b c", "-bad", "a=-bad", "a in (-bad,x,_)", "A.b/C_d=E.f", "a===b", "a=>b", "a>=1", "a<=1", "a=<b", "a\t=\nb", "a\x00=b", "\x00", "\x00a", "a \x00b", "a=\x00b", "a= \x00b", "a,\x00b", "a,b\x00", "a in (\x00b)", "a in (b\x00c)", "é=b",
	"a=é", "a in (b c)", "a in(b)", "a notin(b)", "ain(b)", "x in (a),y", "a in (b)c", "a in ((b))", "a=b,!c,d in (x),e>1", "z=1,a=2,m", "!a in (b)", "!in", "!notin", "a,a", "a=1,a=2", "a =", "a in (b)=c", "a;b", "a=b;c", "\"a\"=b", "a='b'", "a=1,", "a= ,b",
	"a>9223372036854775807", "a>9223372036854775808", "a>+5", "a>05", "a>0x10", "a>1_0", "a in (in)", "a=in", "a=notin", "a= in", "in=x", "a==in,b", "a!b", "a!==b", "a ! =b", "a= =b", "a=,b=", "a ,b", "(a)", "a)", ")", "a in )", "a in (a,(", "a in (a!",
	"a in (a=b)", "a in (=)", "a in (!)", "a<1>2", "a><", "<a", ">a", "=a", "==a", "!=a", "a,!", "a,=", "a.", "a/b/c", "/a", "a/", "a/=b", "a\xffb", "a=\xff", "a\vb", "a\u00a0=b", " ", "\t\n",
	strings.Repeat("k", 63) + "=" + strings.Repeat("v", 63), strings.Repeat("k", 64) + "=v", "k=" + strings.Repeat("v", 64), strings.Repeat("p", 253) + "/k", strings.Repeat("p", 254) + "/k", "k=" + strings.Repeat("-", 64),
}

// No NUL behind a backslash: our error texts end at a NUL.
var fieldTexts = []string{
	"", "a=b", "a==b", "a!=b", "foo", "a=b,", "a=b,,c=d", "=", "a=", "=b", "!=b", "a\\=b=c", "a=b\\,c", "a=b\\x", "a=b\\", "a\\\\=b", "a=b=c", "a!==b", "a!b", "a=!b", " a = b ", "a=b, c=d", "a==b==c", "!=", "==", "!a=b", "a=b\\=", "a\\x=b", "a!=b,c==d",
	"a=\\\\", ",", ",,", "a,b=c", "b=c,a", "a=b\\\\,c=d", "a\\,b=c,d=e", "a=é", "a=\\é", "a=\\\xff", "a=\xff", "a===b", "a=\x00", "\\", "\\,", "a=b\\,", "a=b,\\", "metadata.name=x,metadata.namespace!=y", "z=1,a=2,m=3,a=1", "a=b\\!c", "!==", "!", "a=1,=",
}

var selectorWords = []string{"a", "b", "c", "in", "notin", "ex.org/a", "a-b", "A", "1", "2", "10", "-1", "x_y", ".", "-", "é", "app.kubernetes.io/name", "_", "a/b/c"}

func labelRandom(r *rand.Rand) string {
	word := func() string { return selectorWords[r.Intn(len(selectorWords))] }
	space := func() string { return []string{"", "", "", " ", "\t", "  "}[r.Intn(6)] }
	value := func() string { return []string{word(), word(), word(), ""}[r.Intn(4)] }
	values := func() string {
		n := r.Intn(5)
		parts := make([]string, n)
		for i := range parts {
			parts[i] = space() + value() + space()
		}
		return "(" + strings.Join(parts, ",") + ")"
	}
	requirement := func() string {
		switch r.Intn(9) {
		case 0:
			return word()
		case 1:
			return "!" + space() + word()
		case 2, 3:
			return word() + space() + []string{"in", "notin"}[r.Intn(2)] + " " + values()
		case 4:
			return word() + space() + []string{">", "<"}[r.Intn(2)] + space() + []string{"1", "5", "12", value()}[r.Intn(4)]
		default:
			return word() + space() + []string{"=", "==", "!="}[r.Intn(3)] + space() + value()
		}
	}
	// Few enough that Go's sort, which is not stable, is.
	n := 1 + r.Intn(5)
	parts := make([]string, n)
	for i := range parts {
		parts[i] = space() + requirement() + space()
	}
	return strings.Join(parts, ",")
}

// damageSelector puts a character in, takes one out, or repeats a piece.
func damageSelector(r *rand.Rand, s string, alphabet string) string {
	for range 1 + r.Intn(2) {
		i := r.Intn(len(s) + 1)
		switch r.Intn(3) {
		case 0:
			s = s[:i] + string(alphabet[r.Intn(len(alphabet))]) + s[i:]
		case 1:
			if i < len(s) {
				s = s[:i] + s[i+1:]
			}
		case 2:
			j := i + r.Intn(len(s)+1-i)
			s = s[:j] + s[i:j] + s[j:]
		}
	}
	return s
}

func fieldRandom(r *rand.Rand) string {
	word := func() string {
		return []string{"metadata.name", "metadata.namespace", "spec.color", "a", "b", "", "x\\,y", "x\\=y", "\\\\", "é"}[r.Intn(10)]
	}
	n := r.Intn(4)
	parts := make([]string, n)
	for i := range parts {
		parts[i] = word() + []string{"=", "==", "!="}[r.Intn(3)] + word()
	}
	return strings.Join(parts, ",")
}

func selectorSet(r *rand.Rand) map[string]string {
	set := map[string]string{}
	for range r.Intn(5) {
		set[selectorWords[r.Intn(len(selectorWords))]] = selectorWords[r.Intn(len(selectorWords))]
	}
	return set
}

func selectorObject(r *rand.Rand) *metav1.LabelSelector {
	s := &metav1.LabelSelector{}
	word := func() string { return selectorWords[r.Intn(12)] }
	// At most one label: with several, which error comes first is random.
	if r.Intn(2) == 0 {
		s.MatchLabels = map[string]string{selectorWords[r.Intn(len(selectorWords))]: selectorWords[r.Intn(len(selectorWords))]}
	} else if r.Intn(2) == 0 {
		s.MatchLabels = map[string]string{"a": "1", "b": "x", "c": "1"}
	}
	for range r.Intn(4) {
		e := metav1.LabelSelectorRequirement{Key: word(), Operator: metav1.LabelSelectorOperator([]string{"In", "NotIn", "Exists", "DoesNotExist", "In", "Gt", ""}[r.Intn(7)])}
		for range r.Intn(4) {
			e.Values = append(e.Values, selectorWords[r.Intn(len(selectorWords))])
		}
		if r.Intn(3) > 0 && (e.Operator == "Exists" || e.Operator == "DoesNotExist") {
			e.Values = nil
		}
		s.MatchExpressions = append(s.MatchExpressions, e)
	}
	return s
}

func genSelector(r *rand.Rand, count int, emit func(c any)) {
	label := func(s string) {
		// JSON carries no invalid UTF-8, so neither do cases.
		s = strings.ToValidUTF8(s, "\ufffd")
		emit(selectorCase{Label: &s, Set: selectorSet(r)})
	}
	field := func(s string) {
		s = strings.ToValidUTF8(s, "\ufffd")
		emit(selectorCase{Field: &s, Set: map[string]string{"metadata.name": "a", "spec.color": "b"}})
	}
	for _, s := range labelTexts {
		label(s)
	}
	for _, s := range fieldTexts {
		field(s)
	}
	emit(selectorCase{Object: &metav1.LabelSelector{}, Set: map[string]string{}})
	for range count {
		switch r.Intn(8) {
		case 0:
			field(fieldRandom(r))
		case 1:
			field(damageSelector(r, fieldRandom(r), "=!,\\ a"))
		case 2, 3:
			emit(selectorCase{Object: selectorObject(r), Set: selectorSet(r)})
		case 4, 5:
			label(damageSelector(r, labelRandom(r), "=!,()<> \x00ain-"))
		default:
			label(labelRandom(r))
		}
	}
}

func runSelector(raw json.RawMessage) any {
	var c selectorCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	if c.Field != nil {
		s, err := fields.ParseSelector(*c.Field)
		if err != nil {
			return errorResult(err)
		}
		name, _ := s.RequiresExactMatch("metadata.name")
		return map[string]any{"text": s.String(), "name": name, "n": len(s.Requirements()), "matches": s.Matches(fields.Set(c.Set))}
	}
	var s labels.Selector
	var err error
	if c.Label != nil {
		s, err = labels.Parse(*c.Label)
	} else {
		s, err = metav1.LabelSelectorAsSelector(c.Object)
	}
	if err != nil {
		return errorResult(err)
	}
	requirements, _ := s.Requirements()
	return map[string]any{"text": s.String(), "n": len(requirements), "matches": s.Matches(labels.Set(c.Set))}
}
