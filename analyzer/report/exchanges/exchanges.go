// Package exchanges writes the exchanges of captures as a part of an HTML page: ladders and trees of related exchanges,
// and each exchange, folded, with its formatted contents and its findings in place.
//
// The output is bounded, so that a browser can open it regardless of the size of the captures: exchanges with findings
// come first, then those that belong to the same workflow, then the others in their order. Omissions are counted.
//
// Texts may be anything. They are shown, and nothing in them is obeyed, loaded or linked to.
package exchanges

import (
	"context"
	"fmt"
	"io"

	"a2atap/analyzer/analysis"
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
	Notes    *notes.Notes                      // notes on its exchanges; may be nil
	Chosen   []uint64                          // the exchanges that may be shown, in order; nil if all may
	Summary  func(seq uint64) *summary.Summary // from judging the capture; nil, or returns nil, if unknown
	Findings int                               // the number of its findings, which are in the order of the captures
}

// Bounds of a page.
type limits struct {
	exchanges int // of all captures
	bytes     int // of their contents, as HTML
	arrows    int // of one ladder, and rows of one tree
}

var pageLimits = limits{exchanges: 1000, bytes: 24 << 20, arrows: 150}

// A Section has the data read from captures for writing. It has only the data that is written.
type Section struct {
	captures []*shown
	limits   limits
	anchors  []string // of the findings, by their order
	room     [2]int   // bytes for exchanges without findings, and with
	cuts     cuts
}

// Read reads the parts of captures that a page shows. The findings are of all captures, in their order.
func Read(ctx context.Context, captures []Capture, findings []analysis.Finding) (*Section, error) {
	return read(ctx, captures, findings, pageLimits)
}

func read(ctx context.Context, captures []Capture, findings []analysis.Finding, most limits) (*Section, error) {
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

// anchor notes the element of each finding.
func (s *Section) anchor(findings []analysis.Finding) {
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

// Anchor returns the id of the element with a finding, given the finding's number from 0, or of its exchange; "" if
// neither is on the page. Anchor returns "" for a nil Section.
func (s *Section) Anchor(i int) string {
	if s == nil || i >= len(s.anchors) {
		return ""
	}
	return s.anchors[i]
}

// LeftOut describes the exchanges that are not on the page, with a sentence for each reason.
func (s *Section) LeftOut() []string {
	if s == nil {
		return nil
	}
	var list []string
	for _, sh := range s.captures {
		if n := sh.all - len(sh.items); n > 0 {
			list = append(list, fmt.Sprintf("%d of %s of %s are not on the page: exchanges with findings come first, then exchanges of "+
				"the same workflows, then the earliest", n, analysis.Plural(sh.all, "exchange"), analysis.Clean(sh.Name)))
		}
	}
	for _, cut := range []struct {
		n    int
		noun string
		why  string
	}{
		{s.cuts.contents, "exchange", "without contents, to limit the size of the page"},
		{s.cuts.bodies, "long text", "cut"},
		{s.cuts.events, "event", "left out of long streams"},
	} {
		if cut.n > 0 {
			list = append(list, fmt.Sprintf("%s %s", analysis.Plural(cut.n, cut.noun), cut.why))
		}
	}
	return list
}

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

// Write writes the section.
func (s *Section) Write(w io.Writer) error {
	p := &page{}
	p.raw(`<h2 id="exchanges">Exchanges</h2>` + "\n")
	if err := p.flush(w); err != nil {
		return err
	}
	return s.WriteBody(w)
}

// WriteBody writes the section without its heading.
func (s *Section) WriteBody(w io.Writer) error {
	p := &page{}
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
