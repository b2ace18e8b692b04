package load

import (
	"context"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/track/workflow"
)

// Verdicts brings what the rules find in a recording to the inspector that shows it, where this process judges the
// recording already: the inspector then has no engine of its own. One goroutine judges and tells; an inspector, which
// need not be there yet, takes what is new. Neither waits for the other. What was not taken yet costs the memory of at
// most maxListed findings, and further ones that of a byte for each exchange of the capture. What caused what costs 16 bytes for each.
type Verdicts struct {
	after   uint64
	changed chan struct{} // holds a value when there is something new
	Links   links
	watch   engine.Watch

	mu   sync.Mutex
	news Judged // since it was last taken
}

// NewVerdicts returns the verdicts on the steps that come after an arrival number. The steps up to it are those of
// earlier recordings in the same capture, which an inspector judges by itself.
func NewVerdicts(after uint64) *Verdicts {
	return &Verdicts{after: after, changed: make(chan struct{}, 1), news: Judged{Next: after + 1}}
}

// Found takes a finding. The inspector gets it with the next call of Judged or Ended.
func (v *Verdicts) Found(f analysis.Finding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.news.Findings) < maxListed {
		v.news.Findings = append(v.news.Findings, f)
	} else {
		v.news.Further.mark(&f)
	}
}

// Linked takes what caused an exchange, or what is known better of that, as workflow.Into tells it. The inspector looks
// at it after the next call of Judged or Ended.
func (v *Verdicts) Linked(l workflow.Link) { v.Links.put(l) }

// Watch returns what shows the inspector what was observed, for the engine that judges: see engine.Watched.
func (v *Verdicts) Watch() *engine.Watch { return &v.watch }

// Judged says that the steps up to an arrival number were judged, how much that was, and whether more wait to be.
func (v *Verdicts) Judged(arrival uint64, counts judgment.Counts, behind bool) {
	v.change(func(news *Judged) { news.Next, news.Counts, news.Behind = arrival+1, counts, behind })
}

// Notice shows a text in the last line, until the next key or until nothing waits to be judged.
func (v *Verdicts) Notice(text string) {
	v.change(func(news *Judged) { news.Notice = text })
}

// Ended says that nothing more will be judged: all was, or there is an error.
func (v *Verdicts) Ended(counts judgment.Counts, err error) {
	v.change(func(news *Judged) { news.Counts, news.Behind, news.Ended, news.Err = counts, false, true, err })
}

func (v *Verdicts) change(tell func(*Judged)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	tell(&v.news)
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// take waits until there is something new and returns it. It returns false when the context has ended.
func (v *Verdicts) take(ctx context.Context) (Judged, bool) {
	select {
	case <-v.changed:
	case <-ctx.Done():
		return Judged{}, false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	news := v.news
	v.news.Findings, v.news.Further, v.news.Notice = nil, Findings{}, ""
	return news, true
}

// relay judges what earlier recordings have left in the capture, and then passes on what the verdicts tell. It returns
// true when their recording has ended, and false when the inspector has, or judging stopped with an error.
func (j *judgeRun) relay(v *Verdicts) bool {
	earlier, ok := j.earlier(v.after)
	j.Observed.byOthers(v)
	for ok {
		var news Judged
		if news, ok = v.take(j.Context); !ok {
			break
		}
		j.next = news.Next
		news.Counts = sum(earlier, news.Counts)
		if !j.send(news) || news.Err != nil {
			break
		}
		if news.Ended {
			return true
		}
		j.Pause(BatchPause / 4)
	}
	return false
}

// earlier judges the steps up to an arrival number with an engine that is then forgotten, and returns how much that
// was. It returns false when the inspector has ended.
func (j *judgeRun) earlier(last uint64) (judgment.Counts, bool) {
	if last == 0 {
		return judgment.Counts{}, true
	}
	j.engine = j.newEngine()
	for err := j.run(last); err != nil; err = j.run(last) {
		if !j.report(Judged{Err: err}) {
			return judgment.Counts{}, false
		}
		j.Pause(retryPause)
	}
	counts := j.engine.Counts()
	told := j.report(Judged{Behind: true}) // the first verdict says whether there is more to judge
	j.engine = nil
	return counts, told
}

// sum adds up how much was looked at in two parts of a capture.
func sum(a, b judgment.Counts) judgment.Counts {
	return judgment.Counts{
		Exchanges: a.Exchanges + b.Exchanges,
		Judged:    a.Judged + b.Judged,
		Lost:      a.Lost + b.Lost,
		Forgotten: a.Forgotten + b.Forgotten, Unseen: a.Unseen + b.Unseen,
		Streams:  a.Streams + b.Streams,
		Events:   a.Events + b.Events,
		Calls:    a.Calls + b.Calls,
		Failed:   a.Failed + b.Failed,
		Unproved: a.Unproved + b.Unproved,
	}
}
