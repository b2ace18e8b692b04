package verdict

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/a2a"
	"a2atap/proxy/must"
)

// A dialog is how one version of the protocol configures a webhook, and notifies it.
type dialog struct {
	name               string
	send, answer, card string
	working, completed string
	mediaType          string
	rules              map[string]string // by fault: the rule that finds it
}

const pushAuth = `"token":"tok-1","authentication":{"schemes":["Bearer"],"credentials":"secret-1"}`

var (
	oldRules = map[string]string{
		"method": "hook-post", "type": "hook-content-type-0x", "auth": "hook-auth-0x", "token": "hook-token",
		"payload": "hook-payload-0x",
	}
	newRules = map[string]string{
		"method": "hook-post", "type": "hook-content-type", "auth": "hook-auth", "token": "hook-token-v1",
		"payload": "hook-payload",
	}
)

func task(kind, context, state string) string {
	return `{` + kind + `"id":"t1","` + context + `":"c1","status":{"state":"` + state + `","timestamp":"2026-03-12T10:00:00.000Z"}}`
}

func update(state string) string {
	return `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"` + state + `","timestamp":"2026-03-12T10:00:00.000Z"}}}`
}

func older(name string) dialog {
	const kind = `"kind":"task",`
	return dialog{
		name: name, mediaType: "application/json", rules: oldRules,
		card: `{"protocolVersion":"` + name + `.0","name":"Booker","url":"http://booker.example:9001/rpc","capabilities":{"pushNotifications":true}}`,
		send: `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m1","role":"user",` +
			`"parts":[{"kind":"text","text":"book"}]},"configuration":{"blocking":false,"pushNotificationConfig":{` +
			`"url":"http://planner.example:9002/hook",` + pushAuth + `}}}}`,
		answer:  `{"jsonrpc":"2.0","id":1,"result":` + task(kind, "contextId", "working") + `}`,
		working: task(kind, "contextId", "working"), completed: task(kind, "contextId", "completed"),
	}
}

var dialogs = []dialog{
	{
		name: "0.1", mediaType: "application/json", rules: oldRules,
		card: `{"name":"Booker","url":"http://booker.example:9001/rpc","version":"1","capabilities":{"pushNotifications":true}}`,
		send: `{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t1","sessionId":"c1","message":{"role":"user",` +
			`"parts":[{"type":"text","text":"book"}]},"pushNotification":{"url":"http://planner.example:9002/hook",` + pushAuth + `}}}`,
		answer:  `{"jsonrpc":"2.0","id":1,"result":` + task("", "sessionId", "working") + `}`,
		working: task("", "sessionId", "working"), completed: task("", "sessionId", "completed"),
	},
	older("0.2"),
	older("0.3"),
	{
		name: "1.0", mediaType: "application/a2a+json", rules: newRules,
		card: `{"name":"Booker","supportedInterfaces":[{"url":"http://booker.example:9001/rpc","protocolBinding":"JSONRPC",` +
			`"protocolVersion":"1.0"}],"capabilities":{"pushNotifications":true}}`,
		send: `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER",` +
			`"parts":[{"text":"book"}]},"configuration":{"returnImmediately":true,"taskPushNotificationConfig":{` +
			`"url":"http://planner.example:9002/hook","token":"tok-1","authentication":{"scheme":"Bearer","credentials":"secret-1"}}}}}`,
		answer:  `{"jsonrpc":"2.0","id":1,"result":{"task":` + task("", "contextId", "TASK_STATE_WORKING") + `}}`,
		working: update("TASK_STATE_WORKING"), completed: update("TASK_STATE_COMPLETED"),
	},
}

// A delivery is how an agent sends a notification.
type delivery struct{ method, mediaType, auth, token, body string }

// notificationFaults are what agents do wrong, and the kind of the rule that finds it; "" finds nothing.
var notificationFaults = []struct {
	name, kind string
	change     func(*delivery)
}{
	{"as it should be", "", func(*delivery) {}},
	{"PATCH", "method", func(d *delivery) { d.method = "PATCH" }},
	{"PUT", "method", func(d *delivery) { d.method = "PUT" }},
	{"GET with a body", "method", func(d *delivery) { d.method = "GET" }},
	{"media type", "type", func(d *delivery) { d.mediaType = "application/octet-stream" }},
	{"no credentials", "auth", func(d *delivery) { d.auth = "" }},
	{"other credentials", "auth", func(d *delivery) { d.auth = "Bearer secret-2" }},
	{"other scheme", "auth", func(d *delivery) { d.auth = "Basic dXNlcjpwYXNz" }},
	{"no token", "token", func(d *delivery) { d.token = "" }},
	{"other token", "token", func(d *delivery) { d.token = "tok-2" }},
	{"a list", "payload", func(d *delivery) { d.body = "[]" }},
	{"an empty object", "payload", func(d *delivery) { d.body = "{}" }},
	{"an event", "payload", func(d *delivery) { d.body = `{"event":"done","data":{"at":7}}` }},
	{"a JSON-RPC request", "payload", func(d *delivery) { d.body = `{"jsonrpc":"2.0","method":"notify","params":{"at":7}}` }},
	{"a call", "payload", func(d *delivery) {
		d.body = `{"jsonrpc":"2.0","method":"message/send","params":{"message":{"role":"user","parts":[]}}}`
	}},
	{"nothing", "payload", func(d *delivery) { d.body = "" }},
}

// receivers are what receivers do with notifications.
var receivers = []struct {
	name, response, meta string
	fails                bool
}{
	{"accepts", "HTTP/1.1 204 No Content\n", "", false},
	{"refuses", "HTTP/1.1 400 Bad Request\nContent-Length: 0\n", "", true},
	{"fails", "HTTP/1.1 500 Internal Server Error\nContent-Length: 0\n", "", true},
	{"redirects", "HTTP/1.1 307 Temporary Redirect\nLocation: /other\nContent-Length: 0\n", "", true},
	{"closes", "", "fault: truncated agent \"connection closed before the answer began\"\n", true},
	{"resets", "", "fault: reset agent \"connection reset by peer\"\n", true},
	{"hangs", "", "fault: client-left client \"the client left\"\n", true},
	{"is unreachable", "", "fault: unreachable agent \"connect to the webhook at planner.example:9002: connection refused\"\n", true},
}

const named = "client: planner addr 127.0.0.1:5001 how header\nagent: booker addr 127.0.0.1:9001 url http://booker.example:9001\n"

// recording returns the transcript of a recording in which the agent sends two notifications.
func (v *dialog) recording(change func(*delivery), response, meta string) string {
	var b strings.Builder
	version := ""
	if v.name == "1.0" {
		version = "A2A-Version: 1.0\n"
	}
	fmt.Fprintf(&b, "-- 1.request --\nGET /.well-known/agent-card.json HTTP/1.1\nHost: booker.example:9001\n\n"+
		"-- 1.response --\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n%s\n-- 1.meta --\n%s"+
		"-- 2.request --\nPOST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\n%s\n%s\n"+
		"-- 2.response --\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n%s\n-- 2.meta --\n%s", v.card, named, version, v.send, v.answer, named)
	for i, body := range []string{v.working, v.completed} {
		d := delivery{"POST", v.mediaType, "Bearer secret-1", "tok-1", body}
		change(&d)
		n := i + 3
		fmt.Fprintf(&b, "-- %d.request --\n%s /hook HTTP/1.1\nHost: planner.example:9002\n", n, d.method)
		for _, field := range [][2]string{
			{"Content-Type", d.mediaType}, {"Authorization", d.auth}, {"X-A2A-Notification-Token", d.token},
		} {
			if field[1] != "" {
				fmt.Fprintf(&b, "%s: %s\n", field[0], field[1])
			}
		}
		b.WriteString("\n")
		if d.body != "" {
			b.WriteString(d.body + "\n")
		}
		if response != "" {
			fmt.Fprintf(&b, "-- %d.response --\n%s\n", n, response)
		}
		fmt.Fprintf(&b, "-- %d.meta --\nclient: booker addr 127.0.0.1:5002 how webhook\n"+
			"agent: planner addr 127.0.0.1:9002 url http://planner.example:9002\n%s", n, meta)
	}
	return b.String()
}

// Whatever an agent does wrong with a notification, and whatever the receiver does with it: the agent is named as the one
// at fault in every format, --agent selects by what programs do and not by who sent the request, and what the receiver
// never accepted has failed.
func TestNotificationFaults(t *testing.T) {
	for i, v := range dialogs {
		for f, fault := range notificationFaults {
			for r, receiver := range receivers {
				if (i+f+r)%oneIn != 0 {
					continue
				}
				t.Run(v.name+"/"+fault.name+"/"+receiver.name, func(t *testing.T) {
					one := open(t, v.recording(fault.change, receiver.response, receiver.meta))
					rule := v.rules[fault.kind]
					one.found(t, rule)
					one.count(t, receiver.fails)
					one.selects(t, rule, receiver.fails)
					one.conforms(t, rule)
					if rule != "" && (f+r)%len(receivers) < 2 { // the formats do not know of receivers
						one.formats(t, rule)
					}
				})
			}
		}
	}
}

// --agent of a program that is an agent, and the client of another one, selects what it does as an agent.
func TestAgentThatReceivesNotifications(t *testing.T) {
	v := dialogs[3]
	asks := strings.NewReplacer("agent: booker addr 127.0.0.1:9001 url http://booker.example:9001", "agent: planner addr 127.0.0.1:9002 url http://planner.example:9002",
		"client: planner addr 127.0.0.1:5001", "client: user addr 127.0.0.1:5003", "booker.example:9001", "planner.example:9002")
	text := v.recording(func(d *delivery) { d.method = "PATCH" }, receivers[0].response, "")
	call, _, _ := strings.Cut(asks.Replace(text), "-- 3.request --")
	one := open(t, text+strings.NewReplacer("-- 1.", "-- 5.", "-- 2.", "-- 6.").Replace(call))
	for expr, want := range map[string]int{
		"agent:planner": 2, "client:planner": 4, "agent:booker": 4, "client:booker": 0, "client:user": 2,
		"link:booker->planner": 2, "agent:booker rule:hook-post": 2, "agent:planner rule:hook-post": 0,
	} {
		r := one.again()
		must.Do(t, must.Get(ParseSelection(expr, ""))(t).choose(t.Context(), one.capture, r))
		if r.Counts.Exchanges != want {
			t.Errorf("%s selects %d exchanges, want %d", expr, r.Counts.Exchanges, want)
		}
	}
	for agent, want := range map[string][2]int{"planner": {2, 0}, "booker": {4, 2}} {
		r := one.again()
		must.Do(t, must.Get(ParseSelection("", agent))(t).Apply(t.Context(), one.capture, r))
		broken := 0
		for _, f := range r.Findings {
			if f.Rule.ID == "hook-post" {
				broken++
			}
		}
		if r.Counts.Exchanges != want[0] || broken != want[1] {
			t.Errorf("--agent %s selects %d exchanges and %d of hook-post, want %v", agent, r.Counts.Exchanges, broken, want)
		}
		for _, c := range r.Coverage {
			if c.Programs().Agent != agent {
				t.Errorf("--agent %s covers %s on %s", agent, c.Rule.ID, c.Link)
			}
		}
	}
}

// An opened is a recording that was checked.
type opened struct {
	capture *Capture
	whole   *judgment.Result        // is not to be changed
	again   func() *judgment.Result // returns the same
}

func open(t *testing.T, transcript string) opened {
	t.Helper()
	name := filepath.Join(t.TempDir(), "c.txtar")
	must.Do(t, os.WriteFile(name, []byte(transcript), 0o600))
	e := cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Now: time.Now}
	src := must.Get(source.Open(e, name))(t)
	t.Cleanup(func() { src.Close() })
	once := func() *Capture {
		j := must.Get(Open(t.Context(), e, "check", name, src, How{}))(t)
		t.Cleanup(func() { j.Close() })
		return j
	}
	again := func() *judgment.Result {
		j := once()
		r := must.Get(j.Complete(t.Context(), src))(t)
		r.Explain()
		return r
	}
	return opened{once(), again(), again}
}

// found compares what the agent broke with the one rule that it should have broken.
func (o *opened) found(t *testing.T, rule string) {
	t.Helper()
	var broken []string
	for _, f := range o.whole.Findings {
		switch {
		case f.Operation != a2a.Webhook:
		case f.Side == a2a.Agent && f.Program() != "booker", f.Side == a2a.Receiver && f.Program() != "planner":
			t.Errorf("%s is at fault: %s", f.Program(), f.String())
		case f.Side == a2a.Agent && !slices.Contains(broken, f.Rule.ID):
			broken = append(broken, f.Rule.ID)
		case f.Rule.ID == "hook-receiver-2xx" && rule == "hook-post":
			t.Errorf("a receiver has to accept POST alone: %s", f.String())
		}
	}
	if want := strings.Fields(rule); !slices.Equal(broken, want) {
		t.Errorf("the agent broke %q, want %q", broken, want)
	}
}

// count compares the number of notifications that failed.
func (o *opened) count(t *testing.T, fails bool) {
	t.Helper()
	r, want := o.whole, 0
	if fails {
		want = 2
	}
	failed, listed := 0, 0
	for _, c := range r.Calls {
		if c.Link == (analysis.Link{Client: "booker", Agent: "planner"}) {
			failed += c.Failed
		}
	}
	for _, f := range r.FailedCalls {
		if f.Operation == a2a.Webhook.String() {
			listed += f.Count
		}
	}
	if failed != want || listed != want {
		t.Errorf("%d notifications failed, and %d are listed; want %d", failed, listed, want)
	}
	if status := r.Verdict(analysis.Error).Status; fails && status == judgment.StatusClean {
		t.Errorf("the verdict is %s", r.Verdict(analysis.Error))
	}
}

// selects compares what --agent selects.
func (o *opened) selects(t *testing.T, rule string, fails bool) {
	t.Helper()
	of := func(agent string) *judgment.Result {
		r := o.again()
		must.Do(t, must.Get(ParseSelection("", agent))(t).Apply(t.Context(), o.capture, r))
		return r
	}
	sender := of("booker")
	has := slices.ContainsFunc(sender.Findings, func(f analysis.Finding) bool { return f.Rule.ID == rule })
	if sender.Counts.Exchanges != 4 || rule != "" && !has {
		t.Errorf("--agent booker selects %d exchanges, with %s: %v", sender.Counts.Exchanges, rule, has)
	}
	if status := sender.Verdict(analysis.Error).Status; fails && status == judgment.StatusClean {
		t.Errorf("--agent booker: %s", sender.Verdict(analysis.Error))
	}
	if receiver := of("planner"); receiver.Counts.Exchanges != 0 || receiver.Nothing == "" {
		t.Errorf("--agent planner selects %d exchanges, of an agent that nobody called", receiver.Counts.Exchanges)
	}
}

// conforms looks for the rule in the conformance of the sender.
func (o *opened) conforms(t *testing.T, rule string) {
	t.Helper()
	reports := report.Conformances(&report.Report{Result: o.whole, Rules: rules.All, Gate: analysis.Error})
	if len(reports) != 1 || reports[0].AgentName != "Booker" {
		t.Fatalf("conformance of %d agents, want booker's alone", len(reports))
	}
	for _, list := range reports[0].Categories {
		for _, result := range list {
			severe := rules.ByID(result.Test).Severity() == analysis.Error
			switch {
			case result.Test == rule && (result.Status == "skip" || result.Message == ""):
				t.Errorf("%s: %s %q", rule, result.Status, result.Message)
			case result.Test == rule && severe && result.Status != "fail" && rule != "hook-auth-0x", // which may be a warning
				result.Test != rule && result.Status == "fail" && strings.HasPrefix(result.Test, "hook-"):
				t.Errorf("%s: %s", result.Test, result.Status)
			}
		}
	}
}

// formats looks for the name of the sender in every format.
func (o *opened) formats(t *testing.T, rule string) {
	t.Helper()
	r := o.again()
	r.Keep(func(f *analysis.Finding) bool { return f.Rule.ID == rule })
	accuses := rules.ByID(rule).Level != analysis.Advice // advice accuses no program
	for _, format := range report.Formats() {
		var b strings.Builder
		must.Do(t, report.Write(&b, format, &report.Report{Result: r, Rules: rules.All, Gate: analysis.Note, Now: time.Unix(0, 0)}))
		text, want := b.String(), "agent booker"
		if format == "json" {
			want = `"program": "booker"`
		}
		if !strings.Contains(text, want) && (accuses || format == "json") || strings.Contains(text, "agent planner") {
			t.Errorf("%s names %s: %v, %s: %v", format, want, strings.Contains(text, want), "agent planner",
				strings.Contains(text, "agent planner"))
		}
	}
}
