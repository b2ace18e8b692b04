package present

import (
	"io"

	"a2atap/replay/report"
)

// differenceInks are how a terminal draws the pieces of a report of differences.
var differenceInks = [...]ink{
	report.Plain: inkPlain, report.Heading: inkWarn, report.Was: inkBad, report.Now: inkGood, report.Aside: inkDim,
}

// WriteDifferences writes a report of differences in the form of that name; text in colours, if they are wanted.
func WriteDifferences(w io.Writer, format string, r *report.Report, colours bool) error {
	if format != "text" || !colours {
		return report.Write(w, format, r)
	}
	return report.Painted(w, r, func(i report.Ink, text string) string {
		return paint(true, piece{text, differenceInks[i]})
	})
}
