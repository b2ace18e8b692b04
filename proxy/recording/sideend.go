package recording

import (
	"fmt"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// sideEnded notes that a side has ended its part, and returns what is recorded of that. What is found out later about
// the same end leaves its time and its position.
func (x *progress) sideEnded(e capture.SideEnd, at time.Duration) capture.SideEnd {
	e.At = at
	for i := range x.ends {
		if x.ends[i].Side == e.Side {
			x.ends[i].How = e.How
			return x.ends[i]
		}
	}
	x.ends = append(x.ends, e)
	return e
}

// timedFault returns the fault of an exchange. That of a client says when the client left, on the client's own clock:
// the answer may have come long after that.
func (x *progress) timedFault() *capture.TransportFault {
	if x.fault == nil || x.fault.Side != relay.SideClient || x.fault.Kind != relay.KindClientLeft && x.fault.Kind != relay.KindReset {
		return x.fault
	}
	for _, e := range x.ends {
		if e.Side == relay.SideClient {
			f := *x.fault
			did := "client left"
			if e.How == relay.EndHalfClose {
				did = "client ended its sending"
			}
			f.Detail = fmt.Sprintf("%s after %s: %s", did, seconds(e.At), f.Detail)
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
