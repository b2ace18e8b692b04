//go:build unix

package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"a2atap/analyzer/track/workflow"
)

// An exportedSpan is a span of export --format otlp, with the fields that locate it.
type exportedSpan struct {
	TraceID, SpanID, ParentSpanID string
	Attributes                    []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
}

func (s *exportedSpan) text(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}

// checkSpans requires that spans have the same parents as the links, and are in the traces of the traffic.
func checkSpans(t *testing.T, c *concert, ix *workflow.Index, all map[uint64]*performed) {
	t.Helper()
	spans := make(map[uint64]*exportedSpan)
	for line := range strings.Lines(runForOutput(t, "export", c.path, "--format", "otlp")) {
		var request struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []*exportedSpan }
			}
		}
		if err := json.Unmarshal([]byte(line), &request); err != nil {
			t.Fatal(err)
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					if n, _ := strconv.ParseUint(s.text("a2atap.exchange"), 10, 64); s.text("a2atap.client") != "" {
						spans[n] = s
					}
				}
			}
		}
	}
	for n, x := range all {
		s, l := spans[n], ix.Of(n)
		if s == nil {
			t.Errorf("%s has no span", x)
			continue
		}
		parent, inferred := s.text("a2atap.parent.exchange"), s.text("a2atap.parent.inferred")
		want := ""
		if l.Parent > 0 {
			want = strconv.FormatUint(l.Parent, 10)
		}
		// A span says what was known when its exchange ended: a call that follows, the answer that brings the task of a
		// notification, and the one that shows whose context it is, may come after that.
		late := x.card || l.By == workflow.ByDelivery || l.By == workflow.ByContext || l.By == workflow.InContext
		if late && parent == "" {
			want, l.Parent = "", 0
		}
		if parent != want || (inferred != "") != (l.Parent > 0 && !l.By.Certain()) {
			t.Errorf("the span of %s is under %q (inferred: %q), want %q (%v)", x, parent, inferred, want, l.By)
		}
		// A traceparent names trace and parent; without one they are those of the exchange that caused it.
		switch came := strings.Split(x.header("traceparent"), "-"); {
		case len(came) == 4 && (s.TraceID != came[1] || s.ParentSpanID != came[2]):
			t.Errorf("the span of %s is in trace %s under %s, and came with %q", x, s.TraceID, s.ParentSpanID, came)
		case len(came) != 4 && l.Parent > 0 && l.Parent < n &&
			(s.TraceID != spans[l.Parent].TraceID || s.ParentSpanID != spans[l.Parent].SpanID):
			t.Errorf("the span of %s is in trace %s under %s, and that of its parent is %+v", x, s.TraceID, s.ParentSpanID,
				spans[l.Parent])
		}
	}
}
