package transcript

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/capture"
)

func (d *describer) response() {
	if d.m.reading() {
		if d.m.content("response") == nil {
			return
		}
		d.x.Response = &capture.Response{}
	} else if d.x.Response == nil {
		return
	}
	r := d.x.Response
	section := d.head("response", &r.Head)
	d.offset("response.at", &r.At, 9*time.Millisecond)
	metaRaw(d.m, "response.informational", &r.Informational)
	h := capture.ParseResponseHead(r.Head)
	metaYes(d.m, "response.stream", &r.Stream, h.Fields.MediaType() == "text/event-stream" || d.codec("response") != nil)
	data := r.Body.Data
	if r.Stream {
		data = r.StreamBytes()
	}
	text := d.body("response", &r.Body, data, section)
	if !d.m.reading() {
		d.answer = joinSection(section, text)
	} else if data = text; !r.Stream {
		r.Body.Data = data
	}
	if r.Stream {
		d.blocks(data)
		d.events()
		if d.m.reading() {
			d.x.ReadAsGRPC()
		}
	}
	d.sizes("response", &r.Body, data)
	d.responseEnd(data)
	metaTrailer(d.m, "response.trailer", &r.Trailer)
}

func (d *describer) responseEnd(data []byte) {
	r := d.x.Response
	after := 10 * time.Millisecond
	switch n := len(r.Events); {
	case r.Body.Complete:
	case n > 0 && r.Events[n-1].At != capture.NotKnown:
		after = r.Events[n-1].At - d.last
	case r.Stream || data == nil && r.Body.Dropped == 0:
		after = capture.NotKnown
	}
	d.offset("response.end", &r.Body.At, after)
}

// blocks processes the blocks of a stream, unless they follow from the stream itself.
func (d *describer) blocks(stream []byte) {
	r := d.x.Response
	var natural []capture.Event
	if d.codec("response") != nil {
		natural = cutMessages(stream)
	} else {
		s := capture.Splitter{Limit: len(stream) + 1}
		natural = append(natural, s.Write(stream)...)
		natural = append(natural, s.Flush()...)
	}
	d.m.line("response.blocks", func() [][]string {
		if slices.EqualFunc(natural, r.Events, sameBlock) {
			return nil
		}
		words := make([]string, len(r.Events))
		for i := range r.Events {
			words[i] = blockWord(&r.Events[i])
		}
		return [][]string{words}
	}, func(lines [][]string) error {
		if r.Events = natural; len(lines) == 0 {
			return nil
		}
		words, err := oneLine(lines)
		if err == nil {
			r.Events, err = cutBlocks(words, stream)
		}
		return err
	})
}

func sameBlock(a, b capture.Event) bool {
	return a.K == b.K && bytes.Equal(a.Raw, b.Raw) && a.Dropped == b.Dropped && a.Unterminated == b.Unterminated
}

// blockWord returns K:LENGTH, and what the event lacks.
func blockWord(e *capture.Event) string {
	word := fmt.Sprintf("%d:%d", e.K, len(e.Raw))
	if e.Dropped != 0 {
		word += fmt.Sprintf("+%d", e.Dropped)
	}
	if e.Unterminated {
		word += "!"
	}
	return word
}

// cutBlocks cuts a stream as the words say.
func cutBlocks(words []string, stream []byte) ([]capture.Event, error) {
	var events []capture.Event
	k := 0
	for _, word := range words {
		e := capture.Event{At: capture.NotKnown}
		rest, unterminated := strings.CutSuffix(word, "!")
		e.Unterminated = unterminated
		number, rest, colon := strings.Cut(rest, ":")
		length, dropped, cut := strings.Cut(rest, "+")
		n, err := strconv.ParseUint(length, 10, 31)
		if err == nil && cut {
			var more uint64
			more, err = strconv.ParseUint(dropped, 10, 62)
			e.Dropped = int64(more)
		}
		if err == nil {
			var u uint64
			u, err = strconv.ParseUint(number, 10, 31)
			e.K = int(u)
		}
		if err != nil || !colon || e.K != 0 && e.K <= k {
			return nil, fmt.Errorf("%q is not K:LENGTH[+DROPPED][!] with K 0, or increasing", word)
		}
		if int(n) > len(stream) {
			return nil, fmt.Errorf("%q is longer than the rest of the stream, %d bytes", word, len(stream))
		}
		k = max(k, e.K)
		e.Raw, stream = append([]byte{}, stream[:n]...), stream[n:]
		events = append(events, e)
	}
	if len(stream) > 0 {
		return nil, fmt.Errorf("%d bytes of the stream are in no block", len(stream))
	}
	return events, nil
}

// events is when each block of the stream was complete.
func (d *describer) events() {
	comments := 0
	for i := range d.x.Response.Events {
		e := &d.x.Response.Events[i]
		key := fmt.Sprintf("event[%d]", e.K)
		if e.K == 0 {
			comments++
			key = fmt.Sprintf("comment[%d]", comments)
		}
		d.offset(key, &e.At, 10*time.Millisecond)
	}
}
