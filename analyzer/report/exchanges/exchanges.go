// Package exchanges writes the exchanges of captures as a part of a page of HTML: ladders and trees of what belongs
// together, and each exchange, folded, with its contents laid out and its findings where they stand.
//
// What is written is bounded, so that a browser can open it, whatever the captures hold: exchanges with findings come
// first, then those that belong to the same workflow, then the others in their order. What is left out is counted.
//
// Texts may be anything. They are shown, and nothing in them is obeyed, loaded or linked to.
package exchanges

import (
	"context"
	"fmt"
	"io"
	"slices"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
)

// A Capture is one whose exchanges are to be shown.
type Capture struct {
	Name     string
	Source   capture.Source
	Reader   *reading.Reader                   // that knows the cards of the capture
	Links    *workflow.Index                   // of all its exchanges
	Notes    *notes.Notes                      // what was noted on its exchanges; nil if nothing was
	Chosen   []uint64                          // the exchanges that may be shown, in order; nil if all may
	Summary  func(seq uint64) *summary.Summary // as judging the capture knows it; nil, or returns nil, if nobody does
	Findings int                               // how many of the findings are of it: they stand in the order of the captures
}

// Bounds of a page.
type limits struct {
	exchanges int // of all captures
	bytes     int // of their contents, as HTML
	arrows    int // of one ladder, and rows of one tree
}

var pageLimits = limits{exchanges: 1000, bytes: 24 << 20, arrows: 150}

// A Section is what was read of captures, to be written. It holds no more than what is written.
type Section struct {
	captures []*shown
	limits   limits
	anchors  []string // of the findings, by their order
	room     [2]int   // bytes for exchanges without findings, and with
	cuts     cuts
}

// cuts is what is left out of a page, beside exchanges.
type cuts struct{ contents, bodies, events int }

// A shown is a capture that is shown.
type shown struct {
	Capture
	prefix string // of the ids of its elements, empty if there is no other capture
	all    int    // exchanges that may be shown
	found  map[uint64][]*finding
	items  []*item
}

// A finding is one with the id of the element in which it stands.
type finding struct {
	*analyzer.Finding
	id     string
	placed bool
}

// Read reads what a page shows of captures. The findings are those of all captures, in their order.
func Read(ctx context.Context, captures []Capture, findings []analyzer.Finding) (*Section, error) {
	return read(ctx, captures, findings, pageLimits)
}

func read(ctx context.Context, captures []Capture, findings []analyzer.Finding, most limits) (*Section, error) {
	s := &Section{limits: most, anchors: make([]string, len(findings)), room: [2]int{most.bytes / 2, most.bytes / 2}}
	next := 0
	for i, c := range captures {
		sh := &shown{Capture: c, found: make(map[uint64][]*finding)}
		if len(captures) > 1 {
			sh.prefix = fmt.Sprintf("%d/", i+1)
		}
		for range c.Findings {
			f := &finding{Finding: &findings[next], id: fmt.Sprintf("f%d", next+1)}
			sh.found[f.Place.Exchange] = append(sh.found[f.Place.Exchange], f)
			next++
		}
		s.captures = append(s.captures, sh)
		if err := s.take(ctx, sh, max(most.exchanges/len(captures), 1)); err != nil {
			return nil, fmt.Errorf("read %s for the page: %w", c.Name, err)
		}
	}
	s.anchor(findings)
	return s, nil
}

// anchor notes where each finding stands.
func (s *Section) anchor(findings []analyzer.Finding) {
	next := 0
	for _, sh := range s.captures {
		there := make(map[uint64]bool, len(sh.items))
		for _, it := range sh.items {
			there[it.seq] = true
		}
		placed := make(map[string]bool)
		for _, list := range sh.found {
			for _, f := range list {
				placed[f.id] = f.placed
			}
		}
		for range sh.Findings {
			id := fmt.Sprintf("f%d", next+1)
			switch seq := findings[next].Place.Exchange; {
			case placed[id]:
				s.anchors[next] = id
			case there[seq]:
				s.anchors[next] = sh.id(seq)
			}
			next++
		}
	}
}

// Anchor returns the id of the element in which a finding stands, by its number from 0, or of its exchange; "" if that
// is not on the page. Of a nil Section none is.
func (s *Section) Anchor(i int) string {
	if s == nil || i >= len(s.anchors) {
		return ""
	}
	return s.anchors[i]
}

// LeftOut says what is not on the page, a sentence each.
func (s *Section) LeftOut() []string {
	if s == nil {
		return nil
	}
	var list []string
	for _, sh := range s.captures {
		if n := sh.all - len(sh.items); n > 0 {
			list = append(list, fmt.Sprintf("%d of %s of %s are not on the page: those with findings come first, then those of "+
				"the same workflows, then the earliest", n, analyzer.Plural(sh.all, "exchange"), analyzer.Clean(sh.Name)))
		}
	}
	for _, cut := range []struct {
		n    int
		noun string
		why  string
	}{
		{s.cuts.contents, "exchange", "without contents, since the page would be too large"},
		{s.cuts.bodies, "long text", "cut"},
		{s.cuts.events, "event", "left out of long streams"},
	} {
		if cut.n > 0 {
			list = append(list, fmt.Sprintf("%s %s", analyzer.Plural(cut.n, cut.noun), cut.why))
		}
	}
	return list
}

// id returns the id of the element of an exchange: what its places begin with.
func (sh *shown) id(seq uint64) string { return fmt.Sprintf("%s%d", sh.prefix, seq) }

// take reads the exchanges of a capture that are shown, at most so many.
func (s *Section) take(ctx context.Context, sh *shown, most int) error {
	if err := sh.count(ctx); err != nil {
		return err
	}
	chosen := sh.choose(most)
	return sh.each(ctx, chosen, func(x *capture.Exchange) error {
		if err := sh.addEvents(ctx, x); err != nil {
			return err
		}
		sh.items = append(sh.items, s.item(sh, x))
		return nil
	})
}

// count finds out how many exchanges may be shown.
func (sh *shown) count(ctx context.Context) error {
	if _, ours := sh.Source.(capture.Index); !ours && sh.Chosen == nil {
		sh.Chosen = []uint64{} // files of other formats may be a part of a capture, with its numbers
		for x, err := range sh.Source.Ends(ctx, 1, 1) {
			if err != nil {
				return err
			}
			sh.Chosen = append(sh.Chosen, x.Seq)
		}
	}
	if sh.Chosen != nil {
		sh.all = len(sh.Chosen)
		return nil
	}
	info, err := sh.Source.Info(ctx)
	sh.all = int(info.Exchanges)
	return err
}

// candidate returns an exchange that may be shown, by its number from 0.
func (sh *shown) candidate(i int) uint64 {
	if sh.Chosen != nil {
		return sh.Chosen[i]
	}
	return uint64(i) + 1
}

// choose returns the exchanges that are shown, in order: those with errors first, with other findings, of the same
// workflow as one with findings, and others.
func (sh *shown) choose(most int) []uint64 {
	concerned := make(map[uint64]bool) // workflows
	for seq := range sh.found {
		concerned[sh.Links.Of(seq).Workflow] = true
	}
	var ranks [4][]uint64
	for i := range sh.all {
		seq := sh.candidate(i)
		rank := 3
		if found := sh.found[seq]; len(found) > 0 {
			rank = 1
			if slices.ContainsFunc(found, func(f *finding) bool { return f.Severity == analyzer.Error }) {
				rank = 0
			}
		} else if concerned[sh.Links.Of(seq).Workflow] {
			rank = 2
		}
		if len(ranks[rank]) < most {
			ranks[rank] = append(ranks[rank], seq)
		}
	}
	chosen := slices.Concat(ranks[:]...)
	chosen = chosen[:min(len(chosen), most)]
	slices.Sort(chosen)
	return chosen
}

// few is how many exchanges are looked up one by one: more are found by reading the capture through.
const few = 50

// each calls f with exchanges, in order; of long streams there may be the ends alone.
func (sh *shown) each(ctx context.Context, chosen []uint64, f func(*capture.Exchange) error) error {
	if len(chosen) < few {
		for _, seq := range chosen {
			if err := sh.one(ctx, seq, f); err != nil {
				return err
			}
		}
		return nil
	}
	for x, err := range sh.Source.Ends(ctx, chosen[0], maxEvents) {
		if err != nil {
			return err
		}
		for len(chosen) > 0 && chosen[0] < x.Seq {
			chosen = chosen[1:]
		}
		if len(chosen) == 0 {
			return nil
		}
		if x.Seq == chosen[0] {
			if err := f(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// one calls f with one exchange, if there is one of that number.
func (sh *shown) one(ctx context.Context, seq uint64, f func(*capture.Exchange) error) error {
	for x, err := range sh.Source.Ends(ctx, seq, maxEvents) {
		if err != nil {
			return err
		}
		if x.Seq == seq {
			return f(x)
		}
		return nil
	}
	return nil
}

// Write writes the section.
func (s *Section) Write(w io.Writer) error {
	p := &page{}
	p.raw(`<h2 id="exchanges">Exchanges</h2>` + "\n")
	for _, words := range s.LeftOut() {
		p.raw(`<p class="left">`)
		p.text(words)
		p.raw(".</p>\n")
	}
	for _, sh := range s.captures {
		if len(s.captures) > 1 {
			p.raw("<h3>")
			p.text(sh.Name)
			p.raw("</h3>\n")
		}
		groups := sh.groups()
		for i := range groups {
			sh.group(p, &groups[i], s.limits.arrows, len(groups) <= 3)
			if err := p.flush(w); err != nil {
				return err
			}
		}
		if len(groups) == 0 {
			p.raw(`<p class="faint">None.</p>` + "\n")
		}
	}
	return p.flush(w)
}
