package minimize

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A judge knows what is to be shown, and the smallest exchanges so far that show it. Exchanges are never changed: what
// is cut is a copy.
type judge struct {
	ctx      context.Context
	rules    []*analyzer.Rule
	rule     string
	target   string // fingerprint of the finding
	severity analyzer.Severity
	known    map[string]bool // fingerprints of what may be broken; and rule and side of what was covered
	nameless bool            // agents may have other names than in the capture
	onStep   func(Progress)

	now      []*capture.Exchange
	readings map[uint64]reading
	finding  analyzer.Finding
	findings []analyzer.Finding
	tried    int
	kept     int // how often something could be taken away
	named    int // neutral words so far
}

// A reading is how an exchange is read: what no cut may change.
type reading struct {
	operation a2a.Operation
	binding   a2a.Binding
	dialects  a2a.Dialects
}

// want makes a finding the one to be shown.
func (j *judge) want(f *analyzer.Finding) {
	j.target, j.severity = j.fingerprint(f), f.Severity
}

var numbers = regexp.MustCompile(`\d+`)

// fingerprint identifies the finding: rule, side, agent, operation, the kind of place and what was seen there but for
// numbers. Without what was seen, a cut could make the very fault that it is to show: a member that is missing since it
// was cut off, in place of one that was wrong.
func (j *judge) fingerprint(f *analyzer.Finding) string {
	if j.nameless {
		g := *f
		g.Link = analyzer.Link{}
		return g.Fingerprint()
	}
	return f.Fingerprint() + " " + numbers.ReplaceAllString(f.Seen, "*")
}

// knows allows what is broken already.
func (j *judge) knows(findings []analyzer.Finding) {
	for i := range findings {
		f := &findings[i]
		j.known[j.fingerprint(f)] = true
		for _, id := range f.Also {
			j.known[covered(id, f.Side)] = true
		}
	}
}

// covered is the key of a rule that was broken under another one. What covers it may be cut away.
func covered(id string, side a2a.Side) string { return id + " " + side.String() }

// begin takes the exchanges of the capture.
func (j *judge) begin(all []*capture.Exchange) error {
	j.readings = read(all)
	_, findings, err := j.run(all)
	if err != nil {
		return err
	}
	// What only the exchanges show, without what the capture says of losses, was broken there, too.
	j.knows(findings)
	if !j.try(all) {
		return fmt.Errorf("%w in its exchanges alone: the rule was broken by what the capture says of losses, or of "+
			"the end of its recorder", ErrNotShown)
	}
	j.kept = 0
	return nil
}

// read reads exchanges, in their order.
func read(list []*capture.Exchange) map[uint64]reading {
	reader := &analyzer.Reader{}
	readings := make(map[uint64]reading, len(list))
	for _, x := range list {
		r := reader.Read(x)
		readings[x.Seq] = reading{r.Call.Operation, r.Call.Binding, r.Dialects}
	}
	return readings
}

// run judges exchanges. It returns them as a capture holds them, whatever was cut.
func (j *judge) run(list []*capture.Exchange) ([]*capture.Exchange, []analyzer.Finding, error) {
	src, err := memory(list)
	if err != nil {
		return nil, nil, err
	}
	j.tried++
	result, err := analyzer.Run(j.ctx, j.rules, src, nil)
	if err != nil {
		return nil, nil, err
	}
	stored := make([]*capture.Exchange, 0, len(list))
	for x, err := range src.Exchanges(j.ctx, 1) {
		if err != nil {
			return nil, nil, err
		}
		stored = append(stored, x)
	}
	return stored, result.Findings, nil
}

// memory is a capture of these exchanges. They are interleaved in order of their start, in which captures need not be.
func memory(list []*capture.Exchange) (*capture.Memory, error) {
	byStart := slices.Clone(list)
	slices.SortStableFunc(byStart, func(a, b *capture.Exchange) int { return a.Started.Compare(b.Started) })
	return capture.ReadMemory(capture.Info{}, func(yield func(*capture.Exchange, error) bool) {
		for _, x := range byStart {
			if !yield(x, nil) {
				return
			}
		}
	})
}

// try takes these exchanges in place of those so far, if they show the finding and nothing new, and what is left is
// read as before. It reports whether it did.
func (j *judge) try(list []*capture.Exchange) bool {
	if j.ctx.Err() != nil || !j.sameReading(list) {
		return false
	}
	list, findings, err := j.run(list)
	if err != nil {
		return false
	}
	at := -1
	for i := range findings {
		f := &findings[i]
		print := j.fingerprint(f)
		if !j.known[print] && !j.known[covered(f.Rule.ID, f.Side)] {
			return false
		}
		if at < 0 && print == j.target && f.Severity == j.severity && shows(f, j.rule) {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	j.now, j.findings, j.finding = list, findings, findings[at]
	j.kept++
	if j.onStep != nil {
		j.onStep(j.progress())
	}
	return true
}

// sameReading reports whether exchanges are read as they are in the capture. Where nothing tells dialects apart any
// more, those of before have to be among them.
func (j *judge) sameReading(list []*capture.Exchange) bool {
	for seq, r := range read(list) {
		was := j.readings[seq]
		if r.operation != was.operation || r.binding != was.binding ||
			r.dialects.Intersect(was.dialects) != was.dialects {
			return false
		}
	}
	return true
}

func (j *judge) progress() Progress {
	p := Progress{Exchanges: len(j.now), Tried: j.tried}
	for _, x := range j.now {
		p.Bytes += len(x.Request.Head) + len(x.Request.Body.Data)
		if r := x.Response; r != nil {
			p.Bytes += len(r.Head) + len(r.Body.Data)
			for i := range r.Events {
				p.Bytes += len(r.Events[i].Raw)
			}
		}
	}
	return p
}

// replace tries a copy of exchange i that was changed by edit.
func (j *judge) replace(i int, edit func(*capture.Exchange)) bool {
	list := slices.Clone(j.now)
	list[i] = copied(list[i])
	edit(list[i])
	return j.try(list)
}

// copied returns a copy of an exchange whose request and answer may be changed, but for the bytes in them.
func copied(x *capture.Exchange) *capture.Exchange {
	c := *x
	if x.Response != nil {
		r := *x.Response
		r.Events = slices.Clone(r.Events)
		c.Response = &r
	}
	return &c
}
