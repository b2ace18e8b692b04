package auth

import (
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/reach"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// Credentials is the family of rules about credentials: the requests for them, the clients that send them, and the
// responses to calls without them.
var Credentials = rule.Family{
	Name:     "auth",
	On:       analysis.OutcomeSeen,
	Bindings: rule.OnCall,
}.Of(
	authCredentialsSent,
	authNotEnforced,
	authWWWAuthenticate,
	authSchemeUndeclared,
	authUndeclared,
	authExtendedCardClient,
	authExtendedCardServer,
	authErrorNoLeak,
)

var authCredentialsSent = &analysis.Rule{
	ID:       "auth-credentials-sent",
	Title:    "request without the credentials that the card requires",
	Category: analysis.Interop,
	Level:    analysis.Must,
	Side:     a2a.Client,
	Once:     analysis.PerEndpoint,
	On:       analysis.OutcomeSeen | analysis.LoginMissed,
	If:       analysis.Carded,
	Needs:    []*analysis.Tracker{card.Tracker, reach.Tracker},
	Cites:    rule.Cite("4.3", rule.Before1...).And("7.3", a2a.V1_0),
	Covers:   []string{"auth-scheme-undeclared"},
	Stands:   "0.1.0:95 0.2.6:98 0.3.0:245 1.0.1:1889",
	Doc: `The card says how requests have to authenticate, and the client sends something else, or nothing. That works
only while the agent does not check: once it does, every call of this client fails.`,
	Fix: `Read security (1.0: securityRequirements) in the card, and send the credentials of one alternative with
every request: the Authorization header with the scheme in the card, or the API key in the location that the card
names.`,
	Silent: `Requests that the agent refused for their credentials, or with an error that the protocol does not define
and that may mean the same, unless the client never sends any and has no success by the end of the recording; agents
that accept calls without credentials as one alternative; client certificates, which are not visible in a request;
schemes that the card does not describe; the public card; HARs of other programs, which may omit credentials. Only the
first request of each client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.LoginMissed {
			reportNoLogin(p)
			return
		}
		x := p.Exchange
		card := rule.AskingCard(p)
		if card == nil || x.Call.Operation == a2a.GetExtendedCard || challenged(p) {
			return
		}
		p.Applied()
		if satisfied(p) {
			return
		}
		at, what := carriedText(x)
		p.Report(at,
			fmt.Sprintf("the card at %s asks for %s, and the request carries %s", card.Place, wantedText(card), what),
			"expected the credentials of one of the card's alternatives")
	},
}

// reportNoLogin reports a client that was refused for want of credentials, and never sent any of those that the card
// declares.
func reportNoLogin(p *analysis.Pass) {
	card := rule.AskingCard(p)
	if card == nil {
		card = rule.SchemeCard(p)
	}
	if card == nil {
		return
	}
	refused := reach.LoginOf(p).Count
	p.Report(p.Place,
		fmt.Sprintf("the card at %s asks for %s, %s refused because credentials were missing, and no request of the client has any",
			card.Place, carriersText(card), callsText(refused)),
		"expected the credentials of one of the card's alternatives", analysis.By(a2a.Client),
		analysis.AtMostIf(refused == 1, analysis.Warning)) // it may have asked for the challenge
}

var authNotEnforced = &analysis.Rule{
	ID:       "auth-not-enforced",
	Title:    "call without credentials answered, though the card asks for them",
	Category: analysis.Interop,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	Once:     analysis.PerEndpoint,
	If:       analysis.Carded,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("4.4", rule.Before1...).And("7.4", a2a.V1_0),
	Stands:   "0.1.0:101 0.2.6:104 0.3.0:251 1.0.1:1895",
	Doc: `The card says that requests have to authenticate, but the agent serves everyone. People who rely on the card
believe that tasks are protected, and they are not.`,
	Fix: `Check the credentials of every request before anything else, and answer 401 without them (UNAUTHENTICATED
over gRPC). If the agent is meant to be open, remove security (1.0: securityRequirements) from the card.`,
	Silent: `Requests with anything that may be a credential, right or wrong; agents that accept calls without
credentials as one alternative; client certificates, which are not visible in a request; schemes that the card does
not describe; the public card; HARs of other programs, which may omit credentials. Only the first call at an endpoint
is reported.`,
	Check: func(p *analysis.Pass) {
		card := rule.AskingCard(p)
		if card == nil || p.Answer == nil || !rule.CallSucceeded(p) {
			return
		}
		p.Applied()
		if rule.NoCredentials(p.Exchange, card) {
			p.Report(p.Place.At(p.Answer.Payload.Pointer),
				fmt.Sprintf("a call without credentials succeeded, and the card at %s asks for %s", card.Place, wantedText(card)),
				"expected a refusal such as "+rule.AuthStatus(p.Exchange))
		}
	},
}

var authWWWAuthenticate = &analysis.Rule{
	ID:       "auth-www-authenticate",
	Title:    "401 without WWW-Authenticate",
	Category: analysis.ErrorHandling,
	Level:    analysis.Should,
	Side:     a2a.Agent,
	Once:     analysis.PerEndpoint,
	On:       analysis.AnswerSeen,
	If:       analysis.Refused,
	Bindings: rule.OnJSON,
	Cites:    rule.Cite("4.4", rule.Before1...).And("7.4", a2a.V1_0),
	Stands:   "0.1.0:103 0.2.6:106 0.3.0:253 1.0.1:1897",
	Doc: `A 401 tells a client to authenticate; WWW-Authenticate tells it how. Without the header a client can only
guess, and generic HTTP libraries, which use it, do not try again.`,
	Fix: `Add the header to every 401: WWW-Authenticate: Bearer realm="agent", with one challenge for each scheme of
the card.`,
	Silent: `Other statuses, including 403; HARs of other programs, which may omit headers; in 0.1 the code -32000,
which reports missing credentials by an older convention. Only the first 401 at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Response.Status != 401 || !x.AnswerHeadersKept() || refusedAsBefore0_1(p) {
			return
		}
		p.Applied()
		if !x.Response.Fields.Has("WWW-Authenticate") {
			p.Report(x.ResponsePlace().Status(), "status 401 without WWW-Authenticate",
				"expected a challenge that says how to authenticate")
		}
	},
}

// refusedAsBefore0_1 reports whether an error indicates missing credentials by a code, as servers did before 0.1 was
// published: the text that they follow requires no more.
func refusedAsBefore0_1(p *analysis.Pass) bool {
	x, failure := p.Exchange, p.Answer.Err
	if p.Answer.Early {
		return true
	}
	return failure != nil && failure.Code == -32000 && x.Spoken().Has(a2a.V0_1) && x.Endpoint != nil &&
		(x.Endpoint.Declared | x.Endpoint.Answered).Intersect(a2a.Of(a2a.V0_2, a2a.V0_3)).Empty()
}

var authSchemeUndeclared = &analysis.Rule{
	ID:       "auth-scheme-undeclared",
	Title:    "Authorization scheme that the card does not declare",
	Category: analysis.Interop,
	Level:    analysis.Advice,
	Side:     a2a.Client,
	Once:     analysis.PerEndpoint,
	If:       analysis.Carded,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("4.3", rule.Before1...).And("7.3", a2a.V1_0),
	Stands:   "0.1.0:93 0.2.6:96 0.3.0:243 1.0.1:1887",
	Doc: `The client authenticates in a way that the card does not mention. The agent may ignore it, and then the call
fails, or runs without an identity. And the client sends a secret to someone who never asked for it.`,
	Fix: `Choose one of the card's securitySchemes in the client, or declare the scheme that the agent accepts in its
card.`,
	Silent: `Cards without schemes, or with a scheme that they do not describe; a value without a scheme. OAuth 2 and
OpenID Connect include Bearer and DPoP. Only the first request of each client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		cards := card.Of(p).Before(x)
		if len(cards) == 0 || !x.Request.Fields.Has("Authorization") {
			return
		}
		scheme := rule.AuthorizationScheme(x)
		for _, c := range cards {
			if scheme == "" || len(c.Security.Schemes) == 0 ||
				slices.ContainsFunc(c.Security.Schemes, func(w a2a.Want) bool { return declares(w, scheme) }) {
				return
			}
		}
		p.Report(x.RequestPlace().Header("Authorization"), fmt.Sprintf("the scheme is %s", analysis.QuoteText(scheme)),
			fmt.Sprintf("expected a scheme of the card at %s: %s", cards[0].Place, rule.SchemeNames(cards[0].Security.Schemes)))
	},
}

var authUndeclared = &analysis.Rule{
	ID:       "auth-undeclared",
	Title:    "agent asks for credentials that the card does not declare",
	Category: analysis.Interop,
	Level:    analysis.Advice,
	Side:     a2a.Agent,
	Once:     analysis.PerEndpoint,
	If:       analysis.Carded,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("4.3", rule.Before1...).And("7.3", a2a.V1_0),
	Stands:   "0.1.0:93 0.2.6:96 0.3.0:243 1.0.1:1887",
	Doc: `Clients learn from the card which credentials an agent wants. This card names no scheme, but a call is
answered with 401: a client that follows the card cannot get through.`,
	Fix: `Declare the credentials that the agent, or the gateway in front of it, asks for in securitySchemes and
security (1.0: securityRequirements).`,
	Silent: `Agents whose card was not seen, or with a card that declares a scheme; the extended card, which is for
authenticated clients; endpoints that have answered a call, where a gateway may have interfered; statuses other than
401 and, over gRPC, UNAUTHENTICATED. Only the first such answer at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		cards := card.Of(p).Before(x)
		if len(cards) == 0 || x.Call.Operation == a2a.GetExtendedCard || x.Endpoint == nil || !x.Endpoint.Answered.Empty() {
			return
		}
		for _, c := range cards {
			if len(c.Security.Schemes) > 0 || c.Security.Asks() || c.Security.Hidden() {
				return
			}
		}
		p.Applied()
		if at, status, ok := rule.RefusedBy(x, 401, grpc.Unauthenticated); ok {
			p.Report(at, status+", and the card at "+cards[0].Place.String()+" declares no scheme",
				"expected a card that says how to authenticate")
		}
	},
}

var authExtendedCardClient = &analysis.Rule{
	ID:       "auth-extended-card-client",
	Title:    "extended card requested without credentials",
	Category: analysis.AgentCard,
	Level:    analysis.Must,
	Side:     a2a.Client,
	Once:     analysis.PerEndpoint,
	If:       analysis.OfExtended,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("7.10", a2a.V0_2, a2a.V0_3).And("3.1.11", a2a.V1_0),
	Stands:   "0.2.6:906 0.3.0:1113 1.0.1:423",
	Doc: `The extended card is for clients that the agent knows, so the request has to authenticate with one of the
schemes of the public card. Without credentials the agent can only refuse, or disclose details that are not public.`,
	Fix: `Send the credentials of a scheme of the public card with the request for the extended card.`,
	Silent: `Requests with anything that may be a credential; cards without schemes or with client certificates, which
are not visible in a request; requests that the agent refused for their credentials; HARs of other programs, which may
omit credentials.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		card := rule.SchemeCard(p)
		if card == nil || x.Call.Operation != a2a.GetExtendedCard || challenged(p) {
			return
		}
		p.Applied()
		if rule.NoCredentials(x, card) {
			p.Report(x.RequestPlace(), "the extended card is requested without credentials",
				fmt.Sprintf("expected credentials of a scheme of the card at %s: %s", card.Place,
					rule.SchemeNames(card.Security.Schemes)))
		}
	},
}

var authExtendedCardServer = &analysis.Rule{
	ID:       "auth-extended-card-server",
	Title:    "extended card returned without credentials",
	Category: analysis.AgentCard,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	Once:     analysis.PerEndpoint,
	If:       analysis.OfExtended,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("13.3", a2a.V1_0),
	Covers:   []string{"auth-not-enforced"},
	Stands:   "1.0.1:3142",
	Doc: `What the extended card adds to the public one is for clients that the agent knows. This agent gives it to
everyone.`,
	Fix: `Require authentication for GetExtendedAgentCard with a scheme of the public card, and answer 401 without it.`,
	Silent: `Requests with anything that may be a credential; cards without schemes or with client certificates, which
are not visible in a request; HARs of other programs, which may omit credentials.`,
	Check: func(p *analysis.Pass) {
		card := rule.SchemeCard(p)
		if card == nil || p.Exchange.Call.Operation != a2a.GetExtendedCard || p.Answer == nil || !rule.CallSucceeded(p) {
			return
		}
		p.Applied()
		if rule.NoCredentials(p.Exchange, card) {
			p.Report(p.Place.At(p.Answer.Payload.Pointer), "the extended card is returned to a request without credentials",
				"expected a refusal such as "+rule.AuthStatus(p.Exchange))
		}
	},
}

var authErrorNoLeak = &analysis.Rule{
	ID:       "auth-error-no-leak",
	Title:    "403 for a task that belongs to someone else",
	Category: analysis.ErrorHandling,
	Level:    analysis.Should,
	Side:     a2a.Agent,
	Once:     analysis.PerExchange,
	If:       analysis.NamesTask,
	Needs:    []*analysis.Tracker{task.Tracker},
	Cites:    rule.Cite("3.3.2", a2a.V1_0),
	Stands:   "1.0.1:514",
	Doc: `A client asks for someone else's task and learns that it may not see it, and therefore that the task exists.
By trying ids it can find out which tasks exist. TaskNotFoundError in both cases reveals nothing.`,
	Fix: `Answer TaskNotFoundError (-32001, HTTP+JSON: 404, gRPC: NOT_FOUND) for tasks that do not exist and for tasks that the client
may not see.`,
	Silent: `Clients whose credentials are the same or are not visible; tasks that no one was seen to get before. The
finding is a note at most, since the text that requires this has 403 among its own examples.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		owner := task.Of(p).FoundByAnother(x)
		if owner == nil {
			return
		}
		p.Applied()
		if at, status, ok := rule.RefusedBy(x, 403, grpc.PermissionDenied); ok {
			p.Report(at,
				fmt.Sprintf("%s for task %s, which a request with other credentials got at %s", status,
					analysis.QuoteText(x.Call.TaskID), owner.Object),
				"expected the same answer as for a task that does not exist", analysis.AtMost(analysis.Note))
		}
	},
}
