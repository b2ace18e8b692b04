package relay

import (
	"crypto/tls"
	"net"
	"time"
)

// How a side ends its part in an exchange: see [EndObserver].
const (
	EndFIN       = "fin"        // stopped sending; whether it still reads is unknown
	EndHalfClose = "half-close" // stopped sending, and received data that was sent to it afterwards
	EndClose     = "close"      // it closed its connection and takes nothing more
	EndReset     = "reset"      // reset its connection, or its stream of HTTP/2
)

// A Taking is the fate of bytes that were written to an end.
type Taking uint8

// The results of TakingOf.
const (
	TakingUnknown  Taking = iota // some bytes have to wait, or the system does not tell
	Sent                         // all bytes are sent, and not all acknowledged
	Taken                        // the other end has acknowledged all bytes
	Refused                      // the other end has reset the connection, and did not acknowledge all bytes
	TakenThenReset               // it has acknowledged all bytes, and reset the connection afterwards
	MaybeTaken                   // reset the connection, possibly after it received all bytes
)

// TakingOf returns the fate of the bytes that were written to c. It does not block, and works only for TCP on Linux. A
// reset is reported once: callers remember it.
//
// TakingOf distinguishes a client that closed its connection from one that only stopped sending. Both send a FIN. If
// more bytes arrive afterwards, the system of the former resets the connection, and the system of the latter
// acknowledges them.
func TakingOf(c net.Conn) Taking { return takingOf(base(c), Mark{}) }

// A Mark is an end's position when bytes had been written to it. The zero Mark is unknown.
type Mark struct {
	written uint64 // bytes since the connection began
	open    bool   // the other end was still sending, as seen by TCP; on TLS it may have sent a closing alert
}

// MarkOf returns the mark of the bytes that were written to c.
func MarkOf(c net.Conn) Mark { return markOf(base(c)) }

// takingOf is TakingOf for the bytes before the mark. A client that received these bytes and closed refuses a closing
// alert that comes after the mark.
func (m Mark) takingOf(c net.Conn) Taking { return takingOf(base(c), m) }

// Pauses between two calls of poll's function.
const (
	firstPause   = time.Millisecond
	longestPause = 100 * time.Millisecond
)

// SideEnded calls an EndObserver, and no other.
func (o *Observed) SideEnded(x int, side, how string) {
	if to, ok := o.To.(EndObserver); ok {
		o.call(func() { to.SideEnded(x, side, how) })
	}
}

// resetTime is the maximum delay, on one machine, between unaccepted bytes and the reset that they cause.
const resetTime = 20 * time.Millisecond

// lookAtClient checks whether a client received the bytes that were written to it after it stopped sending. If so, the
// client has only half-closed its connection. That is reported, and if the client leaves later, it left after those
// bytes.
func (a *answers) lookAtClient() {
	if !a.sentAfterEnd.Load() || a.taking != TakingUnknown {
		return
	}
	t := takingNow(a)
	if t == Sent && isLocal(a.client) && time.Since(a.sentAt) >= resetTime {
		t = Taken // its system need not acknowledge the bytes yet, but would have reset the connection
	}
	a.sentWhole = t == Taken
	if t == Taken || t == TakenThenReset {
		a.halfClosed.Store(true)
		a.sideEnded(SideClient, EndHalfClose)
	}
	if t == MaybeTaken {
		a.taking = t
	}
	how, left := map[Taking]string{Refused: EndClose, TakenThenReset: EndReset}[t]
	if left {
		a.taking = t
		a.halfClosed.Store(false)
		a.sideEnded(SideClient, how)
	}
}

// takingNow returns the fate of the bytes that were written to the client.
func takingNow(a *answers) Taking {
	t := a.mark.takingOf(a.client)
	switch {
	case t == Refused && a.sentWhole:
		return TakenThenReset
	case t == Refused && a.alerted: // it may have refused only the alert
		return MaybeTaken
	}
	return t
}

// endSending ends the relay's sending to the client, on TLS with a closing alert. A client that closed after receiving
// all bytes refuses only the alert; a client that left early refuses the bytes. To distinguish the two, endSending
// waits up to resetTime before it sends the alert.
func endSending(a *answers) {
	if _, alerts := a.client.(*tls.Conn); alerts && a.sentAfterEnd.Load() && !a.sentWhole {
		poll(resetTime, func() bool {
			a.lookAtClient()
			return a.sentWhole || a.taking != TakingUnknown
		})
		a.alerted = true
	}
	CloseWrite(a.client)
}

// awaitTaking ends the relay's sending to the client and returns takingNow as soon as the fate of the bytes is known,
// or after LingerTime. If both ends are on one machine, the first look is enough.
func awaitTaking(a *answers) (t Taking) {
	known := func() bool {
		if t = takingNow(a); t <= Sent && a.sentWhole {
			t = Taken
		}
		return t > Sent
	}
	if known() || !tellsTaking(base(a.client)) {
		return t
	}
	if endSending(a); a.taking != TakingUnknown {
		return a.taking
	}
	poll(LingerTime, known)
	return t
}

// poll calls known, with growing pauses, until it returns true or patience has passed. At the end it always calls known again.
func poll(patience time.Duration, known func() bool) {
	end := time.Now().Add(patience)
	for pause := firstPause; !known(); pause = min(2*pause, longestPause) {
		rest := time.Until(end)
		if rest <= 0 {
			return
		}
		time.Sleep(min(pause, rest))
	}
}

// isLocal reports whether both ends of a connection are on this machine.
func isLocal(c net.Conn) bool {
	from, _ := c.RemoteAddr().(*net.TCPAddr)
	to, _ := c.LocalAddr().(*net.TCPAddr)
	return from != nil && to != nil && (from.IP.IsLoopback() || from.IP.Equal(to.IP))
}

// clientGone reports whether the client has stopped sending, unless it is known to be still reading.
func (p *pair) clientGone() bool { return p.clientEOF.Load() && !p.halfClosed.Load() }

// sideEnded reports that a side has ended its part in all exchanges with an incomplete answer.
func (p *pair) sideEnded(side, how string) {
	p.mu.Lock()
	var open []int
	for _, x := range p.unfinished {
		if !x.answerWhole && !x.ended && x != p.tunnel { // both ends of an upgraded connection end when they like
			x.clientEnded = x.clientEnded || side == SideClient
			open = append(open, x.n)
		}
	}
	p.mu.Unlock()
	for _, n := range open {
		p.obs.SideEnded(n, side, how)
	}
}

// endOfAgent returns how the agent ended its part, given the error of a read or a write.
func endOfAgent(reset bool) string {
	if reset {
		return EndReset
	}
	return EndFIN
}

// endedBefore records that the answer to x is complete, and reports whether the client had stopped sending before that.
// If so, x waits in a.unproven until it is known whether the client had left.
func (a *answers) endedBefore(x *exchange) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	x.answerWhole = true
	x.unproven = x.clientEnded
	if x.unproven {
		a.unproven = append(a.unproven, x)
	}
	return x.unproven
}

// written records that the answer to x is complete and written. It ends x, or keeps it until it is known whether the
// client had left.
func (a *answers) written(x *exchange) {
	if !x.unproven {
		a.answerWritten(x)
		return
	}
	a.mu.Lock()
	x.answerDone = true
	a.mu.Unlock()
	t := a.taking
	if t == TakingUnknown && a.sentAfterEnd.Load() {
		if a.lookAtClient(); a.sentWhole {
			t = Taken
		} else {
			t = a.taking
		}
	}
	if t != TakingUnknown {
		a.prove(t)
	}
}

// proveAll ends the exchanges that wait to learn whether the client had left. If wait is set, it waits a bounded time
// for that; all data must then have been written to the client.
func (a *answers) proveAll(wait bool) {
	switch {
	case len(a.unproven) == 0:
	case a.taking != TakingUnknown:
		a.prove(a.taking)
	case !a.sentAfterEnd.Load(): // nothing that the client could have taken or refused
		a.prove(TakingUnknown)
	case wait:
		a.prove(awaitTaking(a))
	default:
		a.lookAtClient()
		a.prove(a.taking)
	}
}

// prove ends the waiting exchanges, given the fate of the bytes that were written to the client.
func (a *answers) prove(t Taking) {
	for _, x := range a.unproven {
		switch {
		case t == Refused:
			a.obs.SideEnded(x.n, SideClient, EndClose)
			a.fault(x, TransportError{Kind: KindClientLeft, Side: SideClient, Detail: leftEarly})
		case t == Taken || t == TakenThenReset:
			a.obs.SideEnded(x.n, SideClient, EndHalfClose)
		case t == MaybeTaken:
		case x.openEnded:
			a.fault(x, TransportError{
				Kind: KindClientLeft, Side: SideClient,
				Detail: "connection closed, at least for sending, before the answer ended; the agent may have ended it " +
					"because of that",
			})
		}
		a.mu.Lock()
		x.unproven = false
		a.mu.Unlock()
		a.answerWritten(x)
	}
	a.unproven = a.unproven[:0]
}

// leftEarly describes a client that leaves, for messages.
const leftEarly = "connection closed before the answer was complete"

// stopCause returns why exchanges are unfinished when the context of Serve ends. A client that had stopped sending, and
// received nothing that was sent to it afterwards, had left.
func (p *pair) stopCause() TransportError {
	if !p.clientGone() || p.sentAfterEnd.Load() && TakingOf(p.client) == Taken {
		return stopped
	}
	return TransportError{Kind: KindClientLeft, Side: SideClient, Detail: leftEarly}
}
