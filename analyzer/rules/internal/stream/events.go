package stream

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Events is the family of rules about the framing of server-sent events.
var Events = rule.Family{
	Name:     "events",
	Category: analysis.Streaming,
	Side:     a2a.Agent,
	On:       analysis.EventSeen,
	Bindings: rule.OnJSONCall,
}.Of(
	sseutf8,
	sseUnterminatedEvent,
	sseCRLine,
	sseStrayLine,
	sseRetryDigits,
	sseidNul,
	sseEmptyData,
	sseOneJSON,
)

// citeData are the sections about the contents of an event's data.
var citeData = rule.Cite("3.3", a2a.V0_1, a2a.V0_2).And("3.3.1", a2a.V0_3).And("9.4.2", a2a.V1_0).And("11.7", a2a.V1_0)

var sseutf8 = &analysis.Rule{
	ID:     "sse-utf8",
	Title:  "event is not UTF-8",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Cites:  rule.Cite("WHATWG HTML §9.2.5", rule.Every...),
	Covers: []string{"json-utf8"},
	Doc: `An event stream is UTF-8, whatever its label says. Clients replace invalid bytes with question marks: names
and texts arrive damaged, without any error.`,
	Fix: `Encode the text as UTF-8 before you write it. Do not cut a chunk of text inside a character.`,
	Silent: `Events that were cut by the recording or the end of the stream, and blocks of comments. Only the first
such event is reported.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		raw := p.Event.Raw
		if utf8.Valid(raw) {
			return
		}
		i := 0
		for {
			r, size := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			i += size
		}
		p.Report(p.Place, fmt.Sprintf("byte %d of the event is 0x%02X", i, raw[i]), "expected UTF-8")
	},
}

var sseUnterminatedEvent = &analysis.Rule{
	ID:    "sse-unterminated-event",
	Title: "last event has no blank line after it",
	Level: analysis.Must,
	On:    analysis.StreamEnded,
	Cites: rule.Cite("WHATWG HTML §9.2.5", rule.Every...),
	Doc: `The blank line after an event dispatches it. If the stream ends before that line, clients that follow the
standard discard the event, which often is the one with the task's end.`,
	Fix: `Write "data: ...", a line end and a second line end for every event, including the last one.`,
	Silent: `Streams that the client left, that broke, or that the end of the recording cut; an incomplete event
without data.`,
	Check: func(p *analysis.Pass) {
		if !p.End.Clean || p.Exchange.Stream.Gap {
			return
		}
		p.Applied()
		rest := p.Exchange.Stream.Rest
		if rest != nil && rest.Fields.HasData {
			p.Report(p.Exchange.ResponsePlace().Event(rest.K),
				"the stream ends inside the event "+analysis.QuoteText(string(rest.Fields.Data)),
				"expected a blank line after it")
		}
	},
}

var sseCRLine = &analysis.Rule{
	ID:    "sse-cr-line",
	Title: "line of an event ends in CR alone",
	Level: analysis.Advice,
	Once:  analysis.PerExchange,
	Cites: rule.Cite("WHATWG HTML §9.2.5", rule.Every...),
	Doc: `A line of an event stream ends in LF, CRLF or CR. Many clients split the stream only at LF. They see one
endless line, and dispatch no event before the stream ends.`,
	Fix: `End each line with LF, as in "data: {...}\n\n".`,
	Silent: `CRLF, even if split between two reads; a CR at the end of an event, which may be half of a CRLF; CR in a
JSON string, which is written as \r; blocks of comments. If a raw CR breaks the JSON text, sse-stray-line reports it.
Only the first such line in a stream is reported.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if line, found := bareCRLine(p.Event.Raw); found {
			p.Report(p.Place, "the line "+analysis.QuoteText(string(line))+" ends in CR alone", "expected LF or CRLF")
		}
	},
}

// bareCRLine returns the first line of an event whose end is certainly a CR that no LF follows.
func bareCRLine(raw []byte) (line []byte, found bool) {
	for start := 0; ; {
		end := bytes.IndexByte(raw[start:], '\r') + start
		switch {
		case end < start, end+1 == len(raw):
			return nil, false
		case raw[end+1] == '\n':
			start = end + 2
		default:
			return raw[bytes.LastIndexByte(raw[:end], '\n')+1 : end], true
		}
	}
}

var sseStrayLine = &analysis.Rule{
	ID:     "sse-stray-line",
	Title:  "line of an event is lost",
	Level:  analysis.Should,
	Once:   analysis.PerExchange,
	Cites:  rule.Cite("WHATWG HTML §9.2.6", rule.Every...),
	Covers: []string{"json-wellformed", "sse-cr-line"},
	Doc: `Each line of an event begins with the name of a field; clients ignore lines with an unknown name. If JSON is
printed over several lines after a single "data:", all lines but the first are lost.`,
	Fix: `Print the JSON on one line, or begin each of its lines with "data: ".`,
	Silent: `Comments, and the fields event, id and retry. A field with another name is legal and ignored: it is a
note. Only the first such line in a stream is reported.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		var odd []byte
		for _, line := range p.Event.Fields.Ignored {
			text := p.Event.Raw[line.Start:line.End]
			switch {
			case string(line.Name) == "id", string(line.Name) == "retry":
			case bytes.IndexByte([]byte(" \t{}[]\""), text[0]) >= 0:
				p.Report(p.Place, "the line "+analysis.QuoteText(string(text))+" belongs to no field",
					`expected "data: " before it`)
				return
			case odd == nil:
				odd = text
			}
		}
		if odd != nil && (p.Doc == nil || p.Doc.Err == nil) {
			p.Report(p.Place, "the line "+analysis.QuoteText(string(odd))+" has a field name that clients ignore",
				"expected data, event, id or retry", analysis.AtMost(analysis.Note))
		}
	},
}

var sseRetryDigits = &analysis.Rule{
	ID:    "sse-retry-digits",
	Title: "retry is not a number of milliseconds",
	Level: analysis.Advice,
	Once:  analysis.PerExchange,
	Cites: rule.Cite("WHATWG HTML §9.2.6", rule.Every...),
	Doc: `The field retry holds only digits, in milliseconds. Clients ignore anything else, and reconnect after their
default delay.`,
	Fix:    `Send "retry: 3000", without unit, sign or fraction, or leave it out: A2A does not need it.`,
	Silent: `Streams without the field. Only the first such field in a stream is reported.`,
	Check: func(p *analysis.Pass) {
		if p.Event.Fields.Retry >= 0 {
			p.Applied()
		}
		if value, found := ignoredField(p, "retry"); found {
			p.Report(p.Place, "retry is "+analysis.QuoteText(value), "expected digits only")
		}
	},
}

// ignoredField returns the value of the first field with that name that a client ignores, and whether there is one.
func ignoredField(p *analysis.Pass, name string) (value string, found bool) {
	for _, line := range p.Event.Fields.Ignored {
		if string(line.Name) == name {
			return string(line.Value), true
		}
	}
	return "", false
}

var sseidNul = &analysis.Rule{
	ID:    "sse-id-nul",
	Title: "event id holds U+0000",
	Level: analysis.Advice,
	Once:  analysis.PerExchange,
	Cites: rule.Cite("WHATWG HTML §9.2.6", rule.Every...),
	Doc: `Clients ignore an id with the character U+0000, and keep the previous one. A client that resumes from that
id resumes too early.`,
	Fix:    `Send ids as plain text, or leave them out: A2A does not use them.`,
	Silent: `Streams without ids. Only the first such id in a stream is reported.`,
	Check: func(p *analysis.Pass) {
		if p.Event.Fields.HasID {
			p.Applied()
		}
		if value, found := ignoredField(p, "id"); found {
			p.Report(p.Place, "id is "+analysis.QuoteText(value), "expected an id without U+0000")
		}
	},
}

var sseEmptyData = &analysis.Rule{
	ID:     "sse-empty-data",
	Title:  "event with blank data",
	Level:  analysis.Should,
	Once:   analysis.PerExchange,
	Cites:  citeData,
	Stands: "0.1.0:75 0.2.6:78 0.3.0:125 1.0.1:2325 1.0.1:2950",
	Doc: `The data of an event is one JSON object. An event with blank data is dispatched anyway: clients pass the
empty text to their JSON parser, and many end the stream with its error.`,
	Fix: `Send a comment (": ping") to keep a connection open; clients skip it.`,
	Silent: `Events without a data field, which are not dispatched; events of another type, such as a ping. Only the
first such event is reported.`,
	Check: func(p *analysis.Pass) {
		f := &p.Event.Fields
		if kind := string(f.Type); !f.HasData || kind != "" && kind != "message" {
			return
		}
		p.Applied()
		if p.Answer == nil {
			p.Report(p.Place, "the data is "+analysis.QuoteText(string(f.Data)), "expected one JSON object, or a comment")
		}
	},
}

var sseOneJSON = &analysis.Rule{
	ID:     "sse-one-json",
	Title:  "several JSON values in one event",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Cites:  citeData,
	Covers: []string{"json-wellformed"},
	Stands: "0.1.0:75 0.2.6:78 0.3.0:125 1.0.1:2325 1.0.1:2950",
	Doc: `The data of an event is one JSON object. Two objects in one event are not valid JSON: clients lose both, or
all but the first. Usually the blank line between two events is missing.`,
	Fix: `End each event with a blank line, and begin the next one with its own "data:".`,
	Silent: `White space and line ends inside the one object; other text after it. Only the first such event is
reported.`,
	Check: func(p *analysis.Pass) {
		if p.Doc == nil || p.Doc.Err != nil && !p.Doc.Trailing {
			return
		}
		p.Applied()
		if !p.Doc.Trailing {
			return
		}
		rest := p.Event.Fields.Data[p.Doc.Err.Offset:]
		if next := a2a.Parse(rest); next.Err == nil || next.Trailing {
			p.Report(p.Place, fmt.Sprintf("after the JSON value comes %s", analysis.QuoteText(strings.TrimSpace(string(rest)))),
				"expected one JSON value per event")
		}
	},
}
