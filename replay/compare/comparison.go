package compare

import (
	"fmt"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/replay/noise"
)

// A Recorded is the recorded exchange of a comparison: its answer and known facts about it.
type Recorded struct {
	*Reply
	Seq    uint64      // its number in the capture
	Task   string      // that the request names; empty if it names none
	Polled bool        // the next request that names its task polls again: the last answer counts, and not this one
	Ahead  []a2a.State // states that its task reached later without anything being done to it

	// Made reports whether another answer has created a task. A task in a list does not match any other task, in
	// particular none of another client; nil means no tasks.
	Made func(task string) bool
}

// A Comparison compares the recorded answer of one exchange with the live one, by meaning. It is for one goroutine.
type Comparison struct {
	Values   *Values
	Profile  Profile
	Texts    bool // also compare the contents of texts, in every profile
	Recorded *Recorded
	Live     *Reply
	LiveSeq  uint64 // number of the live exchange

	Noise     *noise.Rules  // what may differ; nil if nothing may
	Tolerance time.Duration // how much longer than recorded an answer or an event may take; 0 is any time
	Closer    bool          // look closer than a report needs: see Further

	// Both means that the live answer was recorded, too: its client may have left early, and its end may be missing.
	// LiveAhead is the live answer's counterpart of Recorded.Ahead.
	Both      bool
	LiveAhead []a2a.State

	// Translated means that the live agent is called in another binding or dialect than the recorded one. A card that
	// no longer offers the recorded one is then not a difference.
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

// A Profile is how closely answers are compared.
type Profile string

// The profiles. Each compares everything that the previous one compares, and more. None compares what depends on
// timing: the progress of an unfinished task in a snapshot.
const (
	// Protocol compares outcomes, states, kinds and order of events, errors, kinds of parts, types in JSON, names of
	// members, media types, and the client's final artifacts: their names, and that no text is lost. It ignores the
	// wording of texts, the number of elements and the size of chunks.
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

// Further returns, if Closer is set, the differences that Run omits because others at the same place are enough:
// those of values where the form already differs. It omits no changes, up to a thousand.
func (c *Comparison) Further() []Difference { return c.further }
