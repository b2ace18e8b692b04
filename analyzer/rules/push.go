package rules

import (
	"slices"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// Push is the family of rules about push notification configs.
var Push = []*analyzer.Rule{
	PushSupportedButRefused,
}

// PushSupportedButRefused reports an agent that advertises push notifications and says it has none.
var PushSupportedButRefused = &analyzer.Rule{
	ID:       "push-supported-but-refused",
	Title:    "push notifications advertised and refused as not supported",
	Family:   "push",
	Category: analyzer.Interop,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.AnswerSeen | analyzer.EventSeen,
	Bindings: onCall,
	Cites: slices.Concat(
		cite("8.2", before1...),
		cite("3.3.2", a2a.V1_0),
	),
	Doc: `The card says that the agent pushes notifications, and the agent answers that it does not support them. A client that
chose the agent for this capability finds out only when it waits for news of a task.`,
	Fix:    `Set capabilities.pushNotifications to false in the card, or configure the store and the sender that push needs.`,
	Silent: `Agents whose card was not seen before the request, or whose cards disagree.`,
	Check: func(p *analyzer.Pass) {
		if p.Answer == nil || p.Answer.Err == nil || p.Answer.Err.Name != a2a.PushNotSupported {
			return
		}
		cards := p.Session.CardsBefore(p.Exchange)
		if len(cards) == 0 {
			return
		}
		p.Applied()
		for _, c := range cards {
			if !c.Push.True() {
				return
			}
		}
		p.Report(p.Place.At(p.Answer.Err.Pointer), "push notifications are refused as not supported, and the card at "+cards[0].Place.String()+" says pushNotifications:true",
			"expected the agent to do what its card says")
	},
}
