package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
)

// grow updates the state of the capture, and continues to watch it if it is growing.
func (f *follower) grow(msg load.Grown) tea.Cmd {
	s := f.shared
	if msg.Err != nil {
		s.FollowErr = msg.Err.Error()
		f.list.Err = msg.Err
		if !s.Opened {
			return nil
		}
		return f.watch(msg.Next)
	}
	first, was := !s.Opened, s.Info.Live
	s.FollowErr, f.list.Err = "", nil
	if !s.Judged.Ended {
		s.Judged.Err = nil
	}
	s.Info, s.Opened = msg.Info, true
	s.Info.Live = msg.Info.Live && !msg.Ended
	s.WasLive = s.WasLive || s.Info.Live
	var cmds []tea.Cmd
	if first {
		f.list.Begin()
		cmds = append(cmds, f.list.Filter.Apply(f.options.Filter))
		s.Judged.Behind = s.Info.Arrivals > 0
		cmds = append(cmds, s.NeedKnown(), s.Load.Judge(), s.Load.AwaitJudged())
	}
	f.liveChanged(first, was)
	return tea.Batch(append(cmds, s.LearnCards(), s.NeedFirst(), f.watch(msg.Next), f.broadcast(panel.ExchangesChanged{Seqs: msg.Seqs}))...)
}

// judge adds new findings, and waits for the next.
func (f *follower) judge(msg load.Judged) tea.Cmd {
	s := f.shared
	findings := msg.Findings
	msg.Findings = nil
	touched := findings
	if msg.Restarted {
		touched = append(s.Found.List, findings...) // dropped findings have changed, too
		s.Found = load.Findings{}
	}
	s.Found.Add(findings)
	s.Judged = msg
	var cmds []tea.Cmd
	if msg.Notice != "" {
		s.Message, f.notice = msg.Notice, msg.Notice
	}
	cmds = append(cmds, s.Load.AwaitJudged(), s.LearnCards())
	if changed := exchangesOf(touched); len(changed) > 0 {
		cmds = append(cmds, f.broadcast(panel.FindingsChanged{Seqs: changed}))
		if _, mine := slices.BinarySearch(changed, f.panes.seq); mine {
			cmds = append(cmds, f.panes.showThird())
		}
	}
	if len(msg.Rows) > 0 {
		cmds = append(cmds, f.broadcast(panel.RowsChanged{Seqs: msg.Rows}))
	}
	cmds = append(cmds, f.broadcast(panel.LinksChanged{}))
	return tea.Batch(cmds...)
}

// A notice is a line for the user.
type notice string

// awaitNotice waits for the next notice.
func (f *follower) awaitNotice() tea.Cmd {
	notices, ctx := f.options.Notices, f.shared.Load.Context
	if notices == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case text := <-notices:
			return notice(text)
		case <-ctx.Done():
			return nil
		}
	}
}

// learned redraws after agent cards have been read.
func (f *follower) learned(msg panel.CardsLearned) tea.Cmd {
	s := f.shared
	s.Learning, s.Learnt = false, msg.UpTo
	if msg.Err != nil && s.Load.Context.Err() == nil {
		s.Message = "agent cards cannot be read: " + msg.Err.Error()
	}
	if !msg.Any {
		return s.LearnCards()
	}
	return tea.Batch(s.LearnCards(), f.broadcast(msg))
}

// knowFirst stores the start time of the first exchange.
func (f *follower) knowFirst(msg panel.FirstStarted) tea.Cmd {
	if msg.Err != nil {
		f.shared.Message = "T: " + msg.Err.Error()
	}
	f.shared.First = msg.At
	return nil
}

// liveChanged shows that a recording has ended or was resumed. It is called before the list is updated.
func (f *follower) liveChanged(first, was bool) {
	switch s := f.shared; {
	case first:
	case was && !s.Info.Live:
		if f.notice == "" || s.Message != f.notice { // the end of the line also shows the end
			s.Message = "the recording has ended"
		}
		f.followed, f.list.Follow = f.list.Follow, false
	case !was && s.Info.Live:
		f.shared.Message = "the recording was resumed"
		f.list.Follow = f.followed && f.list.AtEnd()
	}
}

// watch returns the command that waits for new steps, if there may be more.
func (f *follower) watch(next uint64) tea.Cmd {
	s := f.shared
	if !s.Info.Live && !s.Load.Resumes() {
		return nil
	}
	return s.Load.Watch(next, !s.Info.Live)
}

func (f *follower) reached(msg load.Reached) tea.Cmd {
	f.shared.Away = msg.Away
	if f.shared.Message = "the server is reachable again"; msg.Away {
		f.shared.Message = "the server is unreachable; missing data comes later"
	}
	return f.shared.Load.WatchServer(msg.Away)
}

// exchangesOf returns the exchanges of some findings, in order.
func exchangesOf(findings []analysis.Finding) []uint64 {
	var seqs []uint64
	for i := range findings {
		seqs = append(seqs, findings[i].Place.Exchange)
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}
