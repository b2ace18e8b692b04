package scenarios_test

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

	"a2atap/analyzer/analysis"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
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

// An acceptanceFault lists the tests of the suite that fail because of a fault; all others pass.
type acceptanceFault struct {
	name  string
	opts  refagent.Options
	by    agenttest.Breaker // nil if the agents themselves are faulty
	wait  time.Duration     // timeout, for faults that make a request hang
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
		name: "F3 a subscription to an unknown task is an empty stream",
		by: agenttest.Answering(agenttest.Path("POST", nobodys+":subscribe$"), func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Type", "text/event-stream")
		}),
		fails: "rest/error-subscribe-not-found",
	},
	{
		name: "F3 a subscription to an unknown task hangs", wait: 4 * time.Second,
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
		name: "F14 tasks work for ever", wait: 4 * time.Second,
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
		name: "F27 a subscription to an unknown task is an internal error", by: agenttest.Changing(joinsRPC, `-32001`, `-32603`),
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

	// More faults, so that each test fails at least once.
	{name: "a card without version", opts: faulty("card-required-fields"), fails: "both/agent-card-echo"},
	{name: "a skill without name", opts: faulty("card-required-nested"), fails: "both/agent-card-spec"},
	{
		name: "no interface for HTTP+JSON", by: agenttest.Changing(isCard, `"HTTP\+JSON"`, `"GRPC"`),
		fails: "rest/agent-card-echo rest/agent-card-spec",
	},
	{
		name: "no echo agent",
		by: agenttest.Answering(agenttest.Path("GET", "^/echo"), func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(http.StatusNotFound)
		}),
		fails: "both/agent-card-echo",
	},
	{
		name: "a card of 0.3 that says of which version it is by mistake", opts: faulty("card-protocol-version-present"),
		fails: "v03/spec03-agent-card",
	},
	{name: "messages without id", opts: faulty("msg-id-present"), fails: "both/echo-send-message"},
	{
		name: "messages in the role of the user", opts: faulty("msg-role-server"),
		fails: `both/echo-send-message both/spec-message-only both/spec-task-failure both/spec-multi-turn
			v03/spec03-send-message v03/v03-task-failure jsonrpc/spec-help both/wire-format-enum-values`,
	},
	{
		name: "results in messages", opts: faulty("output-in-message"),
		fails: `both/spec-task-lifecycle both/spec-data-types both/spec-return-immediately v03/spec03-task-lifecycle
			both/spec-task-lifecycle-return-immediately jsonrpc/spec-long-running both/wire-format-camelcase`,
	},
	{name: "history that nobody wants", opts: faulty("history-max"), fails: "both/spec-get-task"},
	{
		name: "failed tasks that are completed",
		by: agenttest.All(agenttest.Changing(agenttest.Anything, `TASK_STATE_FAILED`, `TASK_STATE_COMPLETED`),
			agenttest.Changing(agenttest.Anything, `"state":"failed"`, `"state":"completed"`)),
		fails: "both/spec-task-failure both/get-task-after-failure v03/v03-task-failure",
	},
	{
		name: "files without media type", by: agenttest.Changing(agenttest.Anything, `"mediaType"`, `"mimeType"`),
		fails: "both/spec-data-types",
	},
	{
		name: "an event after the last", opts: faulty("stream-closed-on-terminal"),
		fails: "both/spec-streaming both/stream-task-lifecycle both/subscribe-after-stream-disconnect",
	},
	{name: "two messages in a stream", opts: faulty("stream-message-only"), fails: "both/stream-message-only"},
	{name: "a last event without its blank line", opts: faulty("sse-unterminated-event")},
	{
		name: "streams without events", opts: faulty("stream-empty"),
		fails: `both/spec-streaming both/subscribe-to-task both/stream-message-only both/stream-task-lifecycle
			v03/spec03-streaming v03/spec03-streaming-final both/subscribe-after-stream-disconnect`,
	},
	{
		name: "events without their envelope", opts: faulty("stream-rpc-envelope"),
		fails: `jsonrpc/spec-streaming jsonrpc/subscribe-to-task jsonrpc/stream-message-only
			jsonrpc/stream-task-lifecycle v03/spec03-streaming v03/spec03-streaming-final
			jsonrpc/subscribe-after-stream-disconnect`,
	},
	{
		name: "events in an envelope", opts: faulty("stream-rest-bare"),
		fails: `rest/spec-streaming rest/subscribe-to-task rest/stream-message-only rest/stream-task-lifecycle
			rest/subscribe-after-stream-disconnect`,
	},
	{
		name: "a new task for each turn", opts: faulty("id-task-continued"),
		fails: "both/spec-multi-turn both/multi-turn-context-preserved",
	},
	{
		name: "finished tasks that can be canceled", opts: faulty("state-cancel-terminal"),
		fails: "both/error-cancel-terminal both/error-cancel-terminal-code",
	},
	{
		name: "the wrong error for them", opts: faulty("state-cancel-terminal-code"),
		by: agenttest.RefusedWith(agenttest.Path("POST", `:cancel$`), 422), fails: "both/error-cancel-terminal-code",
	},
	{
		name: "finished tasks that take messages", opts: faulty("state-send-terminal-rejected-v1"),
		fails: "both/error-send-terminal both/error-send-terminal-code",
	},
	{
		name: "the wrong error for those", opts: faulty("state-send-terminal-code"),
		by:    agenttest.RefusedWith(agenttest.Path("POST", `message:send$`), 422),
		fails: "both/error-send-terminal-code",
	},
	{
		name: "an internal error for nobody's task", opts: faulty("error-internal-for-named-case"),
		fails: "both/error-cancel-not-found",
	},
	{
		name: "errors without a text", opts: faulty("rpc-error-message"),
		fails: `jsonrpc/error-task-not-found jsonrpc/error-cancel-not-found jsonrpc/error-send-invalid-task
			jsonrpc/error-push-not-supported jsonrpc/error-subscribe-not-found jsonrpc/subscribe-terminal
			jsonrpc/error-cancel-terminal-code jsonrpc/error-send-terminal-code jsonrpc/error-method-not-found
			jsonrpc/error-invalid-json`,
	},
	{
		name: "a message to an unknown task that makes one", by: agenttest.Asking(sends, `,"taskId":"`+nobodys+`"`, ``),
		fails: "both/error-send-invalid-task",
	},
	{name: "errors without reason", opts: faulty("rest-errorinfo-present"), fails: "rest/error-task-not-found"},
	{
		name: "the extended card for everybody", opts: faulty("auth-extended-card-server"),
		fails: "both/spec-extended-card",
	},
	{
		name: "names as the proto has them", by: agenttest.Changing(sends, `"contextId"`, `"context_id"`),
		fails: "both/wire-format-camelcase",
	},
	{
		name:  "ids that are empty",
		by:    agenttest.Changing(agenttest.Anything, `"message":\{(.*)"contextId":"[^"]*"`, `"message":{${1}"contextId":""`),
		fails: "both/wire-format-default-values-omitted",
	},
	{
		name: "parts of 0.3 that do not say what they are", opts: faulty("part-discriminator"),
		fails: "v03/spec03-send-message v03/spec03-task-lifecycle v03/v03-task-failure",
	},
	{name: "tasks of 0.3 of another kind", opts: faulty("task-kind"), fails: "v03/v03-get-task"},
}

// failedCases returns the names of the failed cases.
func failedCases(report *probe.Report) []string {
	var names []string
	for _, r := range report.Results {
		if r.Bad() {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	return names
}

// The runs mostly wait, so many run in parallel.
func TestAcceptanceFaults(t *testing.T) {
	t.Parallel()
	faults := acceptanceFaults
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
		o := probe.Options{Scenarios: acceptanceCases(t, tt.fails), Parallel: 8, Timeout: cmp.Or(tt.wait, 30*time.Second)}
		free <- struct{}{}
		runs.Go(func() {
			defer func() { <-free }()
			reports[i], errs[i] = probe.Run(t.Context(), url, o)
		})
	}
	runs.Wait()
	must.Do(t, errors.Join(errs...))
	for i, tt := range faults {
		t.Run(tt.name, func(t *testing.T) {
			judgeFault(t, reports[i], tt.fails)
			for _, r := range reports[i].Results {
				if r.Bad() && slices.Contains(r.Scenario.Tags, "S3-12") { // a failure of these makes the exit status 1
					expect.Equal(t, r.Name, analysis.Error, r.Severity())
				}
			}
		})
	}
}

// acceptanceCases returns the suite, or only the cases that should fail and one in ten of the others.
func acceptanceCases(t *testing.T, fails string) []*probe.Scenario {
	t.Helper()
	named := make(map[string]bool)
	for _, name := range strings.Fields(fails) {
		_, id, _ := strings.Cut(name, "/")
		named[id] = true
	}
	return fewer(suite(t, scenarios.AcceptanceSuite), 10, 1, func(s *probe.Scenario) bool { return named[s.ID] })
}

// fewer returns all scenarios, or the wanted ones and one in n of the others; turn selects which of those.
func fewer(all []*probe.Scenario, n, turn int, wanted func(*probe.Scenario) bool) []*probe.Scenario {
	if everyCase {
		return all
	}
	others := 0
	return slices.DeleteFunc(slices.Clone(all), func(s *probe.Scenario) bool {
		if wanted(s) {
			return false
		}
		others++
		return others%n != turn%n
	})
}

// judgeFault checks which cases failed, and that the agent survived all of them.
func judgeFault(t *testing.T, report *probe.Report, fails string) {
	want := expand(fails)
	slices.Sort(want)
	expect.Same(t, "cases that fail", want, failedCases(report))
	for _, r := range report.Results {
		if r.Bad() && (r.Status != probe.Failed || !slices.Contains(want, r.Name)) {
			t.Errorf("%s %s: %s\n%s\n%s", r.Status, r.Name, r.Message, r.Request, r.Answer)
		}
	}
}

// Every test of the suite, on every binding, fails under one of the faults.
func TestAcceptanceTestsCanFail(t *testing.T) {
	var fail []string
	for _, tt := range acceptanceFaults {
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

// expand expands both/ID to jsonrpc/ID and rest/ID.
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

func faulty(slug string) refagent.Options { return refagent.Options{Fault: slug} }
