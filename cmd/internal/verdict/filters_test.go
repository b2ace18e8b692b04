package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/must"
)

// partly is a recording of two clients and two agents: a link with a success, a refusal and a failure, and one that works.
func partly() string {
	var b strings.Builder
	n := 0
	add := func(client, host, method, params, answer string) {
		n++
		fmt.Fprintf(&b, "-- %d.meta --\nclient: %s\nstarted: 2026-03-12T10:00:%02d.000Z\n-- %[1]d.request --\nPOST /rpc HTTP/1.1\n"+
			"Host: %[4]s\nContent-Type: application/json\nA2A-Version: 1.0\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n\n"+
			"{\"jsonrpc\":\"2.0\",\"id\":%[1]d,\"method\":%[5]q,\"params\":%[6]s}\n"+
			"-- %[1]d.response --\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"jsonrpc\":\"2.0\",\"id\":%[1]d,%[7]s}\n",
			n, client, n, host, method, params, answer)
	}
	const (
		booker, hotel = "booker.example:9001", "hotel.example:9002"
		message       = `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"book"}]}}`
		done          = `"result":{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}}`
		failed        = `"result":{"task":{"id":"t-3","contextId":"c-3","status":{"state":"TASK_STATE_FAILED"}}}`
	)
	add("planner", booker, "SendMessage", message, done)
	add("planner", booker, "GetTask", `{"id":"t-9"}`, `"error":{"code":-32001,"message":"no such task"}`)
	add("planner", booker, "GetTask", `{"id":"t-1"}`, `"error":{"code":-32603,"message":"database is down"}`)
	add("planner", booker, "SendMessage", message, done)
	add("planner", booker, "SendMessage", message, failed)
	add("desk", hotel, "SendMessage", message, done)
	add("desk", hotel, "GetTask", `{"id":"t-1"}`, `"result":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}`)
	return b.String()
}

// Whatever a filter leaves, the verdict says what it is about, in every format: it says how many of how many exchanges
// are counted, and by which filter. What a link has done in exchanges that are left out is not denied.
func TestVerdictUnderAFilter(t *testing.T) {
	one := open(t, partly())
	total := one.whole.Counts.Exchanges
	filters := map[string][]string{
		"n": {"n:1", "n:2", "n:3", "n:1..2", "n:6..7", "n:99"}, "id": {"id:*"}, "time": {"time:>=10:00:04", "time:<10:00:02"},
		"op": {"op:SendMessage", "op:GetTask", "op:CancelTask"}, "method": {"method:POST", "method:GET"},
		"path": {"path:/rpc", "path:/other"}, "host": {"host:booker.example", "host:hotel.example"},
		"agent": {"agent:booker*", "agent:hotel*"}, "client": {"client:planner", "client:desk", "client:nobody"},
		"link": {"link:planner->*", "link:desk->*"}, "dialect": {"dialect:1.0", "dialect:0.3"}, "binding": {"binding:jsonrpc", "binding:grpc"},
		"task": {"task:t-1", "task:t-9", "task:t-3"}, "context": {"context:c-1", "context:c-3"}, "message": {"message:m-1"},
		"state": {"state:completed", "state:failed"}, "role": {"role:user"}, "event": {"event:task"}, "status": {"status:200", "status:>=400"},
		"code": {"code:-32001", "code:-32603"}, "rule": {"rule:*"}, "severity": {"severity:error"}, "side": {"side:agent"},
		"header": {"header:Content-Type=application/json*", "header:X-None=1"}, "json": {"json:/params/id=t-1", "json:/params/id=t-9"},
		"dur": {"dur:>2s", "dur:<2s"}, "gap": {"gap:>5s"}, "size": {"size:>1", "size:>1MB"}, "trace": {"trace:4bf9*", "trace:0000*"},
		"workflow": {"workflow:1"}, "kind": {"kind:a2a", "kind:model"}, "tool": {"tool:*"}, "model": {"model:*"}, "tokens": {"tokens:>0"}, "is": {"is:error", "is:open", "-is:error"},
	}
	statuses := make(map[judgment.Status]int)
	for _, key := range filter.Keys() {
		if len(filters[key.Name]) == 0 {
			t.Errorf("no filter has the key %s", key.Name)
		}
		for _, expr := range filters[key.Name] {
			for _, agent := range []string{"", "agent"} {
				s := must.Get(ParseSelection(expr, agent))(t)
				r := one.again()
				must.Do(t, s.Apply(t.Context(), one.capture, r))
				v := r.Verdict(analysis.Error)
				statuses[v.Status]++
				about := slices.IndexFunc(v.Statements(), func(s judgment.Statement) bool { return s.Subject == judgment.AboutSelection })
				left := v.Exchanges < total
				switch {
				case v.Exchanges == 0 && v.Status != judgment.StatusNothing:
					t.Errorf("%s: nothing is chosen, and the verdict is %s", s, v)
				case left && v.Exchanges > 0 && about < 0:
					t.Errorf("%s: %d of %d exchanges, and the verdict does not say so: %s", s, v.Exchanges, total, v)
				case !left && about >= 0 && !v.Selection.Findings:
					t.Errorf("%s: all is chosen, and the verdict says %q", s, v.Statements()[about].Text)
				}
				if of := fmt.Sprintf("%d of %d exchanges", v.Exchanges, total); left && !strings.Contains(v.String(), of) {
					t.Errorf("%s: %q does not say %q", s, v, of)
				}
				if left && v.Exchanges > 0 && len(v.Unproved) > 0 {
					t.Errorf("%s: the verdict knows no successful call of %v, but some succeeded", s, v.Unproved)
				}
				if strings.Contains(v.String(), "never called") {
					t.Errorf("%s: %q of clients that called", s, v)
				}
				if about < 0 {
					continue
				}
				text := v.Statements()[about].Text
				for _, name := range report.Formats() {
					var b strings.Builder
					must.Do(t, report.Write(&b, name, &report.Report{Result: r, Rules: rules.All, Gate: analysis.Error}))
					if plain := unescaped(b.String()); !strings.Contains(plain, unescaped(text)) {
						t.Errorf("%s: %s does not say %q", s, name, text)
					}
				}
			}
		}
	}
	for _, status := range []judgment.Status{judgment.StatusNothing, judgment.StatusFailing, judgment.StatusNoViolation, judgment.StatusClean} {
		if statuses[status] == 0 {
			t.Errorf("no filter leaves the verdict %s: %v", status, statuses)
		}
	}
}

// unescaped leaves of a text what no format writes in a form of its own: letters and digits.
func unescaped(text string) string {
	for _, entity := range []string{"&gt;", "&#39;", "&#34;", "&lt;", "&#62;", "\\u003e", "\\u003c", "%3A", "%2C", "&quot;", "&apos;", "&#43;", "\\u0026", "&amp;"} {
		text = strings.ReplaceAll(text, entity, "")
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}
