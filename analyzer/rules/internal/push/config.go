package push

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/push"
	"a2atap/proxy/a2a"
)

// Configs is the family of rules about reading, listing and deleting push notification configs.
var Configs = rule.Family{
	Name:     "config",
	Category: analysis.Interop,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnCall,
}.Of(
	pushGetDetails,
	pushGetURLV01,
	pushGetMissing,
	pushGetIDMatch,
	pushListShape,
	pushListShapeV1,
	pushListComplete,
	pushListNoDeleted,
	pushDeleteResult,
	pushDeleteIdempotent,
)

var pushGetDetails = &analysis.Rule{
	ID:     "push-get-details",
	Title:  "push config answered without its URL",
	Level:  analysis.Must,
	If:     analysis.OfPush,
	Cites:  rule.Cite("7.6", a2a.V0_2, a2a.V0_3).And("3.1.8", a2a.V1_0),
	Covers: []string{"unknown-field", "field-type"},
	Stands: "0.2.6:767 0.3.0:976 1.0.1:360",
	Doc: `The answer with a stored or confirmed config has its details, above all the URL. Without it the client
cannot tell where its notifications go. The place of the URL depends on the version: in 1.0 it is next to id and
taskId, before that in pushNotificationConfig. A client that looks in one place does not find it in the other.`,
	Fix: `Answer with the stored config. In 1.0 that is {"taskId": ..., "id": ..., "url": ...}; before, it is {"taskId":
..., "pushNotificationConfig": {"id": ..., "url": ...}}. Only secrets may be left out.`,
	Silent: `All other members. In the answer to a config that is set, only a config in the form of another version is
reported. Over HTTP+JSON before 1.0, and in 0.1, either form is fine.`,
	Check: func(p *analysis.Pass) {
		asked, config, ok := configAnswer(p, a2a.GetPushConfig, a2a.CreatePushConfig)
		if !ok {
			return
		}
		p.Applied()
		holder := config.Config()
		switch {
		case p.Dialects == a2a.Of(a2a.V1_0):
			if isNested(config) {
				p.Report(p.Place.At(holder.Pointer()), "the URL is in another object of the config", besideID)
				return
			}
			holder = config.Value
		case asked.Binding == a2a.JSONRPC && !p.Dialects.Has(a2a.V1_0):
			holder = config.Get("pushNotificationConfig")
			if holder.Kind() != a2a.Object {
				p.Report(p.Place.At(config.Pointer()), rule.QuoteMember("pushNotificationConfig", holder), "expected the config")
				return
			}
		case rule.Given(config.Get("pushNotificationConfig")) && config.Get("pushNotificationConfig").Kind() != a2a.Object:
			return // which field-type reports
		}
		url := holder.Get("url")
		if url.Text() != "" || asked.Operation == a2a.CreatePushConfig {
			return
		}
		p.Report(p.Place.At(holder.Pointer()).In("url"), "url is "+analysis.Quote(url), "expected the URL of the webhook")
	},
}

var pushGetURLV01 = &analysis.Rule{
	ID:       "push-get-url-v01",
	Title:    "stored push config has a URL that no one set",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Needs:    []*analysis.Tracker{push.Tracker},
	Cites:    rule.Cite("7.6", a2a.V0_1),
	Stands:   "0.1.0:985",
	Doc: `In 0.1 a task has one config. A client that reads it learns where its notifications go; if no one ever set
that address, they are lost, or the client is misled.`,
	Fix: `Store the config unchanged, and answer with the stored config.`,
	Silent: `Configs that were set before the recording began, or in a message whose answer is unknown; URLs that are
equal by RFC 3986; secrets in the query and the user information of the URL.`,
	Check: func(p *analysis.Pass) {
		asked, config, ok := configAnswer(p, a2a.GetPushConfig)
		if !ok || p.Dialects != a2a.Of(a2a.V0_1) {
			return
		}
		url := config.Config().Get("url")
		known := push.Of(p).ConfigsOf(p.Exchange, asked.TaskID)
		if url.Text() == "" || known == nil || known.Crowded || len(known.List) == 0 || known.Asked(url.Text()) {
			return
		}
		for _, c := range known.List {
			if c.URL == "" || !p.Exchange.BeganAfter(c.Confirmed) || canonical(c.URL) == canonical(url.Text()) {
				return
			}
		}
		p.Applied()
		last := known.List[len(known.List)-1]
		p.Report(p.Place.At(url.Pointer()), "url is "+analysis.Quote(url),
			"expected "+analysis.QuoteText(last.URL)+", as set at "+last.Place.String())
	},
}

const besideID = "expected it next to id and taskId, as in 1.0"

var pushGetMissing = &analysis.Rule{
	ID:     "push-get-missing",
	Title:  "deleted push config can still be read",
	Level:  analysis.Must,
	If:     analysis.OfPush,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("3.1.8", a2a.V1_0),
	Stands: "1.0.1:360",
	Doc: `A config that does not exist is answered with TaskNotFoundError. If the agent returns a config whose
deletion it has confirmed, the config was not deleted, and notifications with the task's content continue.`,
	Fix: `Remove the config before you confirm its deletion, and answer later reads with TaskNotFoundError (-32001,
HTTP+JSON: 404).`,
	Covers: []string{"push-get-details"},
	Silent: `Reads that began before the deletion was confirmed. All reads after a new config was requested, which may
have the same id, unless the answer names another id or is a refusal.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation != a2a.GetPushConfig {
			return
		}
		gone := push.Of(p).ConfigsOf(x, x.Call.TaskID).Deletion(x, x.Call.ConfigID)
		if gone == nil {
			return
		}
		p.Applied()
		if _, _, ok := configAnswer(p, a2a.GetPushConfig); ok {
			p.Report(p.Place.At(p.Answer.Payload.Pointer),
				"config "+analysis.QuoteText(gone.ID)+" exists, and its deletion was confirmed at "+gone.Place.String(),
				"expected TaskNotFoundError (-32001)")
		}
	},
}

var pushGetIDMatch = &analysis.Rule{
	ID:     "push-get-id-match",
	Title:  "another push config than requested",
	Level:  analysis.Must,
	If:     analysis.OfPush,
	Cites:  rule.Cite("7.6", a2a.V0_2, a2a.V0_3).And("3.1.8", a2a.V1_0),
	Stands: "0.2.6:767 0.3.0:976 1.0.1:351",
	Doc: `A task may have several push configs, which are identified by id. A client that gets another config than it
asked for then changes or deletes the wrong one.`,
	Fix:    `Look the config up by task and id, and answer with exactly that config.`,
	Silent: `Ids that the answer omits; in 0.2 and 0.3 the config's id if the request does not name one.`,
	Check: func(p *analysis.Pass) {
		asked, config, ok := configAnswer(p, a2a.GetPushConfig)
		if !ok {
			return
		}
		checkTaskID(p, asked, config)
		if asked.ConfigID == "" || config.ID() == "" {
			return
		}
		p.Applied()
		if config.ID() != asked.ConfigID {
			at := memberPlace(p, config, "name")
			if id := config.Config().Get("id"); id.Kind() == a2a.String {
				at = p.Place.At(id.Pointer())
			}
			p.Report(at, "the config has id "+analysis.QuoteText(config.ID()),
				"expected "+analysis.QuoteText(asked.ConfigID)+", as requested by the client")
		}
	},
}

var pushListShape = &analysis.Rule{
	ID:       "push-list-shape",
	Title:    "list of push configs is not an array of them",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.7", a2a.V0_2, a2a.V0_3),
	Covers:   []string{"field-type", "unknown-field"},
	Stands:   "0.2.6:797 0.3.0:1006",
	Doc: `In 0.2 and 0.3 the result of tasks/pushNotificationConfig/list is an array of objects with taskId and
pushNotificationConfig. Typed clients cannot read anything else.`,
	Fix: `Answer with a JSON array of {"taskId": ..., "pushNotificationConfig": {"url": ...}}. If there is no config,
the array is empty.`,
	Silent: `A null result, which is reported as such; agents of 1.0, whose list is an object.`,
	Check: func(p *analysis.Pass) {
		v := p.Answer.Payload.Value
		if p.Exchange.Call.Operation != a2a.ListPushConfigs || p.Answer.Err != nil || !v.Exists() || v.IsNull() {
			return
		}
		p.Applied()
		at := p.Place.At(p.Answer.Payload.Pointer)
		if v.Kind() != a2a.Array {
			p.Report(at, "the list is "+analysis.Quote(v), "expected an array of configs")
			return
		}
		for i, one := range v.Elems() {
			if one.Get("pushNotificationConfig").Kind() != a2a.Object {
				p.Report(p.Place.At(a2a.Ptr(p.Answer.Payload.Pointer, i)), "an element is "+analysis.Quote(one),
					"expected an object with taskId and pushNotificationConfig")
				return
			}
		}
	},
}

var pushListShapeV1 = &analysis.Rule{
	ID:       "push-list-shape-v1",
	Title:    "list of push configs is not an object with configs",
	Level:    analysis.Must,
	If:       analysis.OfPush,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("3.1.9", a2a.V1_0),
	Covers:   []string{"unknown-field", "field-type"},
	Stands:   "1.0.1:proto:807",
	Doc: `In 1.0 the list of configs is an object with the member configs, an array, and nextPageToken if there are
more. 0.3 used a bare array, and configs with their URL in pushNotificationConfig: clients of 1.0 cannot read them.`,
	Fix:    `Answer {"configs": [{"taskId": ..., "id": ..., "url": ...}]}.`,
	Silent: `A missing configs, which means that there are none, and unknown members.`,
	Check: func(p *analysis.Pass) {
		v := p.Answer.Payload.Value
		if p.Exchange.Call.Operation != a2a.ListPushConfigs || p.Answer.Err != nil || !v.Exists() || v.IsNull() ||
			!rule.Succeeded(p.Exchange.Response.Status) {
			return
		}
		p.Applied()
		at := p.Place.At(p.Answer.Payload.Pointer)
		switch configs := v.Get("configs"); {
		case v.Kind() != a2a.Object:
			p.Report(at, "the list is "+analysis.Quote(v), `expected an object with the member "configs"`)
		case configs.Exists() && !configs.IsNull() && configs.Kind() != a2a.Array:
			p.Report(at.In("configs"), "configs is "+analysis.Quote(configs), "expected an array")
		default:
			for c := range p.Answer.Payload.PushConfigs() {
				if isNested(c) {
					p.Report(p.Place.At(c.Config().Pointer()), "the URL of an element is in another object", besideID)
					return
				}
			}
		}
	},
}

var pushListComplete = &analysis.Rule{
	ID:     "push-list-complete",
	Title:  "list of push configs is incomplete",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen | analysis.TaskSeen,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("3.1.9", a2a.V1_0),
	Stands: "1.0.1:381",
	Doc: `A list of push configs has all of the task's configs, which last until the task ends or they are deleted. If
a config is missing from the list, it cannot be found and deleted, or it was lost together with its notifications.`,
	Fix: `List every stored config of the task, and keep configs while the task is active; with several pages, return
a nextPageToken.`,
	Silent: `Lists with several pages; configs that were sent with a message, that someone tried to delete, or that
another client set; tasks that are not seen active after the list.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if p.Kind == analysis.AnswerSeen {
			if known := push.Of(p).ConfigsOf(x, x.Call.TaskID); x.Call.Operation == a2a.ListPushConfigs && p.Answer.Err == nil &&
				known != nil && len(known.List) > 0 {
				p.Applied()
			}
			return
		}
		known := push.Of(p).ConfigsOf(x, p.Task.TaskID)
		if known == nil || known.Missed == nil || p.Task.Late || !(p.Task.State.Active() || p.Task.State.Interrupted()) ||
			!x.BeganAfter(known.Missed.Listed) {
			return
		}
		missed := known.Missed
		p.Report(missed.Place,
			"config "+analysis.QuoteText(missed.Config.ID)+", created at "+missed.Config.Place.String()+
				", is not in the list, and task "+
				analysis.QuoteText(p.Task.TaskID)+" is active at "+p.Task.StatePlace().String(), "expected all configs of the task",
			analysis.Of(missed.Exchange))
	},
}

var pushListNoDeleted = &analysis.Rule{
	ID:     "push-list-no-deleted",
	Title:  "deleted push config is still listed",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	If:     analysis.OfPush,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("3.1.10", a2a.V1_0),
	Stands: "1.0.1:402",
	Doc: `A deleted config is gone for good. If it is still listed, it was not deleted, and notifications with the
task's content continue.`,
	Fix: `Remove the config from the store before you confirm its deletion.`,
	Silent: `Lists that began before the deletion was confirmed. All lists after a new config was requested, which may
have the same id, unless the answer names another id or is a refusal.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation != a2a.ListPushConfigs || p.Answer.Err != nil {
			return
		}
		known := push.Of(p).ConfigsOf(x, x.Call.TaskID)
		if known == nil || len(known.Deleted) == 0 {
			return
		}
		p.Applied()
		for c := range p.Answer.Payload.PushConfigs() {
			if gone := known.Deletion(x, c.ID()); gone != nil {
				p.Report(p.Place.At(c.Pointer()),
					"config "+analysis.QuoteText(gone.ID)+" is listed, and its deletion was confirmed at "+gone.Place.String(),
					"expected it to be gone")
			}
		}
	},
}

var pushDeleteResult = &analysis.Rule{
	ID:       "push-delete-result",
	Title:    "deletion of a push config answered with a result other than null",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.8", a2a.V0_2, a2a.V0_3),
	Stands:   "0.2.6:832 0.3.0:1041",
	Doc: `In 0.2 and 0.3 the result of a deletion is null. Typed clients cannot read any other value, and treat the
successful deletion as failed.`,
	Fix:    `Answer "result": null.`,
	Silent: `An empty object is a note. A missing result is reported by another rule.`,
	Check: func(p *analysis.Pass) {
		result := p.Answer.Result
		if p.Exchange.Call.Operation != a2a.DeletePushConfig || !result.Exists() || p.Answer.Err != nil {
			return
		}
		p.Applied()
		if result.IsNull() {
			return
		}
		p.Report(p.Place.At(p.Answer.Payload.Pointer), "result is "+analysis.Quote(result), "expected null",
			analysis.AtMostIf(result.Kind() == a2a.Object && result.Len() == 0, analysis.Note))
	},
}

var pushDeleteIdempotent = &analysis.Rule{
	ID:     "push-delete-idempotent",
	Title:  "second deletion of a push config fails",
	Level:  analysis.Should,
	If:     analysis.OfPush,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("3.1.10", a2a.V1_0),
	Stands: "1.0.1:402",
	Doc: `Deleting a config twice has the same effect as deleting it once, and succeeds both times. A client that did
not get the first answer has to try again, and cannot tell whether the config is already gone or could not be deleted.`,
	Fix: `Answer the deletion of a missing config with success.`,
	Silent: `TaskNotFoundError is a note. Refusals for another reason (credentials, rate, version), failures of the
server, HTTP+JSON errors that do not identify themselves.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation != a2a.DeletePushConfig {
			return
		}
		gone := push.Of(p).ConfigsOf(x, x.Call.TaskID).Deletion(x, x.Call.ConfigID)
		failure := p.Answer.Err
		if gone == nil || failure != nil && (x.Response.Status >= 500 || !saysWhy(p) && x.Response.Status != 404) {
			return
		}
		p.Applied()
		if failure == nil {
			return
		}
		p.Report(p.Place.At(failure.Pointer),
			"config "+analysis.QuoteText(gone.ID)+" was deleted at "+gone.Place.String()+
				", and deleting it again is answered with "+failure.String(),
			"expected success", analysis.AtMostIf(failure.Name == a2a.TaskNotFound || x.Response.Status == 404, analysis.Note))
	},
}
