package filter

import (
	"errors"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a or b c", `not (task:"a b" -x)`, "n:3..9 dur:>2s", "path:/a*/b/ /re/", "(/(a|b)/)", "header:X-*=/y/",
		`json:"/a b"/*=1`,
		"time:>12:00:01.5", "link:a→b", "is:open", `"\"\\"`, "é:ü", "size:1.5MiB", "code:-1", "status:4xx..5xx", "workflow:3..9",
	} {
		f.Add(seed)
	}
	x := streamExchange(f)
	f.Fuzz(func(t *testing.T, expr string) {
		filter, err := Parse(expr)
		if err != nil {
			var at *Error
			if !errors.As(err, &at) || at.Column < 1 || at.Column > len([]rune(expr))+1 {
				t.Errorf("%q: %#v", expr, err)
			}
			return
		}
		printed := filter.String()
		again, err := Parse(printed)
		if err != nil {
			t.Fatalf("%q prints as %q: %v", expr, printed, err)
		}
		if again.String() != printed {
			t.Errorf("%q prints as %q, and that as %q", expr, printed, again)
		}
		for _, facts := range []Facts{nil, streamFacts} {
			if filter.Match(x, facts) != again.Match(x, facts) {
				t.Errorf("%q and %q do not match alike", expr, printed)
			}
		}
	})
}
