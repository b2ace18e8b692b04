package push

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/push"
	"a2atap/proxy/a2a"
)

// Registration is the family of rules about the push notification configs that clients ask for.
var Registration = rule.Family{
	Name:     "registration",
	Category: analysis.Interop,
	Side:     a2a.Client,
	On:       analysis.RequestSeen,
	Bindings: rule.OnCall,
}.Of(
	reqPushConfig,
	reqPushAuthentication,
	reqPushInlineTaskID,
	reqPushHTTPS,
	reqPushTokenUnique,
	reqPushDeleteID,
	reqPushGetID,
)

var reqPushConfig = &analysis.Rule{
	ID:     "req-push-config",
	Title:  "push config without a URL",
	Level:  analysis.Must,
	If:     analysis.Configured,
	Cites:  rule.Cite("6.8", rule.Before1...).And("4.3.1", a2a.V1_0),
	Covers: []string{"unknown-field", "field-null-required", "field-type"},
	Stands: "0.1.0:658 0.2.6:types:470 0.3.0:types:842 1.0.1:proto:478",
	Doc: `A push config tells the agent where to send the updates of a task. Without a URL the agent refuses the
request, or sends nothing while the client waits.`,
	Fix: `Send url in the config. In 1.0 the config is the whole of params (HTTP+JSON: of the body); before, it is the
member pushNotificationConfig.`,
	Silent: `In 0.1 null instead of a config, which removes a webhook. Over HTTP+JSON before 1.0 the config may be in
any of the places that agents of that time read.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if !rule.ParamsReadable(call) {
			return
		}
		if call.Operation == a2a.CreatePushConfig {
			checkConfigToSet(p)
			return
		}
		if config := inlineConfig(p); config.Kind() == a2a.Object {
			p.Applied()
			reportNoURL(p, config)
		}
	},
}

// checkConfigToSet judges the config of a request that does nothing but set it.
func checkConfigToSet(p *analysis.Pass) {
	call := &p.Exchange.Call
	switch {
	case p.Dialects == a2a.Of(a2a.V1_0):
		p.Applied()
		reportNoURL(p, call.Params)
	case call.Binding != a2a.JSONRPC:
		p.Applied()
		if !holdsURL(call.Params) {
			reportNoURL(p, call.PushConfig.Config())
		}
	default:
		config := call.Params.Get("pushNotificationConfig")
		if config.IsNull() && p.Dialects.Has(a2a.V0_1) {
			return
		}
		if params := call.Params; !config.Exists() && p.Dialects == a2a.Of(a2a.V0_1) &&
			(p.Exchange.Endpoint.Early || params.Has("events")) {
			config = params // its place before the text of 0.1 defined one
		}
		p.Applied()
		if config.Kind() != a2a.Object {
			p.Report(rule.InParams(p, config), rule.QuoteMember("pushNotificationConfig", config),
				"expected an object with a url")
			return
		}
		reportNoURL(p, config)
	}
}

// holdsURL reports whether a body of HTTP+JSON before 1.0 has the URL in any of the places that agents of that time
// read.
func holdsURL(v a2a.Value) bool {
	if v.Get("url").Text() != "" {
		return true
	}
	for _, name := range [...]string{"config", "pushNotificationConfig", "push_notification_config"} {
		if inner := v.Get(name); inner.Kind() == a2a.Object && holdsURL(inner) {
			return true
		}
	}
	return false
}

func reportNoURL(p *analysis.Pass, config a2a.Value) {
	url := config.Get("url")
	if url.Text() != "" {
		return
	}
	at := url
	if !at.Exists() {
		at = config
	}
	p.Report(rule.InParams(p, at), rule.QuoteMember("url", url), "expected the URL of the webhook")
}

// inlineConfig returns the push config inside a message's request.
func inlineConfig(p *analysis.Pass) a2a.Value {
	call := &p.Exchange.Call
	switch {
	case !call.Operation.Sends():
		return a2a.Value{}
	case p.Dialects == a2a.Of(a2a.V1_0): // earlier names are another rule's matter
		return rule.Member(call.Params.Get("configuration"), "taskPushNotificationConfig", "task_push_notification_config")
	}
	return call.PushConfig.Config()
}

// configOf returns the push config of a request, however it comes.
func configOf(p *analysis.Pass) a2a.Value {
	if call := &p.Exchange.Call; call.Operation == a2a.CreatePushConfig {
		return call.PushConfig.Config()
	}
	return inlineConfig(p)
}

var reqPushAuthentication = &analysis.Rule{
	ID:     "req-push-authentication",
	Title:  "authentication of a push config without a scheme",
	Level:  analysis.Must,
	If:     analysis.Configured,
	Cites:  rule.Cite("6.9", rule.Before1...).And("4.3.2", a2a.V1_0),
	Covers: []string{"field-type"},
	Stands: "0.1.0:684 0.2.6:types:458 0.3.0:types:825 1.0.1:proto:326",
	Doc: `authentication tells the agent how to authenticate itself to the webhook. Without the name of a scheme it
cannot, and the webhook rejects its notifications.`,
	Fix:    `Send "scheme":"Bearer" in 1.0, "schemes":["Bearer"] before, or no authentication at all.`,
	Silent: `null. Over HTTP+JSON before 1.0 an empty list may be omitted. An empty scheme is a note.`,
	Check: func(p *analysis.Pass) {
		auth := configOf(p).Get("authentication")
		if auth.Kind() != a2a.Object {
			return
		}
		name, kind, expected := "schemes", a2a.Array, "expected a list of schemes"
		switch {
		case p.Dialects == a2a.Of(a2a.V1_0):
			name, kind, expected = "scheme", a2a.String, "expected the name of a scheme"
		case p.Dialects.Has(a2a.V1_0):
			return
		}
		p.Applied()
		v := auth.Get(name)
		switch {
		case v.Is(""):
			p.Report(rule.InParams(p, v), rule.QuoteMember(name, v), expected, analysis.AtMost(analysis.Note))
		case v.Kind() == kind, !rule.Given(v) && kind == a2a.Array && p.Exchange.Call.Binding != a2a.JSONRPC:
		case !v.Exists():
			p.Report(rule.InParams(p, auth), rule.QuoteMember(name, v), expected)
		default:
			p.Report(rule.InParams(p, v), rule.QuoteMember(name, v), expected)
		}
	},
}

var reqPushInlineTaskID = &analysis.Rule{
	ID:     "req-push-inline-taskid",
	Title:  "push config in a message names a task",
	Level:  analysis.Should,
	If:     analysis.Configured,
	Cites:  rule.Cite("3.2.2", a2a.V1_0),
	Covers: []string{"field-type"},
	Stands: "1.0.1:proto:148",
	Doc: `A push config in a message is for the task of that message, whose id may not even exist yet. A task id in
the config is ignored at best; at worst the agent refuses the message, or binds the webhook to another task.`,
	Fix:    `Leave taskId out of configuration.taskPushNotificationConfig.`,
	Silent: `An empty taskId.`,
	Check: func(p *analysis.Pass) {
		config := inlineConfig(p)
		if config.Kind() != a2a.Object {
			return
		}
		p.Applied()
		if id := rule.Member(config, "taskId", "task_id"); rule.Given(id) && !id.Is("") {
			p.Report(rule.InParams(p, id), rule.QuoteMember("taskId", id), "expected no taskId in a message's config")
		}
	},
}

var reqPushHTTPS = &analysis.Rule{
	ID:    "req-push-https",
	Title: "webhook URL is not https",
	Level: analysis.Must,
	If:    analysis.Configured,
	Cites: rule.Cite("6.8", a2a.V0_1, a2a.V0_2).
		And("streaming guide §Push Notifications for Disconnected Scenarios", a2a.V0_3).
		And("13.2", a2a.V1_0),
	Stands: "0.1.0:659 0.2.5:498 0.3.0:streaming-and-async:47 1.0.1:3129",
	Doc: `Notifications carry the content of a task, and the credentials that prove their origin. Over plain HTTP
everyone on the network path can read and change them. Agents may refuse such a URL.`,
	Fix: `Register an absolute https URL. For tests on one machine or in one network plain HTTP is enough.`,
	Silent: `Plain HTTP within this machine or a private network. Only 0.1 requires https; later it is a
recommendation, and the finding a warning.`,
	Check: func(p *analysis.Pass) {
		v := configOf(p).Get("url")
		url := v.Text()
		if url == "" {
			return
		}
		p.Applied()
		if rule.IsAbsolute(url) &&
			(rule.SchemeOf(url) == "https" || rule.SchemeOf(url) == "http" && rule.ReachOf(url) != rule.FromAnywhere) {
			return
		}
		worst := analysis.Warning
		if p.Dialects == a2a.Of(a2a.V0_1) {
			worst = analysis.Error
		}
		p.Report(rule.InParams(p, v), "the webhook is "+analysis.QuoteText(url), "expected an absolute https URL",
			analysis.AtMost(worst))
	},
}

var reqPushTokenUnique = &analysis.Rule{
	ID:     "req-push-token-unique",
	Title:  "two push configs have the same token",
	Level:  analysis.Should,
	Once:   analysis.PerExchange,
	On:     analysis.RequestSeen | analysis.TaskSeen,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("13.2", a2a.V1_0),
	Stands: "1.0.1:3132",
	Doc: `The webhook recognizes by the token that a notification is meant for it and about that task. If all configs
share one token, anyone who has seen one notification can forge any other.`,
	Fix: `Create a random token for every push config.`,
	Silent: `A config that is set again, one that another client has set, and a message that is sent again with its
config. A config in a message is checked once the answer has named the task.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		task := x.Call.TaskID
		if p.Kind == analysis.TaskSeen && task == "" && p.Task.Snapshot && x.Call.Operation.Sends() {
			task = p.Task.TaskID
		} else if p.Kind == analysis.TaskSeen {
			return
		}
		config := configOf(p)
		if task == "" || config.Get("token").Text() == "" {
			return
		}
		p.Applied()
		if earlier := push.Of(p).TokenElsewhere(x, task); earlier != nil {
			p.Report(rule.InParams(p, config.Get("token")),
				"the token of a config for task "+analysis.QuoteText(task)+" is also the token of another config, at "+earlier.Place.String(),
				"expected a unique token")
		}
	},
}

var reqPushDeleteID = &analysis.Rule{
	ID:     "req-push-delete-id",
	Title:  "deletion does not name a push config",
	Level:  analysis.Must,
	If:     analysis.OfPush,
	Cites:  rule.Cite("7.8", a2a.V0_2, a2a.V0_3).And("3.1.10", a2a.V1_0),
	Covers: []string{"field-type"},
	Stands: "0.2.6:types:286 0.3.0:types:609 1.0.1:proto:743",
	Doc:    `A task may have several push configs. A deletion that does not name one deletes none of them, or all.`,
	Fix:    `Send the id of the config: params.id in 1.0, params.pushNotificationConfigId before.`,
	Silent: `Requests without any params: the id of the task is missing too, which another rule reports.`,
	Check: func(p *analysis.Pass) {
		if p.Exchange.Call.Operation == a2a.DeletePushConfig {
			checkConfigID(p)
		}
	},
}

var reqPushGetID = &analysis.Rule{
	ID:     "req-push-get-id",
	Title:  "read does not name a push config",
	Level:  analysis.Must,
	If:     analysis.OfPush,
	Cites:  rule.Cite("3.1.8", a2a.V1_0),
	Stands: "1.0.1:proto:732",
	Doc: `A task may have several push configs, and in 1.0 each is read by its id. Before, the id of the task was
enough, so clients that support both versions tend to forget it.`,
	Fix: `Send the id of the config as params.id, in addition to params.taskId. It is in the answer to the creation,
and in the list of a task's configs.`,
	Silent: `Requests without any params, and a missing taskId, which another rule reports.`,
	Check: func(p *analysis.Pass) {
		if p.Exchange.Call.Operation == a2a.GetPushConfig {
			checkConfigID(p)
		}
	},
}

// checkConfigID judges the id of a config in params.
func checkConfigID(p *analysis.Pass) {
	call := &p.Exchange.Call
	if call.Params.Kind() != a2a.Object {
		return
	}
	p.Applied()
	if call.Binding == a2a.GRPC && !p.Dialects.Has(a2a.V1_0) {
		if name := call.Params.Get("name"); call.ConfigID == "" {
			p.Report(rule.InParams(p, name), rule.QuoteMember("name", name),
				`expected "tasks/", the id of the task, "/pushNotificationConfigs/", and the id of the config`)
		}
		return
	}
	name, snake := "pushNotificationConfigId", "push_notification_config_id"
	if p.Dialects.Has(a2a.V1_0) {
		name, snake = "id", "id"
	}
	if id := rule.Member(call.Params, name, snake); id.Text() == "" {
		p.Report(rule.InParams(p, id), rule.QuoteMember(name, id), "expected the id of the config")
	}
}
