package relay

import (
	"net"
	"time"
)

// The ways in which a side ends its part in an exchange: see [EndObserver].
const (
	EndFIN       = "fin"        // it ended its sending; whether it still reads is not known
	EndHalfClose = "half-close" // it ended its sending, and took what was sent to it afterwards
	EndClose     = "close"      // it closed its connection and takes nothing more
	EndReset     = "reset"      // it reset its connection, or its stream of HTTP/2
)

// A Taking says what became of the bytes that were written to an end.
type Taking uint8

// The results of TakingOf.
const (
	TakingUnknown  Taking = iota // some bytes have to wait, or the system does not tell
	Sent                         // all bytes are sent, and not all acknowledged
	Taken                        // the other end has acknowledged all bytes
	Refused                      // the other end has reset the connection, and did not acknowledge all bytes
	TakenThenReset               // it has acknowledged all bytes, and reset the connection afterwards
)

// TakingOf returns what became of the bytes that were written to c. It does not block. It knows only TCP on Linux. A
// reset is reported once: callers remember it.
//
// It tells a client that closed its connection from one that only ended its sending. Both send a FIN. If more bytes
// arrive afterwards, the system of the first resets the connection, and the system of the second acknowledges them.
func TakingOf(c net.Conn) Taking { return takingOf(base(c)) }

// Bounds of AwaitTaking. On one machine the first look tells.
const (
	evidenceTime = LingerTime
	firstPause   = time.Millisecond
	longestPause = 100 * time.Millisecond
)

// AwaitTaking ends our sending on c, and returns TakingOf as soon as it is known, after a bounded time at latest.
func AwaitTaking(c net.Conn) Taking {
	t := TakingOf(c)
	if t > Sent || !tellsTaking(base(c)) {
		return t
	}
	CloseWrite(c)
	end := time.Now().Add(evidenceTime)
	for pause := firstPause; t <= Sent && time.Now().Before(end); pause = min(2*pause, longestPause) {
		time.Sleep(pause)
		t = TakingOf(c)
	}
	return t
}

// SideEnded calls an EndObserver, and no other.
func (o *Observed) SideEnded(x int, side, how string) {
	if to, ok := o.To.(EndObserver); ok {
		o.call(func() { to.SideEnded(x, side, how) })
	}
}

// resetTime is within which time a connection of one machine is reset by bytes that its other end does not take.
const resetTime = 20 * time.Millisecond

// lookAtClient checks whether a client took the bytes that were written to it after it ended its sending. A client that
// took them has only half-closed its connection. It is reported, and if it leaves later, it left after those bytes.
func (a *answers) lookAtClient() {
	if !a.sentAfterEnd.Load() || a.taking != TakingUnknown {
		return
	}
	t := TakingOf(a.client)
	if t == Sent && isLocal(a.client) && time.Since(a.sentAt) >= resetTime {
		t = Taken // its system need not acknowledge the bytes yet, but would have reset the connection
	}
	if t == Refused && a.sentWhole {
		t = TakenThenReset
	}
	a.sentWhole = t == Taken
	if t == Taken || t == TakenThenReset {
		a.halfClosed.Store(true)
		a.sideEnded(SideClient, EndHalfClose)
	}
	how, left := map[Taking]string{Refused: EndClose, TakenThenReset: EndReset}[t]
	if left {
		a.taking = t
		a.halfClosed.Store(false)
		a.sideEnded(SideClient, how)
	}
}

// isLocal reports whether both ends of a connection are on this machine.
func isLocal(c net.Conn) bool {
	from, _ := c.RemoteAddr().(*net.TCPAddr)
	to, _ := c.LocalAddr().(*net.TCPAddr)
	return from != nil && to != nil && (from.IP.IsLoopback() || from.IP.Equal(to.IP))
}

// clientGone reports whether the client has ended its sending, unless it is known to read on.
func (p *pair) clientGone() bool { return p.clientEOF.Load() && !p.halfClosed.Load() }

// sideEnded reports that a side has ended its part in all exchanges whose answer is not complete.
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

// endOfAgent names the way in which the agent has ended its part, given the error of a read or a write.
func endOfAgent(reset bool) string {
	if reset {
		return EndReset
	}
	return EndFIN
}

// endedBefore notes that the answer to x is complete, and reports whether the client had ended its sending before. Then
// x waits in a.unproven for what shows whether the client had left.
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

// written notes that the answer to x is complete and written. It ends x, or keeps it until it is known whether the client
// had left.
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

// proveAll ends the exchanges that wait to know whether the client had left. If wait is set, it waits for that a bounded
// time: nothing may be left to be written to the client then.
func (a *answers) proveAll(wait bool) {
	switch {
	case len(a.unproven) == 0:
	case a.taking != TakingUnknown:
		a.prove(a.taking)
	case !a.sentAfterEnd.Load(): // nothing that the client could have taken or refused
		a.prove(TakingUnknown)
	case wait:
		t := AwaitTaking(a.client)
		if t == Refused && a.sentWhole {
			t = TakenThenReset
		}
		a.prove(t)
	default:
		a.lookAtClient()
		a.prove(a.taking)
	}
}

// prove ends the exchanges that wait, given what became of the bytes that were written to the client.
func (a *answers) prove(t Taking) {
	for _, x := range a.unproven {
		switch {
		case t == Refused:
			a.obs.SideEnded(x.n, SideClient, EndClose)
			a.fault(x, TransportError{Kind: KindClientLeft, Side: SideClient, Detail: leftEarly})
		case t == Taken || t == TakenThenReset:
			a.obs.SideEnded(x.n, SideClient, EndHalfClose)
		case x.openEnded:
			a.fault(x, TransportError{
				Kind: KindClientLeft, Side: SideClient,
				Detail: "connection closed, for sending at least, before the answer ended; the agent may have ended it " +
					"for that",
			})
		}
		a.mu.Lock()
		x.unproven = false
		a.mu.Unlock()
		a.answerWritten(x)
	}
	a.unproven = a.unproven[:0]
}

// leftEarly is what is seen of a client that leaves.
const leftEarly = "connection closed before the answer was complete"

// stopCause returns why exchanges are not finished that are open when the context of Serve ends. A client that had ended
// its sending, and took nothing that was sent to it afterwards, had left.
func (p *pair) stopCause() TransportError {
	if !p.clientGone() || p.sentAfterEnd.Load() && TakingOf(p.client) == Taken {
		return stopped
	}
	return TransportError{Kind: KindClientLeft, Side: SideClient, Detail: leftEarly}
}
