package card

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/answer"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Capabilities is the family of rules about the capabilities in a card, and whether the agent supports them.
var Capabilities = rule.Family{
	Name:     "capability",
	Side:     a2a.Agent,
	On:       analysis.OutcomeSeen,
	Bindings: rule.OnCall,
	Category: analysis.Streaming,
}.Of(
	capStreamingUnsupported,
	capStreamingUnsupported0x,
	capStreamingRefused,
	capExtendedUndeclared,
	capExtendedDeclared,
)

var capStreamingUnsupported = &analysis.Rule{
	ID:     "cap-streaming-unsupported",
	Title:  "streaming call not refused, though the card offers no streaming",
	Level:  analysis.Must,
	If:     analysis.OfStream,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("3.3.4", a2a.V1_0),
	Covers: rule.CodeRules,
	Stands: "1.0.1:574",
	Doc: `The card does not say streaming:true, but a streaming call was not refused with UnsupportedOperationError
(-32004). Clients read the card before they choose how to call. If it is wrong, they poll although they could listen,
or look for a mistake in their request.`,
	Fix: `Answer -32004 with the reason UNSUPPORTED_OPERATION (HTTP+JSON: status 400); or set capabilities.streaming to
true if the agent streams.`,
	Silent: `Agents whose card was not seen, agents with a card that offers streaming, and agents with an extended
card that was not seen, unless their error says that they do not support it. Refusals as an unknown method, and errors
that may have another cause: credentials, rate, version, extensions, content types, a missing task, an invalid
request.`,
	Check: func(p *analysis.Pass) {
		card := quietCard(p)
		if card == nil {
			return
		}
		p.Applied()
		const expected = "expected UnsupportedOperationError (-32004)"
		switch failure := p.Answer.Err; {
		case failure == nil:
			reportOpened(p, card, expected)
		case failure.Name != a2a.UnsupportedOperation && failure.Name != a2a.MethodNotFound && !rule.OtherCause(p):
			p.Report(p.Place.At(failure.Pointer),
				fmt.Sprintf("the card at %s offers no streaming, and the refusal is %s", card.Place, failure), expected)
		}
	},
}

var capStreamingUnsupported0x = &analysis.Rule{
	ID:       "cap-streaming-unsupported-0x",
	Title:    "stream opened, though the card offers no streaming",
	Level:    analysis.Should,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.2", rule.Before1...),
	Stands:   "0.1.0:826 0.2.6:517 0.3.0:726",
	Doc: `The card does not say streaming:true, but the agent streams. Clients read the card before they choose how to
call, so most of them will poll an agent that could send them updates.`,
	Fix: `Set capabilities.streaming to true in the card; or refuse streaming calls.`,
	Silent: `Refusals with any error. Agents whose card was not seen, agents with a card that offers streaming, and
agents with an extended card that was not seen.`,
	Check: func(p *analysis.Pass) {
		card := quietCard(p)
		if card == nil {
			return
		}
		p.Applied()
		reportOpened(p, card, "expected streaming:true in the card")
	},
}

// quietCard returns the newest card seen before a streaming call, if no card offers streaming, otherwise nil. If an
// extended card may offer it, the agent itself must deny streaming.
func quietCard(p *analysis.Pass) *card.Card {
	if p.Answer == nil || !p.Exchange.Call.Operation.Streams() {
		return nil
	}
	quiet, more := card.Of(p).Denying(p.Exchange, card.CanStream)
	if more && !rule.SaysUnsupported(p.Answer.Err) {
		return nil
	}
	return quiet
}

func reportOpened(p *analysis.Pass, card *card.Card, expected string) {
	if p.Event != nil && rule.CallSucceeded(p) {
		p.Report(p.Place.At(p.Answer.Payload.Pointer),
			fmt.Sprintf("a stream opens with %s, and the card at %s offers no streaming", p.Answer.Payload.Kind, card.Place),
			expected)
	}
}

var capStreamingRefused = &analysis.Rule{
	ID:     "cap-streaming-refused",
	Title:  "streaming advertised and refused as not supported",
	Level:  analysis.Must,
	On:     analysis.OutcomeSeen | analysis.TaskSeen,
	Needs:  []*analysis.Tracker{answer.Tracker, card.Tracker, task.Tracker},
	Cites:  rule.Cite("5.5.2", rule.Before1...).And("4.4.3", a2a.V1_0),
	Stands: "0.1.0:252 0.2.6:types:23 0.3.0:types:26 1.0.1:proto:412",
	Doc: `The card says that the agent streams, but the agent answers that it does not, or does not know the method.
Clients rely on the card and have no fallback.`,
	Fix: `Set capabilities.streaming to false in the card; or serve the streaming methods at every interface that the
card names.`,
	Silent: `Agents whose card was not seen, or whose cards disagree; versions that the card does not declare for this
URL. Calls about a known task, unless the same client sees it active afterwards: an ended task has nothing to stream.
Resubscription in 0.2 and 0.3, which is optional. HTTP statuses 404, 405 and 501 count only for the declared path of
an interface where other calls succeed; over gRPC only UNIMPLEMENTED counts. 0.1 agents that stream at a separate
address, or may do so. An unknown method, if the card leaves open which version before 1.0 the agent has. UnsupportedOperationError whose text names another cause, such as push notifications, extensions or
credentials; or that names none, if the request also asks for push notifications, an output mode other than text, or
an extension that the card does not declare.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.TaskSeen {
			reportRefusedSubscription(p)
			return
		}
		card := card.Of(p).StreamsRefused(p.Observation)
		if card == nil {
			return
		}
		p.Applied()
		if startsTask(p, card) && refusedAsUnknown(p) {
			p.Report(p.Place.At(p.Answer.Err.Pointer), streamingRefused(card, p.Answer.Err),
				"expected the agent to do what its card says")
		}
	},
}

// reportRefusedSubscription reports a stream refused for a task that is seen active afterwards.
func reportRefusedSubscription(p *analysis.Pass) {
	refused := answer.Of(p).RefusedStream(p.Exchange, p.Task.TaskID)
	if refused == nil || p.Task.Late || !p.Task.State.Known() || p.Task.State.Terminal() || !refused.Before(p.Exchange) {
		return
	}
	p.Report(refused.Place,
		fmt.Sprintf(
			"a stream of task %s is refused as not supported, the card says streaming:true, and the task is active at %s",
			analysis.QuoteText(p.Task.TaskID), p.Task.StatePlace(),
		),
		"expected the agent to do what its card says", analysis.Of(refused.Exchange))
}

// startsTask reports whether a refused stream was certainly not about a task that has ended. In 0.1 the client creates
// the id of a new task.
func startsTask(p *analysis.Pass, card *card.Card) bool {
	x := p.Exchange
	if x.Call.TaskID == "" || !x.Call.Operation.Sends() {
		return x.Call.Operation.Sends()
	}
	failure := p.Answer.Err
	if x.Dialects == a2a.Of(a2a.V0_1) && mayStreamElsewhere(x, card, failure) {
		return false
	}
	return x.Dialects == a2a.Of(a2a.V0_1) && task.Of(p).Named(x) == nil && failure != nil &&
		failure.Name != a2a.UnsupportedOperation
}

// mayStreamElsewhere reports whether an agent of 0.1 that does not know a stream's method or path may stream at the other
// address: /subscribe, where streams were before 0.1, or the interface's own.
func mayStreamElsewhere(x *analysis.Exchange, card *card.Card, failure *a2a.Error) bool {
	switch {
	case !x.Call.Early && (x.Endpoint.Early || namesAddress(failure)):
		return true
	case failure != nil && failure.Name != a2a.MethodNotFound:
		return false
	case x.Call.Early:
		return !card.Early()
	}
	return !card.Has("defaultInputModes") && card.LegacyVersion() == ""
}

// namesAddress reports whether the text of an error directs clients to another address for streams.
func namesAddress(failure *a2a.Error) bool {
	if failure == nil {
		return false
	}
	text := strings.ReplaceAll(failure.Message, "tasks/sendSubscribe", "")
	return strings.Contains(text, "subscribe") || strings.Contains(text, "SSE endpoint")
}

func streamingRefused(card *card.Card, failure *a2a.Error) string {
	return fmt.Sprintf("streaming is refused with %s, and the card at %s says streaming:true", failure, card.Place)
}

// refusedAsUnknown reports whether an error means that the agent does not stream, or does not know the method.
func refusedAsUnknown(p *analysis.Pass) bool {
	if p.Answer.Err == nil {
		return false
	}
	switch p.Answer.Err.Name {
	case a2a.UnsupportedOperation, a2a.StreamingNotSupported:
		if p.Answer.Err.Name == a2a.UnsupportedOperation && !blames(p, answer.Streaming) {
			return false
		}
		return p.Exchange.Response.Status != 401 && p.Exchange.Response.Status != 403
	}
	return rule.LacksOperation(p)
}

var capExtendedUndeclared = &analysis.Rule{
	ID:       "cap-extended-undeclared",
	Title:    "request for an extended card not refused, though the card offers none",
	Category: analysis.AgentCard,
	Level:    analysis.Must,
	If:       analysis.OfExtended,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("3.3.4", a2a.V1_0).And("13.3", a2a.V1_0),
	Covers:   rule.CodeRules,
	Stands:   "1.0.1:575 1.0.1:3164",
	Doc: `The card does not say extendedAgentCard:true, but the request for an extended card was not refused with
UnsupportedOperationError (-32004). A client cannot tell an agent without an extended card from one that failed to
return it.`,
	Fix: `Answer -32004 with the reason UNSUPPORTED_OPERATION (HTTP+JSON: status 400), or set
capabilities.extendedAgentCard to true if there is such a card.`,
	Silent: `Agents whose card was not seen, and agents with a card that offers an extended one. Errors that may have
another cause: credentials, rate, version, extensions, parameters; HTTP+JSON errors that do not identify themselves.`,
	Check: func(p *analysis.Pass) {
		card := extendedFlag(p, false)
		if card == nil {
			return
		}
		p.Applied()
		const expected = "expected UnsupportedOperationError (-32004)"
		switch failure := p.Answer.Err; {
		case failure == nil:
			if rule.CallSucceeded(p) {
				p.Report(p.Place.At(p.Answer.Payload.Pointer),
					fmt.Sprintf("an extended card is returned, and the card at %s offers none", card.Place), expected)
			}
		case failure.Name == a2a.ExtendedCardNotConfigured || failure.Name != a2a.UnsupportedOperation && !rule.OtherCause(p):
			p.Report(p.Place.At(failure.Pointer),
				fmt.Sprintf("the card at %s offers no extended card, and the refusal is %s", card.Place, failure), expected)
		}
	},
}

var capExtendedDeclared = &analysis.Rule{
	ID:       "cap-extended-declared",
	Title:    "extended card advertised and refused as not supported",
	Category: analysis.AgentCard,
	Level:    analysis.Must,
	If:       analysis.OfExtended,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("5.5", a2a.V0_3).And("3.3.4", a2a.V1_0),
	Covers:   []string{"rest-error-envelope"},
	Stands:   "0.3.0:types:463 1.0.1:575",
	Doc: `The card says that there is an extended card, but the agent answers that it does not support the operation,
or does not know it. A client that logged in to see more gets nothing, and no explanation.`,
	Fix: `Remove the flag from the card (1.0: capabilities.extendedAgentCard, 0.3: supportsAuthenticatedExtendedCard),
or serve the operation. If the extended card is not configured yet, the error is -32007.`,
	Silent: `Agents whose card was not seen, or whose cards disagree; versions that the card does not declare for this
URL; in 0.3 the method name agent/authenticatedExtendedCard, which is a mistake in the specification; errors whose
text names another cause, such as credentials or extensions, or that names none, if the request asks for an extension
that the card does not declare. HTTP statuses 404, 405 and 501 count only for the declared path of an interface where
other calls succeed.`,
	Check: func(p *analysis.Pass) {
		card := extendedFlag(p, true)
		if card == nil || !declared(p.Exchange) || p.Exchange.Call.Method == "agent/authenticatedExtendedCard" {
			return
		}
		p.Applied()
		failure := p.Answer.Err
		if failure == nil || failure.Name != a2a.UnsupportedOperation && !rule.LacksOperation(p) {
			return
		}
		if status := p.Exchange.Response.Status; status != 401 && status != 403 &&
			(failure.Name != a2a.UnsupportedOperation || blames(p, answer.ExtendedCard)) {
			p.Report(p.Place.At(failure.Pointer),
				fmt.Sprintf("the extended card is refused with %s, and the card at %s advertises it", failure, card.Place),
				"expected the agent to do what its card says")
		}
	},
}

// extendedFlag returns the newest card seen before a request for the extended card, if all of them offer it, or none
// does, otherwise nil.
func extendedFlag(p *analysis.Pass, offered bool) *card.Card {
	var last *card.Card
	if p.Answer == nil || p.Exchange.Call.Operation != a2a.GetExtendedCard {
		return nil
	}
	for _, c := range card.Of(p).Before(p.Exchange) {
		if c.ExtendedCard.True() != offered {
			return nil
		}
		last = c
	}
	return last
}

// blames reports whether the error of a refused call is certainly about a matter.
func blames(p *analysis.Pass, matter answer.Matter) bool {
	return answer.Blames(p.Observation, card.Of(p).Before(p.Exchange), matter)
}

// declared reports whether cards declare the request's dialect for its URL.
func declared(x *analysis.Exchange) bool {
	return x.Endpoint != nil && !x.Endpoint.Declared.Intersect(x.Call.Dialects).Empty()
}
