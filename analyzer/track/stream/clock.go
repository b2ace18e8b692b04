package stream

import "a2atap/proxy/a2a"

// A Clock is what times of 1.0 show of the clock behind them.
type Clock struct {
	whole [3][len(wholeSecond)]byte // different times on a whole second
	count int                       // of them
	fine  bool                      // a time with a fraction of a second was seen
}

const wholeSecond = "2026-03-01T10:00:00Z"

// See takes the text of a time in UTC.
func (c *Clock) See(text []byte) {
	switch {
	case len(text) != len(wholeSecond):
		c.fine = true
		return
	case c.count == len(c.whole):
		return
	}
	for i := range c.count {
		if string(c.whole[i][:]) == string(text) {
			return
		}
	}
	copy(c.whole[c.count][:], text)
	c.count++
}

// WholeSeconds reports whether there were at least three different times, all on a whole second: then that is no
// chance.
func (c *Clock) WholeSeconds() bool { return !c.fine && c.count == len(c.whole) }

// time lets the stream remember the time of a status.
func (s *Stream) time(status *a2a.Entity) {
	if v := status.Member("timestamp"); v.Kind() == a2a.String {
		raw := v.Raw()
		s.Clock.See(raw[1 : len(raw)-1])
	}
}
