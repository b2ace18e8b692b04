package a2a_test

import (
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

func TestDialects(t *testing.T) {
	tests := []struct {
		set    a2a.Dialects
		text   string
		single bool
	}{
		{0, "", false},
		{a2a.Of(a2a.V0_1), "0.1", true},
		{a2a.Of(a2a.V0_3, a2a.V0_2), "0.2/0.3", false},
		{a2a.Of(a2a.V1_0), "1.0", true},
		{a2a.Of(a2a.V1_0, a2a.V0_3), "0.3/1.0", false},
	}
	for _, test := range tests {
		expect.Equal(t, "String", test.text, test.set.String())
		d, single := test.set.Single()
		if single != test.single || single && a2a.Of(d) != test.set {
			t.Errorf("%s: Single = %v, %v", test.text, d, single)
		}
	}
	if both := a2a.Of(a2a.V0_2, a2a.V0_3).Intersect(a2a.Of(a2a.V0_3, a2a.V1_0)); both != a2a.Of(a2a.V0_3) || !both.Has(a2a.V0_3) || both.Has(a2a.V0_2) {
		t.Errorf("intersection is %s", both)
	}
	if !a2a.Of(a2a.V0_1).Intersect(a2a.Of(a2a.V1_0)).Empty() {
		t.Error("0.1 and 1.0 have something in common")
	}
	expect.Equal(t, "dialect 9", "unknown", a2a.Dialect(9).String())
}

func TestVersionDialects(t *testing.T) {
	tests := []struct{ version, want string }{
		{"", ""},
		{"0.1", "0.1"},
		{"0.2.5", "0.2"},
		{"0.2.9", "0.2/0.3"},
		{"0.3", "0.3"},
		{"0.3.0", "0.3"},
		{" 0.3 ", "0.3"},
		{"0.4.0", "0.3"},
		{"1.0", "1.0"},
		{"1", "1.0"},
		{"1.0.1", "1.0"},
		{"1.0.0-rc", "1.0"},
		{"v1.0", "1.0"},
		{"1.1", "1.0"},
		{"2.0", "1.0"},
		{"0.0", ""},
		{"one", ""},
		{"1.", ""},
		{"1.x", ""},
		{"-1.0", ""},
		{"999999999999999999999", ""},
	}
	for _, test := range tests {
		expect.Equal(t, "VersionDialects("+test.version+")",
			test.want, a2a.VersionDialects(test.version).String())
	}
}

func TestCite(t *testing.T) {
	expect.Equal(t, "", "1.0 §3.1.2", (a2a.Cite{a2a.V1_0, "3.1.2"}).String())
	expect.Equal(t, "", "RFC 8259 §2 (0.3)", (a2a.Cite{a2a.V0_3, "RFC 8259 §2"}).String())
}
