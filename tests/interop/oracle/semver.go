// Suite semver: versions and constraints of Masterminds/semver v3.5.0. Half of the constraints are written as people write them, so that
// most of those are checked against a version; the others are mostly wrong.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"

	"github.com/Masterminds/semver/v3"
)

type semverCase struct {
	Constraint *string `json:"constraint,omitempty"` // absent: the version alone is read
	Version    string  `json:"version"`
}

func init() {
	suites["semver"] = suite{gen: genSemver, run: runSemver}
}

func pick(r *rand.Rand, of ...string) string { return of[r.Intn(len(of))] }

type semverGen struct{ *rand.Rand }

func (g semverGen) number() string {
	if g.Intn(10) < 3 {
		return pick(g.Rand, "0", "1", "2", "3", "10", "01", "x", "X", "*", "1|", "xx", "99999999999999999999", "")
	}
	return pick(g.Rand, "0", "1", "2", "3")
}

func (g semverGen) version() string {
	parts := []string{}
	for range []int{1, 2, 3, 3, 3, 3, 3, 4}[g.Intn(8)] {
		parts = append(parts, g.number())
	}
	prefix := ""
	if g.Intn(10) < 3 {
		prefix = pick(g.Rand, "", "", "", "v", "V", " ")
	}
	return prefix + strings.Join(parts, ".") +
		pick(g.Rand, "", "", "", "-a", "-alpha.1", "-0", "-01", "-rc.1", "-", "-a..b", "-1.2", "-99999999999999999999", "-a-b", "-1", "-2") +
		pick(g.Rand, "", "", "", "", "", "", "", "", "+b", "+", "+1.2", "+a+b")
}

func (g semverGen) plain() string {
	return fmt.Sprintf("%d.%d.%d", g.Intn(4), g.Intn(4), g.Intn(4)) + pick(g.Rand, "", "", "", "", "-a", "-alpha.1", "-0", "-rc.1", "-rc.2", "-1") + pick(g.Rand, "", "", "", "", "+x")
}

func (g semverGen) condition() string {
	op := pick(g.Rand, "", "", "=", "!=", ">", "<", ">=", "<=", "=>", "=<", "~", "~>", "^", "^", "~")
	if g.Intn(20) == 0 {
		op = pick(g.Rand, "==", "> =", ">>", "~=", "|")
	}
	return op + pick(g.Rand, "", "", "", " ") + g.version()
}

func (g semverGen) alternative() string {
	if g.Intn(7) == 0 {
		return g.version() + pick(g.Rand, " - ", "  -  ", "-", " -") + g.version()
	}
	text := pick(g.Rand, "", "", "", "", "", " ") + g.condition()
	for range []int{0, 0, 1, 2}[g.Intn(4)] {
		text += pick(g.Rand, ", ", " ", ",", " , ", ",,") + g.condition()
	}
	return text
}

// A constraint that is right.
func (g semverGen) goodAlternative() string {
	number := func(least int) string {
		parts := []string{}
		for range least + g.Intn(4-least) {
			parts = append(parts, pick(g.Rand, "0", "0", "1", "1", "2", "3", "x", "*"))
		}
		text := pick(g.Rand, "", "", "v") + strings.Join(parts, ".")
		if len(parts) == 3 {
			text += pick(g.Rand, "", "", "", "", "-0", "-alpha.1", "-rc.1", "-rc.2+b")
		}
		return text
	}
	if g.Intn(8) == 0 {
		return number(1) + " - " + number(1)
	}
	text := ""
	for i := range 1 + g.Intn(3) {
		if i > 0 {
			text += pick(g.Rand, ", ", " ", ",")
		}
		text += pick(g.Rand, "", "=", "!=", ">", "<", ">=", "<=", "~", "^", ">= ") + number(1)
	}
	return text
}

func genSemver(r *rand.Rand, count int, emit func(c any)) {
	g := semverGen{r}
	for range count {
		if g.Intn(7) == 0 {
			emit(semverCase{Version: g.version()})
			continue
		}
		alternative := g.alternative
		if g.Intn(2) == 0 {
			alternative = g.goodAlternative
		}
		constraint := alternative()
		if g.Intn(4) == 0 {
			constraint += pick(r, " || ", "||") + alternative()
		}
		c := semverCase{Constraint: &constraint, Version: g.plain()}
		if g.Intn(20) == 0 {
			c.Version = g.version()
		}
		emit(c)
	}
}

func runSemver(raw json.RawMessage) any {
	var c semverCase
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	var constraint *semver.Constraints
	if c.Constraint != nil {
		var err error
		if constraint, err = semver.NewConstraint(*c.Constraint); err != nil {
			return map[string]any{"error": err.Error()}
		}
	}
	v, err := semver.NewVersion(c.Version)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	if constraint != nil {
		return constraint.Check(v)
	}
	return fmt.Sprintf("%s %d %d %d [%s] [%s]", v, v.Major(), v.Minor(), v.Patch(), v.Prerelease(), v.Metadata())
}
