package replay

import (
	"context"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/compare"
	"a2atap/replay/limits"
	"a2atap/replay/noise"
)

// DefaultTimeout is the time that an answer may take in addition to its recorded duration.
const DefaultTimeout = 30 * time.Second

// Options configure a replay. The zero value replays all exchanges as fast as their order allows, without rules.
type Options struct {
	Rules    []*analysis.Rule             // judge both runs; they must have passed analysis.Validate
	Keep     func(*capture.Exchange) bool // chooses exchanges; nil chooses all
	Profile  compare.Profile              // compare.Protocol if empty
	Texts    bool                         // compare what texts say, but for ids and times, under every profile
	Agents   map[string]string            // URLs of live agents by the names of recorded ones; the URL of Run is for the rest
	Speed    float64                      // 1 keeps the recorded pauses, 2 halves them, 0 leaves them out
	Wait     time.Duration                // how long the agent may take to listen
	Noise    *noise.Rules                 // what may differ; nil if nothing may
	Accepted func(*analysis.Finding) bool // reports new findings that are not differences; nil if all are

	// AcceptedCalls reports newly failing calls that are not differences; nil if all are. They have no client.
	AcceptedCalls func(*judgment.FailedCalls) bool

	Late    time.Duration    // how much longer than recorded the agent may take; 0 is any time
	Timeout time.Duration    // see DefaultTimeout, the meaning of 0; also for a polled state
	Sink    capture.Sink     // keeps the live traffic; nil for none. It is not closed
	Seq     uint64           // the last number that the sink's capture has used already
	Dialer  *outbound.Dialer // connects to the agent; nil is one without options
	Limits  limits.Limits    // of each answer

	// Binding and Dialect are the protocol to which requests are translated, at the matching interface of the live
	// card. Binding is JSONRPC, HTTPJSON or GRPC. Dialect is a set of at most one: 0.2, 0.3 or 1.0. NoBinding and the
	// empty set keep the recorded protocol. Requests that cannot be translated are left out. Answers are then
	// compared by meaning.
	Binding a2a.Binding
	Dialect a2a.Dialects

	// Found returns the rules' findings in the recording if they are known already; if nil, the rules check the
	// recording.
	Found func(context.Context) ([]analysis.Finding, error)

	further func(uint64, []compare.Difference) // called with further differences of each exchange; may be nil

	// Authorize adds credentials to a request; nil means no credentials. Its values replace redacted ones of the same
	// name; others are added to requests that had a redacted value. It is called once before anything is sent, and then
	// for each such request. It must be safe for concurrent use.
	Authorize Authorizer
	// AuthorizeAgent has functions for some agents, by recorded name, that replace Authorize. A nil function means no
	// credentials.
	AuthorizeAgent map[string]Authorizer
	// CredentialsTo are URLs, other than the agents', to which credentials may go if a card leads there. Otherwise a
	// card is not followed with credentials.
	CredentialsTo []string
	// Stay sends only to the origins of the agents' URLs, and follows no card elsewhere.
	Stay bool
	// OnMissing is called before anything is sent, once for each secret that requests need and that neither the capture
	// nor Authorize has. It may be nil. The requests are sent without the secret.
	OnMissing func(*Missing)

	// Webhook configures where notifications are received instead of the recorded webhooks: its Address, Public and
	// Certificate. The zero value listens on a free port of loopback. An agent on another machine is given the address
	// if Public is set, or Address is not on loopback; otherwise its notifications are left out.
	Webhook webhook.Options
}

// An Authorizer adds credentials to a request, as [client.Options].Authorize does.
type Authorizer = func(context.Context, *client.Outgoing) error
