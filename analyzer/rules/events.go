package rules

import (
	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// Events is the family of rules about the framing of server-sent events.
var Events = []*analyzer.Rule{
	SSEUnterminatedEvent,
}

// SSEUnterminatedEvent reports a last event that no client will see.
var SSEUnterminatedEvent = &analyzer.Rule{
	ID:       "sse-unterminated-event",
	Title:    "last event has no blank line after it",
	Family:   "events",
	Category: analyzer.Streaming,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.StreamEnded,
	Bindings: onCall,
	Cites:    cite("WHATWG HTML §9.2.6", every...),
	Doc: `An event of a stream is dispatched by the blank line after it. If the stream ends before that line, clients that follow the
standard throw the event away: often it is the one that says how the task ended.`,
	Fix:    `Write "data: ...", a line end and one more line end for every event, the last one included.`,
	Silent: `Streams that the client left, that broke, or that the end of the recording cut; a rest without data.`,
	Check: func(p *analyzer.Pass) {
		if !p.End.Clean || p.Exchange.Stream.Gap {
			return
		}
		p.Applied()
		rest := p.Exchange.Stream.Rest
		if rest != nil && rest.Fields.HasData {
			p.Report(p.Exchange.ResponsePlace().Event(rest.K), "the stream ends inside the event "+analyzer.QuoteText(string(rest.Fields.Data)),
				"expected a blank line after it")
		}
	},
}
