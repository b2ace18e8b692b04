package load

import (
	"errors"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/snapshot"
	"a2atap/proxy/capture"
)

// findingsPage is the maximum number of findings in one message.
const findingsPage = 1000

// Judged reports the progress of checking, and the findings since the previous message.
type Judged struct {
	Findings  []analysis.Finding
	Counts    judgment.Counts
	Next      uint64   // first arrival number that was not checked yet
	Behind    bool     // there is more to check
	Ended     bool     // all is checked, unless the recording is resumed
	Restarted bool     // the findings replace all earlier ones
	Notice    string   // for the last line: why the capture is checked again
	Reading   bool     // more findings are still being read
	Rows      []uint64 // exchanges whose rows have changed
	Err       error    // checking cannot continue for now
}

// AwaitJudged waits for the next message of Judge.
func (l *Loader) AwaitJudged() tea.Cmd {
	return func() tea.Msg {
		select {
		case j := <-l.results:
			return j
		case <-l.Context.Done():
			return nil
		}
	}
}

// Judge reports the results of the View as they change, until the inspector ends. Messages go to AwaitJudged in
// batches.
func (l *Loader) Judge() tea.Cmd {
	if l.View == nil {
		return nil
	}
	return func() tea.Msg {
		for t := (teller{Loader: l}); l.Context.Err() == nil; t.wait() {
			t.tell()
		}
		return nil
	}
}

// A teller reports the results of the View.
type teller struct {
	*Loader
	from     *snapshot.Results // the last results read
	version  uint64            // of the View
	replaced uint64            // number of findings that others have replaced
	whole    bool
	next     uint64   // number of the first unreported finding
	covered  []uint64 // exchanges whose rows have changed since the last message
	notice   string   // the last one
}

// wait waits until the View has changed, rows have caught up with the capture, or links are due.
func (t *teller) wait() {
	for t.Context.Err() == nil {
		state, changed := t.View.Now()
		if state.Version != t.version {
			return
		}
		select {
		case <-changed:
		case <-t.Reading.wake:
		case <-t.linksTimer(state.Results):
			return
		case <-t.Context.Done():
		}
		state, _ = t.View.Now()
		if t.catchUp(state.Results); len(t.covered) > 0 {
			return
		}
	}
}

// catchUp collects the exchanges whose rows now have all steps.
func (t *teller) catchUp(r *snapshot.Results) {
	if r != nil {
		t.covered = append(t.covered, t.Reading.caughtUp(r.Head().Arrival)...)
	}
}

// tell reports new results.
func (t *teller) tell() {
	state, _ := t.View.Now()
	if t.version = state.Version; state.Version == 0 {
		return
	}
	r := state.Results
	news := Judged{Behind: state.Checking || r == nil, Ended: state.Whole, Err: state.Err, Reading: true}
	if state.Notice != t.notice {
		news.Notice, t.notice = state.Notice, state.Notice
	}
	if r != nil {
		if err := t.read(r, &state.Info, &news); err != nil {
			t.View.Doubt(r, err)
			return
		}
	}
	if state.Whole && !state.Info.Live {
		news.Next = state.Info.Arrivals + 1
	}
	t.catchUp(r)
	news.Reading, news.Rows, t.covered = false, t.covered, nil
	t.send(news)
}

// read reads the results so far. It reports findings in pages, and leaves the last page in news.
func (t *teller) read(r *snapshot.Results, info *capture.Info, news *Judged) error {
	head := r.Head()
	news.Next = head.Arrival + 1
	// At the end, findings may have replaced provisional ones.
	if again := r != t.from || head.Ended != t.whole || head.Replaced != t.replaced; again {
		news.Restarted = t.from != nil
		t.from, t.whole, t.replaced, t.next = r, head.Ended, head.Replaced, 0
	}
	result, err := r.Result(t.Context)
	switch {
	case err == nil:
		news.Counts = result.Counts
		t.observed.Store(&observation{result, head.Ended})
	case !errors.Is(err, snapshot.ErrNone) || head.Ended:
		return err
	}
	if head.Counts != nil { // newer than info's
		news.Counts = *head.Counts
	}
	for found, err := range r.Findings(t.Context, t.next) {
		if err != nil {
			return err
		}
		if err := t.within(info, found.Place.Exchange); err != nil {
			return err
		}
		t.next = found.Number + 1
		if news.Findings = append(news.Findings, *found.Finding); len(news.Findings) < findingsPage {
			continue
		}
		if !t.send(*news) {
			return t.Context.Err()
		}
		news.Findings, news.Restarted, news.Notice = nil, false, ""
	}
	return t.readLinks(false)
}

// within returns an error if the capture has no exchange of this number.
func (t *teller) within(info *capture.Info, seq uint64) (err error) {
	if seq > info.Exchanges {
		if *info, err = t.Source.Info(t.Context); err != nil {
			return err
		}
	}
	if seq > info.Exchanges {
		return fmt.Errorf("%w: a finding in exchange %d of %d", capture.ErrDamagedEntry, seq, info.Exchanges)
	}
	return nil
}

// send passes a message to AwaitJudged. It returns false when the inspector has ended.
func (t *teller) send(news Judged) bool {
	select {
	case t.results <- news:
		return true
	case <-t.Context.Done():
		return false
	}
}

// An observation is the result so far, and whether it is complete.
type observation struct {
	result *judgment.Result
	whole  bool
}

// Observed returns the result so far: coverage, counts, calls, agents. whole reports whether it counts all findings.
func (l *Loader) Observed() (result *judgment.Result, whole bool) {
	all := &judgment.Result{}
	if o := l.observed.Load(); o != nil {
		all.Add(o.result)
		whole = o.whole
	}
	return all, whole
}

// linksTimer returns a channel that yields when the links should be read again; nil if they should not.
func (l *Loader) linksTimer(r *snapshot.Results) <-chan time.Time {
	if r == nil {
		return nil
	}
	l.Links.mu.Lock()
	defer l.Links.mu.Unlock()
	if pause, due := l.Links.due(r, time.Now()); due {
		return time.After(pause)
	}
	return nil
}
