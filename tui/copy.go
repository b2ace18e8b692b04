package tui

import (
	"fmt"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/tui/terminal"
)

// copied is a request as a command, to be copied.
type copied struct {
	words string
	err   error
}

// curl writes the request of an exchange as a curl command.
func (l *loader) curl(seq uint64, write func(*capture.Exchange) (string, error)) tea.Cmd {
	return func() tea.Msg {
		x, err := l.ends(seq, 1)
		if err != nil {
			return copied{err: err}
		}
		words, err := write(x)
		if err == nil && strings.ContainsFunc(words, pasteHazard) {
			err = fmt.Errorf("exchange %d holds control characters, which act when pasted; use a2atap show %d --format curl",
				seq, seq)
		}
		return copied{words, err}
	}
}

// pasteHazard reports whether a character may act as a command when it is pasted into a terminal: an escape sequence
// can end the bracketed paste.
func pasteHazard(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// copied gives the command to the terminal's clipboard, and shows it.
func (m *inspector) copied(msg copied) tea.Cmd {
	if msg.err != nil {
		m.message = "y: " + msg.err.Error()
		return nil
	}
	cmd := m.push(newCopied(msg.words))
	out := m.out
	if out == nil {
		return cmd
	}
	return tea.Batch(cmd, func() tea.Msg {
		if err := terminal.Copy(out, msg.words); err != nil {
			return statusMessage("y: " + err.Error() + "; it is shown here")
		}
		return nil
	})
}
