package fault

import (
	"net/http"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of cards from before 0.1.
var legacyCardFaults = []AgentFault{
	of(onlyLegacy, "card", "The card is a page of HTML.", onCard(func(out *wire.Answer) {
		out.Header.Set("Content-Type", "text/html; charset=utf-8")
		out.Text = []byte("<!doctype html><title>Agent</title>\n")
	})),
	of(onlyLegacy, "card-name", "The card has no name.", onCard(editCard(without("name")))),
	of(onlyLegacy, "card-url", "The card has no URL.", onCard(editCard(without("url")))),
	of(onlyLegacy, "card-skills", "The card has no skills.", onCard(editCard(without("skills")))),
	of(onlyLegacy, "skill-id", "The first skill of the card has an empty id.",
		onCards(onFirstSkill(with("id", "")))),
	of(onlyLegacy, "skill-output-modes", "The first skill of the card has no output modes.",
		onCards(onFirstSkill(without("outputModes")))),
	of(onlyLegacy, "card-oauth2-token-url", "The card requires OAuth 2.0 and has no token URL.",
		onCard(editCard(authenticate("oauth2")))),
	of(onlyLegacy, "card-api-key-name", "The card requires an API key and names no header.",
		onCard(editCard(authenticate("apiKey")))),
	of(onlyLegacy, "card-public", "The card is refused with 401.", onCard(func(out *wire.Answer) {
		out.Status, out.Body = http.StatusUnauthorized, jsonvalue.Object{{"error", "Unauthorized"}}
		out.Header = http.Header{"Content-Type": {"application/json"}, "Www-Authenticate": {"Bearer"}}
	})),
	of(onlyLegacy, "card-cross-origin", "Web pages of other origins cannot read the card.",
		onCard(func(out *wire.Answer) { out.Header["Access-Control-Allow-Origin"] = nil })),
	of(onlyLegacy, "push-supported-but-refused",
		"The card offers push notifications, but their methods are not found.", func() wire.Hooks {
			h := admitNone(isPushOperation, model.CodeMethodNotFound, "Method not found")()
			h.Card = offer("pushNotifications", true)
			return h
		}),
	of(onlyLegacy, "cap-streaming-refused", "The card offers streaming, but its method is not found.",
		admitNone(calls(model.StreamMessage), model.CodeMethodNotFound, "Method not found")),
}

// authenticate makes a card from before 0.1 require credentials of a scheme, without further details.
func authenticate(scheme string) editor {
	return with("authentication", jsonvalue.Object{{"schemes", jsonvalue.Texts(scheme)}})
}

// Faults of credentials before 0.1. All but the first show in an agent that asks for some.
var legacyAuthFaults = []AgentFault{
	of(onlyLegacy, "auth-required", "The card requires a bearer token, but the agent accepts every request.",
		onCard(editCard(authenticate("bearer")))),
	of(onlyLegacy, "auth-401", "Requests without credentials are refused with status 200.",
		onAnswer(failsWith(model.CodeUnauthenticated), func(_ *wire.Call, out *wire.Answer) { out.Status = http.StatusOK })),
	of(onlyLegacy, "auth-error-code", "Requests without credentials are refused with -32600.",
		onAnswer(failsWith(model.CodeUnauthenticated), setCode(model.CodeInvalidRequest))),
	of(onlyLegacy, "act-auth-challenge", "Requests without credentials are refused without WWW-Authenticate.",
		onAnswer(failsWith(model.CodeUnauthenticated),
			func(_ *wire.Call, out *wire.Answer) { out.Header.Del("WWW-Authenticate") })),
}

// Faults of webhooks and notifications before 0.1.
var legacyPushFaults = []AgentFault{
	of(onlyLegacy, "push-https-accepted", "Webhooks without TLS are accepted.",
		onAnswer(failsWith(model.CodeWebhookScheme), func(c *wire.Call, out *wire.Answer) {
			c.Request.Push.TaskID = c.Request.TaskID
			out.Body = c.Envelope(c.Dialect.Result(c.Op, model.Reply{Config: c.Request.Push}))
		})),
	of(onlyLegacy, "push-config-read", "The webhook of a task cannot be read.",
		admitNone(calls(model.GetPushConfig), model.CodeInternal, "Internal error")),
	of(onlyLegacy, "push-delivery", "Webhooks are accepted and get no notifications.",
		func() wire.Hooks {
			h := onAdmit(wishFor("nothing"))()
			h.Reply = func(_ *wire.Call, r *model.Reply) {
				if r.Config != nil {
					r.Config.Events = nil
				}
			}
			return h
		}),
	of(onlyLegacy, "push-delivery-method", "Notifications are sent with PUT.",
		onDelivery(func(d *engine.Delivery) { d.Method = http.MethodPut })),
	of(onlyLegacy, "push-delivery-task", "Notifications are about another task.",
		onDelivery(func(d *engine.Delivery) {
			o := d.Body.(jsonvalue.Object)
			id, _ := textOf(o, "taskId")
			d.Body = o.With("taskId", id+"-b")
		})),
	of(onlyLegacy, "push-delivery-task-id", "Notifications name no task.", onNotification(without("taskId"))),
	of(onlyLegacy, "push-delivery-event-type", "Notifications do not say what happened.",
		onNotification(without("eventType"))),
	of(onlyLegacy, "push-delivery-status", "Notifications have no status.", onNotification(without("status"))),
	of(onlyLegacy, "push-delivery-timestamp", "Notifications have no timestamp.", onNotification(without("timestamp"))),
	of(onlyLegacy, "push-token", "Notifications come without the token of the webhook.",
		onDelivery(func(d *engine.Delivery) { d.Header.Del("Authorization") })),
	of(onlyLegacy, "push-token-wrong", "Notifications come with another token than the webhook's.",
		onDelivery(func(d *engine.Delivery) {
			if d.Header.Get("Authorization") != "" {
				d.Header.Set("Authorization", "Bearer another-token")
			}
		})),
}

// wishFor subscribes every webhook only to events of a name.
func wishFor(event string) func(*wire.Call) *model.Failure {
	return func(c *wire.Call) *model.Failure {
		if c.Request.Push != nil {
			c.Request.Push.Events = []string{event}
		}
		return nil
	}
}

func onDelivery(edit func(*engine.Delivery)) func() wire.Hooks {
	return always(wire.Hooks{Deliver: edit})
}

func onNotification(edit editor) func() wire.Hooks {
	return onDelivery(func(d *engine.Delivery) { d.Body = edit(d.Body.(jsonvalue.Object)) })
}
