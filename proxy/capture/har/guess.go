package har

import (
	"math"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/internal/exchangejson"
)

// guess fills in what the HAR of another program says about an exchange, and leaves unknown what it does not say.
func (e *entry) guess(x *capture.Exchange) {
	h := capture.ParseRequestHead(x.Request.Head)
	scheme, authority, _ := cutURL(e.Request.URL)
	x.Client = clientName(&h)
	x.Agent = capture.Peer{Name: hostPort(scheme, authority), Addr: e.ServerIP}
	if authority != "" {
		x.Agent.URL = scheme + "://" + authority
	}
	x.Conn = connectionNumber(e.Connection)
	// An id of version 5 is what capture.Foreign tells it by.
	x.ID = uuid.NewSHA1(uuid.NameSpaceURL, []byte(e.Started+" "+e.Request.Method+" "+e.Request.URL))
	e.guessEnd(x)
	e.guessTimes(x)
	guessSize(&x.Request.Body, e.Request.BodySize)
	if r := x.Response; r != nil {
		guessSize(&r.Body, e.Response.BodySize)
	}
}

// guessEnd infers how the exchange ended. Without an answer and without an error it was still open.
func (e *entry) guessEnd(x *capture.Exchange) {
	x.State = capture.StateClosed
	text := e.Error
	if text == "" {
		text = e.Response.Error
	}
	switch {
	case text != "":
		x.Fault = &capture.TransportFault{Kind: "failed", Detail: text}
		if x.Response != nil {
			x.Response.Body.Complete = false
		}
	case x.Response == nil:
		x.State = capture.StateInterrupted
	}
}

// guessTimes takes offsets from the total and from its last parts: what comes before them (blocking, looking up,
// connecting) is not part of an exchange as this package sees it, but of the time before it began to be sent.
func (e *entry) guessTimes(x *capture.Exchange) {
	x.Ended, x.Request.Body.At = capture.NotKnown, capture.NotKnown
	if e.Time == nil || !(*e.Time > 0) || math.IsInf(*e.Time, 0) || x.State != capture.StateClosed {
		return
	}
	x.Ended = exchangejson.Duration(e.Time)
	if x.Response == nil {
		return
	}
	x.Response.Body.At = x.Ended
	x.Response.At = before(x.Ended, e.Timings.Receive)
	x.Request.Body.At = before(x.Response.At, e.Timings.Wait)
	for i := range x.Response.Events {
		if at := &x.Response.Events[i].At; *at > x.Ended {
			*at = capture.NotKnown
		}
	}
}

// before returns the offset that lies so many milliseconds before another, if both are known.
func before(at time.Duration, ms *float64) time.Duration {
	d := exchangejson.Duration(ms)
	if at == capture.NotKnown || d == capture.NotKnown || d > at {
		return capture.NotKnown
	}
	return at - d
}

// guessSize takes the size of a body from bodySize, but only where the text does not contradict it: writers count
// framing, or repeat Content-Length.
func guessSize(b *capture.Body, size *float64) {
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
