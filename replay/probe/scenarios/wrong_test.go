package scenarios_test

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// A wrong is an agent with a fault, and the cases that find it.
type wrong struct {
	name  string // of a fault of the agent, unless twist is set
	fault string // in addition to twist; may be empty
	agent string // spec if empty
	push  bool
	// bindings are the served bindings; empty for the agent's usual ones.
	bindings []string
	// tenants are the served tenants.
	tenants []string
	auth    *refagent.Credentials
	client  client.Options
	second  *client.Options
	only    string // the only scenario to run; empty for all
	// patience is the timeout of a task; 5 seconds if it is 0. A short one is for faults that let it expire.
	patience time.Duration
	twist    func(next http.Handler) http.Handler
	heard    func([]byte) []byte // changes data on connections, but not its length; may be nil
	fails    []string            // all that fail: a scenario by id if each of its cases does
}

// testWrong runs scenarios against faulty agents. Each scenario must fail at least once.
func testWrong(t *testing.T, scenarios []*probe.Scenario, tests []wrong) {
	t.Parallel()
	var failed []string
	for _, tt := range tests {
		for _, name := range tt.fails {
			failed = append(failed, name[strings.LastIndex(name, "/")+1:])
		}
	}
	for _, s := range scenarios {
		if !slices.Contains(failed, s.ID) {
			t.Errorf("nothing shows that %s can fail", s.ID)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			report := tt.run(t, scenarios)
			got, want := failedScenarios(report), slices.Clone(tt.fails)
			slices.Sort(want)
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("cases that fail (-want +got):\n%s", diff)
				for _, r := range report.Results {
					if r.Bad() {
						t.Logf("%s: %s", r.Name, r.Message)
					}
				}
			}
		})
	}
}

// failedScenarios returns the failures, sorted: the id of a scenario if all its cases failed, else the names of the
// cases.
func failedScenarios(report *probe.Report) []string {
	var failed []string
	all := map[string]bool{} // by scenario, whether all cases have failed
	for _, r := range report.Results {
		before, seen := all[r.Scenario.ID]
		all[r.Scenario.ID] = r.Bad() && (before || !seen)
	}
	for _, r := range report.Results {
		switch {
		case all[r.Scenario.ID]:
			failed = append(failed, r.Scenario.ID)
		case r.Bad():
			failed = append(failed, r.Name)
		}
	}
	slices.Sort(failed)
	return slices.Compact(failed)
}

// run probes a faulty agent.
func (tt *wrong) run(t *testing.T, scenarios []*probe.Scenario) *probe.Report {
	t.Helper()
	name := tt.agent
	if name == "" {
		name = "spec"
	}
	var ticks atomic.Int64
	o := refagent.Options{Bindings: tt.bindings, Push: tt.push, Auth: tt.auth, Tenants: tt.tenants, StepTime: 5 * time.Millisecond, Now: func() time.Time {
		return time.Now().Add(time.Duration(ticks.Add(1)) * time.Millisecond) // each state has a different time
	}}
	if tt.twist == nil && tt.heard == nil {
		o.Fault = tt.name
	}
	if tt.fault != "" {
		o.Fault = tt.fault
	}
	a := must.Get(refagent.New(name, o))(t)
	var handler http.Handler = a
	if tt.twist != nil {
		handler = tt.twist(a)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	if tt.heard != nil {
		server.Listener = &listener{server.Listener, tt.heard}
	}
	server.Start()
	t.Cleanup(func() {
		server.Close()
		a.Close()
	})
	if tt.only != "" {
		scenarios = slices.DeleteFunc(slices.Clone(scenarios), func(s *probe.Scenario) bool { return s.ID != tt.only })
	}
	report, err := probe.Run(context.Background(), server.URL+a.Path(), probe.Options{
		Scenarios: scenarios, Parallel: 1, Timeout: cmp.Or(tt.patience, 5*time.Second), Client: tt.client, Second: tt.second,
	})
	must.Do(t, err)
	return report
}

// A listener changes the data of its connections.
type listener struct {
	net.Listener
	heard func([]byte) []byte
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &conn{c, l.heard}, err
}

type conn struct {
	net.Conn
	heard func([]byte) []byte
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	copy(p[:n], c.heard(p[:n]))
	return n, err
}
