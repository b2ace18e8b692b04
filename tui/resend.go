package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/replay/report"
	"a2atap/tui/internal/diff"
	"a2atap/tui/internal/menu"
	"a2atap/tui/internal/page"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// Messages about requests that are sent again.
type (
	// prepared brings the request to send, which needs the user's confirmation.
	prepared struct {
		ticket uint64
		of     analysis.Place
		out    *Outgoing
		remark string // why the question is repeated
		err    error
	}
	// cameBack brings the result.
	cameBack struct {
		ticket uint64
		of     analysis.Place
		sent   *Sent
		err    error
	}
)

// resend asks whether to send the request of an exchange again.
func (o *outbox) resend(at analysis.Place) tea.Cmd {
	load, request := o.shared.Load, o.options.Sender.Request
	return o.prepare(at, func() (*Outgoing, error) {
		x, err := load.Source.Exchange(load.Context, at.Exchange)
		if err != nil {
			return nil, err
		}
		return request(load.Context, x)
	})
}

// replayTask asks whether to send all requests of an exchange's task again.
func (o *outbox) replayTask(at analysis.Place) tea.Cmd {
	load, task := o.shared.Load, o.options.Sender.Task
	return o.prepare(at, func() (*Outgoing, error) {
		name, seqs, err := load.SameTask(load.Context, at.Exchange)
		if err != nil {
			return nil, err
		}
		if name == "" {
			return nil, fmt.Errorf("%d has no task; r sends its request again", at.Exchange)
		}
		p, err := load.Select(load.Context, seqs, nil)
		if err != nil {
			return nil, err
		}
		return task(load.Context, p, seqs)
	})
}

// prepare returns the command that prepares the request. A key pressed before the question appears cancels it, so users
// never answer a question that they have not read.
func (o *outbox) prepare(at analysis.Place, find func() (*Outgoing, error)) tea.Cmd {
	o.preparing = o.shared.Ticket()
	ticket := o.preparing
	return func() tea.Msg {
		out, err := find()
		return prepared{ticket: ticket, of: at, out: out, err: err}
	}
}

// prepared asks for confirmation.
func (o *outbox) prepared(msg prepared) tea.Cmd {
	if msg.ticket != o.preparing {
		return nil
	}
	o.preparing = 0
	if msg.err != nil && msg.out == nil {
		o.shared.Message = msg.err.Error()
		return nil
	}
	out := msg.out
	ask := menu.New("send again?", msg.of, []menu.Choice{
		{Key: "n", Words: "do not send it", Do: func() tea.Cmd { return panel.Say("nothing was sent") }},
		{Key: "y", Words: "send it", Off: msg.remark, Informed: true, Do: func() tea.Cmd { return o.send(msg.of, out) }},
	})
	ask.Above = out.question(msg.remark)
	if out.Edited != nil {
		c := menu.Choice{Key: "e", Words: "edit it first", Do: func() tea.Cmd { return o.edit(msg.of, out) }}
		if o.options.Sender.Editor == nil {
			c.Off = "there is no editor: set VISUAL or EDITOR"
		}
		ask.Choices = append(ask.Choices, c)
		ask.Window.Length++
	}
	return o.push(ask)
}

// question returns the text of the question: the request, its destination, and the capture that will record it. The
// destination comes first, and long parts are cut, so that warnings stay on the screen.
func (o *Outgoing) question(remark string) []style.Line {
	const long = 150 // columns
	var lines []style.Line
	for _, host := range o.Remote {
		lines = append(lines, style.Text(style.Warning, "? "+text.Clip(host, long)+" is not this machine"))
	}
	lines = append(lines, style.Text(style.Strong, "send "+text.Clip(o.What, long)))
	if len(o.Remote) == 0 {
		lines = append(lines, style.Text(style.Dim, "  it stays on this machine"))
	}
	if o.File != "" {
		lines = append(lines, style.Text(style.Normal, "  saved in "+o.File))
	} else {
		lines = append(lines, style.Text(style.Normal, "  through the tap, so it is part of this recording"))
	}
	for _, r := range o.Remarks {
		lines = append(lines, style.Text(style.Normal, "  "+text.Clip(r, long)))
	}
	if remark != "" {
		lines = append(lines, style.Text(style.Error, "! "+remark))
	}
	return lines
}

// send sends the request, outside the event loop.
func (o *outbox) send(at analysis.Place, out *Outgoing) tea.Cmd {
	ctx, cancel := context.WithCancel(o.shared.Load.Context)
	ticket := o.shared.Ticket()
	o.sending = &sending{ticket, cancel, out.What}
	o.shared.Message = "sending " + out.What
	return func() tea.Msg {
		defer cancel()
		s, err := out.Send(ctx)
		if ctx.Err() != nil && err == nil && s == nil {
			err = ctx.Err()
		}
		return cameBack{ticket: ticket, of: at, sent: s, err: err}
	}
}

// stopSending cancels a running send, and reports whether there was one.
func (o *outbox) stopSending() bool {
	if o.sending == nil {
		return false
	}
	o.sending.cancel()
	o.shared.Message = "canceling the request"
	return true
}

// cameBack shows the result.
func (o *outbox) cameBack(msg cameBack) tea.Cmd {
	if o.sending == nil || msg.ticket != o.sending.ticket {
		return nil
	}
	o.sending, o.shared.Message = nil, ""
	s := msg.sent
	switch {
	case s == nil && errors.Is(msg.err, context.Canceled):
		o.shared.Message = "canceled; there was no answer"
		return nil
	case s == nil:
		o.shared.Message = msg.err.Error()
		return nil
	case s.Report != nil:
		return o.push(newReportPage(s, msg.err))
	case s.Exchange == nil:
		o.shared.Message = "Sent. Waiting for the answer to be recorded"
		return nil
	}
	return o.push(o.newAnswered(msg.of, s, msg.err))
}

// newAnswered returns the menu of actions on the response to a request that was sent again.
func (o *outbox) newAnswered(at analysis.Place, s *Sent, problem error) *menu.Menu {
	x := s.Exchange
	e := o.shared.Load.EntryOf(x)
	where := "exchange " + fmt.Sprint(x.Seq)
	if s.File != "" {
		where += " in " + s.File
	}
	var ask *menu.Menu
	back := func() tea.Cmd { return nil }
	if s.File == "" {
		ask = menu.New("sent again", analysis.Place{Exchange: x.Seq}, []menu.Choice{
			{Key: "d", Words: fmt.Sprintf("what differs from %d", at.Exchange), Do: func() tea.Cmd {
				return o.openDiff(diff.Side{Seq: at.Exchange}, diff.Side{Seq: x.Seq})
			}},
			{Key: "o", Words: "open it", Do: func() tea.Cmd { return o.openDetail(analysis.Place{Exchange: x.Seq}) }},
			{Key: "b", Words: "back", Do: back},
		})
	} else {
		one := alone(x, s.File)
		ask = menu.New("sent again", analysis.Place{}, []menu.Choice{
			{Key: "d", Words: fmt.Sprintf("what differs from %d", at.Exchange), Do: func() tea.Cmd {
				return o.openDiff(diff.Side{Seq: at.Exchange}, diff.Side{Seq: x.Seq, Other: one, Name: where})
			}},
			{Key: "o", Words: "open it", Do: func() tea.Cmd { return o.openOther(one, x.Seq, filepath.Base(s.File)) }},
			{Key: "b", Words: "back", Do: back},
		})
	}
	ask.Above = []style.Line{
		style.Text(style.Strong, e.Request).Add(style.Normal, " "+e.Status+" "+text.Duration(max(e.Took, 0))+" ").Join(panel.Outcome(&e, 0)),
		style.Text(style.Normal, "  "+where),
	}
	if problem != nil {
		ask.Above = append(ask.Above, style.Text(style.Error, "! "+problem.Error()))
	}
	return ask
}

// alone returns a capture of one exchange.
func alone(x *capture.Exchange, name string) *load.Selection {
	p := &load.Selection{Chosen: map[uint64]bool{x.Seq: true}}
	p.Memory, _ = capture.ReadMemory(capture.Info{Name: name}, capture.Each(x)) // this cannot fail
	return p
}

// newReportPage returns the page with the differences of a replayed task.
func newReportPage(s *Sent, problem error) *page.Page {
	return &page.Page{Name: "replay", Write: func(columns int) []style.Line {
		var lines []style.Line
		if problem != nil {
			lines = append(lines, style.Text(style.Error, "! "+problem.Error()), style.Line{})
		}
		if s.File != "" {
			lines = append(lines, style.Text(style.Dim, " saved in "+s.File))
		}
		for _, l := range diff.ReportLines(s.Report) {
			lines = append(lines, diff.WrapReport(l, columns)...)
		}
		return lines
	}}
}

// editable reports that the request was written to a file for the user's editor.
type editable struct {
	ticket uint64
	of     analysis.Place
	out    *Outgoing
	file   string
}

// edit writes the request into a file, for the user's editor.
func (o *outbox) edit(at analysis.Place, out *Outgoing) tea.Cmd {
	o.preparing = o.shared.Ticket()
	ticket := o.preparing
	return func() tea.Msg {
		file, err := writeTemporary(out.Text)
		if err != nil {
			return prepared{ticket: ticket, err: fmt.Errorf("%w; nothing was sent", err)}
		}
		return editable{ticket, at, out, file}
	}
}

// openEditor opens the editor, which uses the screen until it exits, and then asks again.
func (o *outbox) openEditor(msg editable) tea.Cmd {
	o.preparing = msg.ticket // no key for another purpose can have come in between
	cmd, err := o.options.Sender.Editor(msg.file)
	if err != nil {
		return func() tea.Msg {
			os.Remove(msg.file) //nolint:errcheck // it is a temporary file
			return prepared{ticket: msg.ticket, err: err}
		}
	}
	return o.exec(cmd, func(err error) tea.Msg {
		defer os.Remove(msg.file) //nolint:errcheck // it is a temporary file
		if err != nil {
			err = fmt.Errorf("the editor %s failed: %w; nothing was sent", cmd.Path, err)
			return prepared{ticket: msg.ticket, err: err}
		}
		return msg.edited()
	})
}

// edited reads the edited file.
func (e *editable) edited() prepared {
	msg := prepared{ticket: e.ticket, of: e.of}
	text, err := os.ReadFile(e.file)
	switch {
	case err != nil:
		msg.err = fmt.Errorf("%w; nothing was sent", err)
	case len(bytes.TrimSpace(text)) == 0:
		msg.err = errors.New("the request was empty, so nothing was sent")
	case bytes.Equal(text, e.out.Text):
		msg.err = errors.New("nothing was changed, so nothing was sent")
	default:
		if msg.out, err = e.out.Edited(text); err != nil {
			again := *e.out
			again.Text, msg.out, msg.remark = text, &again, err.Error()
			break
		}
		msg.out.What += " (edited)"
	}
	return msg
}

// writeTemporary writes a file that only the user can read.
func writeTemporary(text []byte) (string, error) {
	f, err := os.CreateTemp("", "a2atap-request-*.txtar")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name()) //nolint:errcheck // it could not be written
		return "", err
	}
	return f.Name(), nil
}

// A Sender sends recorded requests again. Its functions run outside the event loop, and end when their context does.
type Sender struct {
	// Request returns what would be sent for the request of an exchange, without sending it.
	Request func(ctx context.Context, x *capture.Exchange) (*Outgoing, error)
	// Task is Request for all requests of a task, as a2atap replay sends them. The source has the exchanges of the task
	// and related ones; seqs are the numbers of the task's exchanges.
	Task func(ctx context.Context, src capture.Source, seqs []uint64) (*Outgoing, error)
	// Editor returns the command that opens a file in the user's editor, or nil if the user has none.
	Editor func(path string) (*exec.Cmd, error)
}

// An Outgoing is a request, or a task, that waits for the user's confirmation.
type Outgoing struct {
	What    string   // description, such as "POST http://127.0.0.1:9001/spec"
	Remote  []string // destination hosts other than this machine
	Remarks []string // messages for the user: what is not sent, and why
	File    string   // the capture that will record it; empty for the capture being viewed

	Send func(context.Context) (*Sent, error)

	// Text is the request for an editor, as a transcript. Edited returns the changed request; its error names the wrong
	// line. Text is nil if there is nothing to edit.
	Text   []byte
	Edited func(text []byte) (*Outgoing, error)
}

// A Sent is the result of an Outgoing.
type Sent struct {
	Exchange *capture.Exchange // of a single request; its number is that in File, or 0 if File does not have it
	File     string            // the capture that recorded it; empty for the capture being viewed
	Report   *report.Report    // of a task: how the responses differ from the recorded ones
}
