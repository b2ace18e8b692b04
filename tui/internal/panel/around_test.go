package panel

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

func TestAround(t *testing.T) {
	for _, c := range []struct {
		at, n, step int
		want        string
	}{
		{1, 4, 1, "2 3 0+"},
		{1, 4, -1, "0 3+ 2+"},
		{3, 4, 1, "0+ 1+ 2+"},
		{0, 2, -1, "1+"},
		{0, 1, 1, ""},
		{0, 0, 1, ""},
	} {
		var got []string
		for i, beyond := range Around(c.at, c.n, c.step) {
			word := fmt.Sprint(i)
			if beyond {
				word += "+"
			}
			got = append(got, word)
		}
		expect.Equal(t, fmt.Sprintf("around %d of %d, step %d", c.at, c.n, c.step), c.want, strings.Join(got, " "))
	}
}
