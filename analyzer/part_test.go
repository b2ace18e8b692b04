package analyzer_test

import (
	"strings"
	"testing"

	"a2atap/analyzer"
)

func TestParsePart(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1/1", "2/4", "1000/1000"} {
		p, err := analyzer.ParsePart(text)
		if err != nil || p.String() != text || p.IsWhole() {
			t.Errorf("%q: got %v, %v", text, p, err)
		}
	}
	for _, text := range []string{"", "1", "0/4", "5/4", "-1/4", "01/4", "1/04", "1/4/2", "1/1001", " 1/4", "x/y", "1/", "/4"} {
		if p, err := analyzer.ParsePart(text); err == nil || !p.IsWhole() {
			t.Errorf("%q: got %v, want an error", text, p)
		}
	}
}

// Anything but all parts of one capture is refused, by name.
func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	part := func(number, of int) *analyzer.Result {
		return &analyzer.Result{
			Portion: analyzer.Portion{Part: analyzer.Part{Number: number, Of: of}, Steps: 7, Sum: "a"},
		}
	}
	grown, other, counted := part(2, 2), part(2, 2), part(2, 2)
	grown.Portion.Steps, other.Portion.Sum, counted.Counts.Events = 8, "b", 1
	for want, parts := range map[string][]*analyzer.Result{
		"no part is given":                  nil,
		"of a whole capture, not of a part": {part(1, 2), {}},
		"part 2/2 is missing":               {part(1, 2)},
		"part 1/3 is missing":               {part(2, 3), part(3, 3)},
		"part 1/2 is given twice":           {part(1, 2), part(2, 2), part(1, 2)},
		"1/2 and 3/3 are of different":      {part(3, 3), part(1, 2)},
		"it has grown, or is another one":   {part(1, 2), grown},
		"part 2/2 is of another capture":    {part(1, 2), other},
		"of another capture than part 1/2":  {part(1, 2), counted},
	} {
		if _, err := analyzer.Join(nil, parts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := analyzer.Join(nil, []*analyzer.Result{part(2, 2), part(1, 2)}); err != nil {
		t.Error(err)
	}
}

// A part without findings is not clean, whatever its calls came to.
func TestAPartAloneIsNotClean(t *testing.T) {
	t.Parallel()
	r := &analyzer.Result{
		Counts:  analyzer.Counts{Exchanges: 4, Judged: 1},
		Portion: analyzer.Portion{Part: analyzer.Part{Number: 1, Of: 4}},
	}
	total := &analyzer.Result{}
	total.Add(r)
	v := total.Verdict(analyzer.Error)
	if v.Status != analyzer.StatusIncomplete || !strings.Contains(v.String(), "part 1/4 alone") {
		t.Errorf("got %s", v)
	}
	total.Found[analyzer.Error]++
	if v := total.Verdict(analyzer.Error); v.Status != analyzer.StatusFindings {
		t.Errorf("got %s", v)
	}
}
