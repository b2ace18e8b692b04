package judgment

import (
	"fmt"
	"strconv"
	"time"

	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/neighbor"
)

// maxNeighbors bounds the programs whose last failed non-A2A call is remembered.
const maxNeighbors = 1000

// A mishap is a failed call of a model or an MCP server.
type mishap struct {
	ended time.Time
	text  string // "its model answered 429"
}

// isNeighbor reports whether an exchange is a call of a model or an MCP server. It is not judged, and never missing
// from a verdict, which covers only A2A.
func isNeighbor(s *summary.Summary) bool {
	return s.Neighbor != nil && s.Neighbor.Kind != neighbor.Other
}

// countNeighbor records a call of a model or an MCP server, if it failed.
func (a *Account) countNeighbor(s *summary.Summary) {
	if !s.Failed() {
		return
	}
	n := s.Neighbor
	f := FailedCalls{
		Exchange: s.Seq, Link: s.Link, Operation: s.Asked, Error: "failed", Text: s.FailureText(), Count: 1, Other: true,
	}
	switch {
	case s.Status >= 400:
		f.Error = "HTTP " + strconv.Itoa(s.Status)
	case s.Fault != nil:
		f.Error = s.Faulted()
	}
	a.failed.add(f)
	if s.Took < 0 || s.Started.IsZero() {
		return
	}
	text := "its model "
	if n.Kind == neighbor.MCP {
		text = "its tool " + n.Subject + " "
	}
	switch {
	case s.Status >= 400:
		text += "answered " + strconv.Itoa(s.Status)
	case s.Fault != nil:
		text += "broke off"
	default:
		text += "failed"
	}
	if a.mishaps == nil {
		a.mishaps = recent.New[string, mishap](maxNeighbors)
	}
	a.mishaps.Put(s.Link.Client, mishap{s.Started.Add(s.Took), text})
}

// causeOf names the failed model or tool call that an agent made during its own failed call, or "".
func (a *Account) causeOf(s *summary.Summary) string {
	if a.mishaps == nil || s.Took < 0 || s.Started.IsZero() {
		return ""
	}
	m, known := a.mishaps.Get(s.Link.Agent)
	after := s.Started.Add(s.Took).Sub(m.ended)
	if !known || m.ended.Before(s.Started) || after < 0 {
		return ""
	}
	return fmt.Sprintf("%s after %s", summary.DurationWords(after), m.text)
}
