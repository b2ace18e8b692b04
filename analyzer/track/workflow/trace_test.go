package workflow

import (
	"testing"

	"a2atap/proxy/capture"
)

func FuzzTraceparent(f *testing.F) {
	for _, seed := range []string{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "", "00-", "00-0-0-0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		trace, span, ok := traceOf(capture.Fields{{Name: "traceparent", Value: value}})
		if ok && (trace == traceID{} || span == spanID{}) {
			t.Errorf("%q is taken without an id", value)
		}
	})
}

func TestTraceparent(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for value, want := range map[string]bool{
		good:                              true,
		"01" + good[2:] + "-more":         true,
		good + "-more":                    false,
		"ff" + good[2:]:                   false,
		good[:54]:                         false,
		"00-0AF7" + good[7:]:              false,
		good[:36] + "0000000000000000-01": false,
		good[:35] + "_" + good[36:]:       false,
	} {
		if _, _, ok := traceOf(capture.Fields{{Name: "Traceparent", Value: value}}); ok != want {
			t.Errorf("%s: got %v, want %v", value, ok, want)
		}
	}
	twice := capture.Fields{{Name: "traceparent", Value: good}, {Name: "traceparent", Value: good}}
	if _, _, ok := traceOf(twice); ok {
		t.Error("two are taken for one")
	}
}
