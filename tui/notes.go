package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture/notes"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// noted is the message of readNotes and changeNote: the notes have changed.
type noted struct {
	seqs []uint64 // exchanges whose notes have changed; nil if all may have
	said string   // description of the change
	err  error    // the file cannot be read or written
}

// readNotes reads the notes on the capture.
func readNotes(l *load.Loader) tea.Cmd {
	return func() tea.Msg {
		n, err := l.Notes.Load()
		msg := noted{err: err}
		if bad := n.Bad(); len(bad) > 0 && err == nil {
			msg.said = fmt.Sprintf("%s:%d: %s; the line is kept", l.Notes.Path(), bad[0].Line, bad[0].Why)
			if len(bad) > 1 {
				msg.said += fmt.Sprintf(", as %s like it", text.Plural(len(bad)-1, "line"))
			}
		}
		return msg
	}
}

// changeNote changes the note on an exchange. said returns the message for the changed note.
func changeNote(l *load.Loader, seq uint64, change func(notes.Note) notes.Note, said func(notes.Note) string) tea.Cmd {
	return func() tea.Msg {
		x, err := l.Ends(seq, 1)
		if err != nil {
			return panel.Say(err.Error())()
		}
		n, err := l.Notes.Change(seq, x.ID, change)
		return noted{seqs: []uint64{seq}, said: said(n.Of(seq, x.ID)), err: err}
	}
}

// noted shows changed notes, and reports a write error once.
func (nb *notebook) noted(msg noted) tea.Cmd {
	s := nb.shared
	s.Notes = s.Load.Notes.Now()
	if msg.said != "" {
		nb.shared.Message = msg.said
	}
	if msg.err != nil && !nb.failed {
		nb.failed = true
		nb.shared.Message = strings.TrimPrefix(msg.said+"; ", "; ") + msg.err.Error()
		if msg.seqs != nil {
			nb.shared.Message = msg.said + ", until you quit: " + msg.err.Error()
		}
	}
	return nb.broadcast(panel.NotesChanged{Seqs: msg.seqs})
}

// mark marks an exchange, or removes its mark.
func (nb *notebook) mark(at analysis.Place) tea.Cmd {
	toggle := func(n notes.Note) notes.Note {
		n.Marked = !n.Marked
		return n
	}
	return changeNote(nb.shared.Load, at.Exchange, toggle, func(n notes.Note) string {
		if n.Marked {
			return fmt.Sprintf("%d is marked; the filter is:marked finds it", at.Exchange)
		}
		return fmt.Sprintf("%d is no longer marked", at.Exchange)
	})
}

// comment opens a prompt for the comment on an exchange.
func (nb *notebook) comment(at analysis.Place) tea.Cmd {
	seq := at.Exchange
	nb.prompt = newPrompt(fmt.Sprintf("# comment on %d:", seq), nb.noteOn(seq).Comment, func(words string) (tea.Cmd, error) {
		return nb.setComment(seq, words), nil
	})
	return nil
}

// setComment returns the command that sets the comment on an exchange; empty words remove the comment.
func (nb *notebook) setComment(seq uint64, words string) tea.Cmd {
	change := func(n notes.Note) notes.Note {
		n.Comment = strings.TrimSpace(words)
		return n
	}
	return changeNote(nb.shared.Load, seq, change, func(n notes.Note) string {
		if n.Comment == "" {
			return fmt.Sprintf("%d has no comment", seq)
		}
		return fmt.Sprintf("%d has your comment", seq)
	})
}

// noteOn returns the note on an exchange. It uses the exchange's id, if known.
func (nb *notebook) noteOn(seq uint64) notes.Note {
	n := nb.shared.Notes
	if e, there := nb.list.Entry(seq); there {
		return n.Of(seq, e.ID)
	}
	return n.Numbered(seq)
}
