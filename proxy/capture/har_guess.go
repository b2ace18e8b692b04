package capture

import (
	"math"
	"time"

	"github.com/google/uuid"
)

// Foreign reports whether the exchange with that id came from the HAR of another program, however often it was copied since.
// Such programs may leave out header fields, those with credentials first of all. The id tells: only theirs is made from
// the entry, and not by chance.
func Foreign(id uuid.UUID) bool { return id != uuid.Nil && id.Version() == 5 }

// guess fills in what the HAR of another program says about an exchange, and leaves unknown what it does not say.
func (e *harEntry) guess(x *Exchange) {
	h := ParseRequestHead(x.Request.Head)
	scheme, authority, _ := cutURL(e.Request.URL)
	x.Client = clientName(&h)
	x.Agent = Peer{Name: hostPort(scheme, authority), Addr: e.ServerIP}
	if authority != "" {
		x.Agent.URL = scheme + "://" + authority
	}
	x.Conn = connectionNumber(e.Connection)
	x.ID = uuid.NewSHA1(uuid.NameSpaceURL, []byte(e.Started+" "+e.Request.Method+" "+e.Request.URL))
	x.guessEnd(e)
	x.guessTimes(e)
	x.Request.Body.guessSize(e.Request.BodySize)
	if r := x.Response; r != nil {
		r.Body.guessSize(e.Response.BodySize)
	}
}

// guessEnd says how the exchange ended. Without an answer and without an error it was still going on.
func (x *Exchange) guessEnd(e *harEntry) {
	x.State = StateClosed
	text := e.Error
	if text == "" {
		text = e.Response.Error
	}
	switch {
	case text != "":
		x.Fault = &Fault{Kind: "failed", Detail: text}
		if x.Response != nil {
			x.Response.Body.Complete = false
		}
	case x.Response == nil:
		x.State = StateInterrupted
	}
}

// guessTimes takes offsets from the total and from its last parts: what comes before them (blocking, looking up,
// connecting) is not part of an exchange as this package sees it, but of the time before it began to be sent.
func (x *Exchange) guessTimes(e *harEntry) {
	x.Ended, x.Request.Body.At = NotKnown, NotKnown
	if e.Time == nil || !(*e.Time > 0) || math.IsInf(*e.Time, 0) || x.State != StateClosed {
		return
	}
	x.Ended = duration(e.Time)
	if x.Response == nil {
		return
	}
	x.Response.Body.At = x.Ended
	x.Response.At = before(x.Ended, e.Timings.Receive)
	x.Request.Body.At = before(x.Response.At, e.Timings.Wait)
	for i := range x.Response.Events {
		if at := &x.Response.Events[i].At; *at > x.Ended {
			*at = NotKnown
		}
	}
}

// before returns the offset that lies so many milliseconds before another, if both are known.
func before(at time.Duration, ms *float64) time.Duration {
	d := duration(ms)
	if at == NotKnown || d == NotKnown || d > at {
		return NotKnown
	}
	return at - d
}

// guessSize takes the size of a body from bodySize, but only where the text does not contradict it: writers count
// framing, or repeat Content-Length.
func (b *Body) guessSize(size *float64) {
	if size == nil || *size < 0 || *size != math.Trunc(*size) || *size > 1<<53 {
		return
	}
	n := int64(*size)
	switch {
	case b.Data == nil && n > 0:
		b.Size, b.Dropped = n, n
	case b.Data != nil && (n == int64(len(b.Data)) || b.Decoded && n > 0):
		b.Size = n
	}
}
