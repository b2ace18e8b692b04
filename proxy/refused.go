package proxy

import (
	"fmt"
	"time"

	"a2atap/proxy/capture"
)

// A toll is what is lost with one step if the sink refuses its batch. It is noted beforehand, since steps belong to the
// sink once they are appended.
type toll struct {
	seq    uint64
	bytes  int64
	opened bool
	end    bool // it is a Closed, which is tried again
	closed capture.Closed
	at     time.Duration // of the Closed
}

// append hands steps to the sink, behind those ends that it refused before. Steps that it refuses are counted as lost.
func (r *Recorder) append(steps []capture.Step) {
	if len(r.retry) > 0 {
		steps = append(r.retry, steps...)
		r.retry = nil
	}
	reported := r.gone
	if reported != (lost{}) {
		what := capture.Lost{Exchanges: reported.exchanges, Bytes: reported.bytes, Reason: r.reason.Error()}
		steps = append(steps, capture.Step{Offset: capture.NotKnown, What: what})
		r.gone = lost{}
	}
	if len(steps) == 0 {
		return
	}
	var size int64
	var opened uint64
	r.tolls = r.tolls[:0]
	for i := range steps {
		t := tollOf(&steps[i])
		r.tolls = append(r.tolls, t)
		size += t.bytes
		if t.opened {
			opened++
		}
	}
	if err := appendTo(r.opts.Sink, steps); err != nil {
		r.gone = reported
		r.refused(err)
		return
	}
	r.count(func(s *Stats) { s.Exchanges += opened; s.Bytes += size; s.Open = len(r.open) })
}

// appendTo calls the sink. A panic in it is an error of the capture like any other: traffic must not end for it.
func appendTo(sink capture.Sink, steps []capture.Step) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the capture's writer panicked: %v", p)
		}
	}()
	return sink.Append(steps...)
}

func tollOf(s *capture.Step) toll {
	t := toll{seq: s.Seq}
	switch what := s.What.(type) {
	case capture.Opened:
		t.opened, t.bytes = true, int64(len(what.Head))
	case capture.RequestBody:
		t.bytes = int64(len(what.Data))
	case capture.RequestEnd:
		t.bytes = int64(len(what.Trailer))
	case capture.Informational:
		t.bytes = int64(len(what.Head))
	case capture.ResponseHead:
		t.bytes = int64(len(what.Head))
	case capture.ResponseBody:
		t.bytes = int64(len(what.Data))
	case capture.ResponseEvent:
		t.bytes = int64(len(what.Event.Raw))
	case capture.ResponseEnd:
		t.bytes = int64(len(what.Trailer))
	case capture.Closed:
		t.end, t.closed, t.at = true, what, s.Offset
	}
	return t
}

// refused counts what was in a batch that the sink did not take. Exchanges that began in it are lost as a whole, and
// their numbers are used again, so that the capture has no gap; others have a gap, which is recorded when they close.
func (r *Recorder) refused(err error) {
	r.count(func(s *Stats) {
		if r.err == nil {
			r.err = fmt.Errorf("record: %w", err)
		}
	})
	begun := make(map[uint64]bool)
	gaps := make(map[uint64]int64)
	var lostWhole lost
	for _, t := range r.tolls {
		switch {
		case t.opened:
			if len(begun) == 0 {
				r.seq = t.seq - 1
			}
			begun[t.seq] = true
			lostWhole.exchanges++
			lostWhole.bytes += t.bytes
			if x := r.open[t.seq]; x != nil {
				x.gone = true
				delete(r.open, t.seq)
				if x.stream != nil {
					x.stream.close()
					x.stream = nil
				}
			}
		case begun[t.seq]:
			lostWhole.bytes += t.bytes
		case t.end:
			t.closed.Dropped += gaps[t.seq]
			r.retry = append(r.retry, capture.Step{Seq: t.seq, Offset: t.at, What: t.closed})
			delete(gaps, t.seq)
		default:
			gaps[t.seq] += t.bytes
			r.count(func(s *Stats) { s.LostBytes += t.bytes })
		}
	}
	for seq, n := range gaps {
		if x := r.open[seq]; x != nil {
			x.holed = true
			x.missing += n
		}
	}
	r.lose(lostWhole, err)
	r.tell(1, err)
	if r.opts.IfFull == Stop {
		r.stop(err)
	}
}

// lose counts what is lost as a whole, to be recorded with the next steps.
func (r *Recorder) lose(gone lost, why error) {
	if gone == (lost{}) {
		return
	}
	r.gone.exchanges += gone.exchanges
	r.gone.bytes += gone.bytes
	r.reason = why
	r.count(func(s *Stats) { s.LostExchanges += gone.exchanges; s.LostBytes += gone.bytes })
}
