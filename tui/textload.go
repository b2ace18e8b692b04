package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/tui/assembly"
)

// A textSource is what was read of an exchange to put its text together. It belongs to the command under way.
type textSource struct {
	excerpt
	text   *assembly.Assembly
	call   *a2a.Call // nil until the request was read
	unread error     // why an answer that is no stream cannot be read
	laid   int       // events that were there when the text was laid out
}

// textShown is the text of an exchange as it was put together, laid out for a width. It is not changed.
type textShown struct {
	started time.Time
	stream  bool
	width   int
	events  []assembly.Event
	count   int   // events of the stream, with those that are not put together
	first   []int // by event: the line where what it brought begins; -1 if nothing of it is there
	lines   []flowLine
}

// textRead is the message of loader.text.
type textRead struct {
	ticket uint64
	source textSource
	shown  *textShown // nil if what is shown stays
	took   time.Duration
	err    error
}

// text reads on in an exchange, after a pause, puts together what it brings, and lays that out for a width.
func (l *loader) text(
	ctx context.Context, ticket, seq uint64, s textSource, columns int, pause time.Duration,
) tea.Cmd {
	return func() tea.Msg {
		if l.until(ctx).pause(pause); ctx.Err() != nil {
			return nil // the panel was left
		}
		begin := time.Now()
		answer := textRead{ticket: ticket}
		answer.err = s.read(ctx, l, seq)
		if n := len(s.text.Events); answer.err == nil && s.x != nil && (!s.more || n >= 2*s.laid) {
			s.laid = n
			answer.shown = s.layout(columns)
		}
		answer.source, answer.took = s, time.Since(begin)
		return answer
	}
}

// layText lays out what was read before for another width.
func (l *loader) layText(ticket uint64, s textSource, columns int) tea.Cmd {
	return func() tea.Msg { return textRead{ticket: ticket, source: s, shown: s.layout(columns)} }
}

// read reads on for a while.
func (s *textSource) read(ctx context.Context, l *loader, seq uint64) (err error) {
	if s.text == nil {
		s.text = &assembly.Assembly{}
	}
	s.excerpt, err = s.excerpt.read(ctx, l.src, seq, func(x *capture.Exchange, e capture.Event, at time.Duration) {
		if s.text.Full {
			return
		}
		if s.call == nil {
			s.call = &l.reader.Read(x).Call
		}
		e.At = at
		s.text.AddEvent(s.call, &e)
	})
	if err != nil || s.x == nil || s.x.Response != nil && s.x.Response.Stream {
		return err
	}
	s.text = &assembly.Assembly{}
	if !s.more {
		s.whole(&l.reader.Read(s.x).Call)
	}
	return nil
}

// whole takes an exchange that is no stream: its answer or, if it is a notification to a webhook, its request.
func (s *textSource) whole(call *a2a.Call) {
	if call.Operation == a2a.Webhook {
		head := capture.ParseRequestHead(s.x.Request.Head)
		body, _ := s.x.Request.Body.Decode(&head)
		s.text.AddAnswer(&a2a.Answer{Payload: a2a.DecodeWebhook(body)})
		return
	}
	if s.x.Response == nil || len(s.x.Response.Body.Data) == 0 {
		return
	}
	head := capture.ParseResponseHead(s.x.Response.Head)
	body, _ := s.x.Response.Body.Decode(&head)
	answer := a2a.DecodeAnswer(call, head.Status, head.Fields.MediaType(), body)
	s.text.AddAnswer(&answer)
	s.unread = answer.Doc.Err
}
