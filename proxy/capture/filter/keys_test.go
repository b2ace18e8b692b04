package filter_test

import (
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/capture/filter"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Every key has an example that can be read and that comes back as itself, and the help names them all.
func TestKeysAreDocumented(t *testing.T) {
	const contract = "n id time kind op tool model tokens method path host agent client link dialect binding task context message state " +
		"role event " +
		"status code rule severity side header json dur gap size trace workflow is"
	var names []string
	for _, key := range filter.Keys() {
		names = append(names, key.Name)
		if f, err := filter.Parse(key.Example); err != nil || !strings.HasPrefix(f.String(), key.Name+":") {
			t.Errorf("%s: example %s: %v, %v", key.Name, key.Example, f, err)
		}
		if key.Help == "" {
			t.Errorf("%s has no help", key.Name)
		}
	}
	want := strings.Fields(contract)
	slices.Sort(want)
	slices.Sort(names)
	expect.Same(t, "keys", want, names)
}

func TestAsks(t *testing.T) {
	for expr, want := range map[string]bool{
		"":                            false,
		"rule:stream-*":               true,
		"task:t1 (op:x or -rule:y)":   true,
		"rules":                       false,
		`"rule:x"`:                    false,
		"status:200 severity:warning": true,
	} {
		expect.Equal(t, expr+" asks for rules", want, must.Get(filter.Parse(expr))(t).Asks("rule", "severity"))
	}
}

func TestAsksOnly(t *testing.T) {
	for expr, want := range map[string]bool{
		"":                                  false,
		"rule:stream-*":                     true,
		"rule:x (severity:note or -rule:y)": true,
		"-rule:x":                           true,
		"rule:x op:GetTask":                 false,
		"rule:x or kyoto":                   false,
		"not status:200":                    false,
	} {
		f := must.Get(filter.Parse(expr))(t)
		expect.Equal(t, expr+" asks for nothing but rules", want, f.AsksOnly("rule", "severity"))
	}
}
