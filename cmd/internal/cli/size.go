package cli

import (
	"fmt"
	"strconv"
	"strings"
)

// SizeWords says how many bytes there are.
func SizeWords(n int64) string {
	for _, u := range units[:3] {
		if u.name == "KiB" && n < 1<<20 && n >= 1<<10 || u.name == "MiB" && n < 1<<30 && n >= 1<<20 ||
			u.name == "GiB" && n >= 1<<30 {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(u.bytes)), ".0") + " " + u.name
		}
	}
	return fmt.Sprintf("%d B", n)
}

// units are the endings of a size, the longer ones first.
var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
}

// ParseSize reads a number of bytes such as 4096, 64kB or 16MiB. The empty text is 0.
func ParseSize(flag, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, unit := text, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n <= 0 || n > (1<<62)/unit {
		return 0, Usage("%s: invalid size %q; write a number and B, kB, MB, GB, KiB, MiB or GiB, such as 16MiB", flag, text)
	}
	return n * unit, nil
}
