package recorder

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/push"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/spans"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/proxy/recording"
)

// Options configure what a recording taps, and how it stores and checks the traffic.
type Options struct {
	Output   string            // the capture
	Proxy    proxy.Options     // the taps; Reach has how to connect to agents
	Recorder recording.Options // which traffic may wait, and what happens to traffic that the capture cannot store
	Hide     redacted.Options  // the values to hide; without a key, a new one is used for this recording only
	Reach    *outbound.Dialer  // how to connect to agents; nil for the defaults

	// Around returns a sink that receives records before the capture's sink; it may be nil.
	Around func(capture.Sink) capture.Sink

	Rules     []*analysis.Rule // the rules to check with; nil for all
	Keys      []engine.Option  // to verify cards with
	Collector *spans.Collector // that receives spans; nil for none
	Ship      *shipment.To     // destination of shipping; nil for none

	Listener  Listener // receives events; if nil, the result has all findings
	Exchanges bool     // the listener receives each exchange
	Events    bool     // and each event of a stream
	Inspected bool     // the inspector shows findings too; needs a listener
	Hints     bool     // print how to record a workflow of agents, models and tools better
	Run       bool     // a2atap sets the environment of the client
}

// A Listener receives the events of a recording, from several goroutines. Silent ignores them.
type Listener interface {
	Tap(*proxy.Tap)                           // a further tap opened on its own
	Notice(text string)                       // a message that the user should see at once
	Tell(text string)                         // an optional message: checking is behind, spans were sent
	Finding(analysis.Finding)                 // each finding as it occurs
	Exchange(capture.Source, summary.Summary) // each ended and checked exchange, if Options.Exchanges
	Event(summary.Event)                      // each event of a stream, if Options.Events is set
	Standing([]push.Standing)                 // the push notification configs that point at the recorder when it ends
	Ship(shipment.Event)                      // the state of shipping
}

// Silent is a Listener that does nothing, for embedding.
type Silent struct{}

func (Silent) Tap(*proxy.Tap)                           {}
func (Silent) Notice(string)                            {}
func (Silent) Tell(string)                              {}
func (Silent) Finding(analysis.Finding)                 {}
func (Silent) Exchange(capture.Source, summary.Summary) {}
func (Silent) Event(summary.Event)                      {}
func (Silent) Standing([]push.Standing)                 {}
func (Silent) Ship(shipment.Event)                      {}
