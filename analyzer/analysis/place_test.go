package analysis_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
)

func TestParsePlace(t *testing.T) {
	for _, text := range []string{
		"1.request", "12.response", "3.response.status", "3.request.line", "3.request.body#", "3.request.body#/params/a~1b",
		"12.response.event[3]#/result/statusUpdate/status/state", "2.request.header[Content-Type]", "4.request.header[a.b]",
	} {
		p, err := analysis.ParsePlace(text)
		if err != nil || p.String() != text {
			t.Errorf("%s is read as %s, %v", text, p, err)
		}
	}
	if p, err := analysis.ParsePlace("7"); err != nil || p != (analysis.Place{Exchange: 7}) {
		t.Errorf("7 is read as %+v, %v", p, err)
	}
	for text, said := range map[string]string{
		"":                    "begins with the number",
		"x.request":           "begins with the number",
		"0.request":           "begins with the number",
		"-1.request":          "begins with the number",
		"1.":                  "in 1.request or 1.response",
		"1.answer":            "not in \"answer\"",
		"1.request.":          "a part of a message is",
		"1.request.trailer":   "not \"trailer\"",
		"1.response.event[0]": "event[3]",
		"1.response.event[a]": "event[3]",
		"1.response.event[1":  "event[3]",
	} {
		if p, err := analysis.ParsePlace(text); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%q is read as %s, %v; want an error with %q", text, p, err, said)
		}
	}
}

func FuzzParsePlace(f *testing.F) {
	f.Add("12.response.event[3]#/result/statusUpdate/status/state")
	f.Add("2.request.header[Content-Type]")
	f.Add("7")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := analysis.ParsePlace(text)
		if err != nil {
			return
		}
		if again, err := analysis.ParsePlace(p.String()); err != nil || again != p {
			t.Errorf("%q is %+v, and written %s it is %+v, %v", text, p, p, again, err)
		}
	})
}
