package push

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/push"
	"a2atap/proxy/a2a"
)

// Webhooks is the family of rules about the form of a notification, and about its receiver's answer.
var Webhooks = rule.Family{
	Name:     "webhook",
	Category: analysis.Interop,
	On:       analysis.WebhookSeen,
	Bindings: analysis.OnHTTP,
}.Of(
	hookPost,
	hookContentType,
	hookContentType0x,
	hookPayload,
	hookPayload0x,
	hookReceiver2xx,
	hookHTTPS,
)

var hookPost = &analysis.Rule{
	ID:     "hook-post",
	Title:  "notification sent with a method other than POST",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Cites:  rule.Cite("2", rule.Before1...).And("4.3.3", a2a.V1_0),
	Stands: "0.1.0:52 0.2.6:54 0.3.0:54 1.0.1:844",
	Doc: `Notifications are sent to the webhook with POST. Receivers route by the method: they answer any other with
405, and the client misses the notification.`,
	Fix: `Send notifications with POST, and do not follow a redirect that changes it to GET.`,
	Silent: `Challenges and health checks: HEAD and OPTIONS, GET without the header field of a token, and requests of
programs other than the agents that were given the webhook, unless their body has a task, message or update.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if method := p.Exchange.Request.Method; method != http.MethodPost {
			p.Report(p.Exchange.RequestPlace().Line(), "the method is "+analysis.Clip(method), "expected POST")
		}
	},
}

var hookContentType = &analysis.Rule{
	ID:     "hook-content-type",
	Title:  "notification not labeled as A2A JSON",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	Cites:  rule.Cite("4.3.3", a2a.V1_0).And("11.1", a2a.V1_0),
	Stands: "1.0.1:851 1.0.1:2750",
	Doc: `Notifications are labeled application/a2a+json; the first text of 1.0 said application/json. Frameworks of
receivers parse the body by its label: with another one they pass on an empty body or answer 415.`,
	Fix:    `Set Content-Type: application/a2a+json on every notification.`,
	Silent: `Parameters such as charset; recordings of other programs that lack the header.`,
	Check: func(p *analysis.Pass) {
		checkHookType(p, "expected application/a2a+json or application/json", func(label string) bool {
			return label == "application/a2a+json" || label == "application/json"
		})
	},
}

var hookContentType0x = &analysis.Rule{
	ID:     "hook-content-type-0x",
	Title:  "notification not labeled as JSON",
	Level:  analysis.Advice,
	Side:   a2a.Agent,
	Cites:  rule.Cite("9", rule.Before1...),
	Stands: "0.1.0:1347 0.2.6:1512 0.3.0:1713",
	Doc: `Notifications are JSON in all examples, though no sentence before 1.0 says how they are labeled. Frameworks
of receivers parse the body by its label: with another one they pass on an empty body or answer 415.`,
	Fix: `Set Content-Type: application/json on every notification.`,
	Silent: `Any type that ends in +json; parameters such as charset; recordings of other programs that lack the
header.`,
	Check: func(p *analysis.Pass) { checkHookType(p, "expected application/json", rule.IsJSON) },
}

func checkHookType(p *analysis.Pass, expected string, fits func(label string) bool) {
	types := p.Exchange.Request.Fields.Values("Content-Type")
	if len(p.Exchange.Body) == 0 || len(types) == 0 && !p.Exchange.HeadersKept() {
		return
	}
	p.Applied()
	if !fits(rule.Essence(types)) {
		p.Report(p.Exchange.RequestPlace().Header("Content-Type"), rule.ContentType(types)+" on a notification", expected)
	}
}

var hookPayload = &analysis.Rule{
	ID:     "hook-payload",
	Title:  "notification is not a StreamResponse",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	On:     analysis.DeliveryTraced,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("4.3.3", a2a.V1_0),
	Stands: "1.0.1:864",
	Doc: `A client that set its config in 1.0 gets the same objects as from a stream: an object with exactly one of
task, message, statusUpdate and artifactUpdate, without a JSON-RPC envelope. It cannot read a bare Task, which is what
0.3 sent.`,
	Fix: `Post {"statusUpdate": {...}} or another of the four. Store with each config the version of the request that
set it, and notify in that version.`,
	Silent: `Members with other names in addition to the one; null members; bodies that are not JSON, which another
rule reports; tasks whose config for the webhook was not seen, or was also set in other versions; events of other
programs at the same URL; challenges, which ask the receiver to prove that it wants notifications.`,
	Check: func(p *analysis.Pass) {
		older := func(c *push.Config) bool { return c.Exchange.Dialects != a2a.Of(a2a.V1_0) }
		root, configs := p.Exchange.Doc().Root, push.Traced(p).Configs
		unnamed := len(configs) == 0 && p.Exchange.Call.TaskID == "" && push.Of(p).Configured(p.Exchange) // all in 1.0
		if p.Exchange.Doc().Err != nil || len(configs) == 0 && !unnamed || slices.ContainsFunc(configs, older) ||
			isBareMethod(p) {
			return
		}
		p.Applied()
		switch members := responseMembers(root); {
		case root.Kind() != a2a.Object:
			p.Report(p.Place.At(""), quoteNotification(root), hookExpected)
		case root.Has("jsonrpc"):
			p.Report(p.Place.At(""), "the notification is a JSON-RPC message", hookExpected+" without an envelope")
		case len(members) == 0 && root.Has("kind"):
			p.Report(p.Place.At("/kind"),
				"the notification is an object with kind "+analysis.Quote(root.Get("kind"))+", as in 0.3",
				hookExpected+", since the config was set in 1.0")
		case len(members) == 0:
			p.Report(p.Place.At(""), quoteNotification(root), hookExpected)
		case len(members) > 1:
			p.Report(p.Place.At(""), "the notification has "+strings.Join(members, " and "), hookExpected)
		}
	},
}

// isBareMethod reports whether a notification has no body, and a method for which another rule reports it.
func isBareMethod(p *analysis.Pass) bool {
	return p.Exchange.Request.Method != http.MethodPost && !p.Exchange.Doc().Root.Exists()
}

const hookExpected = "expected an object with exactly one of task, message, statusUpdate and artifactUpdate"

// quoteNotification describes a notification by its body.
func quoteNotification(root a2a.Value) string {
	if !root.Exists() {
		return "the notification has no body"
	}
	return "the notification is " + analysis.Quote(root)
}

// responseMembers returns which members of a StreamResponse an object has.
func responseMembers(v a2a.Value) []string {
	var found []string
	for _, name := range [...]string{"task", "message", "statusUpdate", "artifactUpdate"} {
		if m := v.Get(name); m.Exists() && !m.IsNull() {
			found = append(found, name)
		}
	}
	return found
}

var hookPayload0x = &analysis.Rule{
	ID:     "hook-payload-0x",
	Title:  "notification names no task",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	On:     analysis.DeliveryTraced,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("streaming guide §Push Notifications for Disconnected Scenarios", rule.Before1...),
	Stands: "0.1.0:streaming-and-async:48 0.2.6:streaming-and-async:52 0.3.0:streaming-and-async:52",
	Doc: `Before 1.0 the agent decides what a notification contains, but the receiver has to learn which task it is
about, to fetch the rest. One webhook usually serves many tasks. A notification in the form of 1.0 is a note: a client
that set its config over JSON-RPC before 1.0 does not know that form.`,
	Fix: `Post the Task, or at least an object with its id and state, in the version of the request that set the config.`,
	Silent: `Any form before 1.0 with a member id, taskId or task_id at any depth, except the id of a JSON-RPC envelope;
bodies that are not JSON, which another rule reports; the form of 1.0 if a config was set in 1.0 or in another binding,
whose JSON before 1.0 looks the same, or if no config for the task was seen.`,
	Check: func(p *analysis.Pass) {
		if p.Exchange.Doc().Err != nil || !push.Of(p).Configured(p.Exchange) || isBareMethod(p) {
			return
		}
		p.Applied()
		configs := push.Traced(p).Configs
		if older := func(c *push.Config) bool {
			return c.Exchange.Binding != a2a.JSONRPC || c.Exchange.Dialects.Has(a2a.V1_0)
		}; len(configs) > 0 && !slices.ContainsFunc(configs, older) {
			if form := formOf1(p.Exchange.Doc().Root); form != "" {
				p.Report(p.Place.At(""), "the notification has "+form+", as in 1.0",
					"expected the form of the version in which the config was set", analysis.AtMost(analysis.Note))
				return
			}
		}
		if root := p.Exchange.Doc().Root; !namesTask(root) || root.Get("jsonrpc").Exists() && // whose id is another
			!namesTask(root.Get("params")) && !namesTask(root.Get("result")) {
			p.Report(p.Place.At(""), quoteNotification(p.Exchange.Doc().Root), "expected the id of the task in it")
		}
	},
}

// formOf1 returns a feature of a notification that exists only in 1.0 over JSON-RPC: a name of a state or role, or "".
func formOf1(root a2a.Value) string {
	if members := responseMembers(root); len(members) == 1 {
		root = root.Get(members[0])
	}
	state, role := root.Get("status").Get("state").Text(), root.Get("role").Text()
	switch {
	case state == "TASK_STATE_CANCELLED": // of 0.3, as proto JSON
	case strings.HasPrefix(state, "TASK_STATE_"):
		return "the state " + analysis.QuoteText(state)
	case strings.HasPrefix(role, "ROLE_"):
		return "the role " + analysis.QuoteText(role)
	}
	return ""
}

// namesTask reports whether a value may contain the id of a task anywhere.
func namesTask(v a2a.Value) bool {
	for name, m := range v.Members() {
		switch name {
		case "id", "taskId", "task_id":
			if m.Kind() == a2a.String || m.Kind() == a2a.Number {
				return true
			}
		}
		if namesTask(m) {
			return true
		}
	}
	for _, m := range v.Elems() {
		if namesTask(m) {
			return true
		}
	}
	return false
}

var hookReceiver2xx = &analysis.Rule{
	ID:     "hook-receiver-2xx",
	Title:  "notification not acknowledged",
	Level:  analysis.Must,
	Side:   a2a.Receiver,
	On:     analysis.DeliveryTraced,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("4.3.3", a2a.V1_0).And("13.2", a2a.V1_0),
	Stands: "1.0.1:877 1.0.1:3122",
	Doc: `A receiver acknowledges a notification with a 2xx status. Any other status tells the agent that it did not
arrive: the agent repeats it, and eventually stops notifying. Most agents do not follow a redirect.`,
	Fix: `Answer 2xx as soon as the notification is stored, at the exact URL of the config, and process it afterwards.`,
	Silent: `Statuses that refuse the body, the credentials, the task or the rate, and 502, 503 and 504, which
gateways send; other 4xx statuses before the third in a row; notifications that differ from the client's request: with
another method, in another form, without its credentials, or for a task without a config.`,
	Check: func(p *analysis.Pass) {
		d, status := push.Traced(p), p.Exchange.Response.Status
		authentic := slices.ContainsFunc(d.Configs, func(c *push.Config) bool {
			return c.Confirmed.Arrival > 0 && (len(c.Schemes) == 0 || fitsConfig(p.Exchange, c))
		})
		if !authentic || p.Exchange.Request.Method != http.MethodPost || p.Exchange.Doc().Err != nil || len(responseMembers(p.Exchange.Doc().Root)) != 1 {
			return
		}
		p.Applied()
		switch {
		case status >= 300 && status < 400, status >= 500 && (status < 502 || status > 504):
			p.Report(p.Exchange.ResponsePlace().Status(), fmt.Sprintf("the notification is answered with status %d", status),
				"expected 2xx")
		case status >= 400 && d.Refused >= persistent:
			p.Report(p.Exchange.ResponsePlace().Status(),
				fmt.Sprintf("%d notifications in a row are refused, this one with status %d", d.Refused, status), "expected 2xx")
		}
	},
}

const persistent = 3 // refusals in a row

var hookHTTPS = &analysis.Rule{
	ID:    "hook-https",
	Title: "notification over plain HTTP",
	Level: analysis.Should,
	Side:  a2a.Client,
	Once:  analysis.PerEndpoint,
	Needs: []*analysis.Tracker{push.Tracker},
	Cites: rule.Cite("6.8", a2a.V0_1, a2a.V0_2).
		And("streaming guide §Push Notifications for Disconnected Scenarios", a2a.V0_3).
		And("13.2", a2a.V1_0),
	Stands: "0.1.0:658 0.2.5:498 0.3.0:streaming-and-async:47 1.0.1:3125",
	Doc: `Notifications carry the content of a task, and the credentials that prove their origin. Over plain HTTP
everyone on the network path can read and change them.`,
	Fix: `Give the agent an https URL for the webhook.`,
	Silent: `Webhooks in the same network; requests that say that TLS ended before (Forwarded, X-Forwarded-Proto);
webhooks whose config is in the recording, where the URL is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if push.Of(p).Configured(x) || strings.HasPrefix(x.Origin, "https:") {
			return
		}
		p.Applied()
		if rule.ReachOf(x.Origin) == rule.FromAnywhere && !cameByTLS(x) {
			p.Report(x.RequestPlace().Line(), "the notification goes to "+analysis.Clip(x.URL()), "expected an https URL")
		}
	},
}

// cameByTLS reports whether a request shows that TLS ended before the recorder.
func cameByTLS(x *analysis.Exchange) bool {
	for _, name := range [...]string{
		"Forwarded", "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Forwarded-Ssl",
		"Front-End-Https",
	} {
		if len(x.Request.Fields.Values(name)) > 0 {
			return true
		}
	}
	return false
}
