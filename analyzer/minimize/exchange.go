package minimize

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

// cutEvents removes events of streams.
func (j *judge) cutEvents() {
	for i := range j.now {
		if r := j.now[i].Response; r != nil {
			shrink(len(r.Events), func(from, to int) bool {
				return j.replace(i, func(x *capture.Exchange) {
					events := slices.Concat(x.Response.Events[:from], x.Response.Events[to:])
					for _, e := range x.Response.Events[from:to] {
						x.Response.Body.Dropped -= e.Dropped
					}
					setEvents(x.Response, events)
				})
			})
		}
	}
}

// setEvents replaces the events of a stream, and renumbers them.
func setEvents(r *capture.Response, events []capture.Event) {
	k := 0
	for i := range events {
		if events[i].K > 0 {
			k++
			events[i].K = k
		}
	}
	r.Events = events
	if r.Body.Size != capture.NotKnown {
		r.Body.Size = int64(len(r.StreamBytes())) + r.Body.Dropped
	}
}

// cutFacts removes facts other than the traffic: notes, rewrites, addresses of sockets.
func (j *judge) cutFacts() {
	facts := []func(*capture.Exchange) bool{
		func(x *capture.Exchange) bool { return drop(&x.Notes) },
		func(x *capture.Exchange) bool { return drop(&x.Rewrites) },
		func(x *capture.Exchange) bool { return clearTo(&x.Conn, 0) },
		func(x *capture.Exchange) bool { return clearTo(&x.Stream, 0) },
		func(x *capture.Exchange) bool { return clearTo(&x.Client.Addr, "") },
		func(x *capture.Exchange) bool { return clearTo(&x.Client.How, "") },
		func(x *capture.Exchange) bool { return clearTo(&x.Agent.Addr, "") },
		func(x *capture.Exchange) bool { return clearTo(&x.Agent.How, "") },
		func(x *capture.Exchange) bool { return drop(&x.Request.Trailer) },
		func(x *capture.Exchange) bool { return x.Response != nil && drop(&x.Response.Trailer) },
		func(x *capture.Exchange) bool { return x.Response != nil && drop(&x.Response.Informational) },
	}
	for i := range j.now {
		var there []func(*capture.Exchange) bool
		for _, fact := range facts {
			if fact(j.now[i].Copy()) {
				there = append(there, fact)
			}
		}
		shrink(len(there), func(from, to int) bool {
			done := j.replace(i, func(x *capture.Exchange) {
				for _, fact := range there[from:to] {
					fact(x)
				}
			})
			if done {
				there = slices.Delete(there, from, to)
			}
			return done
		})
	}
}

// drop empties a list, and reports whether it had any elements.
func drop[T any](list *[]T) bool {
	there := *list != nil
	*list = nil
	return there
}

// clearTo sets a value to its empty value, and reports whether that changed it.
func clearTo[T comparable](p *T, nothing T) bool {
	there := *p != nothing
	*p = nothing
	return there
}

// cutHeads removes header fields, except those needed to interpret the rest, and Host, which every request must have
// (RFC 9112 §3.2).
func (j *judge) cutHeads() {
	for i := range j.now {
		j.cutHead(i, func(x *capture.Exchange) *[]byte { return &x.Request.Head })
		if j.now[i].Response != nil {
			j.cutHead(i, func(x *capture.Exchange) *[]byte { return &x.Response.Head })
			trailer := func(x *capture.Exchange) *[]byte { return &x.Response.Trailer }
			j.cutFields(i, trailer, 0, len(headLines(j.now[i].Response.Trailer)))
		}
	}
}

func (j *judge) cutHead(i int, of func(*capture.Exchange) *[]byte) {
	j.cutFields(i, of, 1, len(headLines(*of(j.now[i])))-2) // without the first line and the blank one at the end
}

// cutFields removes so many lines, from one on.
func (j *judge) cutFields(i int, of func(*capture.Exchange) *[]byte, first, fields int) {
	shrink(fields, func(from, to int) bool {
		lines := headLines(*of(j.now[i]))
		if slices.ContainsFunc(lines[first+from:first+to], isNeeded) {
			return false
		}
		return j.replace(i, func(x *capture.Exchange) {
			*of(x) = bytes.Join(slices.Concat(lines[:first+from], lines[first+to:]), nil)
		})
	})
}

// headLines cuts a head into its lines, ends included.
func headLines(head []byte) [][]byte { return slices.Collect(bytes.Lines(head)) }

func isNeeded(line []byte) bool {
	return isField(line, "Host") || isField(line, "Content-Type") || isField(line, "Content-Encoding")
}

func isField(line []byte, name string) bool {
	before, _, found := bytes.Cut(line, []byte(":"))
	return found && strings.EqualFold(string(before), name)
}

// A side is one of the two messages of an exchange.
type side struct {
	head  func(*capture.Exchange) *[]byte
	body  func(*capture.Exchange) *capture.Body
	parse func([]byte) capture.Head
}

var (
	asked = side{
		func(x *capture.Exchange) *[]byte { return &x.Request.Head }, requestBody, capture.ParseRequestHead,
	}
	answered = side{
		func(x *capture.Exchange) *[]byte { return &x.Response.Head }, responseBody, capture.ParseResponseHead,
	}
)

func requestBody(x *capture.Exchange) *capture.Body  { return &x.Request.Body }
func responseBody(x *capture.Exchange) *capture.Body { return &x.Response.Body }

// text returns the decoded body, or the JSON of a gRPC message; nil if it is incomplete or cannot be decoded.
func (s side) text(x *capture.Exchange) []byte {
	b := s.body(x)
	if !b.Kept() {
		return nil
	}
	head := s.parse(*s.head(x))
	text, err := b.Decode(&head)
	if err != nil {
		return nil
	}
	return text
}

// set replaces the body with a text, and reports whether it can: over gRPC the text must be a message. If the head has
// a correct length, set updates it.
func (s side) set(x *capture.Exchange, text []byte) bool {
	b := s.body(x)
	head := s.parse(*s.head(x))
	before := len(b.Data)
	if as := head.GRPCMessage(); as != nil {
		var err error
		if text, err = as.Write(jsondoc.Parse(text).Root); err != nil {
			return false
		}
	}
	if len(head.Fields.Codings()) > 0 {
		b.Decoded = true
	}
	b.Data = text
	if b.Decoded {
		b.Size = capture.NotKnown
		return true
	}
	if b.Size != capture.NotKnown {
		b.Size = int64(len(text))
	}
	lines := headLines(*s.head(x))
	for i, line := range lines {
		name, value, _ := strings.Cut(string(line), ":")
		if strings.EqualFold(name, "Content-Length") && strings.TrimSpace(value) == strconv.Itoa(before) {
			end := value[len(strings.TrimRight(value, "\r\n")):]
			lines[i] = []byte(name + ": " + strconv.Itoa(len(text)) + end)
			*s.head(x) = bytes.Join(lines, nil)
		}
	}
	return true
}
