package textview

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/tui/internal/assembly"
	"a2atap/tui/load"
)

// A source is the data read from an exchange to assemble its text. It belongs to the running command.
type source struct {
	load.Excerpt
	text   *assembly.Assembly
	call   *a2a.Call // nil until the request has been read
	unread error     // why an answer that is not a stream cannot be read
	laid   int       // number of events at the last layout
}

// shown is the assembled text of an exchange, laid out for a width. It is immutable.
type shown struct {
	started time.Time
	stream  bool
	width   int
	events  []assembly.Event
	count   int   // events of the stream, including those not assembled
	first   []int // by event: the line where its text begins; -1 without text
	lines   []flowLine
}

// read is the message of readText.
type read struct {
	ticket uint64
	source source
	shown  *shown // nil if the text is unchanged
	took   time.Duration
	err    error
}

// readText continues to read an exchange, after a pause, assembles the new text, and lays it out for a width.
func readText(
	ctx context.Context, l *load.Loader, ticket, seq uint64, s source, columns int, pause time.Duration,
) tea.Cmd {
	return func() tea.Msg {
		if l.Until(ctx).Pause(pause); ctx.Err() != nil {
			return nil // the user has left the panel
		}
		begin := time.Now()
		answer := read{ticket: ticket}
		answer.err = s.read(ctx, l, seq)
		if n := len(s.text.Events); answer.err == nil && s.Exchange != nil && (!s.More || n >= 2*s.laid) {
			s.laid = n
			answer.shown = s.layout(columns)
		}
		answer.source, answer.took = s, time.Since(begin)
		return answer
	}
}

// layText lays out the text read before for another width.
func layText(l *load.Loader, ticket uint64, s source, columns int) tea.Cmd {
	return func() tea.Msg { return read{ticket: ticket, source: s, shown: s.layout(columns)} }
}

// read continues reading for a limited time.
func (s *source) read(ctx context.Context, l *load.Loader, seq uint64) (err error) {
	if s.text == nil {
		s.text = &assembly.Assembly{}
	}
	s.Excerpt, err = s.Excerpt.Read(ctx, l.Source, seq, func(x *capture.Exchange, e capture.Event, at time.Duration) {
		if s.text.Full {
			return
		}
		if s.call == nil {
			s.call = &l.Reader.Read(x).Call
		}
		e.At = at
		s.text.AddEvent(s.call, &e)
	})
	if err != nil || s.Exchange == nil || s.Exchange.Response != nil && s.Exchange.Response.Stream {
		return err
	}
	s.text = &assembly.Assembly{}
	if !s.More {
		s.whole(&l.Reader.Read(s.Exchange).Call)
	}
	return nil
}

// whole assembles an exchange that is not a stream: its response or, for a notification to a webhook, its request.
func (s *source) whole(call *a2a.Call) {
	if call.Operation == a2a.Webhook {
		head := capture.ParseRequestHead(s.Exchange.Request.Head)
		body, _ := s.Exchange.Request.Body.Decode(&head)
		s.text.AddAnswer(&a2a.Answer{Payload: a2a.DecodeWebhook(body)})
		return
	}
	if s.Exchange.Response == nil || len(s.Exchange.Response.Body.Data) == 0 {
		return
	}
	head := capture.ParseResponseHead(s.Exchange.Response.Head)
	body, _ := s.Exchange.Response.Body.Decode(&head)
	answer := a2a.DecodeAnswer(call, head.Status, head.Fields.MediaType(), body)
	s.text.AddAnswer(&answer)
	s.unread = answer.Doc.Err
}
