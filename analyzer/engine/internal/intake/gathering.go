package intake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// maxSeen bounds each list of a summary.
const maxSeen = 64

// maxLocation bounds the bytes of a Location.
const maxLocation = 2000

// A gathering is the summary of an open exchange.
type gathering struct {
	summary.Summary
	last  time.Duration                    // the latest offset of a step
	whole struct{ request, response bool } // ended as their framing says
	first *firsts                          // nil without entries

	client capture.SideEnd // how its client ended the request; zero if it did not
}

// firsts holds the first entry of each list of a summary in one allocation, since most exchanges have exactly these.
type firsts struct {
	tasks, contexts [1]string
	messages        [2]string
	states          [1]a2a.State
	roles           [2]a2a.Role
}

// firsts returns the first entries of the lists, which the lists own.
func (g *gathering) firsts() *firsts {
	if g.first == nil {
		g.first = &firsts{}
	}
	return g.first
}

// begin records the opening.
func (g *gathering) begin(s *capture.Step, o *capture.Opened, head *capture.Head) {
	g.Summary = summary.Summary{
		Seq: s.Seq, ID: o.ID, Conn: o.Conn, Link: analysis.Link{Client: o.Client.Name, Agent: o.Agent.Name}, How: o.Client.How,
		AgentURL: o.Agent.URL, Started: o.Started, Took: capture.NotKnown, Gap: capture.NotKnown,
		Method: head.Method, Target: head.Target, Host: head.Fields.Get("Host"),
		ResponseSize: capture.NotKnown, Events: capture.NotKnown,
	}
	g.traced(head.Fields)
}

// step records a step, whether or not it is checked.
func (g *gathering) step(s *capture.Step) {
	switch what := s.What.(type) {
	case capture.RequestBody:
		g.RequestSize += int64(len(what.Data)) + max(what.Dropped, 0)
		g.Cut = g.Cut || what.Dropped > 0
		return
	case capture.RequestEnd:
		g.whole.request = true
		if what.Size >= 0 {
			g.RequestSize = what.Size
		}
	case capture.ResponseHead:
		g.ResponseSize = max(g.ResponseSize, 0)
		if s.Parsed != nil && s.Parsed.Head != nil {
			g.Status = s.Parsed.Head.Status
			if g.Status >= 300 && g.Status < 400 {
				leads := s.Parsed.Head.Fields.Get("Location")
				g.Said = strings.Clone(leads[:min(len(leads), maxLocation)])
			}
			g.traced(s.Parsed.Head.Fields)
		}
		if g.Stream = g.Stream || what.Stream && g.mayStream(); g.Stream {
			g.Events = max(g.Events, 0)
		}
	case capture.ResponseBody:
		g.ResponseSize = max(g.ResponseSize, 0) + int64(len(what.Data)) + max(what.Dropped, 0)
		g.Cut = g.Cut || what.Dropped > 0
		return
	case capture.ResponseEvent:
		if g.Stream = g.mayStream(); g.Stream {
			g.Events = max(g.Events, what.Event.K, 0)
		}
		g.ResponseSize = max(g.ResponseSize, 0) + int64(len(what.Event.Raw)) + max(what.Event.Dropped, 0)
		g.Cut = g.Cut || what.Event.Dropped > 0
	case capture.ResponseEnd:
		g.whole.response = true
		if what.Size >= 0 {
			g.ResponseSize = what.Size
		}
	case capture.Fact:
		g.Note(&what)
		if what.End.Side == "client" {
			g.client = what.End
		}
		return
	case capture.Lost:
		if what.Reason != "" {
			g.Notes = append(g.Notes, fmt.Sprintf("%d bytes were not recorded: %s", what.Bytes, what.Reason))
		}
		return
	case capture.Closed:
		g.close(s, &what)
	default:
		return
	}
	if s.Offset >= 0 {
		g.Gap = max(g.Gap, s.Offset-g.last, 0)
		g.last = max(g.last, s.Offset)
	}
	if g.Took >= 0 {
		g.Gap = min(g.Gap, g.Took)
	}
}

// mayStream reports whether an answer in events is a stream. Over gRPC, all answers arrive as events.
func (g *gathering) mayStream() bool { return g.Binding != a2a.GRPC || g.Operation.Streams() }

func (g *gathering) close(s *capture.Step, c *capture.Closed) {
	g.Fault, g.Life = c.Fault, capture.StateClosed
	if c.Interrupted {
		g.Took, g.Life = capture.NotKnown, capture.StateInterrupted
		return
	}
	g.Took = g.client.Duration(s.Offset, c.Fault)
	g.Cut = g.Cut || !g.whole.request || g.Status > 0 && !g.whole.response
}

// traced takes the ids under which tracing systems know the exchange.
//
// Sources: W3C Trace Context (2021), 3.2 "Traceparent Header"; B3 Propagation, "Single Header" and "Multiple Headers".
func (g *gathering) traced(fields capture.Fields) {
	for _, f := range fields {
		switch len(f.Name) {
		case len("b3"), len("traceparent"), len("x-b3-traceid"), len("traceresponse"):
		default:
			continue
		}
		switch is := func(name string) bool { return strings.EqualFold(f.Name, name) }; {
		case is("traceparent"), is("traceresponse"):
			whole := strings.Clone(f.Value)
			if g.Traces == nil {
				g.Traces = make([]string, 0, 2)
			}
			g.add(&g.Traces, whole)
			if strings.Count(whole, "-") >= 3 {
				_, rest, _ := strings.Cut(whole, "-")
				id, _, _ := strings.Cut(rest, "-")
				g.add(&g.Traces, id)
			}
		case is("x-b3-traceid"):
			g.add(&g.Traces, strings.Clone(f.Value))
		case is("b3"):
			id, _, _ := strings.Cut(f.Value, "-")
			g.add(&g.Traces, strings.Clone(id))
		}
	}
}

// add adds a value to a list. The value may outlive the exchange.
func (g *gathering) add(list *[]string, value string) {
	switch {
	case value == "" || slices.Contains(*list, value):
	case len(*list) >= maxSeen:
		g.Partial = true
	default:
		if *list == nil {
			switch list {
			case &g.Tasks:
				*list = g.firsts().tasks[:0]
			case &g.Contexts:
				*list = g.firsts().contexts[:0]
			case &g.Messages:
				*list = g.firsts().messages[:0]
			}
		}
		*list = append(*list, value)
	}
}

// asked records the request.
func (g *gathering) asked(c *a2a.Call) {
	g.called(c)
	g.add(&g.Tasks, strings.Clone(c.TaskID)) // it may be in a path
	g.add(&g.Contexts, strings.Clone(c.ContextID))
	g.Push = g.Push || c.PushConfig.Exists()
	if c.Message.Exists() {
		m := a2a.Message{Value: c.Message}
		g.add(&g.Messages, c.MessageID)
		g.refers(m)
		g.Text = firstText(m.Parts())
	}
}

// called records the call, which may be recognized later than the request.
func (g *gathering) called(c *a2a.Call) {
	g.Operation, g.Binding, g.Called = c.Asks(), c.Binding, strings.Clone(c.Method)
	if g.Dialects.Empty() {
		g.Dialects = c.Dialects
	}
	g.Asked = summary.CallWords(c)
	g.Push = g.Push || c.Operation == a2a.Webhook
	g.Card = g.Card || c.Operation == a2a.GetCard || c.Operation == a2a.GetExtendedCard
}

// answered records an answer, or an event of a stream.
func (g *gathering) answered(a *a2a.Answer, event *analysis.Event) {
	if a.Err != nil {
		if len(g.Errors) < maxSeen {
			g.Errors = append(g.Errors, summary.ErrorOf(a.Err, g.Binding))
		} else {
			g.Partial = true
		}
	}
	if event != nil && !slices.Contains(g.Kinds, a.Payload.Kind) {
		g.Kinds = append(g.Kinds, a.Payload.Kind)
	}
	g.payload(&a.Payload, event == nil && g.Text == "")
}

// typed records the type of an event.
func (g *gathering) typed(name []byte) {
	if len(name) == 0 || len(g.Types) > 0 && g.Types[len(g.Types)-1] == string(name) {
		return
	}
	g.add(&g.Types, string(name))
}

func (g *gathering) payload(p *a2a.Payload, wantText bool) {
	if g.Dialects.Empty() {
		g.Dialects = p.Dialects
	}
	switch v := p.Value; p.Kind {
	case a2a.TaskPayload:
		t := a2a.Task{Value: v}
		g.task(t)
		if wantText {
			g.Text = taskText(t)
		}
	case a2a.TaskListPayload:
		for t := range p.Tasks() {
			g.task(t)
		}
	case a2a.MessagePayload:
		m := a2a.Message{Value: v}
		g.message(m)
		if wantText {
			g.Text = firstText(m.Parts())
		}
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		g.add(&g.Tasks, u.TaskID())
		g.add(&g.Contexts, u.ContextID())
		g.state(u.State())
		g.said(u.Status().Message())
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		g.add(&g.Tasks, u.TaskID())
		g.add(&g.Contexts, u.ContextID())
	case a2a.CardPayload:
		g.Card = true
	}
}

func (g *gathering) task(t a2a.Task) {
	g.add(&g.Tasks, t.ID())
	g.add(&g.Contexts, t.ContextID())
	g.state(t.State())
	g.said(t.StatusMessage())
	for _, m := range t.History() {
		g.said(m)
	}
}

// said records a message inside a task or an update.
func (g *gathering) said(m a2a.Message) {
	if m.Exists() {
		g.message(m)
	}
}

func (g *gathering) message(m a2a.Message) {
	g.add(&g.Messages, m.ID())
	g.refers(m)
}

// refers records the contents of a message except for its id.
func (g *gathering) refers(m a2a.Message) {
	g.add(&g.Tasks, m.TaskID())
	g.add(&g.Contexts, m.ContextID())
	if r := m.Role(); r != a2a.NoRole && !slices.Contains(g.Roles, r) {
		if g.Roles == nil {
			g.Roles = g.firsts().roles[:0]
		}
		g.Roles = append(g.Roles, r)
	}
}

func (g *gathering) state(s a2a.State) {
	if !s.Known() {
		return
	}
	if g.Operation != a2a.ListTasks {
		g.State = s
	}
	if !slices.Contains(g.States, s) {
		if g.States == nil {
			g.States = g.firsts().states[:0]
		}
		g.States = append(g.States, s)
	}
}

// taskText returns the first text of a task: from its status, or else from its artifacts.
func taskText(t a2a.Task) string {
	if words := firstText(t.StatusMessage().Parts()); words != "" {
		return words
	}
	for _, artifact := range t.Artifacts() {
		if words := firstText(artifact.Parts()); words != "" {
			return words
		}
	}
	return ""
}

// firstText returns the beginning of the first text among parts, in one line.
func firstText(parts a2a.Parts) string {
	for _, p := range parts.All() {
		if p.PartKind() == a2a.TextPart {
			if text, ok := p.Get("text").Literal(); ok {
				return summary.OneLine(text)
			}
			return summary.OneLine(p.Text())
		}
	}
	return ""
}
