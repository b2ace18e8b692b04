package chart

import (
	"fmt"
	"strings"
	"time"

	"a2atap/tui/internal/style"
)

// A Scale maps times to the columns of a strip.
type Scale struct {
	Total   time.Duration // duration that the columns cover
	Columns int
}

// Column returns the column of a time since the beginning.
func (s Scale) Column(at time.Duration) int {
	if s.Total <= 0 || s.Columns <= 1 {
		return 0
	}
	at = min(max(at, 0), s.Total)
	return int(float64(at) / float64(s.Total) * float64(s.Columns-1))
}

// labelRoom is the minimum number of columns between two labels.
const labelRoom = 10

// step returns the time between two labels of the axis.
func (s Scale) step() time.Duration {
	least := time.Duration(float64(s.Total) / float64(max(s.Columns, 1)) * labelRoom)
	for unit := time.Microsecond; unit < time.Second; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
	for _, n := range []time.Duration{
		1, 2, 5, 10, 20, 30, 60, 2 * 60, 5 * 60, 10 * 60, 20 * 60, 30 * 60, 3600, 2 * 3600, 6 * 3600, 12 * 3600,
	} {
		if n*time.Second >= least {
			return n * time.Second
		}
	}
	day := 24 * time.Hour
	return max((least+day-1)/day, 1) * day
}

// Axis returns the labels of the axis, and the columns where they are.
func (s Scale) Axis() (labels style.Strip, at []int) {
	labels = style.NewStrip(s.Columns)
	step := s.step()
	for t := time.Duration(0); t <= s.Total && len(at) <= s.Columns; t += step {
		column := s.Column(t)
		if name := axisLabel(t); column+len(name) <= s.Columns {
			for i, r := range name {
				labels.Put(column+i, style.Dim, string(r))
			}
		}
		at = append(at, column)
	}
	return labels, at
}

// axisLabel formats a time without its zero parts.
func axisLabel(t time.Duration) string {
	if t < time.Millisecond && t > 0 {
		return fmt.Sprintf("%gms", float64(t)/float64(time.Millisecond))
	}
	name := t.String()
	if strings.HasSuffix(name, "m0s") {
		name = strings.TrimSuffix(name, "0s")
	}
	if strings.HasSuffix(name, "h0m") {
		name = strings.TrimSuffix(name, "0m")
	}
	return name
}
