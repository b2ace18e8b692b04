package filter

import (
	"iter"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/capture"
)

// A subject is an exchange while a filter is matched against it: data that several words need is read once.
type subject struct {
	x       *capture.Exchange
	facts   Facts
	outline *Outline // instead of what was not read; nil if all was

	req, resp              *capture.Head
	reqContent, rspContent *[]byte
}

// request returns the request's head.
func (s *subject) request() *capture.Head {
	if s.req == nil {
		s.req = new(capture.ParseRequestHead(s.x.Request.Head))
	}
	return s.req
}

// response returns the answer's head, or nil.
func (s *subject) response() *capture.Head {
	if s.resp == nil && s.x.Response != nil && len(s.x.Response.Head) > 0 {
		s.resp = new(capture.ParseResponseHead(s.x.Response.Head))
	}
	return s.resp
}

// fields returns the fields of all heads and trailers.
func (s *subject) fields() []capture.Fields {
	all := []capture.Fields{s.request().Fields}
	add := func(trailer []byte) {
		fields, _ := capture.ParseFields(trailer)
		all = append(all, fields)
	}
	add(s.x.Request.Trailer)
	r := s.x.Response
	if r == nil {
		return all
	}
	for _, raw := range r.Informational {
		h := capture.ParseResponseHead(raw)
		all = append(all, h.Fields)
	}
	if h := s.response(); h != nil {
		all = append(all, h.Fields)
	}
	add(r.Trailer)
	return all
}

// contents yields the texts of the exchange: bodies without their content codings, and the data of events.
func (s *subject) contents() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if s.reqContent == nil {
			s.reqContent = content(&s.x.Request.Body, s.request())
		}
		if len(*s.reqContent) > 0 && !yield(*s.reqContent) {
			return
		}
		r := s.x.Response
		if r == nil {
			return
		}
		if r.Stream {
			s.eventTexts(yield)
			return
		}
		if s.rspContent == nil {
			s.rspContent = content(&r.Body, s.response())
		}
		if len(*s.rspContent) > 0 {
			yield(*s.rspContent)
		}
	}
}

func content(b *capture.Body, h *capture.Head) *[]byte {
	if h == nil {
		return &b.Data
	}
	text, err := b.Decode(h)
	if err != nil && len(text) == 0 {
		text = b.Data // an unknown coding, or none at all: it may be the text itself
	}
	return &text
}

func (s *subject) eventTexts(yield func([]byte) bool) {
	for i := range s.x.Response.Events {
		e := &s.x.Response.Events[i]
		text := e.Raw
		if f := e.Fields(); f.HasData {
			text = f.Data
		}
		if !yield(text) {
			return
		}
	}
}

// mentions reports whether the pattern occurs in a URL, a body or an event.
func (s *subject) mentions(p pattern) bool {
	url := s.request().Target
	if strings.HasPrefix(url, "/") {
		url = s.request().Fields.Get("Host") + url
	}
	if p.within([]byte(url)) || p.within([]byte(s.x.Agent.URL)) {
		return true
	}
	for text := range s.contents() {
		if p.within(text) {
			return true
		}
	}
	return false
}

func (s *subject) number() []int64 { return []int64{int64(s.x.Seq)} }

// numbersOf returns the numbers that the facts have for a key.
func numbersOf(key string) func(*subject) []int64 {
	return func(s *subject) []int64 {
		var numbers []int64
		for _, v := range facts(key)(s) {
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				numbers = append(numbers, n)
			}
		}
		return numbers
	}
}

func (s *subject) paths() []string {
	target := s.request().Target
	if _, rest, ok := strings.Cut(target, "://"); ok && !strings.HasPrefix(target, "/") {
		target = "/"
		if i := strings.IndexAny(rest, "/?"); i >= 0 {
			target = rest[i:]
		}
	}
	if path, _, ok := strings.Cut(target, "?"); ok {
		return []string{path, target}
	}
	return []string{target}
}

func (s *subject) hosts() []string {
	hosts := s.request().Fields.Values("Host")
	for _, url := range []string{s.request().Target, s.x.Agent.URL} {
		if _, rest, ok := strings.Cut(url, "://"); ok && !strings.HasPrefix(url, "/") {
			if i := strings.IndexAny(rest, "/?#"); i >= 0 {
				rest = rest[:i]
			}
			hosts = append(hosts, rest[strings.LastIndexByte(rest, '@')+1:])
		}
	}
	for _, host := range slices.Clone(hosts) {
		if name, _, err := net.SplitHostPort(host); err == nil {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

// agent is who works on the task: on a notification its sender.
func (s *subject) agent() []string {
	if s.notifies() {
		return []string{s.x.Client.Name}
	}
	return []string{s.x.Agent.Name}
}

// client is who asked the agent: on a notification its receiver.
func (s *subject) client() []string {
	if s.notifies() {
		return []string{s.x.Agent.Name}
	}
	return []string{s.x.Client.Name}
}

// notifies reports whether the exchange is known to be a notification.
func (s *subject) notifies() bool { return slices.Contains(facts("op")(s), Notification) }

// Notification is what Facts call the delivery of a push notification among the values of "op".
const Notification = "PushNotification"

func (s *subject) link() []string {
	return []string{s.x.Client.Name + "->" + s.x.Agent.Name}
}

// eventKinds returns the kinds of events from the facts, and the event fields in the stream.
func (s *subject) eventKinds() []string {
	kinds := facts("event")(s)
	if s.outline != nil {
		return append(kinds[:len(kinds):len(kinds)], s.outline.Types...)
	}
	if s.x.Response == nil {
		return kinds
	}
	for i := range s.x.Response.Events {
		if f := s.x.Response.Events[i].Fields(); len(f.Type) > 0 {
			kinds = append(kinds[:len(kinds):len(kinds)], string(f.Type))
		}
	}
	return kinds
}

func (s *subject) status() []int64 {
	if h := s.response(); h != nil && h.Status > 0 {
		return []int64{int64(h.Status)}
	}
	return nil
}

func (s *subject) duration() []int64 {
	took := s.x.Took()
	if took < 0 {
		return nil
	}
	return []int64{int64(took)}
}

// gap is the longest time in which nothing arrived, between the ends of arriving data. It is at most the duration of
// the exchange.
func (s *subject) gap() []int64 {
	if s.outline != nil {
		if s.outline.Gap < 0 {
			return nil
		}
		return []int64{int64(s.outline.Gap)}
	}
	offsets := []time.Duration{s.x.Request.Body.At}
	if r := s.x.Response; r != nil {
		offsets = append(offsets, r.At)
		for i := range r.Events {
			offsets = append(offsets, r.Events[i].At)
		}
		offsets = append(offsets, r.Body.At)
	}
	offsets = append(offsets, s.x.Ended)
	if slices.Max(offsets) < 0 {
		return nil
	}
	slices.Sort(offsets) // an answer may overtake its request
	gap := longestGap(offsets)
	if took := s.x.Took(); took >= 0 {
		gap = min(gap, took)
	}
	return []int64{int64(gap)}
}

// sizes are the sizes of the two bodies; for an unfinished body, the size so far.
func (s *subject) sizes() []int64 {
	if s.outline != nil {
		if s.outline.ResponseSize < 0 {
			return []int64{s.outline.RequestSize}
		}
		return []int64{s.outline.RequestSize, s.outline.ResponseSize}
	}
	sizes := []int64{bodySize(&s.x.Request.Body, 0)}
	if r := s.x.Response; r != nil {
		events := int64(0)
		for i := range r.Events {
			events += int64(len(r.Events[i].Raw))
		}
		sizes = append(sizes, bodySize(&r.Body, events))
	}
	return sizes
}

func bodySize(b *capture.Body, events int64) int64 {
	if b.Size >= 0 {
		return b.Size
	}
	return int64(len(b.Data)) + events + b.Dropped
}

// traces are the ids under which tracing systems know the exchange: of W3C Trace Context and of B3, request and answer.
func (s *subject) traces() []string {
	var ids []string
	for _, fields := range s.fields() {
		for _, f := range fields {
			switch strings.ToLower(f.Name) {
			case "traceparent", "traceresponse":
				ids = append(ids, f.Value)
				if parts := strings.Split(f.Value, "-"); len(parts) >= 4 {
					ids = append(ids, parts[1])
				}
			case "x-b3-traceid":
				ids = append(ids, f.Value)
			case "b3":
				id, _, _ := strings.Cut(f.Value, "-")
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// is reports whether the exchange has a property.
func (s *subject) is(word string) bool {
	x := s.x
	switch word {
	case "open":
		return x.State == capture.StateOpen
	case "interrupted":
		return x.State == capture.StateInterrupted
	case "cut":
		return s.outline == nil && isCut(x) || s.outline != nil && s.outline.Cut
	case "stream":
		return x.Streams()
	case "rewritten":
		return len(x.Rewrites) > 0
	case "replayed":
		return x.Replayed
	case "faulted":
		return x.FaultMade() != ""
	case "error", "failed":
		if x.Fault != nil || s.refused() {
			return true
		}
	case "refused":
		return s.refused() || s.has("error")
	}
	return s.has(word)
}

// has reports whether the facts have a property.
func (s *subject) has(word string) bool {
	return s.facts != nil && slices.Contains(s.facts.Values("is"), word)
}

// refused reports whether the status is one of an error, unless the server only declined something optional.
func (s *subject) refused() bool {
	h := s.response()
	return h != nil && h.Status >= 400 && !s.has("declined")
}

// isCut reports whether bytes are missing from the recording, or a message ended before its framing allowed.
func isCut(x *capture.Exchange) bool {
	bodyCut := func(b *capture.Body) bool { return b.Dropped > 0 || x.State == capture.StateClosed && !b.Complete }
	if bodyCut(&x.Request.Body) {
		return true
	}
	r := x.Response
	if r == nil {
		return false
	}
	dropped := func(e capture.Event) bool { return e.Dropped > 0 }
	return len(r.Head) > 0 && bodyCut(&r.Body) || slices.ContainsFunc(r.Events, dropped)
}

// Facts are facts about an exchange that a filter needs from the protocol or the rules. They are requested during
// matching and never kept.
type Facts interface {
	// Values returns what the exchange has of a key: "op", "dialect", "binding", "task", "context", "message", "state",
	// "role", "event", "code", "rule", "severity", "side", "workflow", which is a number, and of "is" those of "error",
	// "failed", "push", "card" and "marked" that hold. For op, state and role these are normalised names; other spellings may
	// follow, for wildcards and regular expressions to find.
	Values(key string) []string

	// Normalize returns the name that Values uses for a user's word, in any spelling or dialect, such as "SendMessage"
	// for "message/send". It returns unknown words unchanged.
	Normalize(key, word string) string
}

// facts returns the reading of a key that only the facts can answer.
func facts(key string) func(*subject) []string {
	return func(s *subject) []string {
		if s.facts == nil {
			return nil
		}
		return s.facts.Values(key)
	}
}

// longestGap returns the longest time between two consecutive offsets; it skips unknown ones.
func longestGap(offsets []time.Duration) time.Duration {
	var last, longest time.Duration
	for _, at := range offsets {
		if at < 0 {
			continue
		}
		longest = max(longest, at-last)
		last = max(last, at)
	}
	return longest
}
