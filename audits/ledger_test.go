package audits_test

import (
	"strings"
	"testing"

	"antipode/audits/cococrola"
	"antipode/audits/dig"
	"antipode/audits/entigen"
	"antipode/audits/indictti"
	"antipode/audits/visage"
)

// Runs with different fields write different files, those with the defaults the notebook's.
func TestRunName(t *testing.T) {
	seen := map[string]bool{}
	for want, name := range map[string]string{
		"decomposed_dig":  dig.Audit{}.RunName(),
		"cococrola":       cococrola.Audit{}.RunName(),
		"entigen":         entigen.Audit{}.RunName(),
		"indictti":        indictti.Audit{}.RunName(),
		"visage":          visage.Audit{}.RunName(),
		"visage-a_b-c-":   visage.Audit{Generator: "a b,x/c"}.RunName(),
		"decomposed_dig-": dig.Audit{N: 3}.RunName(),
	} {
		if !strings.HasPrefix(name, want) || strings.HasSuffix(want, "-") != (len(name) == len(want)+8) || seen[name] {
			t.Errorf("%q, want %s", name, want)
		}
		seen[name] = true
	}
	if a, b := (dig.Audit{N: 3}).RunName(), (dig.Audit{N: 4}).RunName(); a == b {
		t.Errorf("two runs are %q", a)
	}
}
