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

// Messages of what is sent again.
type (
	// prepared brings what would be sent, and waits for the user's word.
	prepared struct {
		ticket uint64
		of     analysis.Place
		out    *Outgoing
		remark string // why it is asked again
		err    error
	}
	// cameBack brings what came of it.
	cameBack struct {
		ticket uint64
		of     analysis.Place
		sent   *Sent
		err    error
	}
)

// resend asks whether the request of an exchange is to be sent again.
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

// replayTask asks whether all requests of the task of an exchange are to be sent again.
func (o *outbox) replayTask(at analysis.Place) tea.Cmd {
	load, task := o.shared.Load, o.options.Sender.Task
	return o.prepare(at, func() (*Outgoing, error) {
		name, seqs, err := load.SameTask(load.Context, at.Exchange)
		if err != nil {
			return nil, err
		}
		if name == "" {
			return nil, fmt.Errorf("%d is about no task; r sends its request again", at.Exchange)
		}
		p, err := load.Select(load.Context, seqs, nil)
		if err != nil {
			return nil, err
		}
		return task(load.Context, p, seqs)
	})
}

// prepare returns the command that finds out what would be sent. A key that comes before the question is there takes it
// back, so that nobody answers a question that he has not read.
func (o *outbox) prepare(at analysis.Place, find func() (*Outgoing, error)) tea.Cmd {
	o.preparing = o.shared.Ticket()
	ticket := o.preparing
	return func() tea.Msg {
		out, err := find()
		return prepared{ticket: ticket, of: at, out: out, err: err}
	}
}

// prepared asks for the user's word.
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

// question says what would be sent, where to, and where it will be kept.
// Where it leads to comes first, and what may be long is cut, so that no warning is pushed off the screen.
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
		lines = append(lines, style.Text(style.Normal, "  kept in "+o.File))
	} else {
		lines = append(lines, style.Text(style.Normal, "  through the tap, so it is kept in this recording"))
	}
	for _, r := range o.Remarks {
		lines = append(lines, style.Text(style.Normal, "  "+text.Clip(r, long)))
	}
	if remark != "" {
		lines = append(lines, style.Text(style.Error, "! "+remark))
	}
	return lines
}

// send sends, beside the event loop.
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

// stopSending ends what is being sent, and reports whether there was something.
func (o *outbox) stopSending() bool {
	if o.sending == nil {
		return false
	}
	o.sending.cancel()
	o.shared.Message = "stopping what is being sent"
	return true
}

// cameBack shows what came of it.
func (o *outbox) cameBack(msg cameBack) tea.Cmd {
	if o.sending == nil || msg.ticket != o.sending.ticket {
		return nil
	}
	o.sending, o.shared.Message = nil, ""
	s := msg.sent
	switch {
	case s == nil && errors.Is(msg.err, context.Canceled):
		o.shared.Message = "stopped; nothing came of it"
		return nil
	case s == nil:
		o.shared.Message = msg.err.Error()
		return nil
	case s.Report != nil:
		return o.push(newReportPage(s, msg.err))
	case s.Exchange == nil:
		o.shared.Message = "sent; the answer is not in the recording yet"
		return nil
	}
	return o.push(o.newAnswered(msg.of, s, msg.err))
}

// newAnswered returns the menu of what can be done with the answer to a request that was sent again.
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
	p.Memory, _ = capture.ReadMemory(capture.Info{Name: name}, capture.Each(x)) // which cannot fail
	return p
}

// newReportPage returns the page of how a task differs that was replayed.
func newReportPage(s *Sent, problem error) *page.Page {
	return &page.Page{Name: "replay", Write: func(columns int) []style.Line {
		var lines []style.Line
		if problem != nil {
			lines = append(lines, style.Text(style.Error, "! "+problem.Error()), style.Line{})
		}
		if s.File != "" {
			lines = append(lines, style.Text(style.Dim, " kept in "+s.File))
		}
		for _, l := range diff.ReportLines(s.Report) {
			lines = append(lines, diff.WrapReport(l, columns)...)
		}
		return lines
	}}
}

// editable says that what is to be sent stands in a file for the user's editor.
type editable struct {
	ticket uint64
	of     analysis.Place
	out    *Outgoing
	file   string
}

// edit writes what is to be sent into a file, for the user's editor.
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

// openEditor opens the editor, which has the screen until it ends, and then asks again.
func (o *outbox) openEditor(msg editable) tea.Cmd {
	o.preparing = msg.ticket // no key can have come between that was meant for anything else
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

// edited reads what came of the file.
func (e *editable) edited() prepared {
	msg := prepared{ticket: e.ticket, of: e.of}
	text, err := os.ReadFile(e.file)
	switch {
	case err != nil:
		msg.err = fmt.Errorf("%w; nothing was sent", err)
	case len(bytes.TrimSpace(text)) == 0:
		msg.err = errors.New("nothing was left of the request, so nothing was sent")
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

// writeTemporary writes a file that nobody else can read.
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
	// Request says what would be sent for the request of an exchange. Nothing is sent yet.
	Request func(ctx context.Context, x *capture.Exchange) (*Outgoing, error)
	// Task says the same for all requests of a task, as a2atap replay sends them: the source has the exchanges of the task
	// and what else is about it, and seqs are their numbers.
	Task func(ctx context.Context, src capture.Source, seqs []uint64) (*Outgoing, error)
	// Editor returns the command that opens a file in the user's editor; nil if there is none.
	Editor func(path string) (*exec.Cmd, error)
}

// An Outgoing is what waits for the user's word to be sent.
type Outgoing struct {
	What    string   // in words, such as "POST http://127.0.0.1:9001/spec"
	Remote  []string // hosts that it goes to and that are not this machine
	Remarks []string // what the user should know: what is not sent, and why
	File    string   // the capture in which it will be kept; empty if that is the one that is looked at

	Send func(context.Context) (*Sent, error)

	// Text is the request for an editor, a transcript, and Edited what is sent instead when it was changed; an error says
	// in which line it is wrong. Nil if there is nothing to edit.
	Text   []byte
	Edited func(text []byte) (*Outgoing, error)
}

// A Sent is what came of an Outgoing.
type Sent struct {
	Exchange *capture.Exchange // of a single request; its number is that in the file, or 0 if it was not found there
	File     string            // where it is kept; empty if that is the capture that is looked at
	Report   *report.Report    // of a task: how the answers differ from the recorded ones
}
