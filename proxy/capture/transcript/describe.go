package transcript

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// Default values of a transcript.
var (
	defaultStart  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	defaultClient = capture.Peer{Name: "client"}
)

// describe processes everything that a transcript states about an exchange, in an order that respects dependencies
// between defaults. When reading it fills x; when writing it returns the sections. before is nil for the first
// exchange.
func describe(m metaIO, x, before *capture.Exchange) (out messages) {
	d := &describer{m: m, x: x}
	request := d.requestHead()
	metaID(m, &x.ID, defaultID(x.Seq))
	metaSerial(m, "conn", &x.Conn)
	metaSerial(m, "stream", &x.Stream)
	metaPeer(m, "client", &x.Client, defaultClient)
	metaPeer(m, "agent", &x.Agent, defaultAgent(x.Request.Head))
	d.started(before)
	d.offsets()
	d.requestBody(request)
	d.response()
	d.end()
	out.request, out.response = d.request, d.answer
	return out
}

// A describer goes through one exchange.
type describer struct {
	m       metaIO
	x       *capture.Exchange
	unknown bool          // offsets are unknown unless given
	last    time.Duration // the latest offset so far
	request []byte        // the sections on the way out
	answer  []byte
}

// defaultID is the default id of an exchange: a UUID of version 8 (RFC 9562 section 5.8) derived from its number.
func defaultID(seq uint64) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[8:], seq)
	id[6], id[8] = 0x80, 0x80|id[8]&0x3f
	return id
}

// defaultAgent is the agent of a request, according to its head.
func defaultAgent(raw []byte) capture.Peer {
	p := capture.Peer{Name: "agent"}
	h := capture.ParseRequestHead(raw)
	if origin, _, _ := capture.SplitTarget(h.Target); origin != "" {
		p.URL = origin
	} else if host := h.Fields.Get("Host"); host != "" {
		p.URL = "http://" + host
	}
	return p
}

func (d *describer) started(before *capture.Exchange) {
	byDefault, base := defaultStart, defaultStart
	if before != nil {
		base = before.Started
		byDefault = base.Add(max(time.Second, before.Ended))
	}
	metaStarted(d.m, &d.x.Started, byDefault, base)
}

// offsets is whether all offsets are unknown.
func (d *describer) offsets() {
	if !d.m.reading() {
		d.unknown = timeless(d.x)
	}
	m := map[bool]string{true: "unknown"}
	metaValue(d.m, "offsets", &d.unknown, false, func(b bool) string { return m[b] }, func(s string) (bool, error) {
		if s != "unknown" {
			return false, fmt.Errorf("offsets can only be unknown")
		}
		return true, nil
	})
}

// timeless reports whether no offset of the exchange is known.
func timeless(x *capture.Exchange) bool {
	if x.Ended != capture.NotKnown || x.Request.Body.At != capture.NotKnown {
		return false
	}
	r := x.Response
	return r == nil || r.At == capture.NotKnown && r.Body.At == capture.NotKnown &&
		!slices.ContainsFunc(r.Events, func(e capture.Event) bool { return e.At != capture.NotKnown })
}

// offset is an offset with a default relative to the previous one.
func (d *describer) offset(key string, p *time.Duration, after time.Duration) {
	byDefault := time.Duration(capture.NotKnown)
	if !d.unknown && after != capture.NotKnown {
		byDefault = d.last + after
	}
	metaOffset(d.m, key, p, byDefault)
	d.last = max(d.last, *p)
}

// head is the head of a message; it returns the rest of the section.
func (d *describer) head(kind string, raw *[]byte) (body []byte) {
	var text []byte
	coded := false
	if d.m.reading() {
		text, body = cutHead(d.m.content(kind))
	} else if *raw != nil {
		var ok bool
		if text, ok = headText(*raw); !ok {
			text, coded = wrapBase64(*raw), true
		}
	}
	metaFlags(d.m, kind+".head", map[string]*bool{"base64": &coded})
	if !d.m.reading() {
		return text
	}
	*raw = nil
	switch {
	case coded:
		data, err := unwrapBase64(text)
		if err != nil {
			d.m.wrong(kind, err)
		}
		*raw = data
	case len(text) > 0:
		*raw = headBytes(text)
	}
	return body
}

// metaFlags is a set of words.
func metaFlags(m metaIO, key string, flags map[string]*bool) {
	names := make([]string, 0, len(flags))
	for name := range flags {
		names = append(names, name)
	}
	slices.Sort(names)
	m.line(key, func() [][]string {
		var words []string
		for _, name := range names {
			if *flags[name] {
				words = append(words, name)
			}
		}
		if words == nil {
			return nil
		}
		return [][]string{words}
	}, func(lines [][]string) error {
		for _, word := range slices.Concat(lines...) {
			flag := flags[word]
			if flag == nil {
				return fmt.Errorf("unknown flag %q; use %s", word, strings.Join(names, ", "))
			}
			*flag = true
		}
		return nil
	})
}

// joinSection joins a head and an encoded body into a section.
func joinSection(head, body []byte) []byte {
	if len(head) == 0 && len(body) == 0 {
		return []byte{}
	}
	return slices.Concat(head, []byte("\n"), body)
}

// requestHead processes the request's head. It returns the text after the head when reading, and the head when writing.
func (d *describer) requestHead() []byte { return d.head("request", &d.x.Request.Head) }

// unseen reports whether nothing is known about a request.
func unseen(r *capture.Request) bool {
	b := &r.Body
	return r.Head == nil && r.Trailer == nil && b.Data == nil && !b.Complete && !b.Decoded &&
		b.Size == capture.NotKnown && b.At == capture.NotKnown && b.Dropped == 0
}

func (d *describer) requestBody(section []byte) {
	r := &d.x.Request
	if d.m.reading() && d.m.content("request") == nil {
		*r = capture.Request{Body: capture.Body{Size: capture.NotKnown, At: capture.NotKnown}}
		return
	}
	if !d.m.reading() && d.x.Response != nil && unseen(r) {
		return
	}
	text := d.body("request", &r.Body, r.Body.Data, section)
	if d.m.reading() {
		r.Body.Data = text
	} else {
		d.request = joinSection(section, text)
	}
	d.sizes("request", &r.Body, r.Body.Data)
	after := time.Millisecond
	if !r.Body.Complete && r.Body.Data == nil && r.Body.Dropped == 0 {
		after = capture.NotKnown
	}
	d.offset("request.end", &r.Body.At, after)
	metaTrailer(d.m, "request.trailer", &r.Trailer)
}

// body is the flags of a body and its encoded form. When reading, it decodes the text to bytes; when writing, it
// encodes the bytes as text.
func (d *describer) body(kind string, b *capture.Body, data, section []byte) []byte {
	stream := kind == "response" && d.x.Response.Stream
	var text []byte
	var f bodyFlags
	missing, incomplete := data == nil && !stream, !b.Complete
	as := d.codec(kind)
	if d.m.reading() {
		b.Decoded, missing, incomplete = false, false, false
	} else if text, f = bodyText(data); as != nil {
		if messages, ok := messagesText(as, data); ok {
			text, f = messages, bodyFlags{}
		} else {
			text, f = wrapBase64(data), bodyFlags{base64: true}
		}
	}
	flags := map[string]*bool{
		"base64": &f.base64, "crlf": &f.crlf, "no-newline": &f.noNewline, "decoded": &b.Decoded,
		"incomplete": &incomplete,
	}
	if !stream {
		flags["missing"] = &missing
	}
	metaFlags(d.m, kind+".body", flags)
	if !d.m.reading() {
		return text
	}
	b.Complete = !incomplete
	var err error
	if as != nil && !f.base64 {
		text, err = messagesBytes(as, section)
	} else {
		text, err = f.bytes(section)
	}
	if err == nil && missing && len(text) > 0 {
		err = fmt.Errorf("there is a body that should be missing")
	}
	if err != nil {
		d.m.wrong(kind, err)
	}
	if missing {
		return nil
	}
	return text
}

// sizes is how many bytes a body had, and lacks.
func (d *describer) sizes(kind string, b *capture.Body, kept []byte) {
	dropped := int64(0)
	if kind == "response" {
		for _, e := range d.x.Response.Events {
			dropped += e.Dropped
		}
	}
	metaNumber(d.m, kind+".dropped", &b.Dropped, dropped)
	size := int64(len(kept)) + b.Dropped
	if !b.Complete || b.Decoded || kept == nil && b.Dropped == 0 {
		size = capture.NotKnown
	}
	metaNumber(d.m, kind+".size", &b.Size, size)
}

// end processes the end of the exchange, and its notes.
func (d *describer) end() {
	x := d.x
	d.fault()
	d.sideEnds()
	state := capture.StateOpen
	if x.Response != nil || x.Fault != nil {
		state = capture.StateClosed
	}
	metaState(d.m, &x.State, state)
	after := max(100*time.Millisecond-d.last, 10*time.Millisecond)
	if x.State != capture.StateClosed {
		after = capture.NotKnown
	}
	d.offset("ended", &x.Ended, after)
	d.notes()
	metaNumber(d.m, "lost", &x.Lost, 0)
	metaYes(d.m, "replayed", &x.Replayed, false)
}

func (d *describer) fault() {
	d.m.line("fault", func() [][]string {
		if f := d.x.Fault; f != nil {
			return [][]string{{f.Kind, f.Side, f.Detail}}
		}
		return nil
	}, func(lines [][]string) error {
		if len(lines) == 0 {
			return nil
		}
		words, err := oneLine(lines)
		if err != nil {
			return err
		}
		if len(words) != 3 {
			return fmt.Errorf("want a kind, a side and a detail; quote values with spaces")
		}
		d.x.Fault = &capture.TransportFault{Kind: words[0], Side: words[1], Detail: words[2]}
		return nil
	})
}

func (d *describer) sideEnds() {
	x := d.x
	d.m.line("ends", func() (lines [][]string) {
		for _, e := range x.Ends {
			lines = append(lines, []string{
				e.Side, e.How, offsetText(e.At), strconv.FormatInt(e.Request, 10), strconv.FormatInt(e.Response, 10),
			})
		}
		return lines
	}, func(lines [][]string) error {
		for _, words := range lines {
			e, err := parseSideEnd(words)
			if err != nil {
				return err
			}
			x.Ends = append(x.Ends, e)
		}
		return nil
	})
}

// parseSideEnd parses the words of a line about a side's end.
func parseSideEnd(words []string) (e capture.SideEnd, err error) {
	if len(words) != 3 && len(words) != 5 {
		return e, fmt.Errorf("want a side, how it ended, and when, optionally with two numbers of bytes")
	}
	e.Side, e.How = words[0], words[1]
	if e.At, err = parseOffset(words[2]); err != nil || len(words) == 3 {
		return e, err
	}
	if e.Request, err = strconv.ParseInt(words[3], 10, 64); err != nil {
		return e, fmt.Errorf("%q is not a number", words[3])
	}
	if e.Response, err = strconv.ParseInt(words[4], 10, 64); err != nil {
		return e, fmt.Errorf("%q is not a number", words[4])
	}
	return e, nil
}

func (d *describer) notes() {
	x := d.x
	var rewrites, notes [][]string
	for _, r := range x.Rewrites {
		rewrites = append(rewrites, []string{r.Place, r.Was, r.Now})
	}
	for _, note := range x.Notes {
		notes = append(notes, []string{note})
	}
	metaWords(d.m, "rewrite", 3, &rewrites)
	metaWords(d.m, "note", 1, &notes)
	if !d.m.reading() {
		return
	}
	for _, words := range rewrites {
		x.Rewrites = append(x.Rewrites, capture.Rewrite{Place: words[0], Was: words[1], Now: words[2]})
	}
	for _, words := range notes {
		x.Notes = append(x.Notes, words[0])
	}
}
