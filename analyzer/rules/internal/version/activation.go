package version

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

var extRequiredMissing = &analysis.Rule{
	ID:     "ext-required-missing",
	Title:  "call without a required extension answered",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	On:     analysis.OutcomeSeen,
	If:     analysis.Carded,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("3.3.4", a2a.V1_0).And("4.6.3", a2a.V1_0),
	Stands: "1.0.1:576 1.0.1:1141",
	Doc: `The card says that clients have to use an extension. A client that does not know it gets an answer anyway,
and reads it without what the extension adds or changes: prices without a currency, promises without conditions.`,
	Fix: `Answer ExtensionSupportRequiredError (-32008) to requests that do not name the extension, or remove
required:true.`,
	Silent: `Agents whose card was not seen, or whose cards disagree; requests that name the extension anywhere, in a
header or in the body; HARs of other programs, which may omit headers. For calls other than sending a message the
finding is a note.`,
	Check: func(p *analysis.Pass) {
		uri, card := missingExtension(p)
		if uri == "" || !rule.CallSucceeded(p) {
			return
		}
		p.Report(p.Place.At(p.Answer.Payload.Pointer), answeredWithout(uri, card),
			"expected ExtensionSupportRequiredError (-32008)",
			analysis.AtMostIf(!p.Exchange.Call.Operation.Sends(), analysis.Note))
	},
}

func answeredWithout(uri string, card *card.Card) string {
	return fmt.Sprintf("the call succeeds without the extension %s, which the card at %s requires",
		analysis.QuoteText(uri), card.Place)
}

// missingExtension returns the first extension that every card seen before the call requires and that the request does
// not name, and the newest of those cards. The rule applies if any extension is required.
func missingExtension(p *analysis.Pass) (string, *card.Card) {
	x := p.Exchange
	cards := card.Of(p).Before(x)
	if len(cards) == 0 || !x.HeadersKept() || x.Call.Operation == a2a.NoOperation ||
		x.Call.Operation == a2a.GetExtendedCard {
		return "", nil
	}
	last := cards[len(cards)-1]
	for _, uri := range last.Needs {
		if slices.ContainsFunc(cards, func(c *card.Card) bool { return !slices.Contains(c.Needs, uri) }) {
			continue
		}
		p.Applied()
		if !asksFor(x, uri) {
			return uri, last
		}
	}
	return "", nil
}

// asksFor reports whether a request names an extension: in a header, among its parameters, or anywhere in its body,
// where it may be the key of metadata or one of a message's extensions.
func asksFor(x *analysis.Exchange, uri string) bool {
	return fieldLists(x.Request.Fields, uri) || bodyQuotes(rule.Unescape(x.Body), uri)
}

// bodyQuotes reports whether a text in a JSON body is or begins with, ends with or lists the URI, or names something
// beneath it: keys of metadata are mostly made of the URI and a name, such as https://example.com/ext/seats/v1/row.
func bodyQuotes(body []byte, uri string) bool {
	for {
		i := bytes.Index(body, []byte(uri))
		if i < 0 {
			return false
		}
		before, after := i > 0 && strings.IndexByte(`", `, body[i-1]) >= 0, i+len(uri) < len(body) &&
			strings.IndexByte(`", /#?`, body[i+len(uri)]) >= 0
		if before && after {
			return true
		}
		body = body[i+len(uri):]
	}
}

// fieldLists reports whether one of the extension fields lists the URI.
func fieldLists(fields capture.Fields, uri string) bool {
	for listed := range extensionsIn(fields) {
		if listed == uri {
			return true
		}
	}
	return false
}

var extRequiredMissingCode = &analysis.Rule{
	ID:       "ext-required-missing-code",
	Title:    "call without a required extension refused with the wrong error",
	Category: analysis.ErrorHandling,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	On:       analysis.OutcomeSeen,
	If:       analysis.Carded,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("3.3.4", a2a.V1_0).And("4.6.3", a2a.V1_0),
	Covers:   rule.CodeRules,
	Stands:   "1.0.1:576 1.0.1:1141",
	Doc: `The card requires an extension, the request does not name it, and the refusal gives another reason.
ExtensionSupportRequiredError (-32008) tells a client what it lacks; with another error it looks for a mistake that
does not exist.`,
	Fix: `Answer -32008 with the reason EXTENSION_SUPPORT_REQUIRED (HTTP+JSON: status 400) and name the extension.`,
	Silent: `Errors that may have another cause (credentials, rate, version, content types, a task that does not exist
or has ended, push, streaming, an invalid request); errors that A2A does not define; HTTP+JSON errors that do not
identify themselves; cards that were not seen.`,
	Check: func(p *analysis.Pass) {
		uri, card := missingExtension(p)
		if uri == "" || p.Answer == nil || p.Answer.Err == nil {
			return
		}
		failure := p.Answer.Err
		if failure.Name.A2A() && !rule.OtherCause(p) {
			p.Report(p.Place.At(failure.Pointer),
				fmt.Sprintf("the request lacks the extension %s, which the card at %s requires, and the refusal is %s",
					analysis.QuoteText(uri), card.Place, failure),
				"expected ExtensionSupportRequiredError (-32008)")
		}
	},
}

var extRequiredMissingClient = &analysis.Rule{
	ID:     "ext-required-missing-client",
	Title:  "message without an extension that the card requires",
	Level:  analysis.Should,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen,
	If:     analysis.Carded,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("5.5.2.1", a2a.V0_2, a2a.V0_3).And("4.4.4", a2a.V1_0),
	Stands: "0.2.6:types:44 0.3.0:types:49 1.0.1:proto:428",
	Doc: `The client has read the card, which requires an extension, and sends a message without naming it. The agent
has to refuse the message. If it does not, the client misses what the extension adds.`,
	Fix: `Name the extension in A2A-Extensions (before 1.0: X-A2A-Extensions) and implement it, or do not call agents
that require an unknown extension.`,
	Silent: `Clients that were not seen to fetch the card; agents whose cards disagree, or whose version before 1.0 is
not known to have the header; calls other than sending a message; a URI anywhere in the body; HARs of other programs,
which may omit headers. Only the first message of each client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		known := card.Of(p)
		fetched := x.Link.Client != "" &&
			slices.ContainsFunc(known.Before(x), func(c *card.Card) bool { return known.ReadBefore(x, c) })
		if !x.Call.Operation.Sends() || !fetched || !activates(p) {
			return
		}
		if uri, card := missingExtension(p); uri != "" {
			p.Report(x.RequestPlace(),
				fmt.Sprintf("the message lacks the extension %s, which the card at %s requires", analysis.QuoteText(uri),
					card.Place), "expected the client to request it")
		}
	},
}

// activates reports whether extensions are activated as the guides since 0.2.4 say, as far as cards tell.
func activates(p *analysis.Pass) bool {
	if p.Dialects == a2a.Of(a2a.V1_0) {
		return true
	}
	versions := card.Of(p).Versions(p.Exchange)
	return len(versions) > 0 && !olderThanActivation(p)
}

var extRequiredMissing0x = &analysis.Rule{
	ID:     "ext-required-missing-0x",
	Title:  "message without a required extension answered",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	On:     analysis.OutcomeSeen,
	If:     analysis.Carded,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("extensions guide §Required Extensions", a2a.V0_2, a2a.V0_3),
	Stands: "0.3.0:extensions:86",
	Doc: `The card says that clients have to use an extension. A client that does not know it gets an answer anyway,
and reads it without what the extension adds or changes.`,
	Fix: `Refuse messages that do not name the extension with an error that names it, or remove required:true.`,
	Silent: `Agents whose card was not seen, whose cards disagree, or whose version is not known to have the header;
calls other than sending a message; a URI anywhere in the request; HARs of other programs, which may omit headers.`,
	Check: func(p *analysis.Pass) {
		if !p.Exchange.Call.Operation.Sends() || !activates(p) {
			return
		}
		if uri, card := missingExtension(p); uri != "" && rule.CallSucceeded(p) {
			p.Report(p.Place.At(p.Answer.Payload.Pointer), answeredWithout(uri, card), "expected a refusal")
		}
	},
}

var extResponseEcho = &analysis.Rule{
	ID:    "ext-response-echo",
	Title: "answer does not list the requested extensions",
	Level: analysis.Should,
	Side:  a2a.Agent,
	Once:  analysis.PerEndpoint,
	On:    analysis.OutcomeSeen,
	If:    analysis.Carded,
	Needs: []*analysis.Tracker{card.Tracker},
	Cites: rule.Cite("extensions guide §Extension Activation", a2a.V0_2, a2a.V0_3).
		And("extensions guide §Extension Activation", a2a.V1_0),
	Stands: "0.3.0:extensions:120 1.0.1:extensions:168",
	Doc: `The client requests an extension that the card declares, and the answer does not say whether it is active.
The client has to guess how to read the answer.`,
	Fix: `List the active extensions in A2A-Extensions (before 1.0: X-A2A-Extensions) of the answer.`,
	Silent: `Extensions that no card declares; errors; streams over gRPC, whose trailer comes later; HARs of other
programs, which may omit headers. The finding is only a note: an agent decides which extensions it activates, and
extensions that only describe data are never active. Only the first answer at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		uri := declaredAndAsked(p)
		if uri == "" || !rule.CallSucceeded(p) || !x.AnswerHeadersKept() {
			return
		}
		if x.Stream != nil && x.Call.Binding == a2a.GRPC {
			return // the trailer may list them
		}
		p.Applied()
		if fields := answerFields(x); !fields.Has(extensionsName) && !fields.Has(extensionsName0x) {
			p.Report(x.ResponsePlace(),
				fmt.Sprintf("the request asks for %s, and the answer has no %s", analysis.QuoteText(uri), extensionsField(p)),
				"expected the extensions that are active", analysis.AtMost(analysis.Note))
		}
	},
}

// extensionsField returns the name of the field in the current version.
func extensionsField(p *analysis.Pass) string {
	if p.Dialects == a2a.Of(a2a.V1_0) {
		return extensionsName
	}
	return extensionsName0x
}

// declaredAndAsked returns the first extension that the header of the request asks for and that a card declares, or "".
func declaredAndAsked(p *analysis.Pass) string {
	for uri := range extensionsIn(p.Exchange.Request.Fields) {
		for _, c := range card.Of(p).Before(p.Exchange) {
			for ext := range c.Extensions() {
				if ext.Get("uri").Is(uri) {
					return uri
				}
			}
		}
	}
	return ""
}

var extResponseUnrequested = &analysis.Rule{
	ID:    "ext-response-unrequested",
	Title: "answer lists an extension that was not requested",
	Level: analysis.Should,
	Side:  a2a.Agent,
	Once:  analysis.PerEndpoint,
	On:    analysis.OutcomeSeen,
	Needs: []*analysis.Tracker{card.Tracker},
	Cites: rule.Cite("extensions guide §Extension Activation", a2a.V0_2, a2a.V0_3).
		And("extensions guide §Extension Activation", a2a.V1_0),
	Stands: "0.3.0:extensions:110 1.0.1:extensions:158",
	Doc: `Extensions are off unless the client requests them. One that is active anyway may change the meaning of the
answer for a client that does not know it.`,
	Fix: `Activate, and list in the answer, only extensions that the request names.`,
	Silent: `Extensions that the request names anywhere in its body, or that a card requires; HARs of other programs,
which may omit headers. Only the first answer at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.HeadersKept() {
			return
		}
		for uri := range extensionsIn(answerFields(x)) {
			p.Applied()
			if !asksFor(x, uri) && !required(p, uri) {
				p.Report(extensionsPlace(x), "the answer lists "+analysis.QuoteText(uri),
					"expected only extensions that the request names")
				return
			}
		}
	},
}

func required(p *analysis.Pass, uri string) bool {
	return slices.ContainsFunc(card.Of(p).Before(p.Exchange),
		func(c *card.Card) bool { return slices.Contains(c.Needs, uri) })
}

// extensionsPlace returns the place of the field in which an answer lists its extensions.
func extensionsPlace(x *analysis.Exchange) analysis.Place {
	for _, name := range [...]string{extensionsName, extensionsName0x} {
		switch {
		case x.Response.Fields.Has(name):
			return x.ResponsePlace().Header(name)
		case x.Trailer.Has(name):
			return x.ResponsePlace().Trailer(name)
		}
	}
	return x.ResponsePlace()
}

// answerFields returns the fields of an answer that may name its extensions: the header and, over gRPC, the trailer as
// far as it was received.
func answerFields(x *analysis.Exchange) capture.Fields {
	if len(x.Trailer) == 0 {
		return x.Response.Fields
	}
	return slices.Concat(x.Response.Fields, x.Trailer)
}

var extNoFallback = &analysis.Rule{
	ID:     "ext-no-fallback",
	Title:  "another version of an extension is active than was requested",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Once:   analysis.PerEndpoint,
	On:     analysis.OutcomeSeen,
	Cites:  rule.Cite("extensions guide §Versioning", a2a.V0_2, a2a.V0_3).And("4.6.3", a2a.V1_0),
	Covers: []string{"ext-response-unrequested"},
	Stands: "0.3.0:extensions:180 1.0.1:1141",
	Doc: `The client requests one version of an extension and gets another. Versions of an extension are not
compatible: the client misreads the answer.`,
	Fix: `Treat an unknown version of an extension as an unknown extension: leave it out, or refuse the request if it
is required.`,
	Silent: `Only URIs that differ only in what looks like a version count: v1, 1.2, v1beta1, a date; or URIs of which
only one has such a part. Answers that list the requested version too; HARs of other programs, which may omit headers.
Only the first answer at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.HeadersKept() {
			return
		}
		for got := range extensionsIn(answerFields(x)) {
			p.Applied()
			if asksFor(x, got) {
				continue
			}
			for asked := range askedExtensions(x) {
				if otherVersion(asked, got) && !fieldLists(answerFields(x), asked) {
					p.Report(extensionsPlace(x),
						fmt.Sprintf("the answer lists %s instead of %s", analysis.QuoteText(got), analysis.QuoteText(asked)),
						"expected no other version of an extension")
					return
				}
			}
		}
	},
}

// askedExtensions yields the extensions that a request names in its header, or in the message that it sends.
func askedExtensions(x *analysis.Exchange) iter.Seq[string] {
	return func(yield func(string) bool) {
		for uri := range extensionsIn(x.Request.Fields) {
			if !yield(uri) {
				return
			}
		}
		for _, v := range x.Call.Message.Get("extensions").Elems() {
			if !yield(v.Text()) {
				return
			}
		}
	}
}

// extensionsIn yields the members of the extension fields, under both names.
func extensionsIn(fields capture.Fields) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range fields {
			if !strings.EqualFold(f.Name, extensionsName) && !strings.EqualFold(f.Name, extensionsName0x) {
				continue
			}
			for member := range strings.SplitSeq(f.Value, ",") {
				if member = strings.TrimSpace(member); member != "" && !yield(member) {
					return
				}
			}
		}
	}
}
