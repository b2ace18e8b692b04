package prober

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
)

// A waiver accepts the failure of tests.
type waiver struct {
	Test   string `json:"test"` // a test's name, with * for any text
	Reason string `json:"reason"`
	Until  string `json:"until"` // the last day, 2006-01-02; empty for no end

	last time.Time // the end of that day
	used bool
	over bool
}

// waivers are those of a file. Nil holds none.
type waivers struct {
	file string
	list []waiver
}

// readWaivers reads the file of --waivers; an empty name is no file.
func readWaivers(file string) (*waivers, error) {
	if file == "" {
		return &waivers{}, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the waivers %s: %w", file, cli.Cause(err))
	}
	list, err := parseWaivers(text)
	if err != nil {
		return nil, fmt.Errorf("read the waivers %s: %w", file, err)
	}
	return &waivers{file: file, list: list}, nil
}

func parseWaivers(text []byte) ([]waiver, error) {
	var list []waiver
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf(`%w; write a list such as [{"test": "rest/*", "reason": "why", "until": "2027-01-31"}]`, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the list")
	}
	for i := range list {
		if err := list[i].check(); err != nil {
			return nil, fmt.Errorf("number %d: %w", i+1, err)
		}
	}
	return list, nil
}

func (w *waiver) check() error {
	switch {
	case w.Test == "":
		return fmt.Errorf(`it has no "test", the name of a test`)
	case strings.TrimSpace(w.Reason) == "":
		return fmt.Errorf(`it has no "reason"`)
	}
	if _, err := path.Match(w.Test, ""); err != nil {
		return fmt.Errorf("test %q: %w; write a test's name, with * for any text", w.Test, err)
	}
	if w.Until == "" {
		return nil
	}
	day, err := time.Parse(time.DateOnly, w.Until)
	if err != nil {
		return fmt.Errorf("until %q: write a day such as 2027-01-31", w.Until)
	}
	w.last = day.AddDate(0, 0, 1)
	return nil
}

// matches reports whether the waiver is for a test: by its name, or by the id at the end of it.
func (w *waiver) matches(test string) bool {
	_, id, _ := strings.Cut(test, "/")
	return matches1(w.Test, test) || id != "" && matches1(w.Test, id)
}

// apply marks the failures that are waived.
func (w *waivers) apply(r *report.Report, now time.Time) {
	for i := range w.list {
		one := &w.list[i]
		one.over = !one.last.IsZero() && !now.Before(one.last)
		for s := range r.Tests {
			for t := range r.Tests[s].Tests {
				test := &r.Tests[s].Tests[t]
				if !test.Bad() || !one.matches(test.Name) {
					continue
				}
				one.used = true
				if !one.over && test.Waived == "" {
					test.Waived = one.Reason
				}
			}
		}
	}
}

// tell says which waivers have expired, and which match no failure.
func (w *waivers) tell(e cli.Env) {
	for i := range w.list {
		one := &w.list[i]
		switch {
		case one.over:
			e.Tell("a2atap: %s: the waiver of %s has expired on %s", w.file, analyzer.Clean(one.Test), one.Until)
		case !one.used:
			e.Tell("a2atap: %s: the waiver of %s matches no failure; it can be removed", w.file, analyzer.Clean(one.Test))
		}
	}
}
