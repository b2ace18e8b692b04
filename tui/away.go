package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// A remote source is a capture that comes over a network.
type remote interface {
	// Away returns whether its server is away, as soon as that is not what it was, or else the context's error.
	Away(ctx context.Context, was bool) (bool, error)
}

// reached is the message of watchServer: whether the server of the capture is away.
type reached struct{ away bool }

// watchServer waits until the server of the capture is away, or is there again. It does nothing for a file.
func (l *loader) watchServer(was bool) tea.Cmd {
	src, ok := l.src.(remote)
	if !ok {
		return nil
	}
	return func() tea.Msg {
		away, err := src.Away(l.ctx, was)
		if err != nil {
			return nil
		}
		return reached{away}
	}
}

func (m *inspector) reach(msg reached) tea.Cmd {
	m.shared.away = msg.away
	if m.shared.message = "the server is there again"; msg.away {
		m.shared.message = "the server is away; what it lacks comes later"
	}
	return m.shared.load.watchServer(msg.away)
}
