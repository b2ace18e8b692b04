package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture/transcript"
)

// If one cause leaves calls of a client unanswered, there is one finding, with a count: however often that happens, in
// whichever calls, and even if other calls succeed in between. Different causes are different findings.
func TestOneCauseOneFinding(t *testing.T) {
	t.Parallel()
	const (
		closed  = `fault: closed agent "connection closed before the answer began"`
		reset   = `fault: reset agent "connection reset by peer"`
		refused = `fault: unreachable agent "connect to the agent at booker.example:9001: connection refused"`
		tls     = `fault: tls agent "the answer is a TLS record: this agent speaks TLS; use https://"`
		late    = `fault: timeout agent "no answer within 10s"`
		page    = "HTTP/1.1 200 OK\nContent-Type: text/html\n\n<html>Welcome to nginx</html>"
		tlsPage = "HTTP/1.1 400 Bad Request\nContent-Type: text/plain\n\nClient sent an HTTP request to an HTTPS server."
		down    = "HTTP/1.1 500 Internal Server Error\nContent-Type: text/html\n\n<html>request %d: database is down</html>"
		full    = "HTTP/1.1 500 Internal Server Error\nContent-Type: text/html\n\n<html>disk is full</html>"
		crash   = "HTTP/1.1 500 Internal Server Error\nContent-Type: application/json\n\n{\"detail\":\"Internal Server Error\"}"
		label   = "HTTP/1.1 200 OK\nContent-Type: text/plain\n\n" + `{"jsonrpc":"2.0","id":%d,"result":{"task":{"id":"t%[1]d","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}`
		ok      = "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" + `{"jsonrpc":"2.0","id":%d,"result":{"task":{"id":"t%[1]d","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}`
		partial = "HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 400\n\n{\"jsonrpc\""
	)
	for _, test := range []struct {
		name  string
		calls []string // what each call meets
		want  string   // findings: rule at exchange × times
	}{
		{"every second call", []string{ok, closed, ok, closed, ok, closed, ok}, "outcome-cut at 2 ×3"},
		{"closed or reset", []string{closed, ok, reset, ok, closed, ok}, "outcome-cut at 1 ×3"},
		{"every call", []string{closed, closed, closed, closed}, "outcome-cut at 1 ×4"},
		{"once", []string{ok, closed, ok}, "outcome-cut at 2 ×1"},
		{"inside the answer", []string{ok, partial, ok, partial, ok}, "outcome-cut at 2 ×2"},
		{"before and inside", []string{closed, partial, ok, closed, ok}, "outcome-cut at 1 ×2, outcome-cut at 2 ×1"},
		{"away and back", []string{refused, ok, refused, refused, ok}, "outcome-unreachable at 1 ×3"},
		{"too late", []string{ok, late, ok, late, ok}, "outcome-unreachable at 2 ×2"},
		{"killed", []string{ok, refused, refused, refused}, "outcome-agent-gone at 2 ×0"},
		{"crashed", []string{ok, closed, refused, refused}, "outcome-agent-gone at 2 ×0"},
		{"crashed, and met while it ended", []string{ok, closed, reset, refused}, "outcome-agent-gone at 2 ×0"},
		{"crashed inside an answer", []string{ok, partial, refused}, "outcome-agent-gone at 2 ×0"},
		{"crashed, started again, and killed", []string{ok, closed, ok, refused, refused}, "outcome-agent-gone at 4 ×0, outcome-cut at 2 ×1"},
		{"never there", []string{refused, refused, refused}, "outcome-agent-never-reached at 1 ×0"},
		{"TLS", []string{tls, tls, tls}, "outcome-untrusted at 1 ×3"},
		{"TLS, as a page says", []string{tlsPage, tlsPage, tlsPage}, "outcome-no-protocol at 1 ×3"},
		{"a page", []string{page, page, page}, "outcome-no-protocol at 1 ×3"},
		{"pages with numbers", []string{down, ok, down, down}, "outcome-no-protocol at 1 ×3"},
		{"pages that differ", []string{down, full, down}, "outcome-no-protocol at 1 ×2, outcome-no-protocol at 2 ×1"},
		{"a page and JSON", []string{page, crash, page, crash}, "outcome-no-protocol at 1 ×2, outcome-no-protocol at 2 ×2"},
		{"the wrong label", []string{label, label, ok, label}, "rpc-response-content-type-v1 at 1 ×3"},
	} {
		for _, operations := range [][]string{{"SendMessage"}, {"SendMessage", "GetTask", "CancelTask"}} {
			var b strings.Builder
			for i, met := range test.calls {
				n := i + 1
				fault, answer, _ := strings.Cut(met, "\n")
				if !strings.HasPrefix(met, "fault: ") {
					fault, answer = "", met
				}
				if met == partial {
					fault = `fault: truncated agent "connection closed inside the body of the answer"` + "\nresponse.body: incomplete"
				}
				if fault != "" {
					fmt.Fprintf(&b, "-- %d.meta --\n%s\n", n, fault)
				}
				params := fmt.Sprintf(`{"message":{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"hi"}]}}`, n)
				operation := operations[i%len(operations)]
				if operation != "SendMessage" {
					params = fmt.Sprintf(`{"id":"t%d"}`, n)
					answer = strings.NewReplacer(`"task":{`, ``, `}}}}`, `}}}`).Replace(answer)
				}
				fmt.Fprintf(&b, "-- %d.request --\nPOST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\nA2A-Version: 1.0\n\n"+
					"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":%q,\"params\":%s}\n", n, n, operation, params)
				if answer != "" {
					if strings.Contains(answer, "%") {
						answer = fmt.Sprintf(answer, n)
					}
					fmt.Fprintf(&b, "-- %d.response --\n%s\n", n, answer)
				}
			}
			if got := causesIn(t, b.String()); got != test.want {
				t.Errorf("%s, %q: found %s, want %s", test.name, operations, got, test.want)
			}
		}
	}
}

// causesIn returns the findings of a transcript that are reported once per cause: "rule at exchange × how often".
func causesIn(t *testing.T, text string) string {
	t.Helper()
	tr, err := transcript.Parse("calls", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	result := rulestest.Check(t, rules.All, tr.Exchanges)
	result.Explain()
	var found []string
	for i := range result.Findings {
		f := &result.Findings[i]
		if f.Rule.Once == analysis.PerCause || f.Rule.Critical != analysis.Present {
			found = append(found, fmt.Sprintf("%s at %d ×%d", f.Rule.ID, f.Place.Exchange, f.Times))
		}
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}
