package transcript

import (
	"fmt"
	"strconv"
	"time"

	"a2atap/proxy/capture"
)

// Gaps are what a capture says of itself as a whole, and not of one exchange: that something is missing from it, or
// cannot be relied on. The zero Gaps are none.
type Gaps struct {
	Exchanges int64         // of which nothing was recorded
	Crashes   uint64        // recorders that were killed
	Crash     capture.Crash // the last of those
	Insecure  bool          // agents on TLS were not verified
}

// GapsOf returns the gaps of a capture.
func GapsOf(info *capture.Info) Gaps {
	return Gaps{info.LostExchanges, info.Crashes, info.Crash, info.Insecure}
}

// Describe puts the gaps into what describes a capture.
func (g *Gaps) Describe(info *capture.Info) {
	info.LostExchanges, info.Crashes, info.Crash, info.Insecure = g.Exchanges, g.Crashes, g.Crash, g.Insecure
}

// Steps returns the steps that say the same to who reads the capture step by step. Nobody knows where the gaps were, so
// they come before all else.
func (g *Gaps) Steps() []capture.Step {
	if g.Exchanges == 0 {
		return nil
	}
	return []capture.Step{{Offset: capture.NotKnown, What: capture.Lost{Exchanges: g.Exchanges}}}
}

// describe goes through the lines of the section, in both directions.
func (g *Gaps) describe(m metaIO) {
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

// text returns the section; empty if there are no gaps.
func (g Gaps) text() []byte {
	w := &metaWriter{}
	g.describe(w)
	return w.b.Bytes()
}

// read reads the section. Its errors begin with the number of the line.
func (g *Gaps) read(s section) error {
	r := &metaReader{name: s.name}
	if err := r.read(s.content, s.line); err != nil {
		return err
	}
	g.describe(r)
	return r.finish()
}
