package report

import (
	"cmp"
	"io"

	"a2atap/analyzer/report"
	"a2atap/proxy/a2a"
	"a2atap/proxy/safetext"
	"a2atap/replay/compare"
)

type jsonReport struct {
	Tool        report.Tool      `json:"tool"`
	Verb        string           `json:"verb"`
	Sides       [2]string        `json:"sides"` // the names of "recorded" and "now" in other formats
	Capture     string           `json:"capture"`
	To          string           `json:"to"`
	Profile     string           `json:"profile"`
	Exchanges   []Line           `json:"exchanges"`
	Differences []jsonDifference `json:"differences"`
	Causes      []jsonCause      `json:"causes"`
	Deliveries  Deliveries       `json:"deliveries"`
	Played      *Played          `json:"played,omitempty"`
	Notes       []string         `json:"notes"`
	Verdict     jsonVerdict      `json:"verdict"`
}

// A jsonDifference has the number of its cause, from 1, and whether it is only a consequence.
type jsonDifference struct {
	Side        string       `json:"side"` // agent or client
	Kind        compare.Kind `json:"kind"`
	Rule        string       `json:"rule,omitempty"`
	Exchange    uint64       `json:"exchange,omitempty"`
	Live        uint64       `json:"replayedAs,omitempty"`
	Place       string       `json:"place,omitempty"`
	LivePlace   string       `json:"placeNow,omitempty"`
	Task        string       `json:"task,omitempty"`
	Recorded    string       `json:"recorded"`
	Now         string       `json:"now"`
	Message     string       `json:"message"`
	Summary     string       `json:"summary"`
	Changes     []jsonChange `json:"changes"`
	Cause       int          `json:"cause"`
	Consequence bool         `json:"consequence"`
}

// A jsonCause is a difference that no other explains. Differences are counted from 1, in their order in the report.
type jsonCause struct {
	Summary      string       `json:"summary"`
	Kind         compare.Kind `json:"kind"`
	Operation    string       `json:"operation,omitempty"`
	Differences  []int        `json:"differences"`
	Consequences []int        `json:"consequences"`
	NotSent      []uint64     `json:"notSent"` // exchanges
}

// A jsonChange holds raw JSON as text, since very long values are cut; absent is null.
type jsonChange struct {
	Pointer  string  `json:"pointer"`
	Recorded *string `json:"recorded"`
	Now      *string `json:"now"`
}

type jsonVerdict struct {
	Status      string `json:"status"` // same, different, incomplete or nothing
	Sent        int    `json:"sent"`
	Matched     int    `json:"matched"`
	Differing   int    `json:"differing"`
	LeftOut     int    `json:"leftOut"`
	Differences int    `json:"differences"`
	Causes      int    `json:"causes"`
	Missing     int    `json:"missing"` // exchanges that only the first of two captures has
	New         int    `json:"new"`     // and only the second
	Lost        int64  `json:"lost"`
	Texts       int    `json:"textsNotCompared"`
	Ignored     int    `json:"ignored"`
	IgnoredBy   int    `json:"ignoredByRules"`
	Matching    int    `json:"comparedWithExpressions"`
}

// JSON writes the report as one JSON document.
func JSON(w io.Writer, r *Report) error {
	sides := r.sides()
	out := jsonReport{
		Tool: r.Tool, Verb: r.verb(), Sides: [2]string{sides.Was, sides.Now}, Capture: r.Capture, To: r.To,
		Profile: r.Profile, Exchanges: append([]Line{}, r.Lines...), Differences: []jsonDifference{}, Causes: []jsonCause{},
		Notes: append([]string{}, r.Notes...), Deliveries: r.Deliveries, Played: r.Played, Verdict: r.jsonVerdict(),
	}
	t := newTracer(r)
	t.trace()
	causes := t.sort()
	for i := range r.Differences {
		out.Differences = append(out.Differences, t.json(i))
	}
	for n := range causes {
		out.Causes = append(out.Causes, jsonCauseOf(&causes[n], n+1, out.Differences))
	}
	return safetext.NewEncoder(w, "  ").Encode(out)
}

func (t *tracer) json(i int) jsonDifference {
	d := &t.Differences[i]
	changes := []jsonChange{}
	for _, c := range d.Changes {
		changes = append(changes, jsonChange{c.Pointer, some(c.Was), some(c.Now)})
	}
	return jsonDifference{
		Side: cmp.Or(d.Side, a2a.Agent.String()),
		Kind: d.Kind, Rule: d.Rule, Exchange: d.Exchange, Live: d.Live, Place: d.Place, LivePlace: d.LivePlace,
		Task: t.subject(d, t.lines[i]).task, Recorded: d.Want, Now: d.Got, Message: d.Message, Summary: d.Summary(),
		Changes: changes, Consequence: t.root[i] != i,
	}
}

// jsonCauseOf makes a cause, and writes its number into its differences.
func jsonCauseOf(c *Cause, n int, differences []jsonDifference) jsonCause {
	d := &c.Differences[0]
	out := jsonCause{
		Summary: headline(&c.Group), Kind: d.Kind, Operation: c.Operation, Differences: []int{}, Consequences: []int{},
		NotSent: []uint64{},
	}
	for _, i := range c.indices {
		differences[i].Cause = n
		out.Differences = append(out.Differences, i+1)
	}
	for _, g := range c.Consequences {
		for _, i := range g.indices {
			differences[i].Cause = n
			out.Consequences = append(out.Consequences, i+1)
		}
	}
	for i := range c.NotSent {
		out.NotSent = append(out.NotSent, c.NotSent[i].Exchange)
	}
	return out
}

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (r *Report) jsonVerdict() jsonVerdict {
	v := jsonVerdict{
		Status: "different", Sent: r.Sent, Matched: r.Matched, Differing: r.Differing, LeftOut: r.LeftOut,
		Differences: len(r.Differences), Causes: len(r.Causes()), Missing: r.Missing, New: r.New, Lost: r.Lost,
		Texts: r.Texts, Ignored: r.Ignored, IgnoredBy: r.IgnoredBy, Matching: r.Matching,
	}
	switch {
	case len(r.Differences) > 0:
	case r.Sent == 0:
		v.Status = "nothing"
	case r.Lost > 0, r.Crash != "":
		v.Status = "incomplete"
	default:
		v.Status = "same"
	}
	return v
}
