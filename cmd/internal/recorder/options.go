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

// Options say what a recording taps, and how it stores and judges the traffic.
type Options struct {
	Output   string            // the capture
	Proxy    proxy.Options     // what is tapped; how agents are reached is said by Reach
	Recorder recording.Options // what may wait, and what becomes of traffic that the capture cannot take
	Hide     redacted.Options  // what is hidden; without a key, with one for this recording only
	Reach    *outbound.Dialer  // how agents are connected to; nil is without any of its options

	// Around sees what is recorded first; it may be nil.
	Around func(capture.Sink) capture.Sink

	Rules     []*analysis.Rule // that judge it; nil is all there are
	Keys      []engine.Option  // that cards are signed with
	Collector *spans.Collector // that gets spans; nil for none
	Ship      *shipment.To     // where it is shipped; nil for nowhere

	Listener  Listener // is told what happens; nil for nobody: then the result has all findings
	Exchanges bool     // the listener is told of each exchange
	Events    bool     // and of each event of a stream
	Inspected bool     // what the rules find is shown by the inspector, too; needs a listener
}

// A Listener is told what happens in a recording, by several goroutines. Silent tells nobody.
type Listener interface {
	Tap(*proxy.Tap)                           // a further tap opened by itself
	Notice(text string)                       // what the user should know at once
	Tell(text string)                         // what the user may do without: judging is behind, spans were sent
	Finding(analysis.Finding)                 // as they occur
	Exchange(capture.Source, summary.Summary) // each, when it has ended and is judged, if that is wanted
	Event(summary.Event)                      // each of a stream, the same
	Standing([]push.Standing)                 // the push notification configs that point at the recorder when it ends
	Ship(shipment.Event)                      // what becomes of shipping
}

// Silent is a Listener that does nothing, for others to stand on.
type Silent struct{}

func (Silent) Tap(*proxy.Tap)                           {}
func (Silent) Notice(string)                            {}
func (Silent) Tell(string)                              {}
func (Silent) Finding(analysis.Finding)                 {}
func (Silent) Exchange(capture.Source, summary.Summary) {}
func (Silent) Event(summary.Event)                      {}
func (Silent) Standing([]push.Standing)                 {}
func (Silent) Ship(shipment.Event)                      {}
