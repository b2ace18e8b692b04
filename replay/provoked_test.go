package replay_test

import (
	"slices"
	"testing"

	"a2atap/analyzer"
	"a2atap/analyzer/rules"
	"a2atap/replay/client"
	"a2atap/replay/client/fault"
	"a2atap/replay/refagent"
)

// unprovoked are, beside those about notifications, which do not pass taps, the rules that no agent and no client of
// ours breaks over a socket, each with the reason. Transcripts prove them all the same.
var unprovoked = map[string]string{
	"transport-https":             "all that the tests talk to is on loopback, where plain http is right",
	"transport-hsts":              "the same: the header has no effect there",
	"rpc-params-none-getcard":     "no agent of ours that speaks 0.3 has an extended card",
	"rpc-method-pascal":           "methods that nobody knows are reported only when all cards were seen, and the extended one is fetched last",
	"rpc-method-dialect":          "an agent that understands what its card does not offer would have to be two agents",
	"stream-message-closes":       "a stream would have to stay open for more than the grace of five seconds",
	"stream-ends-after-terminal":  "the same",
	"stream-closes-after-final":   "the same",
	"stream-still-open":           "it is a fact about the recording, which ends before the stream",
	"stream-close-isolated":       "it takes a second client that leaves while the first one reads",
	"push-private-url-accepted":   "agents on loopback have webhooks there too",
	"outcome-unreachable":         "agents of ours are there; the scripts of the command take them away",
	"outcome-untrusted":           "the same with their certificates",
	"outcome-cut":                 "the same",
	"outcome-no-protocol":         "the same with agents that are none",
	"outcome-agent-gone":          "the same",
	"card-wellknown-path":         "no client of ours looks for a card at two places that an agent could choose from",
	"card-conditional-get":        "no client of ours keeps a card",
	"card-cache-honoured":         "the same",
	"req-accepted-output-modes":   "no client of ours speaks the early 0.2 by itself",
	"req-tenant-echo":             "no agent of ours has tenants",
	"req-interface-url":           "each agent of ours has one URL for all of its bindings",
	"req-capability-streaming":    "faults edit requests and add none, and where an agent does not stream nobody asks it to",
	"req-capability-push":         "the same with push configs",
	"req-capability-extended":     "the same with the extended card",
	"id-denied-accepted":          "no client of ours writes to a task that it was told is not there",
	"auth-credentials-sent":       "it takes an agent that asks for credentials and is refused them; found beside the faults of such agents",
	"auth-extended-card-client":   "the same",
	"auth-undeclared":             "agents of ours declare what they ask for",
	"push-get-url-v01":            "the fault push-config of the agent from before 0.1 breaks it",
	"id-session-echo-v01":         "the fault concurrent-tasks of that agent breaks it",
	"ext-required-missing-client": "it takes an agent that requires an extension; found beside the faults of such agents",
	"workflow-answered-early":     "no agent of ours asks another one",
	"workflow-failure-hidden":     "the same",
	"workflow-orphan-task":        "the same",
	"http-retry-after":            "no agent of ours refuses a call for too many",
	"rpc-request-unknown-member":  "agents of ours ignore members that they do not know",
	"error-not-found-code":        "the fault error-internal-for-named-case answers the same call, and does not say why",
	"legacy-card-complete":        "cards of agents of ours from before 0.1 have no faults of their own",
	"legacy-stream-events":        "the same with their streams",
	"legacy-history-promised":     "the same with their histories",
	"auth-required-stream-kept":   "agents may close the stream there, and the faithful ones do",
}

// Every rule can be broken on purpose, or it is said why not.
func TestEveryRuleIsProvoked(t *testing.T) {
	provoked := make(map[string]bool)
	for _, name := range refagent.Names() {
		for _, f := range refagent.Faults(name) {
			provoked[f.Slug] = true
		}
	}
	for _, p := range client.Protocols() {
		for _, f := range fault.All(p) {
			provoked[f.Slug] = true
		}
	}
	for _, r := range rules.All {
		switch reason, known := unprovoked[r.ID]; {
		case provoked[r.ID] && known:
			t.Errorf("%s can be provoked; it needs no reason", r.ID)
		case !provoked[r.ID] && !known && r.Family != "webhook" && r.Family != "delivery":
			t.Errorf("%s (%s, %s): neither a fault nor a reason why there is none", r.ID, r.Family, r.Side)
		case known && reason == "":
			t.Errorf("%s: no reason", r.ID)
		}
	}
	for id := range unprovoked {
		if !slices.ContainsFunc(rules.All, func(r *analyzer.Rule) bool { return r.ID == id }) {
			t.Errorf("there is no rule %s", id)
		}
	}
}
