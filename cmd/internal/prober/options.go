package prober

import (
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/jws"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/receiver"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/verdict"
	"a2atap/replay/client/webhook"
	"a2atap/replay/probe"
)

// Options are the flags of probe.
type Options struct {
	Choice   choice
	Target   target
	Webhook  receiver.Flags
	Wait     time.Duration
	Parallel int
	Baseline verdict.BaselineFlags
	FailOn   string
	Format   string
	Output   string
	Capture  redacted.CaptureFlags
	JWKS     []string
	List     bool
	// Client selects the test of a client. ClientTimeout is the client's time limit for one agent, and Verbose prints
	// its output.
	Client        bool
	ClientTimeout time.Duration
	Verbose       bool
	NATS          cli.NATSFlags
	Ship          shipment.Flags
}

// A run is one call of the command.
type run struct {
	e         cli.Env
	o         *Options
	gate      analysis.Severity
	scenarios []*probe.Scenario
	known     *verdict.Baseline
	agents    agents
	webhook   webhook.Options
	judged    []engine.Option // the keys of --jwks, for the rules
	keys      jws.KeySet      // the same, for the scenarios
	ship      *shipment.To    // nil if the capture is not shipped
}
