package chart

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
)

func TestAxis(t *testing.T) {
	for _, c := range []struct {
		total   time.Duration
		columns int
		want    string
	}{
		{6 * time.Second, 61, "0s        1s        2s        3s        4s        5s"},
		{200 * time.Microsecond, 30, "0s            0.1ms"},
		{2 * time.Minute, 60, "0s       20s       40s       1m        1m20s     1m40s"},
		{50 * time.Hour, 30, "0s           24h           48h"},
		{time.Millisecond, 1, ""},
	} {
		labels, _ := Scale{c.total, c.columns}.Axis()
		got := strings.TrimRight(labels.Line().String(), " ")
		if c.columns > 1 && !strings.HasPrefix(got, "0s") || len(got) > c.columns {
			t.Errorf("the axis of %v is %q", c.total, got)
		}
		expect.Same(t, fmt.Sprintf("the axis of %v", c.total), c.want, got)
	}
}

// Labels never touch, and there are not many of them, whatever the time.
func TestAxisOfAnyTime(t *testing.T) {
	for total := time.Nanosecond; total < 10*365*24*time.Hour; total = total*3 + 7 {
		for _, columns := range []int{-1, 0, 1, 2, 9, 40, 150} {
			labels, at := Scale{total, columns}.Axis()
			words := labels.Line().String()
			if strings.Contains(words, "s0") || len(strings.Fields(words)) > columns/labelRoom+1 {
				t.Errorf("the axis of %v in %d columns is %q", total, columns, words)
			}
			if len(at) > max(columns, 0)/labelRoom+2 {
				t.Errorf("the axis of %v in %d columns has %d marks", total, columns, len(at))
			}
		}
	}
}
