package replayer

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay"
)

const learntHeader = "# Differences from run to run, found by replay --learn-noise. Review each rule, and give its reason.\n"

// writeLearnt writes rules in file format, each with the values that justify it.
func writeLearnt(w io.Writer, learnt []replay.Learnt, header bool) error {
	var b strings.Builder
	if header {
		b.WriteString(learntHeader)
	}
	for _, l := range learnt {
		why := "the values look like secrets and are not shown"
		if !l.Secret {
			why = fmt.Sprintf("recorded %s, then %s and %s", shortly(l.Values[0]), shortly(l.Values[1]), shortly(l.Values[2]))
		}
		fmt.Fprintf(&b, "\n# %s\n%s\n", why, l.Rule)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func shortly(value string) string { return cmp.Or(analysis.Clip(value), "nothing") }
