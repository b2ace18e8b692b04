package recording

import (
	"fmt"
	"time"

	"a2atap/proxy/capture"
)

// A stepLoss is the loss of one step if the sink refuses its batch. It is computed beforehand, since steps belong to
// the sink once they are appended.
type stepLoss struct {
	seq    uint64
	bytes  int64
	opened bool
	end    bool // it is a Closed, which is tried again
	closed capture.Closed
	at     time.Duration // of the Closed
}

// append passes steps to the sink, after any ends that it refused before. Refused steps are counted as lost.
func (r *Recorder) append(steps []capture.Step) {
	if len(r.retry) > 0 {
		steps = append(r.retry, steps...)
		r.retry = nil
	}
	reported := r.unreported
	if reported != (lossCount{}) {
		what := capture.Lost{Exchanges: reported.exchanges, Bytes: reported.bytes, Reason: r.reason.Error()}
		steps = append(steps, capture.Step{Offset: capture.NotKnown, What: what})
		r.unreported = lossCount{}
	}
	if len(steps) == 0 {
		return
	}
	var size int64
	var opened uint64
	r.batch = r.batch[:0]
	for i := range steps {
		l := lossOf(&steps[i])
		r.batch = append(r.batch, l)
		size += l.bytes
		if l.opened {
			opened++
		}
	}
	if err := appendTo(r.opts.Sink, steps); err != nil {
		r.unreported = reported
		r.refused(err)
		return
	}
	r.count(func(s *Stats) { s.Exchanges += opened; s.Bytes += size; s.Open = len(r.open) })
}

// appendTo calls the sink. It turns a panic into an error of the capture, so that traffic continues.
func appendTo(sink capture.Sink, steps []capture.Step) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the capture's writer panicked: %v", p)
		}
	}()
	return sink.Append(steps...)
}

func lossOf(s *capture.Step) stepLoss {
	l := stepLoss{seq: s.Seq}
	switch what := s.What.(type) {
	case capture.Opened:
		l.opened, l.bytes = true, int64(len(what.Head))
	case capture.RequestBody:
		l.bytes = int64(len(what.Data))
	case capture.RequestEnd:
		l.bytes = int64(len(what.Trailer))
	case capture.Informational:
		l.bytes = int64(len(what.Head))
	case capture.ResponseHead:
		l.bytes = int64(len(what.Head))
	case capture.ResponseBody:
		l.bytes = int64(len(what.Data))
	case capture.ResponseEvent:
		l.bytes = int64(len(what.Event.Raw))
	case capture.ResponseEnd:
		l.bytes = int64(len(what.Trailer))
	case capture.Closed:
		l.end, l.closed, l.at = true, what, s.Offset
	}
	return l
}

// refused counts the contents of a batch that the sink refused. Exchanges that began in it are lost completely, and
// their numbers are reused, so that the capture's numbers have no gap; others have a gap, which is recorded when they
// close.
func (r *Recorder) refused(err error) {
	r.count(func(s *Stats) {
		if r.err == nil {
			r.err = fmt.Errorf("record: %w", err)
		}
	})
	begun := make(map[uint64]bool)
	gaps := make(map[uint64]int64)
	var whole lossCount
	for _, l := range r.batch {
		switch {
		case l.opened:
			if len(begun) == 0 {
				r.seq = l.seq - 1
			}
			begun[l.seq] = true
			whole.exchanges++
			whole.bytes += l.bytes
			if x := r.open[l.seq]; x != nil {
				x.unrecorded = true
				delete(r.open, l.seq)
				if x.stream != nil {
					x.stream.close()
					x.stream = nil
				}
			}
		case begun[l.seq]:
			whole.bytes += l.bytes
		case l.end:
			l.closed.Dropped += gaps[l.seq]
			r.retry = append(r.retry, capture.Step{Seq: l.seq, Offset: l.at, What: l.closed})
			delete(gaps, l.seq)
		default:
			gaps[l.seq] += l.bytes
			r.count(func(s *Stats) { s.LostBytes += l.bytes })
		}
	}
	for seq, n := range gaps {
		if x := r.open[seq]; x != nil {
			x.truncated = true
			x.missing += n
		}
	}
	r.countLoss(whole, err)
	r.reportLoss(1, err)
	if r.opts.IfFull == Stop {
		r.stop(err)
	}
}

// countLoss counts complete losses, which are recorded with the next steps.
func (r *Recorder) countLoss(n lossCount, why error) {
	if n == (lossCount{}) {
		return
	}
	r.unreported.exchanges += n.exchanges
	r.unreported.bytes += n.bytes
	r.reason = why
	r.count(func(s *Stats) { s.LostExchanges += n.exchanges; s.LostBytes += n.bytes })
}
