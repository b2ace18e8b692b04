package exchangejson

import (
	"fmt"
	"time"

	"a2atap/proxy/capture"
)

// Gaps are capture.Gaps in JSON.
type Gaps struct {
	Lost        int64  `json:"lost,omitzero"`
	Crashes     uint64 `json:"crashes,omitzero"`
	CrashAfter  string `json:"crashAfter,omitzero"` // RFC 3339; absent if it is not known
	CrashWithin int64  `json:"crashWithinNs,omitzero"`
	Insecure    bool   `json:"insecure,omitzero"`
	Secrets     bool   `json:"secretsKept,omitzero"`
	Unfinished  bool   `json:"unfinished,omitzero"`
}

// GapsOf returns the JSON of gaps.
func GapsOf(g *capture.Gaps) Gaps {
	j := Gaps{
		Lost: g.Exchanges, Crashes: g.Crashes, CrashWithin: int64(g.Crash.Within), Insecure: g.Insecure, Secrets: g.Secrets,
		Unfinished: g.Unfinished,
	}
	if !g.Crash.After.IsZero() {
		j.CrashAfter = Time(g.Crash.After)
	}
	return j
}

// Gaps is the other way.
func (j *Gaps) Gaps() (g capture.Gaps, err error) {
	if j.Lost < 0 || j.CrashWithin < 0 {
		return g, fmt.Errorf("a count is below zero")
	}
	g = capture.Gaps{
		Exchanges: j.Lost, Crashes: j.Crashes, Crash: capture.Crash{Within: time.Duration(j.CrashWithin)},
		Insecure: j.Insecure, Secrets: j.Secrets, Unfinished: j.Unfinished,
	}
	if j.CrashAfter != "" {
		if g.Crash.After, err = ParseTime(j.CrashAfter); err != nil {
			return g, fmt.Errorf("crashAfter: %w", err)
		}
	}
	return g, nil
}
