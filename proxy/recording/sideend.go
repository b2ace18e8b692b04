package recording

import (
	"fmt"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// A taken is how much of an answer a client has received after it half-closed its connection.
type taken struct {
	size  int64         // bytes of the body
	since time.Duration // when more was sent, which it is not known to have received; 0 if nothing was
}

// sideEnded records that a side has ended its part, and returns the step to record, if the end is new. Later
// information about the same end does not change its time and position. A client that half-closed ends a second time
// when it leaves: after the data that it read, and before the rest.
func (x *progress) sideEnded(e capture.SideEnd, at time.Duration) (end capture.SideEnd, isNew bool) {
	e.At = at
	i := len(x.ends) - 1
	for i >= 0 && x.ends[i].Side != e.Side {
		i--
	}
	if e.How == capture.EndHalfClose {
		x.taken = taken{size: e.Response}
	}
	switch {
	case i < 0:
	case x.ends[i].How == e.How, x.ends[i].Left():
		return e, false
	case x.ends[i].How == capture.EndHalfClose && e.Left():
		e.Response = x.taken.size
		if x.taken.since > 0 {
			e.At = x.taken.since - 1
		}
	default:
		x.ends[i].How = e.How
		return x.ends[i], true
	}
	x.ends = append(x.ends, e)
	return e, true
}

// timedFault returns the fault of an exchange. A client's fault includes when the client left, by the time of its side:
// the answer may have come long after that.
func (x *progress) timedFault() *capture.TransportFault {
	if x.fault == nil || x.fault.Side != relay.SideClient || x.fault.Kind != relay.KindClientLeft && x.fault.Kind != relay.KindReset {
		return x.fault
	}
	for _, e := range x.ends {
		if e.Side == relay.SideClient && e.How != relay.EndHalfClose {
			f := *x.fault
			f.Detail = fmt.Sprintf("client left after %s: %s", seconds(e.At), f.Detail)
			return &f
		}
	}
	return x.fault
}

// seconds writes a duration for people, such as "1.0 s".
func seconds(d time.Duration) string {
	if d < 100*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
