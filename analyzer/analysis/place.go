package analysis

import (
	"fmt"
	"strconv"
	"strings"
)

// A Place is a location in a capture: an exchange, a side of it, a part of that side, and a JSON Pointer into the part.
//
// Its text form is N.request or N.response, then optionally .line, .status, .header[Name], .trailer[Name], .body,
// .event[K] or, over gRPC, .message[K], then optionally # and a JSON Pointer (RFC 6901) into that body or into the
// event's data: 12.response.event[3]#/result/statusUpdate/status/state. In a gRPC message, and in a trailer's error
// details, the pointer refers to the equivalent JSON.
type Place struct {
	Exchange   uint64 // sequence number, from 1
	Response   bool   // on the agent's side
	HasPointer bool   // distinguishes the whole value ("#") from no pointer at all
	Part       string // "line", "status", "body", "header[Name]", "event[K]" and the like, or empty for the whole
	Pointer    string // into the body or the event's data; meaningful only if HasPointer

	messages bool   // over gRPC: the events of the stream are called messages
	member   string // pointer to the call of a batch at which Pointer begins, or to its response; otherwise empty
}

// String returns the place in its text form.
func (p Place) String() string {
	p = p.whole()
	text := make([]byte, 0, 32+len(p.Part)+len(p.Pointer))
	text = strconv.AppendUint(text, p.Exchange, 10)
	if p.Response {
		text = append(text, ".response"...)
	} else {
		text = append(text, ".request"...)
	}
	if p.Part != "" {
		text = append(append(text, '.'), p.Part...)
	}
	if p.HasPointer {
		text = append(append(text, '#'), p.Pointer...)
	}
	return string(text)
}

// ParsePlace parses the text form of a place. The number of an exchange alone means its request. Errors are for the
// text's author.
func ParsePlace(text string) (Place, error) {
	var p Place
	where, pointer, hasPointer := strings.Cut(text, "#")
	number, rest, _ := strings.Cut(where, ".")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || seq == 0 {
		return p, fmt.Errorf("a place begins with the number of an exchange, as in 12.response.event[3], not %q", number)
	}
	side, part, hasPart := strings.Cut(rest, ".")
	switch {
	case side == "" && where == number, side == "request":
	case side == "response":
		p.Response = true
	default:
		return p, fmt.Errorf("a place is in %s.request or %s.response, not in %q", number, number, side)
	}
	if hasPart && !isPart(part) {
		return p, fmt.Errorf("a part of a message is line, status, body, header[Name], trailer[Name], event[3] or "+
			"message[1], not %q", part)
	}
	p.Exchange, p.Part, p.Pointer, p.HasPointer = seq, part, pointer, hasPointer
	return p, nil
}

// isPart reports whether a text is a valid Place.Part.
func isPart(text string) bool {
	if text == "line" || text == "status" || text == "body" {
		return true
	}
	name, bracketed := strings.CutSuffix(text, "]")
	for _, numbered := range [...]string{"event[", "message["} {
		if k, is := strings.CutPrefix(name, numbered); bracketed && is {
			n, err := strconv.Atoi(k)
			return err == nil && n > 0 && strconv.Itoa(n) == k
		}
	}
	return bracketed && (strings.HasPrefix(name, "header[") || strings.HasPrefix(name, "trailer["))
}

// EventNumber returns the number of the event, or of the gRPC message, that contains the place; ok is false outside of
// events.
func (p Place) EventNumber() (k int, ok bool) {
	for _, numbered := range [...]string{"event[", "message["} {
		if digits, is := strings.CutPrefix(p.Part, numbered); is {
			k, err := strconv.Atoi(strings.TrimSuffix(digits, "]"))
			return k, err == nil && k > 0
		}
	}
	return 0, false
}

// At returns the place of a JSON value under p.
func (p Place) At(pointer string) Place {
	p.Pointer, p.HasPointer = pointer, true
	return p
}

// In returns the place of a member inside the value at p, by names that need no escapes.
func (p Place) In(names ...string) Place {
	size := len(p.Pointer) + len(names)
	for _, name := range names {
		size += len(name)
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(p.Pointer)
	for _, name := range names {
		b.WriteByte('/')
		b.WriteString(name)
	}
	p.Pointer, p.HasPointer = b.String(), true
	return p
}

// Line returns the place of the request or status line of p's side.
func (p Place) Line() Place { return p.part("line") }

// Status returns the place of the status code of p's side.
func (p Place) Status() Place { return p.part("status") }

// Header returns the place of a header field of p's side.
func (p Place) Header(name string) Place {
	part, ok := headerParts[name]
	if !ok {
		part = "header[" + name + "]"
	}
	return p.part(part)
}

// headerParts has the parts of fields that rules check in nearly every exchange.
var headerParts = func() map[string]string {
	parts := make(map[string]string)
	for _, name := range [...]string{"A2A-Version", "Authorization", "Content-Type", "Accept"} {
		parts[name] = "header[" + name + "]"
	}
	return parts
}()

// Body returns the place of the body of p's side.
func (p Place) Body() Place { return p.part("body") }

// Event returns the place of event k of p's stream, or over gRPC of message k.
func (p Place) Event(k int) Place {
	if p.messages {
		return p.Message(k)
	}
	return p.part("event[" + strconv.Itoa(k) + "]")
}

// Message returns the place of message k of p's side, over gRPC.
func (p Place) Message(k int) Place { return p.part("message[" + strconv.Itoa(k) + "]") }

// Trailer returns the place of a field in the trailer of p's side.
func (p Place) Trailer(name string) Place { return p.part("trailer[" + name + "]") }

func (p Place) part(name string) Place {
	return Place{Exchange: p.Exchange, Response: p.Response, Part: name, member: p.member}
}

// whole returns the same place with a pointer into the body on the wire: the body of a batch has several calls, and
// places of one of them point into it.
func (p Place) whole() Place {
	if p.member != "" && p.Part == "body" {
		p.Pointer, p.HasPointer = p.member+p.Pointer, true
	}
	p.member, p.messages = "", false
	return p
}

// Equal reports whether two places are the same.
func (p Place) Equal(q Place) bool {
	p, q = p.whole(), q.whole()
	if samePart(p.Part, q.Part) {
		p.Part = q.Part
	}
	return p == q
}

// samePart reports whether two parts of a side are one: a message of gRPC is an event of the answer.
func samePart(a, b string) bool {
	if a == b {
		return true
	}
	j, aEvent := Place{Part: a}.EventNumber()
	k, bEvent := Place{Part: b}.EventNumber()
	return aEvent && bEvent && j == k
}

// Covers reports whether q is p or a place inside p.
func (p Place) Covers(q Place) bool {
	if p.Exchange != q.Exchange || p.Response != q.Response {
		return false
	}
	if p.Part == "" && !p.HasPointer {
		return true
	}
	if !samePart(p.Part, q.Part) {
		return false
	}
	if !p.HasPointer || p.Pointer == q.Pointer {
		return true
	}
	return q.HasPointer && strings.HasPrefix(q.Pointer, p.Pointer+"/")
}

// shape returns the place without the numbers that differ from one occurrence to the next: the exchange's, the event's,
// and indices of arrays.
func (p Place) shape() string {
	p.Exchange = 0
	if _, numbered := p.EventNumber(); numbered {
		p.Part = "event"
	}
	var kept []string
	for token := range strings.SplitSeq(p.Pointer, "/") {
		if _, err := strconv.ParseUint(token, 10, 64); err != nil {
			kept = append(kept, token)
		}
	}
	p.Pointer = strings.Join(kept, "/")
	return p.String()
}
