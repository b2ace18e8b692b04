package document

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/safetext"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A fact is a named value of a decoded message.
type fact struct{ name, value string }

// facts is a list of facts. Empty values are left out.
type facts []fact

func (f *facts) add(name, value string) {
	if value != "" {
		*f = append(*f, fact{name, value})
	}
}

// decoded writes the decoded request or response.
func (w *writer) decoded(at analysis.Place) {
	call := &w.doc.Reading.Call
	if !at.Response {
		w.facts(at, callFacts(call, w.doc.Reading.Dialects))
		return
	}
	res := w.Exchange.Response
	head := capture.ParseResponseHead(res.Head)
	body, _ := res.Body.Decode(&head)
	a := a2a.DecodeAnswer(call, head.Status, head.Fields.MediaType(), body)
	w.facts(at, answerFacts(&a))
}

func (w *writer) decodedEvent(at analysis.Place, data []byte) {
	a := a2a.DecodeEvent(&w.doc.Reading.Call, data)
	w.facts(at, answerFacts(&a))
}

func (w *writer) facts(at analysis.Place, list facts) {
	if len(list) == 0 {
		w.say(at, style.Text(style.Dim, "no A2A content"), 0)
	}
	for _, f := range list {
		w.put(at, style.Text(style.Name, "  "+text.Pad(f.name, 12)).Add(style.Normal, " "+f.value), 15)
	}
}

func callFacts(c *a2a.Call, in a2a.Dialects) facts {
	var f facts
	if !c.A2A() {
		return nil
	}
	f.add("operation", c.Operation.String())
	if c.Method != c.Operation.String() {
		f.add("method", c.Method)
	}
	f.add("binding", c.Binding.String())
	f.add("dialect", in.String())
	f.add("version", c.Version)
	f.add("id", string(c.ID.Raw()))
	f.add("tenant", c.Tenant)
	f.add("task", c.TaskID)
	f.add("context", c.ContextID)
	f.add("config", c.ConfigID)
	if c.HasHistoryLength {
		f.add("history", fmt.Sprint(c.HistoryLength))
	}
	if c.Message.Exists() {
		f.message(a2a.Message{Value: c.Message})
	}
	if c.PushConfig.Exists() {
		f.add("push to", c.PushConfig.URL())
	}
	if c.Batch != nil {
		f.add("batch", text.Plural(len(c.Batch), "call"))
	}
	return f
}

func answerFacts(a *a2a.Answer) facts {
	var f facts
	f.add("id", string(a.ID.Raw()))
	if a.Err != nil {
		f.add("error", a.Err.String())
		f.add("message", a.Err.Message)
		f.add("reason", a.Err.Reason)
		return f
	}
	v := a.Payload.Value
	f.add("holds", a.Payload.Kind.String())
	switch a.Payload.Kind {
	case a2a.TaskPayload:
		f.task(a2a.Task{Value: v})
	case a2a.TaskListPayload:
		for t := range a.Payload.Tasks() {
			f.add("task", t.ID()+" "+t.State().String())
		}
	case a2a.MessagePayload:
		f.message(a2a.Message{Value: v})
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		f.add("task", u.TaskID())
		f.add("context", u.ContextID())
		f.Status(u.Status())
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		f.add("task", u.TaskID())
		f.add("context", u.ContextID())
		f.artifact(u.Artifact())
	case a2a.CardPayload:
		f.card(a2a.DecodeCard(v))
	}
	return f
}

func (f *facts) message(m a2a.Message) {
	f.add("message", m.ID())
	f.add("role", m.Role().String())
	f.add("task", m.TaskID())
	f.add("context", m.ContextID())
	f.parts(m.Parts())
}

func (f *facts) task(t a2a.Task) {
	f.add("task", t.ID())
	f.add("context", t.ContextID())
	f.Status(t.Status())
	for _, v := range t.Get("artifacts").Elems() {
		f.artifact(a2a.Artifact{Value: v})
	}
	if n := t.Get("history").Len(); n > 0 {
		f.add("history", text.Plural(n, "message"))
	}
}

func (f *facts) Status(s a2a.Status) {
	f.add("state", s.State().String())
	if !s.State().Known() {
		f.add("state", s.StateText())
	}
	f.parts(s.Message().Parts())
}

func (f *facts) artifact(a a2a.Artifact) {
	f.add("artifact", strings.TrimSpace(a.ID()+" "+a.Get("name").Text()))
	f.parts(a.Parts())
}

func (f *facts) parts(parts a2a.Parts) {
	for _, p := range parts.All() {
		f.add(partWords(p))
	}
}

func partWords(p a2a.Part) (name, value string) {
	switch p.PartKind() {
	case a2a.TextPart:
		return "text", p.Text()
	case a2a.DataPart:
		return "data", string(p.Data().Raw())
	case a2a.URLPart:
		return "file", strings.TrimSpace(p.Filename() + " " + p.URI().Text())
	case a2a.RawPart:
		return "file", strings.TrimSpace(fmt.Sprintf("%s %s, %s in base64", p.Filename(), p.MediaType(),
			text.Size(int64(len(p.Bytes().Text())))))
	}
	return "part", string(p.Raw())
}

func (f *facts) card(c a2a.Card) {
	f.add("agent", strings.TrimSpace(c.Name()+" "+c.Version()))
	for _, i := range c.Interfaces {
		f.add("interface", strings.TrimSpace(i.Binding.String()+" "+i.URL))
	}
}

// EventSummary describes an event of a stream in one line.
func EventSummary(call *a2a.Call, e *capture.Event) string {
	fields := e.Fields()
	if e.K == 0 || !fields.HasData {
		if len(fields.Comments) > 0 {
			return "comment:" + string(fields.Comments[0].Value)
		}
		return "no data"
	}
	a := a2a.DecodeEvent(call, fields.Data)
	if a.Err != nil {
		return a.Err.String() + " " + a.Err.Message
	}
	switch v := a.Payload.Value; a.Payload.Kind {
	case a2a.TaskPayload:
		return "task " + a2a.Task{Value: v}.State().String()
	case a2a.StatusPayload:
		s := a2a.StatusUpdate{Value: v}.Status()
		return strings.TrimSpace("status " + s.State().String() + " " + quoted(s.Message().Parts()))
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		return strings.TrimSpace("artifact " + u.Artifact().ID() + " " + quoted(u.Artifact().Parts()))
	case a2a.MessagePayload:
		return strings.TrimSpace("message " + quoted(a2a.Message{Value: v}.Parts()))
	}
	return a.Payload.Kind.String()
}

// quoted returns the beginning of the first text among parts.
func quoted(parts a2a.Parts) string {
	for _, p := range parts.All() {
		if p.PartKind() == a2a.TextPart {
			return fmt.Sprintf("%q", safetext.Cut(p.Text(), 200))
		}
	}
	return ""
}
