package fleet

import (
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/safetext"
)

// maxName bounds, in bytes, each of the names that a recorder has: that of its host, of its file, of its program.
const maxName = 255

// plausible reports whether a recorder can have said this of itself. Anybody who may publish can write what he likes, and
// it is shown on terminals, kept in memory and added up.
func (r *Recorder) plausible() bool {
	return r.Capture != uuid.Nil && r.Host != "" && r.Host == nameOf(r.Host) && r.Name == nameOf(r.Name) &&
		r.Tool == nameOf(r.Tool) && r.Format >= 0 && plausibleCount(r.Committed) && plausibleCount(r.Crashes) &&
		plausibleLost(capture.Lost{Exchanges: r.LostExchanges, Bytes: r.LostBytes}) && r.CrashWithin >= 0
}

// maxCount is more than any recorder has counted, and little enough for the sums of many.
const maxCount = 1 << 50

func plausibleCount(n uint64) bool { return n <= maxCount }

func plausibleLost(lost capture.Lost) bool {
	return lost.Exchanges >= 0 && lost.Exchanges <= maxCount && lost.Bytes >= 0 && lost.Bytes <= maxCount
}

// nameOf makes a text a name that can be shown: a line without anything that a terminal would obey, of bounded length.
func nameOf(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return utf8.RuneError
		}
		return r
	}, safetext.Plain(text))
	for len(text) > maxName {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}
