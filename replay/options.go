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

// DefaultTimeout is how long an answer may take beyond what it took when it was recorded.
const DefaultTimeout = 30 * time.Second

// Options says how to replay. The zero value replays all exchanges as fast as their order allows, without rules.
type Options struct {
	Rules    []*analysis.Rule             // judge both runs; they must have passed analysis.Validate
	Keep     func(*capture.Exchange) bool // chooses exchanges; nil chooses all
	Profile  compare.Profile              // compare.Protocol if empty
	Texts    bool                         // compare what texts say, but for ids and times, under every profile
	Agents   map[string]string            // URLs of live agents by the names of recorded ones; the URL of Run is for others
	Speed    float64                      // 1 keeps the recorded pauses, 2 halves them, 0 leaves them out
	Wait     time.Duration                // how long the agent may take to listen
	Noise    *noise.Rules                 // what may differ; nil if nothing may
	Accepted func(*analysis.Finding) bool // says of new findings which are not differences; nil if all are

	// AcceptedCalls says of calls that fail now which are not differences; nil if all are. They have no client.
	AcceptedCalls func(*judgment.FailedCalls) bool

	Late    time.Duration    // how much longer than recorded the agent may take; 0 is any time
	Timeout time.Duration    // see DefaultTimeout, which stands for 0; also for a polled state
	Sink    capture.Sink     // keeps the live traffic; nil for none. It is not closed
	Seq     uint64           // the last number that the sink's capture has used already
	Dialer  *outbound.Dialer // connects to the agent; nil is one without options
	Limits  limits.Limits    // of each answer

	// Binding and Dialect, a set of at most one, are what requests are translated to, at the interface that the live
	// card has for it: they are JSONRPC, HTTPJSON or GRPC, and 0.2, 0.3 or 1.0. NoBinding and the empty set keep what was
	// recorded. Requests that cannot be said so are left out; answers are then compared by meaning.
	Binding a2a.Binding
	Dialect a2a.Dialects

	// Found returns what the rules find in the recording, where that is known already; nil: it is judged.
	Found func(context.Context) ([]analysis.Finding, error)

	further func(uint64, []compare.Difference) // is told of each exchange what else differs; nil if nobody asks

	// Authorize adds credentials to a request; nil has none. What it adds goes in place of what was redacted: under the
	// same name, else beside the rest of a request that had something redacted. It is asked before anything is sent, and
	// then for each such request. It must be safe for concurrent use.
	Authorize Authorizer
	// AuthorizeAgent has it for some agents by the names of recorded ones, in place of Authorize. A nil one has none.
	AuthorizeAgent map[string]Authorizer
	// CredentialsTo are URLs to whose addresses credentials go, beside those of the agents, where a card leads there. A
	// card is not followed to another one with credentials.
	CredentialsTo []string
	// OnMissing is called before anything is sent, once for each secret that requests need and that neither the capture
	// has nor Authorize gives; nil for nobody. They are sent without.
	OnMissing func(*Missing)

	// Webhook says where notifications are received in the place of recorded webhooks: its Address, Public and
	// Certificate. The zero value listens on a free port of loopback. An agent on another machine is given the address if
	// Public is set, or Address is not on loopback; otherwise its notifications are left out.
	Webhook webhook.Options
}

// An Authorizer adds credentials to a request, as [client.Options].Authorize does.
type Authorizer = func(context.Context, *client.Outgoing) error
