package analyzer

import (
	"fmt"
	"regexp"
	"strings"
)

// A Place is where in a capture something stands: an exchange, a side of it, a part of that, and a JSON Pointer into it.
//
// Its text form is N.request or N.response, then optionally .line, .status, .header[Name], .body or .event[K], then
// optionally # and a JSON Pointer (RFC 6901) into that body or into the event's data:
// 12.response.event[3]#/result/statusUpdate/status/state.
type Place struct {
	Exchange   uint64 // sequence number, from 1
	Response   bool   // on the agent's side
	Part       string // "line", "status", "body", "header[Name]", "event[K]", or empty for the whole
	Pointer    string // into the body or the event's data; meaningful only if HasPointer
	HasPointer bool   // tells the whole value ("#") from no pointer at all
}

// String returns the place in its text form.
func (p Place) String() string {
	var b strings.Builder
	side := "request"
	if p.Response {
		side = "response"
	}
	fmt.Fprintf(&b, "%d.%s", p.Exchange, side)
	if p.Part != "" {
		b.WriteString("." + p.Part)
	}
	if p.HasPointer {
		b.WriteString("#" + p.Pointer)
	}
	return b.String()
}

// At returns the place of a JSON value under p.
func (p Place) At(pointer string) Place {
	p.Pointer, p.HasPointer = pointer, true
	return p
}

// Line returns the place of the request or status line of p's side.
func (p Place) Line() Place { return p.part("line") }

// Status returns the place of the status code of p's side.
func (p Place) Status() Place { return p.part("status") }

// Header returns the place of a header field of p's side.
func (p Place) Header(name string) Place { return p.part("header[" + name + "]") }

// Body returns the place of the body of p's side.
func (p Place) Body() Place { return p.part("body") }

// Event returns the place of event k of p's stream.
func (p Place) Event(k int) Place { return p.part(fmt.Sprintf("event[%d]", k)) }

func (p Place) part(name string) Place {
	return Place{Exchange: p.Exchange, Response: p.Response, Part: name}
}

// covers reports whether q is p or stands inside it.
func (p Place) covers(q Place) bool {
	if p.Exchange != q.Exchange || p.Response != q.Response || p.Part != q.Part {
		return false
	}
	if !p.HasPointer || p.Pointer == q.Pointer {
		return true
	}
	return q.HasPointer && strings.HasPrefix(q.Pointer, p.Pointer+"/")
}

var indices = regexp.MustCompile(`\[\d+\]|/\d+`)

// shape returns the place without the numbers that differ from one occurrence to the next.
func (p Place) shape() string {
	text := p.String()
	_, rest, _ := strings.Cut(text, ".")
	return indices.ReplaceAllString(rest, "")
}
