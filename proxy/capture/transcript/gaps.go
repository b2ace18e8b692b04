package transcript

import (
	"fmt"
	"strconv"
	"time"

	"a2atap/proxy/capture"
)

// describeGaps goes through the lines of the section, in both directions.
func describeGaps(m metaIO, g *capture.Gaps) {
	lost := uint64(g.Exchanges)
	metaCount(m, "lost", &lost)
	g.Exchanges = int64(lost)
	metaCount(m, "crashes", &g.Crashes)
	m.line("crash", func() [][]string {
		if g.Crash == (capture.Crash{}) {
			return nil
		}
		after := "unknown"
		if !g.Crash.After.IsZero() {
			after = g.Crash.After.UTC().Format(time.RFC3339Nano)
		}
		return [][]string{{after, g.Crash.Within.String()}}
	}, func(lines [][]string) error {
		if len(lines) == 0 {
			return nil
		}
		words, err := oneLine(lines)
		if err == nil {
			g.Crash, err = crashOf(words)
		}
		return err
	})
	metaYes(m, "insecure", &g.Insecure, false)
	metaYes(m, "secrets-kept", &g.Secrets, false)
	metaYes(m, "unfinished", &g.Unfinished, false)
}

// metaCount is a number that is always known.
func metaCount(m metaIO, key string, p *uint64) {
	metaValue(m, key, p, 0, func(n uint64) string { return strconv.FormatUint(n, 10) },
		func(s string) (uint64, error) {
			n, err := strconv.ParseUint(s, 10, 62)
			if err != nil {
				return 0, fmt.Errorf("%q is not a number", s)
			}
			return n, nil
		})
}

// crashOf reads when a recorder was killed.
func crashOf(words []string) (c capture.Crash, err error) {
	if len(words) != 2 {
		return c, fmt.Errorf("want a time or unknown, and how long before the end something may be missing")
	}
	if words[0] != "unknown" {
		if c.After, err = time.Parse(time.RFC3339Nano, words[0]); err != nil {
			return c, fmt.Errorf("%q is neither a time such as 2026-01-01T00:00:00Z nor unknown", words[0])
		}
		if c.After = c.After.UTC(); c.After.Year() > 9999 {
			return c, fmt.Errorf("%q is after the year 9999", words[0])
		}
	}
	if c.Within, err = time.ParseDuration(words[1]); err != nil || c.Within < 0 {
		return c, fmt.Errorf("%s is not a duration such as 50ms", strconv.Quote(words[1]))
	}
	return c, nil
}

// gapsText returns the section; empty if there are no gaps.
func gapsText(g capture.Gaps) []byte {
	w := &metaWriter{}
	describeGaps(w, &g)
	return w.b.Bytes()
}

// readGaps reads the section. Its errors begin with the number of the line.
func readGaps(s section) (g capture.Gaps, err error) {
	r := &metaReader{name: s.name}
	if err := r.read(s.content, s.line); err != nil {
		return g, err
	}
	describeGaps(r, &g)
	return g, r.finish()
}
