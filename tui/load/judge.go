package load

import (
	"errors"
	"math"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
)

// AwaitJudged waits for the next message of judge.
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

// Judge runs the rules over the capture, follows the recording until it ends, and then any further one. Results go to
// awaitJudged in batches. It reads the capture in one pass, since some formats are expensive to enter in the middle.
// Where there are verdicts on the recording, it passes them on until that has ended.
func (l *Loader) Judge() tea.Cmd {
	return func() tea.Msg {
		j := judgeRun{Loader: l, next: 1}
		if l.Reading.Now() != nil || l.Reading.Why() != nil {
			if !j.relayKept() {
				return nil
			}
		} else if l.Verdicts == nil {
			j.engine = l.newEngine()
		} else if !j.relay(l.Verdicts) || !j.restart() {
			return nil
		}
		for l.Context.Err() == nil {
			switch err := l.Source.Wait(l.Context, j.next); {
			case errors.Is(err, capture.ErrEnded):
				j.found = append(j.found, j.engine.End(false)...)
				if !j.report(Judged{Ended: true}) || !j.restart() {
					return nil
				}
			case err == nil:
				err = j.run(math.MaxUint64)
				j.report(Judged{Err: err})
				l.Pause(BatchPause / 4)
			default:
				j.report(Judged{Err: err})
				l.Pause(retryPause)
			}
		}
		return nil
	}
}

// run judges the steps that are there now, up to an arrival number.
func (j *judgeRun) run(last uint64) error {
	reported := time.Now()
	for s, err := range j.Source.Steps(j.Context, j.next) {
		if err != nil {
			return err
		}
		if s.Arrival > last {
			return nil
		}
		j.next = s.Arrival + 1
		j.found = append(j.found, j.engine.Step(s)...)
		if j.next%64 == 0 && j.next >= j.known && time.Since(reported) > BatchTime {
			if !j.report(Judged{Behind: true}) {
				return j.Context.Err()
			}
			reported = time.Now()
		}
	}
	return nil
}

// report sends what was found since the last report. It returns false when the inspector has ended.
func (j *judgeRun) report(news Judged) bool {
	news.Findings, news.Counts, news.Next, news.Restarted = j.found, j.engine.Counts(), j.next, j.restarted
	j.found, j.restarted = nil, false
	return j.send(news)
}

// restart waits until the recording is resumed, and then starts a new engine from the beginning, since the old one was
// told that the capture had ended. Findings are not reported again until the new engine has passed the point that the
// old one had reached. It returns false if the recording cannot be resumed.
func (j *judgeRun) restart() bool {
	if !j.Resumes() || j.wait(j.next, true) != nil {
		return false
	}
	j.Reading.letGo(j.Context, nil) // it is of what was there before
	j.Observed.bySelf()
	j.engine = j.newEngine()
	j.known, j.next, j.restarted = j.next, 1, true
	return true
}
