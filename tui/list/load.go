package list

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/tui/load"
)

// entries is the message of loader.entries.
type entries struct {
	ticket uint64
	list   []load.Entry
	left   []uint64 // not read, since the time was up
	took   time.Duration
	err    error
}

// readEntries makes the rows of a sorted list of exchanges for the list panel, and reads those that no reading tells of.
func readEntries(l *load.Loader, ticket uint64, seqs []uint64) tea.Cmd {
	return func() tea.Msg {
		answer := entries{ticket: ticket}
		begin := time.Now()
		var unread []uint64
		for _, seq := range seqs {
			if row := l.Reading.Row(l.Context, seq); row != nil {
				answer.list = append(answer.list, load.RowEntry(row))
			} else {
				unread = append(unread, seq)
			}
		}
		answer.left, answer.err = l.Each(unread, load.EntryEvents, begin.Add(load.BatchTime), func(seq uint64, x *capture.Exchange) {
			if x == nil {
				answer.list = append(answer.list, load.Entry{Seq: seq, Absent: true})
				return
			}
			answer.list = append(answer.list, l.EntryOf(x))
		})
		answer.took = time.Since(begin)
		return answer
	}
}
