package minimize

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A judge has the finding to show, and the smallest exchanges so far that show it. Exchanges are never modified: a cut
// makes a copy.
type judge struct {
	ctx      context.Context
	rules    []*analysis.Rule
	rule     string
	target   string // key of the finding
	severity analysis.Severity
	known    map[string]bool // keys of the allowed violations, with and without their exchange
	broken   map[string]bool // the same by rule and side, for covered rules
	whole    bool            // only whole exchanges are removed, and nothing inside them
	nameless bool            // agents may have other names than in the capture
	onStep   func(Progress)

	now      []*capture.Exchange
	readings map[uint64]asRead
	finding  analysis.Finding
	findings []analysis.Finding
	kept     int // how many cuts succeeded
	named    int // neutral words so far
}

// asRead is the interpretation of an exchange, which no cut may change.
type asRead struct {
	operation a2a.Operation
	binding   a2a.Binding
	dialects  a2a.Dialects
}

// forget allows nothing any more.
func (j *judge) forget() { j.known, j.broken = make(map[string]bool), make(map[string]bool) }

// want selects the finding to show.
func (j *judge) want(f *analysis.Finding) {
	j.target, j.severity = j.inExchange(f), f.Severity
}

var numbers = regexp.MustCompile(`\d+`)

// key identifies a violation: rule, side, agent, operation, the kind of place, and what was seen there without numbers.
// Without the latter, a cut could create the fault itself: a member that is missing because it was cut, instead of one
// that was wrong.
func (j *judge) key(f *analysis.Finding) string {
	if j.nameless {
		g := *f
		g.Link = analysis.Link{}
		return g.Fingerprint()
	}
	return f.Fingerprint() + " " + numbers.ReplaceAllString(f.Seen, "*")
}

// inExchange is the key together with the exchange.
func (j *judge) inExchange(f *analysis.Finding) string {
	return strconv.FormatUint(f.Place.Exchange, 10) + " " + j.key(f)
}

func bySide(rule string, side a2a.Side) string { return rule + " " + side.String() }

// knows allows the violations that exist already.
func (j *judge) knows(findings []analysis.Finding) {
	for i := range findings {
		f := &findings[i]
		j.known[j.key(f)], j.known[j.inExchange(f)] = true, true
		j.broken[bySide(f.Rule.ID, f.Side)] = true
		for _, id := range f.Also {
			j.broken[bySide(id, f.Side)] = true
			j.known[bySide(id, f.Side)] = true // the rule that covers it may be cut away
		}
	}
}

// allows reports whether a finding is not new. Cuts inside an exchange may not cause new findings in it. If whole
// exchanges are removed, their findings may move to other, unchanged exchanges.
func (j *judge) allows(f *analysis.Finding) bool {
	known := j.known[j.inExchange(f)] || j.whole && j.known[j.key(f)] || j.known[bySide(f.Rule.ID, f.Side)]
	return known && !slices.ContainsFunc(f.Also, func(id string) bool { return !j.broken[bySide(id, f.Side)] })
}

// begin sets the exchanges of the capture.
func (j *judge) begin(all []*capture.Exchange) error {
	j.readings = read(all)
	_, findings, err := j.run(all)
	if err != nil {
		return err
	}
	// Findings from the exchanges alone, without the reports of losses, are not new either.
	j.knows(findings)
	if !j.try(all) {
		return fmt.Errorf("%w in its exchanges alone: the finding depends on what the capture says about losses, or about "+
			"the end of its recorder", ErrNotShown)
	}
	j.kept = 0
	return nil
}

// read reads exchanges, in their order.
func read(list []*capture.Exchange) map[uint64]asRead {
	reader := &reading.Reader{}
	readings := make(map[uint64]asRead, len(list))
	for _, x := range list {
		r := reader.Read(x)
		readings[x.Seq] = asRead{r.Call.Operation, r.Call.Binding, r.Dialects}
	}
	return readings
}

// run checks exchanges. It returns them as a capture would have them after the cuts.
func (j *judge) run(list []*capture.Exchange) ([]*capture.Exchange, []analysis.Finding, error) {
	src, err := memory(list)
	if err != nil {
		return nil, nil, err
	}
	result, err := engine.Run(j.ctx, j.rules, src, nil)
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

// memory returns a capture of these exchanges. They are interleaved by their start, an order that captures need not
// have.
func memory(list []*capture.Exchange) (*capture.Memory, error) {
	byStart := slices.Clone(list)
	slices.SortStableFunc(byStart, func(a, b *capture.Exchange) int { return a.Started.Compare(b.Started) })
	return capture.ReadMemory(capture.Info{}, capture.Each(byStart...))
}

// try accepts these exchanges as the new state if they show the finding and nothing new, and are interpreted as before.
// It reports whether it did.
func (j *judge) try(list []*capture.Exchange) bool {
	if j.onStep != nil {
		j.onStep(j.progress())
	}
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
		if !j.allows(f) {
			return false
		}
		if at < 0 && j.inExchange(f) == j.target && f.Severity == j.severity && shows(f, j.rule) {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	j.now, j.findings, j.finding = list, findings, findings[at]
	j.kept++
	if j.whole {
		j.knows(findings)
	}
	return true
}

// sameReading reports whether exchanges are interpreted as in the capture. If dialects have become ambiguous, the
// original ones must be among the possible ones.
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
	p := Progress{Exchanges: len(j.now)}
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
	list[i] = list[i].Copy()
	edit(list[i])
	return j.try(list)
}

// ErrNotShown is returned by Run if the capture shows no finding that is asked for.
var ErrNotShown = errors.New("it has no such finding")

// Progress is how small it has become.
type Progress struct {
	Exchanges int // that are left
	Bytes     int // of their heads and bodies
}

// shows reports whether a finding is of a rule, or has covered it.
func shows(f *analysis.Finding, rule string) bool {
	return f.Rule.ID == rule || slices.Contains(f.Also, rule)
}
