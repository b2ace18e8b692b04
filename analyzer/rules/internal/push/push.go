package push

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/answer"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
	"a2atap/proxy/hostname"
)

// Push is the family of rules about whether an agent pushes, and about setting a push notification config.
var Push = rule.Family{
	Name:     "push",
	Category: analysis.Interop,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnCall,
}.Of(
	pushUnsupportedError,
	pushUnsupportedError0x,
	pushSupportedButRefused,
	pushCreateEcho,
	pushCreateID,
	pushCreateIDKept,
	pushPrivateURLAccepted,
)

var pushUnsupportedError = &analysis.Rule{
	ID:     "push-unsupported-error",
	Title:  "push config operation not refused although the card offers no push notifications",
	Level:  analysis.Must,
	If:     analysis.OfPush,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("3.3.4", a2a.V1_0),
	Covers: rule.CodeRules,
	Stands: "1.0.1:573",
	Doc: `An agent whose card does not offer push notifications refuses every operation on push configs with
PushNotificationNotSupportedError (-32003). With any other answer a client waits for notifications that never come, or
changes a request that was right.`,
	Fix: `Answer -32003 with the reason PUSH_NOTIFICATION_NOT_SUPPORTED (HTTP+JSON: status 400), or set
capabilities.pushNotifications to true in the card if the agent supports push.`,
	Silent: `Agents whose card was not seen, agents with a card that offers push, and agents with an extended card
that was not seen, unless their error says that they do not support push; configs that are sent with a message;
refusals for another reason (credentials, rate, version, extensions, an invalid request, a task that the agent may not
know); HTTP+JSON errors that do not identify themselves.`,
	Check: func(p *analysis.Pass) { checkUndeclaredPush(p, a2a.PushNotSupported) },
}

var pushUnsupportedError0x = &analysis.Rule{
	ID:     "push-unsupported-error-0x",
	Title:  "push config operation not refused although the card offers no push notifications",
	Level:  analysis.Should,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("8.2", rule.Before1...),
	Covers: rule.CodeRules,
	Stands: "0.1.0:1028 0.2.6:976 0.3.0:1171",
	Doc: `An agent whose card does not offer push notifications refuses them: with PushNotificationNotSupportedError
(-32003), or as an unknown operation or method. With any other answer the client waits for notifications.`,
	Fix: `Answer -32003, or set capabilities.pushNotifications to true in the card if the agent supports push.`,
	Silent: `Agents whose card was not seen, agents with a card that offers push, and agents with an extended card
that was not seen, unless their error says that they do not support push; configs that are sent with a message; errors
over HTTP+JSON, which have no codes before 1.0; refusals for another reason (credentials, rate, parameters, a task
that the agent may not know).`,
	Check: func(p *analysis.Pass) {
		if p.Exchange.Call.Binding != a2a.JSONRPC && p.Answer.Err != nil {
			return
		}
		checkUndeclaredPush(p, a2a.PushNotSupported, a2a.UnsupportedOperation, a2a.MethodNotFound)
	},
}

// checkUndeclaredPush reports an operation on configs that an agent without push does not refuse with one of the
// errors.
func checkUndeclaredPush(p *analysis.Pass, allowed ...a2a.ErrorName) {
	x := p.Exchange
	if !x.Call.Operation.Push() {
		return
	}
	quiet, more := card.Of(p).Denying(x, card.CanPush)
	failure := p.Answer.Err
	if quiet == nil || more && !rule.SaysUnsupported(failure) {
		return
	}
	if failure == nil {
		if !rule.Succeeded(x.Response.Status) ||
			p.Answer.Payload.Kind == a2a.NoPayload && x.Call.Operation != a2a.DeletePushConfig {
			return
		}
		p.Report(p.Place,
			x.Call.Operation.String()+" succeeds, and the card at "+quiet.Place.String()+" offers no push notifications",
			"expected PushNotificationNotSupportedError (-32003)")
		return
	}
	if !saysWhy(p) || failure.Name == a2a.TaskNotFound && !task.Of(p).SeenBefore(x) ||
		failure.Name == a2a.InvalidParams || failure.Name == a2a.InvalidRequest {
		return
	}
	p.Applied()
	if !slices.Contains(allowed, failure.Name) {
		p.Report(p.Place.At(failure.Pointer),
			"the refusal is "+failure.String()+", and the card at "+quiet.Place.String()+" offers no push notifications",
			"expected PushNotificationNotSupportedError (-32003)")
	}
}

// saysWhy reports whether an error names a cause that a protocol knows, other than credentials, rate, version and
// extensions, which may all be looked at first.
func saysWhy(p *analysis.Pass) bool {
	switch p.Exchange.Response.Status {
	case 401, 403, 407, 408, 413, 429, 502, 503, 504:
		return false
	}
	switch p.Answer.Err.Name {
	case a2a.NoErrorName, a2a.OtherError, a2a.ParseError, a2a.VersionNotSupported, a2a.ExtensionSupportRequired,
		a2a.AuthenticationRequired, a2a.AuthorizationFailed, a2a.RateLimitExceeded, a2a.ResourceUnavailable:
		return false
	}
	return true
}

var pushSupportedButRefused = &analysis.Rule{
	ID:     "push-supported-but-refused",
	Title:  "push notifications advertised and refused as not supported",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen | analysis.EventSeen,
	If:     analysis.Refused,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("5.5.2", rule.Before1...).And("4.4.3", a2a.V1_0),
	Covers: []string{"rest-error-envelope"},
	Stands: "0.1.0:241 0.2.6:types:25 0.3.0:types:28 1.0.1:proto:414",
	Doc: `The card says that the agent supports push notifications, but the agent answers that it does not, or does
not know the method. A client that chose the agent for this capability finds out only when it needs it.`,
	Fix: `Set capabilities.pushNotifications to false in the card, or configure the store and the sender that push
needs.`,
	Silent: `Agents whose card was not seen, or whose cards disagree. Calls that are not about push: only operations on
configs count and, since 0.2, messages with a config. Errors whose text names credentials or an extension. The oldest
agents answered messages with that code when their store was full. An unknown method counts only in the versions that
the card declares for this URL. Before 1.0 it counts only for setting and reading a config, since the other methods came
later, and only if the card or a call distinguishes 0.1 from later versions. HTTP statuses 404, 405 and 501 count only
for the declared path of an interface where other calls succeed, and a 404 only if its text is not about the task or the
config.`,
	Check: func(p *analysis.Pass) {
		if p.Answer == nil || p.Answer.Err == nil || !refusesPush(p) ||
			answer.Names(p.Answer.Err, answer.Authentication, answer.Extension) {
			return
		}
		cards := card.Of(p).Before(p.Exchange)
		if len(cards) == 0 {
			return
		}
		p.Applied()
		for _, c := range cards {
			if !c.Push.True() {
				return
			}
		}
		seen := "push notifications are refused as not supported"
		if p.Answer.Err.Name != a2a.PushNotSupported {
			seen = p.Exchange.Call.Operation.String() + " is refused with " + p.Answer.Err.String()
		}
		p.Report(p.Place.At(p.Answer.Err.Pointer),
			seen+", and the card at "+cards[0].Place.String()+" says pushNotifications:true",
			"expected the agent to do what its card says")
	},
}

// refusesPush reports whether an error means that the agent does not support push: as not supported, or because it
// lacks an operation that every agent with push has.
func refusesPush(p *analysis.Pass) bool {
	x := p.Exchange
	if p.Answer.Err.Name == a2a.PushNotSupported {
		return asksForPush(p)
	}
	switch x.Call.Operation {
	case a2a.CreatePushConfig, a2a.GetPushConfig:
	case a2a.ListPushConfigs, a2a.DeletePushConfig:
		if x.Dialects != a2a.Of(a2a.V1_0) {
			return false
		}
	default:
		return false
	}
	return !x.Endpoint.Declared.Intersect(x.Call.Dialects).Empty() && rule.LacksOperation(p)
}

// asksForPush reports whether the current call certainly asks for push notifications.
func asksForPush(p *analysis.Pass) bool {
	call := &p.Exchange.Call
	return call.Operation.Push() || call.PushConfig.Exists() && !p.Exchange.Dialects.Has(a2a.V0_1)
}

var pushCreateEcho = &analysis.Rule{
	ID:     "push-create-echo",
	Title:  "push config confirmed for another URL or task",
	Level:  analysis.Must,
	If:     analysis.OfPush,
	Cites:  rule.Cite("7.5", rule.Before1...).And("3.1.7", a2a.V1_0),
	Stands: "0.1.0:977 0.2.6:730 0.3.0:types:1130 1.0.1:326",
	Doc: `The answer to a config that was set is that config, with the same URL and the same task. If it names others,
notifications go to the wrong address, or are about the wrong task.`,
	Fix: `Store the config unchanged, and answer with the stored config. Secrets may be left out.`,
	Silent: `Members that the answer omits; secrets, including those in the query and the user information of the URL;
spellings of one URL that are equal by RFC 3986.`,
	Check: func(p *analysis.Pass) {
		asked, config, ok := configAnswer(p, a2a.CreatePushConfig)
		if !ok {
			return
		}
		got, want := config.Config().Get("url"), asked.PushConfig.URL()
		if got.Text() != "" && want != "" {
			p.Applied()
			if canonical(got.Text()) != canonical(want) {
				p.Report(p.Place.At(got.Pointer()), "url is "+analysis.Quote(got),
					"expected "+analysis.QuoteText(want)+", as requested by the client")
			}
		}
		checkTaskID(p, asked, config)
	},
}

// configAnswer returns the config in the answer to a successful operation, and the request.
func configAnswer(p *analysis.Pass, operations ...a2a.Operation) (asked *a2a.Call, config a2a.PushConfig, ok bool) {
	asked = &p.Exchange.Call
	if p.Answer.Err != nil || !slices.Contains(operations, asked.Operation) ||
		p.Answer.Payload.Value.Kind() != a2a.Object {
		return nil, a2a.PushConfig{}, false
	}
	return asked, a2a.PushConfig{Value: p.Answer.Payload.Value}, p.Answer.Payload.Pointer != "" ||
		asked.Binding != a2a.JSONRPC
}

// checkTaskID reports a config that names another task than the requested one.
func checkTaskID(p *analysis.Pass, asked *a2a.Call, config a2a.PushConfig) {
	got := config.TaskID()
	if got == "" || asked.TaskID == "" {
		return
	}
	p.Applied()
	if got != asked.TaskID {
		p.Report(memberPlace(p, config, "taskId", "name", "id"), "the config is of task "+analysis.QuoteText(got),
			"expected task "+analysis.QuoteText(asked.TaskID)+", as requested by the client")
	}
}

// memberPlace returns the place of the first of the members that a config has.
func memberPlace(p *analysis.Pass, config a2a.PushConfig, names ...string) analysis.Place {
	for _, name := range names {
		for _, v := range [...]a2a.Value{config.Value, config.Config()} {
			if m := v.Get(name); m.Kind() == a2a.String {
				return p.Place.At(m.Pointer())
			}
		}
	}
	return p.Place.At(p.Answer.Payload.Pointer)
}

// canonical returns a URL without possible secrets, in a form in which equivalent URLs are equal (RFC 3986 §6.2).
func canonical(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	clean := path.Clean("/" + u.Path)
	if strings.HasSuffix(u.Path, "/") && clean != "/" {
		clean += "/"
	}
	return scheme + "://" + host + clean
}

var pushCreateID = &analysis.Rule{
	ID:     "push-create-id",
	Title:  "created push config without id",
	Level:  analysis.Must,
	If:     analysis.OfPush,
	Cites:  rule.Cite("3.1.7", a2a.V1_0),
	Covers: []string{"field-type"},
	Stands: "1.0.1:326",
	Doc: `The answer to a created config has the id that was assigned. Without it the client can neither read nor
delete the config: both operations need the id.`,
	Fix: `Assign an id to every config, the client's or your own, and put it into the answer as "id".`,
	Silent: `The choice of id: agents may assign their own. A config in the form of another version is reported by
another rule.`,
	Check: func(p *analysis.Pass) {
		_, config, ok := configAnswer(p, a2a.CreatePushConfig)
		if !ok {
			return
		}
		p.Applied()
		if config.ID() == "" && config.Get("id").Text() == "" && !isNested(config) {
			p.Report(p.Place.At(p.Answer.Payload.Pointer).In("id"), "id is "+analysis.Quote(config.Get("id")),
				"expected the id that was assigned to the config")
		}
	},
}

var pushCreateIDKept = &analysis.Rule{
	ID:     "push-create-id-kept",
	Title:  "client's id of a push config is replaced",
	Level:  analysis.Should,
	Cites:  rule.Cite("6.8", a2a.V0_3),
	Stands: "0.3.0:types:838",
	Doc: `In 0.3 the client chooses the id of a push config, to distinguish several webhooks of one task. If the agent
stores it under another id, the client's later reads and deletions do not find it.`,
	Fix: `Keep the id of pushNotificationConfig if the client sets one.`,
	Silent: `Configs without an id; 0.2, where agents create the id, and agents whose card does not say that they use
0.3.`,
	Check: func(p *analysis.Pass) {
		asked, config, ok := configAnswer(p, a2a.CreatePushConfig)
		if !ok || asked.ConfigID == "" || config.ID() == "" {
			return
		}
		p.Applied()
		if config.ID() != asked.ConfigID {
			p.Report(p.Place.At(config.Config().Pointer()).In("id"), "the config has id "+analysis.QuoteText(config.ID()),
				"expected "+analysis.QuoteText(asked.ConfigID)+", as chosen by the client")
		}
	},
}

var pushPrivateURLAccepted = &analysis.Rule{
	ID:     "push-private-url-accepted",
	Title:  "webhook at a private address accepted",
	Level:  analysis.Should,
	If:     analysis.OfPush,
	Cites:  rule.Cite("13.2", a2a.V1_0),
	Stands: "1.0.1:3113",
	Doc: `An agent on the internet posts to any webhook that it accepts. If it accepts localhost, a link-local or a
private address, a client can make it call services inside the agent's network, such as the metadata service of a
cloud.`,
	Fix: `Refuse configs whose URL names localhost or a loopback, link-local or private address, and check again after
the name is resolved.`,
	Silent: `Agents that have such an address or name themselves, as in a lab; names other than localhost, whose
address is unknown; configs that are sent with a message.`,
	Check: func(p *analysis.Pass) {
		asked, _, ok := configAnswer(p, a2a.CreatePushConfig)
		if !ok || rule.ReachOf(p.Exchange.Origin) != rule.FromAnywhere || asked.PushConfig.URL() == "" {
			return
		}
		p.Applied()
		if isPrivateURL(asked.PushConfig.URL()) {
			p.Report(p.Place, fmt.Sprintf("a config with url %s is accepted", analysis.QuoteText(asked.PushConfig.URL())),
				"expected the agent to refuse addresses of its own network")
		}
	},
}

// isPrivateURL reports whether a URL names localhost, or a loopback, link-local or private address.
func isPrivateURL(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	host := hostname.Normal(u.Hostname())
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return hostname.IsLoopback(host)
	}
	return ip.IsLoopback() || ip.IsUnspecified() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
}

// isNested reports whether a config has its URL inside another object, as before 1.0.
func isNested(config a2a.PushConfig) bool {
	return config.Config() != config.Value && config.Get("url").Text() == "" && config.URL() != ""
}
