package wire

import (
	"bytes"
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// JSON is the family of rules about JSON texts anywhere in a message.
var JSON = rule.Family{
	Name:     "json",
	Category: analysis.ErrorHandling,
	Side:     a2a.Agent,
	On:       analysis.RequestSeen | analysis.AnswerSeen | analysis.EventSeen | analysis.WebhookSeen,
	Bindings: rule.OnJSON,
	Either:   true,
}.Of(
	jsonWellformed,
	jsonutf8,
	jsonDuplicateKeys,
)

var jsonWellformed = &analysis.Rule{
	ID:    "json-wellformed",
	Title: "body or event data is not well-formed JSON",
	Level: analysis.Must,
	Cites: rule.Cite("RFC 8259 §2", rule.Every...),
	Covers: []string{
		"stream-message-only", "stream-closed-on-terminal", "stream-nothing-after-final",
		"stream-error-last", "outcome-no-protocol", "rest-error-body",
	},
	Doc: `A body or event labeled as JSON has to be JSON. A parser refuses the whole text because of one misplaced
comma, so the other side gets nothing, and a lenient parser hides the mistake until another client meets it.`,
	Fix: `Write bodies with a JSON library. In event streams put the whole JSON text into the event's data lines.`,
	Silent: `Empty bodies, bodies and events that were cut off, bodies in an unknown Content-Encoding, texts that are
too large or too deeply nested to read, blank event data, bodies that are not labeled as JSON, several values where an
event stream is expected, answers of status 502, 503 and 504 and HTML error pages, which gateways send. Invalid UTF-8
and byte order marks are not checked here.`,
	Check: func(p *analysis.Pass) {
		if p.Doc == nil || !saysJSON(p) || p.Answer != nil && p.Answer.Values > 1 ||
			p.Doc.Err != nil && (mayBeJSON(p) || p.Kind == analysis.AnswerSeen && framedAsEvents(p)) {
			return
		}
		p.Applied()
		if err := p.Doc.Err; err != nil {
			p.Report(p.Place, fmt.Sprintf("not JSON at byte %d: %s", err.Offset, err.Reason),
				"expected one well-formed JSON text", rule.BySender(p))
		}
	},
}

// mayBeJSON reports whether a text that could not be read may be JSON all the same: it was not read to its end, or
// begins with a byte order mark, which parsers may skip (RFC 8259 §8.1).
func mayBeJSON(p *analysis.Pass) bool {
	if p.Doc.Err.Limit {
		return true
	}
	text := p.Exchange.Body
	switch p.Kind {
	case analysis.EventSeen:
		text = p.Event.Fields.Data
	case analysis.AnswerSeen:
		text = p.Body
	}
	rest, marked := bytes.CutPrefix(text, []byte("\xef\xbb\xbf"))
	return marked && a2a.Parse(rest).Err == nil
}

// saysJSON reports whether the current text must be JSON: by its label, or because only JSON is allowed in its place.
func saysJSON(p *analysis.Pass) bool {
	switch p.Kind {
	case analysis.EventSeen:
		return true
	case analysis.RequestSeen, analysis.WebhookSeen:
		label := p.Exchange.Request.Fields.MediaType()
		return label == "" || rule.IsJSON(label)
	}
	return rule.IsJSON(p.Exchange.Response.Fields.MediaType()) && !fromGateway(p)
}

// fromGateway reports whether an answer is probably a gateway's, whatever its label: the agent was not reached, or the
// body is an HTML error page.
func fromGateway(p *analysis.Pass) bool {
	switch status := p.Exchange.Response.Status; {
	case status == 502, status == 503, status == 504:
		return true
	case status >= 300:
		return bytes.HasPrefix(bytes.TrimSpace(p.Body), []byte("<"))
	}
	return false
}

var jsonutf8 = &analysis.Rule{
	ID:     "json-utf8",
	Title:  "JSON is not plain UTF-8",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Cites:  rule.Cite("RFC 8259 §8.1", rule.Every...),
	Covers: []string{"json-wellformed"},
	Doc: `JSON between systems is UTF-8 without a byte order mark. Some parsers refuse anything else, others replace
what they cannot read: names and texts arrive damaged, and signatures over them do not verify.`,
	Fix: `Encode as UTF-8 and write no byte order mark. Look for a file read as Latin-1 or UTF-16, or text cut in the
middle of a character.`,
	Silent: `Bodies and events that were cut off; bodies that are not labeled as JSON; a byte order mark at the very
start of an event stream, which is allowed there. Only the first such event is reported.`,
	Check: func(p *analysis.Pass) {
		if p.Doc == nil || !saysJSON(p) {
			return
		}
		p.Applied()
		switch {
		case p.Doc.InvalidUTF8 >= 0:
			p.Report(p.Place, fmt.Sprintf("not UTF-8 at byte %d", p.Doc.InvalidUTF8), "expected JSON in UTF-8", rule.BySender(p))
		case p.Doc.BOM:
			p.Report(p.Place, "a byte order mark before the JSON", "expected no byte order mark", rule.BySender(p))
		}
	},
}

var jsonDuplicateKeys = &analysis.Rule{
	ID:    "json-duplicate-keys",
	Title: "repeated member name in a JSON object",
	Level: analysis.Should,
	Once:  analysis.PerExchange,
	Cites: rule.Cite("RFC 8259 §4", rule.Every...),
	Doc: `Member names in an object should be unique. If one is repeated, some parsers use the first value, some the
last, and some fail: two sides can read different messages from the same bytes.`,
	Fix: `Write each member once. Look for a field that is both part of the object and added by hand.`,
	Silent: `Texts that are not well-formed, which json-wellformed reports. Only the first such name in an exchange is
reported.`,
	Check: func(p *analysis.Pass) {
		if p.Doc == nil || p.Doc.Err != nil {
			return
		}
		p.Applied()
		if len(p.Doc.Duplicates) > 0 {
			d := p.Doc.Duplicates[0]
			p.Report(p.Place.At(d.Pointer), "member "+analysis.QuoteText(d.Name)+" occurs more than once",
				"expected unique member names", rule.BySender(p))
		}
	},
}
