// Package baseline keeps the findings that a project has accepted, so that a check fails for new ones only.
//
// A baseline is a JSON file that people read, edit and commit. Entries are recognised by fingerprint: rule, who broke
// it, the agent, the operation, and the place without its numbers. A capture made tomorrow has the same ones.
package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/jsondoc"
)

// Version is that of the file format.
const Version = 1

// A Baseline is the accepted findings. It is not safe for concurrent use.
type Baseline struct {
	Version int     `json:"version"`
	Known   []Entry `json:"known"`

	index map[string]int // fingerprint → position in Known; nil if it has to be made
}

// An Entry is one accepted finding. Only the fingerprint decides; the rest is for people.
type Entry struct {
	Fingerprint string `json:"fingerprint"`
	Rule        string `json:"rule"`
	Side        string `json:"side"`
	Agent       string `json:"agent"`
	Operation   string `json:"operation"`
	Place       string `json:"place"`            // of the first such finding, with the numbers that it had
	Message     string `json:"message"`          // the same
	Reason      string `json:"reason,omitempty"` // why it is accepted: written by people, kept by Update

	seen int // findings that it stands for
}

// Read reads a baseline. An error names what is wrong with it.
func Read(r io.Reader) (*Baseline, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var b Baseline
	if err := d.Decode(&b); err != nil {
		return nil, fmt.Errorf("it is no baseline: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is no baseline: there is more than one JSON value in it")
	}
	switch {
	case b.Version == 0:
		return nil, errors.New(`it is no baseline: there is no "version"`)
	case b.Version > Version:
		return nil, fmt.Errorf("it is of version %d, and this program knows %d", b.Version, Version)
	}
	for i, e := range b.Known {
		if e.Fingerprint == "" {
			return nil, fmt.Errorf("entry %d has no fingerprint", i+1)
		}
	}
	return &b, nil
}

// Write writes the baseline in a form that makes small diffs: sorted, one member a line.
func (b *Baseline) Write(w io.Writer) error {
	e := json.NewEncoder(jsondoc.NewEscaper(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	out := Baseline{Version: Version, Known: append([]Entry{}, b.Known...)}
	slices.SortFunc(out.Known, func(a, b Entry) int {
		return strings.Compare(a.Rule+"\x00"+a.Agent+"\x00"+a.Fingerprint, b.Rule+"\x00"+b.Agent+"\x00"+b.Fingerprint)
	})
	return e.Encode(out)
}

// Knows reports whether a finding is accepted, and counts it as seen.
func (b *Baseline) Knows(f *analyzer.Finding) bool {
	if b.index == nil {
		b.index = make(map[string]int, len(b.Known))
		for i := range b.Known {
			b.index[b.Known[i].Fingerprint] = i
		}
	}
	i, ok := b.index[f.Fingerprint()]
	if ok {
		b.Known[i].seen++
	}
	return ok
}

// Accept adds a finding, unless it is there already.
func (b *Baseline) Accept(f *analyzer.Finding) {
	if b.Knows(f) {
		return
	}
	b.index[f.Fingerprint()] = len(b.Known)
	b.Known = append(b.Known, Entry{
		Fingerprint: f.Fingerprint(), Rule: f.Rule.ID, Side: f.Side.String(), Agent: f.Link.Agent,
		Operation: f.Operation.String(),
		Place:     f.Place.String(), Message: f.Message, seen: 1,
	})
}

// Stale returns the entries that stood for no finding although their rule was observed on their agent: they have been
// mended, or their place has changed.
func (b *Baseline) Stale(coverage []judgment.Coverage) []Entry {
	var stale []Entry
	for _, e := range b.Known {
		if e.seen == 0 && observed(coverage, &e) {
			stale = append(stale, e)
		}
	}
	return stale
}

func observed(coverage []judgment.Coverage, e *Entry) bool {
	return slices.ContainsFunc(coverage, func(c judgment.Coverage) bool {
		return c.Rule.ID == e.Rule && c.Link.Agent == e.Agent && c.Applied > 0
	})
}

// Drop removes entries.
func (b *Baseline) Drop(entries []Entry) {
	b.index = nil
	b.Known = slices.DeleteFunc(b.Known, func(e Entry) bool {
		return slices.ContainsFunc(entries, func(d Entry) bool { return d.Fingerprint == e.Fingerprint })
	})
}
