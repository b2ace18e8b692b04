package compare

import (
	"fmt"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/replay/noise"
)

// A Recorded is the recorded exchange that another one is compared with: its answer, and what is known of it besides.
type Recorded struct {
	*Reply
	Seq    uint64      // its number in the capture
	Task   string      // that the request names; empty if it names none
	Polled bool        // the next request that names its task polls again: the last answer counts, and not this one
	Ahead  []a2a.State // states that its task reached later without anything being done to it

	// Made reports whether another answer has brought a task. In a list it stands for no other task, least of all
	// for one that somebody else has made; nil knows of none.
	Made func(task string) bool
}

// A Comparison compares the recorded answer of one exchange with the live one, by meaning. It is for one goroutine.
type Comparison struct {
	Values   *Values
	Profile  Profile
	Texts    bool // what texts say is compared, too, whatever the profile is
	Recorded *Recorded
	Live     *Reply
	LiveSeq  uint64 // number of the live exchange

	Noise     *noise.Rules  // what may differ; nil if nothing may
	Tolerance time.Duration // how much longer than recorded an answer or an event may take; 0 is any time
	Closer    bool          // look closer than a report needs: see Further

	// Both says that the live answer was recorded, too: its client may have left it, and its end may be missing.
	// LiveAhead is what Recorded.Ahead is, of the live one.
	Both      bool
	LiveAhead []a2a.State

	// Translated says that the live agent is spoken to in another binding or dialect than was recorded: that its card
	// no longer offers the recorded one is not a difference.
	Translated bool

	diffs   []Difference
	further []Difference
	pairs   [][2]Item    // items that mean the same, recorded and live
	noise   *noise.Scope // see scope
}

func (c *Comparison) add(d Difference) {
	d.Exchange = c.Recorded.Seq
	c.diffs = append(c.diffs, d)
}

func (c *Comparison) place(it Item) string {
	return place(c.Recorded.Seq, it.Event, it.Answer.Payload.Pointer)
}

// A Profile says how closely answers are compared.
type Profile string

// The profiles, each of which compares what the one before does, and more. None compares what is a matter of timing: how
// far a task had come in a snapshot of it while it went on.
const (
	// Protocol compares outcomes, states, kinds and order of events, errors, kinds of parts, types in JSON, names of
	// members, media types, and what a client has in the end: artifacts with their names, and no less of their texts. What
	// the texts say, the number of elements and the size of chunks are free.
	Protocol Profile = "protocol"
	// Shape also compares the whole structure and the status of HTTP.
	Shape Profile = "shape"
	// Exact compares everything but ids and times, chunk by chunk.
	Exact Profile = "exact"
)

// ParseProfile returns the profile of that name.
func ParseProfile(name string) (Profile, error) {
	switch p := Profile(name); p {
	case Protocol, Shape, Exact:
		return p, nil
	}
	return "", fmt.Errorf("unknown profile %q; use %s, %s or %s", name, Protocol, Shape, Exact)
}

// livePlace writes the place of an item in the live exchange.
func (c *Comparison) livePlace(it Item) string {
	return place(c.LiveSeq, it.Event, it.Answer.Payload.Pointer)
}

// liveHead writes the place of the live answer as a whole.
func (c *Comparison) liveHead() string { return fmt.Sprintf("%d.response", c.LiveSeq) }

// limit returns how many changes a difference may have.
func (c *Comparison) limit() int {
	if c.Closer {
		return 1000
	}
	return maxChanges
}

// Further returns, if Closer is set, the differences that Run leaves out since others at the same place say enough: of
// values, where the form differs already. Then no number of changes is left out either, up to a thousand.
func (c *Comparison) Further() []Difference { return c.further }
