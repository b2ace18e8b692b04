package tui

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
)

// What is exported is chosen, then the form, then the file; nothing is overwritten without a word.
func TestExport(t *testing.T) {
	var written []string
	exporter := &Exporter{
		Formats: []ExportFormat{
			{Key: "h", Name: "har", Words: "HAR", Ending: ".har"},
			{Key: "b", Name: "body", Words: "body", Ending: ".body", Single: true},
		},
		Write: func(_ context.Context, file string, f ExportFormat, seqs []uint64, overwrite bool) (int64, error) {
			if file == "there" && !overwrite {
				return 0, fmt.Errorf("write there: %w", fs.ErrExist)
			}
			written = append(written, fmt.Sprint(file, f.Name, seqs, overwrite))
			return 4200, nil
		},
	}
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 30, Options{Exporter: exporter})
		u.press("g", "j", "E")
		u.sees("m  marked: 0 exchanges (x marks an exchange)")
		u.press("e", "h")
		u.sees("write to journey-2.har")
		u.press("enter")
		u.sees("wrote journey-2.har: 1 exchange, 4.2 kB")
		u.press("x", "j", "x", "E", "m")
		u.sees("body (of one exchange only)")
		u.press("h", "ctrl+u").typed("there").press("enter")
		u.sees("there already exists")
		u.press("esc", "E", "m", "h", "ctrl+u").typed("there").press("enter", "o")
		u.sees("wrote there: 2 exchanges")
		u.press("/").typed("is:error").press("enter", "E", "f", "h", "enter")
		u.sees("wrote journey-filtered.har")
		u.press("esc", "E", "f", "h", "ctrl+u", "enter")
		u.sees("a name is needed")
	})
	if len(written) != 3 || written[0] != "journey-2.harhar[2] false" || written[1] != "therehar[2 3] true" ||
		!strings.HasPrefix(written[2], "journey-filtered.harhar[") {
		t.Errorf("written: %q", written)
	}
}
