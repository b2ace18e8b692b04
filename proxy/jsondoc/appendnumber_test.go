package jsondoc_test

import (
	"testing"

	"a2atap/proxy/jsondoc"
)

// Equal numbers have one text, and different ones have different texts.
func TestAppendNumber(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, equal := range [][]string{
		{"1", "1.0", "1e0", "10e-1", "0.1e1"},
		{"-1", "-1.00"},
		{"0", "-0", "0.0", "0e9"},
		{"100", "1e2", "1E+2"},
		{"12345678901234567890"},
		{"12345678901234567891"},
		{"0.1", "1e-1"},
		{"0.10000000000000001"},
		{"1e9999999999"},
	} {
		want := ""
		for _, text := range equal {
			doc := jsondoc.Parse([]byte(text))
			got := string(jsondoc.AppendNumber(nil, doc.Root))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s is %s, and %s is %s", equal[0], want, text, got)
			}
		}
		if other, ok := seen[want]; ok {
			t.Errorf("%s and %s are both %s", other, equal[0], want)
		}
		seen[want] = equal[0]
	}
}
