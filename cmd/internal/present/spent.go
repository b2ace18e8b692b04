package present

import (
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/summary"
	"a2atap/proxy/neighbor"
)

// A spent is the cost of exchanges, by their kinds. For handshakes with MCP servers only the time counts; messages of
// streams do not count.
type spent struct {
	calls, failed [neighbor.Model + 1]int
	time          [neighbor.Model + 1]time.Duration
	input, output int64 // tokens
}

// spentOn returns the cost of one exchange.
func spentOn(row *snapshot.Row) (s spent) {
	kind := row.Kind()
	if n := row.Neighbor; n == nil || !n.Listens() {
		s.time[kind] = max(row.Took, 0)
	}
	if kind == neighbor.A2A && row.Call || kind == neighbor.Model || kind == neighbor.MCP && !row.Neighbor.Handshake() {
		s.calls[kind] = 1
		if row.Failed() {
			s.failed[kind] = 1
		}
	}
	if n := row.Neighbor; n != nil {
		s.input, s.output = n.Input, n.Output
	}
	return s
}

func (s *spent) add(o spent) {
	for kind := range s.calls {
		s.calls[kind] += o.calls[kind]
		s.failed[kind] += o.failed[kind]
		s.time[kind] += o.time[kind]
	}
	s.input, s.output = s.input+o.input, s.output+o.output
}

// String returns the sum as text; "" if only agents were called.
func (s *spent) String() string {
	if s.calls[neighbor.Model]+s.calls[neighbor.MCP] == 0 {
		return ""
	}
	var words []string
	for _, kind := range []struct {
		of   neighbor.Kind
		noun string
	}{{neighbor.Model, "model call"}, {neighbor.MCP, "tool call"}, {neighbor.A2A, "agent call"}} {
		n := s.calls[kind.of]
		if n == 0 {
			continue
		}
		text := analysis.Plural(n, kind.noun) + " in " + summary.DurationWords(s.time[kind.of])
		if failed := s.failed[kind.of]; failed > 0 {
			text += fmt.Sprintf(" (%d failed)", failed)
		}
		if kind.of == neighbor.Model && s.input+s.output > 0 {
			text += fmt.Sprintf(", %d→%d tokens", s.input, s.output)
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}
