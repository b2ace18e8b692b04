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

// A judge knows what is to be shown, and the smallest exchanges so far that show it. Exchanges are never changed: what
// is cut is a copy.
type judge struct {
	ctx      context.Context
	rules    []*analysis.Rule
	rule     string
	target   string // key of the finding
	severity analysis.Severity
	known    map[string]bool // keys of what may be broken, with and without its exchange
	broken   map[string]bool // the same by rule and side, for what is covered and is not
	whole    bool            // exchanges are taken away as they are, and nothing inside them
	nameless bool            // agents may have other names than in the capture
	onStep   func(Progress)

	now      []*capture.Exchange
	readings map[uint64]asRead
	finding  analysis.Finding
	findings []analysis.Finding
	kept     int // how often something could be taken away
	named    int // neutral words so far
}

// asRead is how an exchange is read: what no cut may change.
type asRead struct {
	operation a2a.Operation
	binding   a2a.Binding
	dialects  a2a.Dialects
}

// forget allows nothing any more.
func (j *judge) forget() { j.known, j.broken = make(map[string]bool), make(map[string]bool) }

// want makes a finding the one to be shown.
func (j *judge) want(f *analysis.Finding) {
	j.target, j.severity = j.inExchange(f), f.Severity
}

var numbers = regexp.MustCompile(`\d+`)

// key identifies what is broken: rule, side, agent, operation, the kind of place and what was seen there but for
// numbers. Without what was seen, a cut could make the very fault that it is to show: a member that is missing since it
// was cut off, in place of one that was wrong.
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

// knows allows what is broken already.
func (j *judge) knows(findings []analysis.Finding) {
	for i := range findings {
		f := &findings[i]
		j.known[j.key(f)], j.known[j.inExchange(f)] = true, true
		j.broken[bySide(f.Rule.ID, f.Side)] = true
		for _, id := range f.Also {
			j.broken[bySide(id, f.Side)] = true
			j.known[bySide(id, f.Side)] = true // what covers it may be cut away
		}
	}
}

// allows reports whether nothing new is broken. What is cut inside an exchange may break nothing there that was not
// broken in it. Where whole exchanges go, what their findings stood for may be found in others that are as they were.
func (j *judge) allows(f *analysis.Finding) bool {
	known := j.known[j.inExchange(f)] || j.whole && j.known[j.key(f)] || j.known[bySide(f.Rule.ID, f.Side)]
	return known && !slices.ContainsFunc(f.Also, func(id string) bool { return !j.broken[bySide(id, f.Side)] })
}

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
func read(list []*capture.Exchange) map[uint64]asRead {
	reader := &reading.Reader{}
	readings := make(map[uint64]asRead, len(list))
	for _, x := range list {
		r := reader.Read(x)
		readings[x.Seq] = asRead{r.Call.Operation, r.Call.Binding, r.Dialects}
	}
	return readings
}

// run judges exchanges. It returns them as a capture holds them, whatever was cut.
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

// memory is a capture of these exchanges. They are interleaved in order of their start, in which captures need not be.
func memory(list []*capture.Exchange) (*capture.Memory, error) {
	byStart := slices.Clone(list)
	slices.SortStableFunc(byStart, func(a, b *capture.Exchange) int { return a.Started.Compare(b.Started) })
	return capture.ReadMemory(capture.Info{}, capture.Each(byStart...))
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
var ErrNotShown = errors.New("it shows no such finding")

// Progress is how small it has become.
type Progress struct {
	Exchanges int // that are left
	Bytes     int // of their heads and bodies
}

// shows reports whether a finding is of a rule, or has covered it.
func shows(f *analysis.Finding, rule string) bool {
	return f.Rule.ID == rule || slices.Contains(f.Also, rule)
}
