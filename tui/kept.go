package tui

import (
	"context"
	"errors"
	"sync/atomic"

	"a2atap/analyzer"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
)

// keptPage is how many findings of a reading are passed on at once.
const keptPage = 1000

// poolFindings is how many findings a capture may have so that a filter which asks for findings begins with them.
const poolFindings = 50_000

// relayKept passes on what a reading says, in place of an engine that judges the capture. It returns true when all was
// told, and false when the inspector has ended. A reading that turns out to be damaged is let go, and the capture judged:
// then an engine is there.
func (j *judgeRun) relayKept() bool {
	err := j.tellKept()
	switch {
	case j.ctx.Err() != nil:
		return false
	case errors.Is(err, capture.ErrDamagedEntry):
		j.kept.letGo()
		j.engine, j.next, j.found, j.restarted = j.newEngine(), 1, nil, true
		j.send(judged{restarted: true, behind: true, notice: err.Error() + "; the capture is judged anew"})
		return true
	case err != nil:
		j.send(judged{err: err, ended: true})
		return false
	}
	return true
}

func (j *judgeRun) tellKept() error {
	r := j.kept.reading()
	info, err := j.src.Info(j.ctx)
	if err != nil {
		return err
	}
	result, err := r.Result(j.ctx)
	if err != nil {
		return err
	}
	j.observed.fromReading(result)
	j.next = info.Arrivals + 1
	news, listed := judged{next: j.next, counts: result.Counts, behind: true}, 0
	send := func() bool {
		sent := j.send(news)
		news.findings, news.further = nil, findingIndex{}
		return sent
	}
	for f, err := range r.Findings(j.ctx, 0) {
		if err != nil {
			return err
		}
		if listed < maxListed {
			listed++
			news.findings = append(news.findings, *f.Finding)
		} else {
			news.further.mark(f.Finding)
		}
		if len(news.findings) == keptPage && !send() {
			return j.ctx.Err()
		}
	}
	if news.behind, news.ended = false, true; !send() {
		return j.ctx.Err()
	}
	for row, err := range r.Rows(j.ctx, 1) { // what caused what is wanted last
		if err != nil {
			return err
		}
		if row.Parent != 0 {
			j.links.put(workflow.Link{Exchange: row.Seq, Parent: row.Parent, By: row.By})
		}
	}
	if j.resumes() { // who waits for more is told once again, for those who look at what caused what
		j.send(judged{next: j.next, counts: result.Counts, ended: true})
	}
	return nil
}

// A keptReading is the reading of the capture as long as it is believed; a nil one is none. It may be asked by several
// goroutines at once.
type keptReading struct{ of atomic.Pointer[kept.Reading] }

func newKeptReading(r *kept.Reading) *keptReading {
	k := &keptReading{}
	k.of.Store(r)
	return k
}

func (k *keptReading) reading() *kept.Reading {
	if k == nil {
		return nil
	}
	return k.of.Load()
}

func (k *keptReading) letGo() { k.of.Store(nil) }

// rowsMatching calls f with the exchanges from..below that match a filter, as their rows tell; those whose rows do not are
// read.
func (l *loader) rowsMatching(r *kept.Reading, f *filter.Filter, from, below uint64, found map[uint64][]analyzer.Finding,
) (matches []uint64, err error) {
	for row, err := range r.Rows(l.ctx, from) {
		if err != nil {
			return matches, err
		}
		if row.Seq >= below {
			break
		}
		is, err := l.rowMatches(f, row, found)
		if err != nil {
			return matches, err
		}
		if is {
			matches = append(matches, row.Seq)
		}
	}
	return matches, nil
}

func (l *loader) rowMatches(f *filter.Filter, row *kept.Row, found map[uint64][]analyzer.Finding) (bool, error) {
	facts := kept.Facts{
		Row: row, Workflow: l.links.index.Of(row.Seq).Workflow, Marked: l.notes.Now().Of(row.Seq, row.ID).Marked,
	}
	if match, certain := facts.Decide(f); certain {
		return match, nil
	}
	x, err := l.src.Exchange(l.ctx, row.Seq)
	if err != nil {
		return false, err
	}
	return l.matches(f, x, found), nil
}

// withFindings returns the exchanges with findings that a filter needs; false if it can do without, or if there are too
// many to begin with them.
func withFindings(ctx context.Context, r *kept.Reading, f *filter.Filter) (pool []uint64, ok bool, err error) {
	needs := f.Part("rule", "severity", "side")
	if needs == nil || r.Head().Findings > poolFindings {
		return nil, false, nil
	}
	seen := make(map[uint64]bool)
	for found, err := range r.Findings(ctx, 0) {
		if err != nil {
			return nil, false, err
		}
		row := &kept.Row{Found: []kept.Found{{
			Rule: found.Rule.ID, Also: found.Also, Severity: found.Severity, Side: found.Side,
		}}}
		if match, _ := (kept.Facts{Row: row}).Decide(needs); match {
			seen[found.Place.Exchange] = true
		}
	}
	return sortedKeys(seen), true, nil
}
