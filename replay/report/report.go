package report

import (
	"fmt"

	"a2atap/analyzer"
)

// A Status is the result for one recorded exchange.
type Status string

// The statuses of an exchange.
const (
	Matched   Status = "matched"
	Differing Status = "differing"
	LeftOut   Status = "left-out"
)

// A Line is the result for one recorded exchange.
type Line struct {
	Exchange    uint64
	Live        uint64 // number of the (last) exchange in the replayed traffic; 0 if it was not sent
	Operation   string
	Task        string // as recorded
	Status      Status
	Why         string // it was left out
	Requests    int    // how often it was sent: more than once if it polls
	Differences []Difference
}

// Deliveries counts the notifications.
type Deliveries struct {
	Expected int    // recorded, for tasks that were replayed
	Received int    // from the live agent, for the same tasks
	LeftOut  int    // recorded, and not compared
	Why      string // something was left out
}

// A Tool names the program that wrote a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// A Report is the result of a replay. Each chosen exchange of the capture has one line, in order.
type Report struct {
	Tool        Tool
	Capture     string
	To          string
	Profile     string
	Sent        int // exchanges; Matched and Differing add up to it
	Matched     int
	Differing   int
	LeftOut     int
	Texts       int    // in recorded answers to what was sent, which the profile does not compare
	Lost        int64  // exchanges of which the capture says that nothing was recorded
	Crash       string // what the capture says of a recorder that was killed; empty if none was
	Lines       []Line
	Differences []Difference // those of the lines, of notifications, and new findings
	Deliveries  Deliveries
	Findings    []analyzer.Finding // new ones, in the replayed traffic
	Notes       []string           // further remarks
}

// Same reports whether something was sent, nothing differs, and the capture lacks nothing.
func (r *Report) Same() bool {
	return r.Sent > 0 && len(r.Differences) == 0 && r.Lost == 0 && r.Crash == ""
}

// Verdict returns the report in one line, counts included.
func (r *Report) Verdict() string {
	what := "no difference"
	switch n := len(r.Differences); {
	case r.Sent == 0:
		what = "inconclusive: nothing was sent"
	case n == 1:
		what = "1 difference"
	case n > 1:
		what = fmt.Sprintf("%d differences", n)
	}
	s := fmt.Sprintf("%s; %d sent, %d matched, %d differing, %d left out",
		what, r.Sent, r.Matched, r.Differing, r.LeftOut)
	if r.Texts > 0 {
		s += fmt.Sprintf("; texts not compared: %d", r.Texts)
	}
	if r.Lost > 0 {
		s += fmt.Sprintf("; incomplete: %d exchanges were not recorded", r.Lost)
	}
	if r.Crash != "" {
		s += "; incomplete: " + r.Crash
	}
	if d := r.Deliveries; d.Expected > 0 || d.LeftOut > 0 {
		s += fmt.Sprintf("; %d of %d notifications received, %d left out", d.Received, d.Expected, d.LeftOut)
	}
	return s
}
