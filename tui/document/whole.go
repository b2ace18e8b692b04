package document

import (
	"fmt"
	"math"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/proxy/capture"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A Side is a part of an exchange.
type Side uint8

// The sides.
const (
	BothSides Side = iota
	RequestSide
	ResponseSide
)

// A Section is a part of an exchange.
type Section struct {
	Side  Side
	Event int // of the response, by its number; 0 for the whole side
}

// indentRoom is the width that bounds the indentation of JSON.
const indentRoom = 120

// Print lays out a part of an exchange and calls take with its lines: heads, decoded bodies with formatted JSON,
// events, findings below their lines, and finally the ending. It neither wraps nor omits lines. If take returns an
// error, Print stops and returns the error.
func Print(
	x *capture.Exchange, r *reading.Reading, findings []analysis.Finding, part Section, take func(style.Line) error,
) error {
	p := printing{take: take, writer: writer{Source: Source{
		Excerpt: load.Excerpt{Exchange: x}, Findings: findings, Width: indentRoom, Limit: math.MaxInt, Reading: r,
		whole: true,
	}}}
	p.doc.Reading = r
	if part.Event > 0 {
		return p.oneEvent(part.Event)
	}
	if part.Side != ResponseSide {
		p.request()
	}
	if part.Side == RequestSide {
		return p.flush()
	}
	if x.Response == nil || !x.Response.Stream {
		p.answer()
	} else if err := p.stream(); err != nil {
		return err
	}
	p.ending()
	return p.flush()
}

// A printing is an exchange that is being printed.
type printing struct {
	writer
	take func(style.Line) error
}

// flush passes on the lines written since the last call.
func (p *printing) flush() error {
	for _, l := range p.lines {
		if err := p.take(l.Line); err != nil {
			return err
		}
	}
	p.lines = p.lines[:0]
	return nil
}

// stream prints the events one at a time, since there may be a great many.
func (p *printing) stream() error {
	res := p.Exchange.Response
	p.say(analysis.Place{}, style.Line{}, 0)
	at := analysis.Place{Exchange: p.Exchange.Seq, Response: true}
	p.head(at, res.Head, style.Answer, "← ")
	p.found(func(f analysis.Place) bool { return f.Response && f.Part == "body" })
	for i := range res.Events {
		p.say(analysis.Place{}, style.Line{}, 0)
		p.headedEvent(&res.Events[i])
		if err := p.flush(); err != nil {
			return err
		}
	}
	return nil
}

// oneEvent prints an event of the response.
func (p *printing) oneEvent(k int) error {
	for i := 0; p.Exchange.Response != nil && i < len(p.Exchange.Response.Events); i++ {
		if e := &p.Exchange.Response.Events[i]; e.K == k {
			p.headedEvent(e)
		}
	}
	return p.flush()
}

func (p *printing) headedEvent(e *capture.Event) {
	place := load.EventAt(p.Exchange, e.K)
	p.put(place, p.eventHead(e), 0)
	p.event(place, e, inEvent(e))
}

// inEvent returns a function that reports whether a place is in an event.
func inEvent(e *capture.Event) func(analysis.Place) bool {
	return func(at analysis.Place) bool {
		k, is := load.EventNumber(at)
		return is && e.K > 0 && k == e.K
	}
}

// eventHead returns the line above an event: its number, the type of a gRPC message, and its offset from the start of
// the exchange.
func (p *printing) eventHead(e *capture.Event) style.Line {
	l := style.Text(style.Answer, "← comment")
	if of, is := p.Exchange.InMessages(); is {
		l = style.Text(style.Answer, strings.TrimRight(fmt.Sprintf("← message %d %s", e.K, of), " "))
	} else if e.K > 0 {
		l = style.Text(style.Answer, fmt.Sprintf("← event %d", e.K))
	}
	if e.At >= 0 {
		l = l.Add(style.Dim, "  +"+text.Duration(e.At))
	}
	if e.Unterminated {
		l = l.Add(style.Warning, "  unterminated")
	}
	if e.Dropped > 0 {
		l = l.Add(style.Warning, "  cut: "+text.Plural(e.Dropped, "more byte")+" were not recorded")
	}
	return l
}
