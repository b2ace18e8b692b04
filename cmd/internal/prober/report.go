package prober

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/baseline"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

// A record stores the traffic with hidden secrets: in memory, where it is checked, and also in a capture if requested.
type record struct {
	memory *capture.Memory
	sink   capture.Sink
	seq    uint64 // the last exchange of the capture before the run

	shipment *shipment.Shipment // nil if it is not shipped
}

// record opens the recording.
func (o *Options) record(e cli.Env, agents agents, ship *shipment.To) (*record, error) {
	name := o.Capture.File
	name = cmp.Or(name, "probe")
	r := &record{memory: capture.NewMemory(capture.Info{Name: name, Created: e.Now()})}
	both := redacted.Tee{r.memory}
	hidden := redacted.Options{Key: redact.NewKey(), Masks: agents.masks(), Notice: e.Notice}
	if o.Capture.File != "" {
		var err error
		if hidden.Key, err = o.Capture.Key(e); err != nil {
			return nil, err
		}
		store, err := hidden.OpenStore(o.Capture.File)
		if err != nil {
			return nil, err
		}
		if err := shipment.May(ship, o.Capture.File, store); err != nil {
			return nil, errors.Join(err, store.Close())
		}
		r.shipment = shipment.Start(ship, o.Capture.File, store, nil, func(v shipment.Event) { shipment.Tell(e, v) })
		both = append(both, store)
		r.seq = store.Position().Seq
	}
	r.sink = hidden.Sink(both)
	return r, nil
}

// last returns the number of the last exchange.
func (r *record) last() uint64 {
	info, err := r.memory.Info(context.Background())
	if err != nil {
		return r.seq
	}
	return max(r.seq, info.Exchanges)
}

// Close ends the recording. The copy in memory can still be read.
func (r *record) Close() error {
	err := r.sink.Close()
	r.shipment.Stop()
	return err
}

// judge checks the traffic with the rules. It drops and counts findings that are not the agent's fault.
func (r *run) judge(ctx context.Context, record *record, whole *report.Report) error {
	result, err := engine.Run(ctx, rules.All, record.memory, nil, r.judged...)
	if err != nil {
		return fmt.Errorf("check the answers: %w", err)
	}
	dropped := make(map[string]int)
	broken, counted := make(map[coverageKey]int), result.Counted()
	result.Keep(func(f *analysis.Finding) bool {
		if f.Side != a2a.Agent {
			dropped[f.Programs().Agent]++
			return false
		}
		broken[coverageKey{f.Rule, counted(f.Link), f.Operation == a2a.Webhook}]++
		return true
	})
	for i := range result.Coverage {
		c := &result.Coverage[i]
		c.Broken = min(c.Broken, broken[coverageKey{c.Rule, c.Link, c.Notifications}])
	}
	for i := range whole.Tests {
		whole.Tests[i].Dropped = dropped[whole.Tests[i].Agent]
	}
	r.known.Apply(result)
	whole.Result, whole.Rules, whole.Now = result, rules.All, r.e.Now()
	whole.Took = func(f *analysis.Finding) time.Duration {
		x, err := record.memory.Exchange(ctx, f.Place.Exchange)
		if err != nil {
			return capture.NotKnown
		}
		return x.Took()
	}
	return nil
}

// accept marks accepted failures, and returns the tests that passed.
func accept(known *verdict.Baseline, whole *report.Report) (passed []baseline.Test) {
	for s := range whole.Tests {
		suite := &whole.Tests[s]
		for t := range suite.Tests {
			test := &suite.Tests[t]
			name := baseline.Test{Agent: suite.Agent, Name: test.Name}
			switch {
			case test.Bad():
				test.Waived, _ = known.KnowsFailure(name, test.Message)
			case test.Status == report.TestPassed:
				passed = append(passed, name)
			}
		}
	}
	return passed
}

type coverageKey struct {
	rule          *analysis.Rule
	link          analysis.Link
	notifications bool
}

// write writes the report, without the secrets from flags.
func (r *run) write(w io.Writer, whole *report.Report) error {
	var b bytes.Buffer // a secret written in two pieces would not be found
	if err := report.Write(&b, r.o.Format, whole); err != nil {
		return err
	}
	_, err := io.WriteString(w, r.agents.masks().Text(b.String()))
	return err
}

// suiteOf returns an agent's results in the form of reports.
func suiteOf(name string, r *probe.Report, cut bool) report.Suite {
	s := report.Suite{Agent: name, URL: r.URL, Notes: slices.Clone(r.Notes), Cut: cut, Shut: r.Shut, Unasked: true}
	s.Level, s.Reason = r.Level()
	if r.Card != nil {
		s.Name, s.Version = r.Card.Name, r.Card.Version
	}
	for i := range r.Results {
		s.Tests = append(s.Tests, testOf(&r.Results[i]))
		s.Unasked = s.Unasked && r.Results[i].Protocol == (client.Protocol{})
	}
	return s
}

func testOf(r *probe.Result) report.Test {
	t, s := r.Test, r.Scenario
	t.Title, t.Category, t.Severity, t.Sections, t.Tags, t.Fix = s.Title, s.Category, r.Severity(), s.Sections, s.Tags, s.Fix
	return t
}
