package probe_test

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

var (
	isCard    = agenttest.Path("GET", `\.well-known`)
	cancels   = agenttest.Either(agenttest.RPC("CancelTask"), agenttest.Path("POST", `:cancel$`))
	getsRPC   = agenttest.RPC("GetTask")
	getsREST  = agenttest.Path("GET", `^/spec/tasks/[^/:]+$`)
	joinsRPC  = agenttest.RPC("SubscribeToTask")
	joinsREST = agenttest.Path("POST", `:subscribe$`)
	sends     = agenttest.Either(agenttest.RPC("SendMessage"), agenttest.Path("POST", `message:send$`))
	nobodys   = "00000000-0000-0000-0000-000000000000"
)

// An acceptanceFault says which tests of the suite fail because of something; no other one does.
type acceptanceFault struct {
	name  string
	opts  refagent.Options
	by    agenttest.Breaker // nil if the agents themselves are at fault
	wait  time.Duration     // as timeout, where something hangs
	fails string            // names of cases; both/ID stands for both bindings of 1.0
}

// Faults that real agents have shown, under their numbers.
var acceptanceFaults = []acceptanceFault{
	{
		name: "F1 returnImmediately is not heeded", opts: refagent.Options{CancelWait: 20 * time.Millisecond},
		by: agenttest.Asking(sends, `"returnImmediately":true`, `"returnImmediately":false`),
		fails: `both/spec-task-cancel both/spec-cancel-with-metadata both/spec-return-immediately both/subscribe-to-task
			jsonrpc/spec-long-running`,
	},
	{
		name: "F2 lists are null", by: agenttest.Changing(isCard, `"default(Input|Output)Modes":\[[^]]*\]`, `"default${1}Modes":null`),
		fails: "both/agent-card-echo",
	},
	{
		name: "F3 a subscription to nobody's task is an empty stream",
		by: agenttest.Answering(agenttest.Path("POST", nobodys+":subscribe$"), func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "text/event-stream")
		}),
		fails: "rest/error-subscribe-not-found",
	},
	{
		name: "F3 a subscription to nobody's task hangs", wait: 10 * time.Second,
		by: agenttest.Answering(agenttest.Path("POST", nobodys+":subscribe$"), func(_ http.ResponseWriter, r *http.Request, _ string) {
			<-r.Context().Done()
		}),
		fails: "rest/error-subscribe-not-found",
	},
	{
		name: "F3 a task that has ended can be subscribed to", opts: refagent.Options{Fault: "state-subscribe-terminal"},
		fails: "both/subscribe-terminal",
	},
	{
		name: "F5 the metadata of a cancellation is lost", by: agenttest.Asking(cancels, `"metadata":\{[^}]*\}`, `"metadata":{}`),
		fails: "both/spec-cancel-with-metadata",
	},
	{
		name:  "F6 lists ask for credentials, and fail",
		by:    agenttest.All(agenttest.Refusing(agenttest.RPC("ListTasks"), -31401), agenttest.Failing(agenttest.Path("GET", `^/spec/tasks$`), 500)),
		fails: "both/spec-list-tasks",
	},
	{
		name: "F7 push configs are not implemented", by: agenttest.Failing(agenttest.Path("POST", `/pushNotificationConfigs$`), 501),
		fails: "rest/error-push-not-supported",
	},
	{
		name: "F8 streams do not begin with the task", opts: refagent.Options{Fault: "stream-first-event"},
		fails: "both/stream-task-lifecycle",
	},
	{
		name: "F9 a message that names no context gets a new one", opts: refagent.Options{Fault: "id-context-inferred"},
		fails: "both/multi-turn-context-preserved",
	},
	{
		name: "F10 tasks cannot be read", by: agenttest.Failing(getsREST, 500),
		fails: `rest/spec-task-lifecycle rest/spec-get-task rest/spec-task-cancel rest/spec-return-immediately
			rest/error-task-not-found rest/get-task-with-history rest/get-task-after-failure
			rest/spec-task-lifecycle-return-immediately`,
	},
	{
		name: "F11 a subscription to a task that has ended is an invalid parameter",
		by:   agenttest.Changing(joinsRPC, `-32004`, `-32602`), fails: "jsonrpc/subscribe-terminal",
	},
	{
		name: "F12 0.3 without a version header is refused",
		by: agenttest.Refusing(func(r *http.Request, _ string) bool {
			return r.Method == "POST" && r.URL.Path == "/spec03" && r.Header.Get("A2A-Version") == ""
		}, -32009),
		fails: `v03/spec03-send-message v03/spec03-task-lifecycle v03/spec03-streaming v03/spec03-streaming-final
			v03/v03-task-failure v03/v03-get-task`,
	},
	{
		name: "F13 each turn has a new context",
		by: agenttest.All(agenttest.Asking(sends, `"contextId":"[^"]*",?`, ``),
			agenttest.ChangingBy(sends, `"contextId":"[^"]*"`, agenttest.Counted(`"contextId":"c%d"`))),
		fails: "both/multi-turn-context-preserved",
	},
	{
		name: "F14 tasks work for ever", wait: 10 * time.Second,
		by: agenttest.Changing(agenttest.Anything, `TASK_STATE_COMPLETED`, `TASK_STATE_WORKING`),
		fails: `both/spec-task-lifecycle both/spec-get-task both/spec-data-types both/error-cancel-terminal
			both/error-send-terminal both/spec-streaming both/stream-task-lifecycle both/spec-multi-turn both/spec-list-tasks
			both/spec-return-immediately both/get-task-with-history both/subscribe-after-stream-disconnect
			both/subscribe-terminal both/error-cancel-terminal-code both/error-send-terminal-code
			both/spec-task-lifecycle-return-immediately jsonrpc/spec-long-running both/wire-format-enum-values`,
	},
	{
		name: "F14 streams end early", opts: refagent.Options{Fault: "stream-truncated"},
		fails: `both/spec-streaming both/stream-task-lifecycle v03/spec03-streaming v03/spec03-streaming-final
			both/subscribe-after-stream-disconnect`,
	},
	{
		name:  "F15 push configs are taken without the capability",
		opts:  refagent.Options{Push: true, Fault: "push-unsupported-error"},
		fails: "both/error-push-not-supported",
	},
	{
		name: "F23 only GET subscribes",
		by: func(agent http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if joinsREST(r, "") {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				agent.ServeHTTP(w, r)
			})
		},
	},
	{
		name: "F27 a subscription to nobody's task is an internal error", by: agenttest.Changing(joinsRPC, `-32001`, `-32603`),
		fails: "jsonrpc/error-subscribe-not-found",
	},
	{
		name: "F28 there is no history", by: agenttest.Asking(agenttest.Either(getsRPC, getsREST), `(historyLength"?[:=])10`, `${1}0`),
		fails: "both/get-task-with-history",
	},
	{
		name: "F29 streams of 0.3 have no final event", opts: refagent.Options{Fault: "stream-terminal-without-final"},
		fails: "v03/spec03-streaming-final",
	},
}

// failedCases are the names of the cases that failed.
func failedCases(report *probe.Report) []string {
	var names []string
	for _, r := range report.Results {
		if r.Bad() {
			names = append(names, r.Test)
		}
	}
	slices.Sort(names)
	return names
}

// The runs mostly wait, so many go on at the same time.
func TestAcceptanceFaults(t *testing.T) {
	t.Parallel()
	faults := slices.Concat(acceptanceFaults, moreAcceptanceFaults)
	reports := make([]*probe.Report, len(faults))
	errs := make([]error, len(faults))
	var runs sync.WaitGroup
	free := make(chan struct{}, 8)
	for i, tt := range faults {
		tt.opts.StepTime = 5 * time.Millisecond
		if strings.Contains(tt.fails, "subscribe-after-stream-disconnect") {
			tt.opts.StepTime = 100 * time.Millisecond // the task must not be over before the second stream
		}
		url := threeAgents(t, tt.opts, tt.by)
		o := probe.Options{
			Scenarios: suite(t, scenarios.AcceptanceSuite), Parallel: 8, Timeout: cmp.Or(tt.wait, 30*time.Second),
		}
		free <- struct{}{}
		runs.Go(func() {
			defer func() { <-free }()
			reports[i], errs[i] = probe.Run(t.Context(), url, o)
		})
	}
	runs.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, tt := range faults {
		t.Run(tt.name, func(t *testing.T) { judgeFault(t, reports[i], tt.fails) })
	}
}

// judgeFault asserts which cases failed, and that none found the agent gone.
func judgeFault(t *testing.T, report *probe.Report, fails string) {
	want := expand(fails)
	slices.Sort(want)
	if diff := gocmp.Diff(want, failedCases(report)); diff != "" {
		t.Errorf("cases that fail (-want +got):\n%s", diff)
	}
	for _, r := range report.Results {
		if r.Bad() && (r.Status != probe.Failed || !slices.Contains(want, r.Test)) {
			t.Errorf("%s %s: %s\n%s\n%s", r.Status, r.Test, r.Message, r.Request, r.Answer)
		}
	}
}

// Every test of the suite, on every binding, fails under one of the faults.
func TestAcceptanceTestsCanFail(t *testing.T) {
	var fail []string
	for _, tt := range slices.Concat(acceptanceFaults, moreAcceptanceFaults) {
		fail = append(fail, expand(tt.fails)...)
	}
	prefix := map[string]string{"1.0 JSONRPC": "jsonrpc", "1.0 HTTP+JSON": "rest", "0.3 JSONRPC": "v03"}
	for _, s := range suite(t, scenarios.AcceptanceSuite) {
		for _, p := range s.Protocols {
			name := fmt.Sprintf("%s/%s", prefix[p.Version+" "+p.Binding], s.ID)
			if !slices.Contains(fail, name) {
				t.Errorf("no fault makes %s fail", name)
			}
		}
	}
}

// expand writes both/ID out as jsonrpc/ID and rest/ID.
func expand(names string) []string {
	var list []string
	for _, name := range strings.Fields(names) {
		if id, ok := strings.CutPrefix(name, "both/"); ok {
			list = append(list, "jsonrpc/"+id, "rest/"+id)
			continue
		}
		list = append(list, name)
	}
	return list
}
