package push

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/push"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
)

// Deliveries is the family of rules about notifications and the configs that ask for them.
var Deliveries = rule.Family{
	Name:     "delivery",
	Category: analysis.Interop,
	Side:     a2a.Agent,
	On:       analysis.DeliveryTraced,
	Bindings: analysis.OnHTTP,
}.Of(
	hookAuth,
	hookAuth0x,
	hookToken,
	hookTokenV1,
	hookTaskKnown,
	hookAfterDelete,
	hookAttempted,
	hookAttempted0x,
	hookStateAgrees,
)

var hookAuth = &analysis.Rule{
	ID:     "hook-auth",
	Title:  "notification without the credentials of its config",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("4.3.3", a2a.V1_0),
	Stands: "1.0.1:873",
	Doc: `A config with authentication names the credentials that its notifications have to carry. The receiver checks
them and rejects everything else, so the client misses the notification; a receiver that does not check accepts
notifications from anyone.`,
	Fix: `Send the header Authorization with the scheme and the credentials of the config.`,
	Silent: `Tasks that began before the recording, which may have another config; configs without authentication;
schemes other than Bearer, Basic and Digest, if the request carries anything that may be a credential; mutual TLS,
which is not visible; the first attempt of Basic and Digest, which the receiver answers with a challenge.`,
	Check: func(p *analysis.Pass) {
		x, d := p.Exchange, push.Traced(p)
		asks := func(c *push.Config) bool { return len(c.Schemes) > 0 && c.Schemes[0] != "" }
		if !allAsk(p, asks) || awaitsChallenge(x, d.Configs) {
			return
		}
		p.Applied()
		if slices.ContainsFunc(d.Configs, func(c *push.Config) bool { return fitsConfig(x, c) }) {
			return
		}
		scheme := d.Configs[0].Schemes[0]
		seen := "no credentials of scheme " + analysis.QuoteText(scheme)
		if strings.EqualFold(rule.AuthorizationScheme(x), scheme) {
			seen = "other credentials of scheme " + analysis.QuoteText(scheme)
		}
		p.Report(x.RequestPlace().Header("Authorization"), "the notification carries "+seen,
			"expected the credentials of the config at "+d.Configs[0].Place.String())
	},
}

// allAsk reports whether all configs that can have caused a notification are known, and each requests the property that
// is checked.
func allAsk(p *analysis.Pass, asks func(c *push.Config) bool) bool {
	d := push.Traced(p)
	return d.Whole && len(d.Configs) > 0 && p.Exchange.CredentialsKept() &&
		!slices.ContainsFunc(d.Configs, func(c *push.Config) bool { return !asks(c) })
}

// awaitsChallenge reports whether the receiver asked for credentials that a sender may hold back until a challenge.
func awaitsChallenge(x *analysis.Exchange, configs []*push.Config) bool {
	return x.Response.Status == 401 && len(x.Response.Fields.Values("WWW-Authenticate")) > 0 &&
		slices.ContainsFunc(configs, func(c *push.Config) bool { return !strings.EqualFold(c.Schemes[0], "bearer") })
}

// fitsConfig reports whether a notification carries the credentials for one of the config's schemes, as far as visible.
func fitsConfig(x *analysis.Exchange, c *push.Config) bool {
	return slices.ContainsFunc(c.Schemes, func(scheme string) bool {
		given := strings.EqualFold(rule.AuthorizationScheme(x), scheme)
		switch strings.ToLower(scheme) {
		case "basic", "digest":
			return given
		case "bearer":
			_, value, _ := strings.Cut(x.Request.Fields.Get("Authorization"), " ")
			return given && sameSecret(strings.TrimSpace(value), c.Credentials)
		}
		return isTLS(scheme) || !x.Bare()
	})
}

func isTLS(scheme string) bool { return strings.Contains(strings.ToLower(scheme), "tls") }

// sameSecret reports whether credentials may be the requested ones. They are the same, or the comparison is impossible:
// none were given, or the two were hidden differently, such as with another key.
func sameSecret(got, want string) bool {
	return want == "" || credential.SameSecret(got, want) || strings.Contains(want, " ") || isHidden(got) != isHidden(want)
}

// isHidden reports whether a secret was replaced when it was recorded.
func isHidden(secret string) bool {
	return strings.HasPrefix(secret, "redacted.") || strings.Trim(secret, "*x") == ""
}

var hookAuth0x = &analysis.Rule{
	ID:     "hook-auth-0x",
	Title:  "notification without any credentials",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("streaming guide §Security Considerations for Push Notifications", rule.Before1...),
	Stands: "0.1.0:streaming-and-async:75 0.2.6:streaming-and-async:80 0.3.0:streaming-and-async:80",
	Doc: `A config whose authentication names schemes asks the agent to authenticate itself to the webhook. A receiver
cannot tell a notification without credentials, or with another program's credentials, from a forged one. If the
config has credentials, a notification with only its token, or with other credentials, is a warning.`,
	Fix: `Send the header Authorization with a scheme of the config, and with its credentials if it has any.`,
	Silent: `Headers other than Authorization, and parameters, that may be a credential; the token of the config, or
any value of its scheme, if the config has no credentials; schemes that A2A does not name; mutual TLS, which is not
visible; the first attempt of Basic and Digest, which the receiver answers with a challenge; tasks that began before
the recording, which may have another config.`,
	Check: func(p *analysis.Pass) {
		asks := func(c *push.Config) bool {
			return len(c.Schemes) > 0 && !slices.ContainsFunc(c.Schemes, isTLS)
		}
		x, configs := p.Exchange, push.Traced(p).Configs
		if !allAsk(p, asks) || awaitsChallenge(x, configs) {
			return
		}
		p.Applied()
		if hasOtherCredentials(x) || slices.ContainsFunc(configs, func(c *push.Config) bool { return fitsConfig(x, c) }) {
			return
		}
		c := configs[0]
		scheme := analysis.QuoteText(c.Schemes[0])
		expected := fmt.Sprintf("expected credentials of scheme %s, as the config at %s asks", scheme, c.Place)
		given := x.Request.Fields.Get("Authorization")
		switch tokens := carriesToken(p); {
		case !allHTTP(configs):
		case tokens && (c.Credentials == "" || holdsToken(given, configs)): // it may authenticate the agent
		case given != "" && strings.EqualFold(rule.AuthorizationScheme(x), c.Schemes[0]):
			p.Report(x.RequestPlace().Header("Authorization"), "the notification carries other credentials of scheme "+scheme,
				"expected the credentials of the config at "+c.Place.String(), analysis.AtMost(analysis.Warning))
		case given != "":
			p.Report(x.RequestPlace().Header("Authorization"), "the notification carries no credentials of scheme "+scheme,
				expected, analysis.AtMost(analysis.Warning))
		case tokens:
			p.Report(p.Place, "the notification carries the token of its config, and no credentials of scheme "+scheme,
				"expected the credentials of the config at "+c.Place.String(), analysis.AtMost(analysis.Warning))
		default:
			p.Report(p.Place, "the notification carries no credentials", expected)
		}
	},
}

// hasOtherCredentials reports whether a request carries a possible credential, apart from Authorization and the token
// of a config.
func hasOtherCredentials(x *analysis.Exchange) bool {
	for _, f := range x.Request.Fields {
		switch {
		case strings.EqualFold(f.Name, "Authorization"), strings.EqualFold(f.Name, tokenHeader):
		case credential.Header(f.Name).TellsCaller():
			return true
		}
	}
	_, query, _ := strings.Cut(x.Request.Target, "?")
	return query != ""
}

// allHTTP reports whether all schemes of all configs have a place in the header Authorization.
func allHTTP(configs []*push.Config) bool {
	return !slices.ContainsFunc(configs, func(c *push.Config) bool {
		return slices.ContainsFunc(c.Schemes, func(scheme string) bool {
			switch strings.ToLower(scheme) {
			case "bearer", "basic", "digest":
				return false
			}
			return true
		})
	})
}

// holdsToken reports whether the token of a config is in a text.
func holdsToken(text string, configs []*push.Config) bool {
	return slices.ContainsFunc(configs, func(c *push.Config) bool {
		return c.Token != "" && credential.MayHold(text, c.Token)
	})
}

const tokenHeader = "X-A2A-Notification-Token"

// carriesToken reports whether a request visibly has the token of one of the configs anywhere.
func carriesToken(p *analysis.Pass) bool {
	x, doc, configs := p.Exchange, p.Exchange.Doc(), push.Traced(p).Configs
	body := rule.Unescape(x.Body)
	for _, c := range configs {
		if c.Token == "" {
			continue
		}
		if left := maxLookedAt; isHidden(c.Token) && (doc.Err != nil || hasRoom(doc.Root, &left)) {
			return true // it may be in the body, where it was not hidden
		}
		if credential.MayHold(x.Request.Target, c.Token) || bytes.Contains(body, []byte(c.Token)) {
			return true
		}
		for _, f := range x.Request.Fields {
			if credential.MayHold(f.Value, c.Token) {
				return true
			}
		}
	}
	return false
}

// maxLookedAt bounds the values of a notification in which a token is searched.
const maxLookedAt = 1000

// hasRoom reports whether a token may be in a value although the recorder has hidden secrets there: as a text whose
// member A2A does not know. Members whose names say that they hold a token are hidden.
func hasRoom(v a2a.Value, left *int) bool {
	for name, m := range v.Members() {
		if *left--; *left < 0 {
			return true
		}
		switch {
		case knownTexts[name]:
		case m.Kind() == a2a.String:
			if _, hidden := credential.Hidden(m.Text()); !hidden {
				return true
			}
		case hasRoom(m, left):
			return true
		}
	}
	for _, m := range v.Elems() {
		if *left--; *left < 0 || m.Kind() == a2a.String || hasRoom(m, left) {
			return true
		}
	}
	return false
}

// knownTexts are the members of tasks, messages and updates with free text, or with the subject of the task.
var knownTexts = map[string]bool{
	"id": true, "contextId": true, "sessionId": true, "taskId": true, "messageId": true, "artifactId": true,
	"referenceTaskIds": true, "extensions": true, "kind": true, "type": true, "role": true, "state": true, "timestamp": true,
	"text": true, "name": true, "description": true, "mimeType": true, "mediaType": true, "filename": true, "bytes": true,
	"raw": true, "uri": true, "url": true, "data": true, "jsonrpc": true, "method": true, "eventType": true, "summary": true,
}

var hookToken = &analysis.Rule{
	ID:    "hook-token",
	Title: "notification without the token of its config",
	Level: analysis.Should,
	Needs: []*analysis.Tracker{push.Tracker},
	Cites: rule.Cite("6.8", a2a.V0_1).
		And("streaming guide §Push Notifications for Disconnected Scenarios", a2a.V0_2, a2a.V0_3),
	Covers: []string{"hook-auth-0x"},
	Stands: "0.1.0:662 0.2.6:streaming-and-async:48 0.3.0:streaming-and-async:48",
	Doc: `The token of a config is a secret between the client and the agent, and proves that a notification belongs
to a task of the client. Without it the receiver has to reject the notification or trust everyone.`,
	Fix: `Send the token with every notification, in the header X-A2A-Notification-Token.`,
	Silent: `A token anywhere in the headers, the URL or the body; bodies with texts other than those of a task or an
update, if the recording redacts the token of the config; tasks that began before the recording, which may have
another config.`,
	Check: func(p *analysis.Pass) {
		if !allAsk(p, func(c *push.Config) bool { return c.Token != "" }) {
			return
		}
		p.Applied()
		checkToken(p)
	},
}

// checkToken reports a notification without the token of a config.
func checkToken(p *analysis.Pass) {
	at := push.Traced(p).Configs[0].Place.String()
	switch x := p.Exchange; {
	case carriesToken(p):
	case x.Request.Fields.Has(tokenHeader):
		p.Report(p.Place, "the notification carries another token than the config at "+at+" has",
			"expected the token of the config")
	default:
		p.Report(p.Place, "the token of the config at "+at+" is missing from the notification",
			"expected it in the header "+tokenHeader)
	}
}

var hookTokenV1 = &analysis.Rule{
	ID:     "hook-token-v1",
	Title:  "notification without the token of its config",
	Level:  analysis.Advice,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("4.3.1", a2a.V1_0),
	Stands: "1.0.1:proto:480",
	Doc: `The token of a config is a secret between the client and the agent, by which the client recognizes its
notifications. 1.0 does not say how to send the token; agents send it in the header X-A2A-Notification-Token, as
before. A receiver that checks it rejects a notification without it, or with another token.`,
	Fix: `Send the token with every notification, in the header X-A2A-Notification-Token.`,
	Silent: `A token anywhere in the headers, the URL or the body; bodies with texts other than those of a task or an
update, if the recording redacts the token of the config; tasks that began before the recording, which may have
another config.`,
	Check: func(p *analysis.Pass) {
		if allAsk(p, func(c *push.Config) bool { return c.Token != "" }) {
			p.Applied()
			checkToken(p)
		}
	},
}

var hookTaskKnown = &analysis.Rule{
	ID:     "hook-task-known",
	Title:  "notification about a task that has no config for this webhook",
	Level:  analysis.Should,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("6.10", rule.Before1...).And("4.3.1", a2a.V1_0),
	Stands: "0.1.0:712 0.2.6:types:481 0.3.0:types:853 1.0.1:proto:468",
	Doc: `A config is for one task. A notification about another task tells the webhook something that its owner did
not ask for, and perhaps may not see.`,
	Fix: `Look the configs up by the task that has changed, not by its context or its client.`,
	Silent: `Tasks that began before the recording; webhooks that were given to several agents, or for which a request
was recorded incompletely or not answered; tasks that had a config for the webhook at any time.`,
	Check: func(p *analysis.Pass) {
		d := push.Traced(p)
		if !d.Whole {
			return
		}
		p.Applied()
		if !d.Bound {
			p.Report(p.Place,
				"the notification is about task "+analysis.QuoteText(p.Exchange.Call.TaskID)+", created at "+
					d.Known.Created.Place.String()+", for which no one registered this webhook",
				"expected only tasks with a config for it")
		}
	},
}

var hookAfterDelete = &analysis.Rule{
	ID:     "hook-after-delete",
	Title:  "notification after the config was deleted",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{push.Tracker},
	Cites:  rule.Cite("3.1.10", a2a.V1_0),
	Stands: "1.0.1:402",
	Doc: `After the deletion of a config is confirmed, its notifications stop. The client may have deleted it because
the webhook now belongs to someone else.`,
	Fix: `Stop the deliveries for a config before you confirm its deletion.`,
	Silent: `Notifications within 30 seconds of the deletion, which may have been in transit; tasks with another
config for the webhook, or for which anyone has requested a config since; notifications of a task for which an earlier
one failed, which may be a retry.`,
	Check: func(p *analysis.Pass) {
		x, gone := p.Exchange, push.Traced(p).Deleted
		if gone == nil || push.Traced(p).Retry || x.Started.IsZero() || gone.Confirmed.At.IsZero() ||
			x.Started.Sub(gone.Confirmed.At) < underWay {
			return
		}
		p.Report(p.Place,
			"the notification is about task "+analysis.QuoteText(x.Call.TaskID)+", whose config "+analysis.QuoteText(gone.ID)+
				" was deleted at "+gone.Place.String(),
			"expected no notification after that")
	},
}

const underWay = 30 * time.Second // that a notification may take

var hookAttempted = &analysis.Rule{
	ID:       "hook-attempted",
	Title:    "task ended without a notification",
	Level:    analysis.Must,
	On:       analysis.ConfigIdle,
	Needs:    []*analysis.Tracker{push.Tracker},
	Bindings: rule.OnCall,
	Cites:    rule.Cite("4.3.3", a2a.V1_0),
	Stands:   "1.0.1:884",
	Doc: `An agent tries at least once to deliver the updates of a task to each webhook that is configured for it. A
client that relies on this waits for a task that ended long ago.`,
	Fix: `Deliver at least the end of the task to every config that exists when it ends.`,
	Silent: `Webhooks whose notifications may not pass through the recorder: none has passed, and the agent was given
no address of the recorder. Webhooks that rejected a notification, or received one that could not be assigned to a
task; configs that a client tried to delete, or that were not confirmed while the task was seen active. URLs that an
agent may refuse, without https or at a private address, and tasks that ended less than 5 minutes before the
recording: there the finding is a note if the agent has an address of the recorder, and the recording continued for 10
seconds. Time in recordings that were appended later does not count.`,
	Check: checkAttempted,
}

var hookAttempted0x = &analysis.Rule{
	ID:       "hook-attempted-0x",
	Title:    "task ended without a notification, before 1.0",
	Level:    analysis.Advice,
	On:       analysis.ConfigIdle,
	Needs:    []*analysis.Tracker{push.Tracker},
	Bindings: rule.OnCall,
	Cites:    rule.Cite("streaming guide §Push Notifications for Disconnected Scenarios", rule.Before1...),
	Stands:   "0.1.0:streaming-and-async:47 0.2.6:streaming-and-async:51 0.3.0:streaming-and-async:51",
	Doc: `A client gave the agent a webhook for a task, the agent accepted it, and the task ended without any
notification. Before 1.0 the agent decides when it notifies. But webhooks exist to report the end of a task: a client
that relies on this waits for a task that ended long ago.`,
	Fix: `Deliver at least the end of the task to every config that exists when it ends.`,
	Silent: `Webhooks whose notifications may not pass through the recorder: none has passed, and the agent was given
no address of the recorder. Webhooks that rejected a notification, or received one that could not be assigned to a
task; configs that a client tried to delete, or that were not confirmed while the task was seen active. If the agent
was given an address of the recorder: tasks that ended less than 10 seconds before the end of the recording.
Otherwise: tasks that ended less than 5 minutes before it, and URLs without https or at a private address. Time in
recordings that were appended later does not count.`,
	Check: checkAttempted,
}

// checkAttempted reports a config for which nothing was sent although its task has ended.
func checkAttempted(p *analysis.Pass) {
	c, rest := push.Idle(p), p.At.Sub(p.Task.At)
	sure := rule.ReachOf(c.URL) == rule.FromAnywhere && rule.SchemeOf(c.URL) == "https" && rest >= patience
	if !sure && (!c.Tapped() || rest < delay) {
		return
	}
	p.Report(p.Place,
		fmt.Sprintf("task %s ended at %s, and nothing was sent to the webhook of this config", analysis.QuoteText(c.TaskID),
			p.Task.StatePlace()),
		"expected at least one notification", analysis.AtMostIf(!sure, analysis.Note))
}

const (
	delay    = 10 * time.Second // of a first notification to the recorder itself
	patience = 5 * time.Minute  // with an agent that is to notify
)

var hookStateAgrees = &analysis.Rule{
	ID:     "hook-state-agrees",
	Title:  "notification names another terminal state",
	Level:  analysis.Must,
	On:     analysis.TaskSeen,
	Needs:  []*analysis.Tracker{task.Tracker},
	Cites:  rule.Cite("4.3.3", a2a.V1_0),
	Covers: []string{"state-terminal-immutable"},
	Stands: "1.0.1:866",
	Doc: `A notification and a stream or a poll of the task report the same. If they disagree about how the task
ended, a client acts on a wrong outcome.`,
	Fix:    `Send notifications from the stored task, not from the last report of the work.`,
	Silent: `States of a task that has not ended: they may be late or repeated.`,
	Check: func(p *analysis.Pass) {
		now := p.Task
		known := task.Of(p).Get(p.Exchange, now.TaskID)
		if p.Exchange.Call.Operation != a2a.Webhook || known == nil || known.Terminal == nil || !now.State.Terminal() {
			return
		}
		p.Applied()
		if before := known.Terminal; now.State != before.State {
			p.Report(now.StatePlace(), fmt.Sprintf("the notification says %s of task %s, which ended as %s at %s",
				analysis.QuoteText(now.Spelling), analysis.QuoteText(now.TaskID), analysis.QuoteText(before.Spelling),
				before.StatePlace()),
				"expected the same outcome")
		}
	},
}
