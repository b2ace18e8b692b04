package report

import (
	"encoding/json"
	"io"

	"a2atap/proxy/jsondoc"
)

type jsonReport struct {
	Tool        Tool             `json:"tool"`
	Capture     string           `json:"capture"`
	To          string           `json:"to"`
	Profile     string           `json:"profile"`
	Exchanges   []jsonLine       `json:"exchanges"`
	Differences []jsonDifference `json:"differences"`
	Deliveries  jsonDeliveries   `json:"deliveries"`
	Notes       []string         `json:"notes"`
	Verdict     jsonVerdict      `json:"verdict"`
}

type jsonLine struct {
	Exchange  uint64 `json:"exchange"`
	Live      uint64 `json:"replayedAs,omitempty"`
	Operation string `json:"operation"`
	Task      string `json:"task,omitempty"`
	Status    Status `json:"status"`
	Why       string `json:"why,omitempty"`
	Requests  int    `json:"requests"`
}

type jsonDifference struct {
	Kind     Kind         `json:"kind"`
	Rule     string       `json:"rule,omitempty"`
	Exchange uint64       `json:"exchange,omitempty"`
	Live     uint64       `json:"replayedAs,omitempty"`
	Place    string       `json:"place,omitempty"`
	Recorded string       `json:"recorded"`
	Now      string       `json:"now"`
	Message  string       `json:"message"`
	Changes  []jsonChange `json:"changes"`
}

// A jsonChange holds raw JSON, cut to a readable length and so as text; absent is null.
type jsonChange struct {
	Pointer  string  `json:"pointer"`
	Recorded *string `json:"recorded"`
	Now      *string `json:"now"`
}

type jsonDeliveries struct {
	Expected int    `json:"expected"`
	Received int    `json:"received"`
	LeftOut  int    `json:"leftOut"`
	Why      string `json:"why,omitempty"`
}

type jsonVerdict struct {
	Status      string `json:"status"` // same, different, incomplete or nothing
	Sent        int    `json:"sent"`
	Matched     int    `json:"matched"`
	Differing   int    `json:"differing"`
	LeftOut     int    `json:"leftOut"`
	Differences int    `json:"differences"`
	Lost        int64  `json:"lost"`
	Texts       int    `json:"textsNotCompared"`
}

// JSON writes the report as one JSON document.
func JSON(w io.Writer, r *Report) error {
	out := jsonReport{
		Tool: r.Tool, Capture: r.Capture, To: r.To, Profile: r.Profile,
		Exchanges: []jsonLine{}, Differences: []jsonDifference{}, Notes: append([]string{}, r.Notes...),
		Deliveries: jsonDeliveries(r.Deliveries), Verdict: r.jsonVerdict(),
	}
	for _, l := range r.Lines {
		out.Exchanges = append(out.Exchanges, jsonLine{l.Exchange, l.Live, l.Operation, l.Task, l.Status, l.Why, l.Requests})
	}
	for _, d := range r.Differences {
		changes := []jsonChange{}
		for _, c := range d.Changes {
			changes = append(changes, jsonChange{c.Pointer, some(c.Was), some(c.Now)})
		}
		out.Differences = append(out.Differences, jsonDifference{
			d.Kind, d.Rule, d.Exchange, d.Live, d.Place, d.Want, d.Got, d.Message, changes,
		})
	}
	encoder := json.NewEncoder(jsondoc.NewEscaper(w))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (r *Report) jsonVerdict() jsonVerdict {
	v := jsonVerdict{"different", r.Sent, r.Matched, r.Differing, r.LeftOut, len(r.Differences), r.Lost, r.Texts}
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
