// Package baseline stores the findings and failures that a project has accepted, so that only new ones count: in check,
// replay, probe and package analyzertest.
//
// A baseline is a JSON file that people read, edit and commit. Findings are recognized by their fingerprints: rule,
// side at fault, agent (which sends notifications), operation, and the place without its numbers. These are the same in
// later captures. A failed call is recognized by its own fingerprint and its client. The fingerprint has the agent, the
// operation, the binding, the error's name and code, and its text without words that have numbers. A failure of probe
// is recognized by the test's name, or by a pattern. An entry may have a reason and an expiry date.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/safetext"
)

// Version is the version of the file format. Version 1 had no failed calls.
const Version = 2

// A Baseline is a set of accepted findings and failures. It is not safe for concurrent use.
type Baseline struct {
	Version int     `json:"version"`
	Known   []Entry `json:"known"`

	index map[string]int // fingerprint → position in Known; built on demand
}

// An Entry accepts one finding, or failed calls, by their fingerprint, or the failures of tests, by their name. The
// client of calls, the agent of a test, and the expiry date also count; all other members are only for readers.
type Entry struct {
	Fingerprint string `json:"fingerprint,omitempty"`
	Error       string `json:"error,omitempty"`  // of failed calls: its code, if it has one, and its name
	Client      string `json:"client,omitempty"` // of failed calls: empty for all clients
	Rule        string `json:"rule,omitempty"`
	Side        string `json:"side,omitempty"`
	Test        string `json:"test,omitempty"`  // its name, or its id, with * for any text but /
	Agent       string `json:"agent,omitempty"` // of a test: empty for all agents
	Operation   string `json:"operation,omitempty"`
	Place       string `json:"place,omitempty"`   // of the first such finding, with the numbers that it had
	Message     string `json:"message,omitempty"` // the same; for failed calls, the text of the first one's error
	Reason      string `json:"reason,omitempty"`  // why it is accepted: written by people, kept
	Until       string `json:"until,omitempty"`   // the last day on which it is accepted, 2006-01-02; empty for no end

	expired bool
	seen    int // number of accepted findings, or of those it accepted before it expired
}

// String describes the accepted entry for people.
func (e *Entry) String() string {
	if e.Test != "" && e.Agent != "" {
		return fmt.Sprintf("test %s of %s", analysis.Clean(e.Test), analysis.Clean(e.Agent))
	}
	if e.Test != "" {
		return "test " + analysis.Clean(e.Test)
	}
	if e.Error != "" {
		return fmt.Sprintf("%s of %s %s", analysis.Clean(e.Error), analysis.Clean(e.Agent), analysis.Clean(e.Operation))
	}
	return fmt.Sprintf("%s of %s %s at %s", e.Rule, e.Side, analysis.Clean(e.Agent), analysis.Clean(e.Place))
}

// check returns what is wrong with an entry, and records whether it has expired.
func (e *Entry) check(now time.Time) error {
	switch {
	case e.Fingerprint == "" && e.Test == "":
		return errors.New("has no fingerprint and no test")
	case e.Fingerprint != "" && e.Test != "":
		return errors.New("has both a fingerprint and a test; write one entry for each")
	}
	if _, err := path.Match(e.Test, ""); err != nil {
		return fmt.Errorf("has the test %q: %w; write a test's name, with * for any text except /", e.Test, err)
	}
	if e.Until == "" {
		return nil
	}
	day, err := time.ParseInLocation(time.DateOnly, e.Until, now.Location())
	if err != nil {
		return fmt.Errorf("has \"until\": %q; write a day such as 2027-01-31", e.Until)
	}
	e.expired = !now.Before(day.AddDate(0, 0, 1))
	return nil
}

// Read reads a baseline. Entries that have expired by now accept nothing. An error names what is wrong with it.
func Read(r io.Reader, now time.Time) (*Baseline, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("[")) { // the entries alone, as probe read them before
		text = slices.Concat([]byte(`{"version": 1, "known": `), text, []byte("}"))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // "untill" would accept without an end
	var b Baseline
	if err := d.Decode(&b); err != nil {
		return nil, fmt.Errorf("it is not a baseline: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is not a baseline: it has more than one JSON value")
	}
	switch {
	case b.Version == 0:
		return nil, errors.New(`it is not a baseline: it has no "version"`)
	case b.Version > Version:
		return nil, fmt.Errorf("it has version %d, and this build reads up to %d; update a2atap", b.Version, Version)
	}
	for i := range b.Known {
		if err := b.Known[i].check(now); err != nil {
			return nil, fmt.Errorf("entry %d %w", i+1, err)
		}
	}
	return &b, nil
}

// Write writes the baseline in a form that makes small diffs: sorted, one member a line.
func (b *Baseline) Write(w io.Writer) error {
	out := Baseline{Version: Version, Known: append([]Entry{}, b.Known...)}
	slices.SortFunc(out.Known, func(a, b Entry) int {
		return slices.Compare(a.order(), b.order())
	})
	return safetext.NewEncoder(w, "  ").Encode(out)
}

func (e *Entry) order() []string {
	return []string{e.Rule, e.Test, e.Agent, e.Error, e.Operation, e.Fingerprint, e.Client}
}

// Knows reports whether a finding is accepted.
func (b *Baseline) Knows(f *analysis.Finding) bool {
	e := b.find(f)
	return e != nil && !e.expired
}

// find returns the entry of a finding, and marks it as seen; nil without an entry.
func (b *Baseline) find(f *analysis.Finding) *Entry {
	if b.index == nil {
		b.index = make(map[string]int, len(b.Known))
		for i := range b.Known {
			b.index[b.Known[i].Fingerprint] = i
		}
	}
	i, ok := b.index[f.Fingerprint()]
	if !ok {
		i, ok = b.index[f.OldFingerprint()]
	}
	if !ok {
		return nil
	}
	b.Known[i].seen++
	return &b.Known[i]
}

// Accept accepts a finding: it adds an entry, or renews one that has expired.
func (b *Baseline) Accept(f *analysis.Finding) {
	if e := b.find(f); e != nil {
		e.renew()
		return
	}
	b.index[f.Fingerprint()] = len(b.Known)
	b.Known = append(b.Known, Entry{
		Fingerprint: f.Fingerprint(), Rule: f.Rule.ID, Side: f.Side.String(), Agent: f.Programs().Agent,
		Operation: f.Operation.String(),
		Place:     f.Place.String(), Message: f.Message(), seen: 1,
	})
}

func (e *Entry) renew() {
	if e.expired {
		e.expired, e.Until = false, ""
	}
}

// KnowsCalls reports whether failed calls are accepted. An entry without a client accepts the calls of every client.
func (b *Baseline) KnowsCalls(f *judgment.FailedCalls) bool {
	known := false
	for _, e := range b.calls(f) {
		e.seen++
		known = known || !e.expired
	}
	return known
}

// AcceptCalls accepts failed calls: it adds an entry, or renews those that have expired.
func (b *Baseline) AcceptCalls(f *judgment.FailedCalls) {
	entries := b.calls(f)
	for _, e := range entries {
		e.seen++
		e.renew()
	}
	if len(entries) == 0 {
		b.Known = append(b.Known, Entry{
			Fingerprint: f.Fingerprint(), Error: strings.TrimSpace(f.Code + " " + f.Error), Client: f.Programs().Client,
			Agent: f.Programs().Agent, Operation: f.Operation, Message: f.Text, seen: 1,
		})
	}
}

// calls returns the entries of failed calls.
func (b *Baseline) calls(f *judgment.FailedCalls) (list []*Entry) {
	now, old := f.Fingerprint(), f.OldFingerprint()
	for i := range b.Known {
		e := &b.Known[i]
		if e.Fingerprint == now && e.isOf(f.Programs().Client) || e.Fingerprint == old && e.isOf(f.Link.Client) {
			list = append(list, e)
		}
	}
	return list
}

// isOf reports whether an entry is about calls of a client. Entries without a client are about all, and a client without
// a name may be any.
func (e *Entry) isOf(client string) bool { return e.Client == "" || client == "" || e.Client == client }

// A Test is one that an agent was put to.
type Test struct{ Agent, Name string }

// is reports whether an entry is about a test: by its name, or by the id at the end of it.
func (e *Entry) is(t Test) bool {
	if e.Test == "" || e.Agent != "" && e.Agent != t.Agent {
		return false
	}
	_, id, _ := strings.Cut(t.Name, "/")
	return matches(e.Test, t.Name) || id != "" && matches(e.Test, id)
}

func matches(pattern, text string) bool {
	ok, err := path.Match(pattern, text)
	return ok && err == nil
}

// KnowsFailure reports whether the failure of a test is accepted, and why.
func (b *Baseline) KnowsFailure(t Test) (reason string, ok bool) {
	for i := range b.Known {
		e := &b.Known[i]
		if !e.is(t) {
			continue
		}
		e.seen++
		if !ok && !e.expired {
			reason, ok = cmp.Or(e.Reason, "in the baseline"), true
		}
	}
	return reason, ok
}

// AcceptFailure accepts the failure of a test: it adds an entry, or renews an expired one.
func (b *Baseline) AcceptFailure(t Test, message string) {
	if _, ok := b.KnowsFailure(t); ok {
		return
	}
	found := false
	for i := range b.Known {
		if b.Known[i].is(t) {
			b.Known[i].renew()
			found = true
		}
	}
	if !found {
		b.Known = append(b.Known, Entry{Test: t.Name, Agent: t.Agent, Message: message, seen: 1})
	}
}

// Expired returns the entries that would accept something, and have expired.
func (b *Baseline) Expired() []Entry {
	var list []Entry
	for _, e := range b.Known {
		if e.expired && e.seen > 0 {
			list = append(list, e)
		}
	}
	return list
}

// Stale returns the entries without matches although their rule was observed on their agent, their client has called
// their agent successfully, or their test has passed: the problem was fixed, or its place has changed.
func (b *Baseline) Stale(coverage []judgment.Coverage, calls []judgment.Calls, passed []Test) []Entry {
	var stale []Entry
	for _, e := range b.Known {
		if e.seen == 0 && (observed(coverage, &e) || called(calls, &e) || slices.ContainsFunc(passed, e.is)) {
			stale = append(stale, e)
		}
	}
	return stale
}

func observed(coverage []judgment.Coverage, e *Entry) bool {
	return slices.ContainsFunc(coverage, func(c judgment.Coverage) bool {
		return c.Rule.ID == e.Rule && (c.Programs().Agent == e.Agent || c.Link.Agent == e.Agent) && c.Applied > 0
	})
}

func called(calls []judgment.Calls, e *Entry) bool {
	return e.Error != "" && slices.ContainsFunc(calls, func(c judgment.Calls) bool {
		return c.Succeeded > 0 && c.Link.Agent == e.Agent && (e.Client == "" || c.Link.Client == e.Client)
	})
}

// Drop removes entries.
func (b *Baseline) Drop(entries []Entry) {
	b.index = nil
	b.Known = slices.DeleteFunc(b.Known, func(e Entry) bool { return slices.Contains(entries, e) })
}
