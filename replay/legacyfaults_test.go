package replay_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/must"
	"a2atap/proxy/webhook"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// foundBefore01 maps each fault of an agent from before 0.1 to the rule that finds it. The rule is often not the
// fault's namesake, since the fault has the name of the scenario of package probe.
var foundBefore01 = map[string]string{
	"card-description":         "legacy-card-complete",
	"skill-description":        "legacy-card-complete",
	"skill-input-modes":        "legacy-card-complete",
	"card-capability-flags":    "card-field-type",
	"task-completes":           "state-terminal-immutable-early",
	"task-cancel":              "legacy-cancel-refused",
	"task-cancel-crash":        "state-cancel-terminal-code",
	"multi-turn":               "id-task-echo-v01",
	"task-history":             "legacy-history-promised",
	"stream-content-type":      "stream-content-type",
	"stream-first-event":       "legacy-stream-events",
	"stream-middle-events":     "legacy-stream-events",
	"act-stream-order":         "legacy-stream-events",
	"stream-dropped":           "state-unknown-task-known",
	"stream-last-event":        "stream-truncated",
	"sse-final-event":          "stream-terminal-without-final",
	"stream-nothing-after-end": "stream-nothing-after-final",
	"error-unknown-method":     "rpc-invalid-request-unfounded",
	"not-json-rpc":             "rpc-invalid-request-wrong-code",
	"error-task-not-found":     "error-not-found-code",
	"cancel-completed-task":    "state-cancel-terminal",
	"concurrent-tasks":         "id-session-echo-v01",
	"push-config":              "push-get-url-v01",
	"push-https":               "legacy-webhook-refused",

	"act-id-types":                 "rpc-id-echo",
	"act-parse-error-crash":        "outcome-no-protocol",
	"auth-required":                "auth-not-enforced",
	"card":                         "card-json-object",
	"card-api-key-name":            "legacy-card-complete",
	"card-name":                    "card-required-fields",
	"card-oauth2-token-url":        "legacy-card-complete",
	"card-public":                  "card-guarded",
	"card-skills":                  "card-required-fields",
	"card-url":                     "card-required-fields",
	"event-artifact":               "legacy-stream-events",
	"id-task-unique":               "id-task-echo-v01",
	"legacy-canceled":              "state-terminal-immutable-early",
	"legacy-history-length":        "history-max-0x",
	"legacy-send-ended-ignored":    "state-send-terminal-ignored",
	"legacy-send-ended-restarts":   "state-terminal-immutable-early",
	"legacy-stream-envelope":       "rpc-response-jsonrpc",
	"legacy-stream-moves":          "legacy-stream-events",
	"multi-turn-ignored":           "state-input-ignored",
	"not-json-rpc-crash":           "outcome-no-protocol",
	"skill-id":                     "card-required-nested",
	"skill-output-modes":           "legacy-card-complete",
	"sse-stray-line":               "stream-empty",
	"stream-closes":                "stream-closes-after-final",
	"stream-content-type-json":     "stream-method-answered-json",
	"stream-middle-events-unnamed": "legacy-stream-events",
	"task-cancel-without-effect":   "state-cancel-without-effect",
	"task-history-none":            "legacy-history-promised",

	"push-delivery-method":  "hook-post",
	"push-delivery-task-id": "hook-payload-0x",
	"push-token":            "hook-token",
	"push-token-wrong":      "hook-token",
}

// unseenBefore01 are the faults of an agent from before 0.1 that no rule finds behind a tap, by the reason. The page
// about agents lists them in a table.
var unseenBefore01 = []struct {
	why    string
	faults []string
}{
	{"A task that one client never heard of may be another's.", []string{"act-task-not-found-canceled", "error-task-not-found-accepted"}},
	{"An agent may have other methods, at any path.", []string{"error-unknown-method-accepted", "legacy-stream-method"}},
	{"The code -32000 tells clients enough; HTTP status and challenge are not specified.", []string{"act-auth-challenge", "auth-401"}},
	{"Over JSON-RPC any error may refuse a client without credentials.", []string{"auth-error-code"}},
	{"Only web pages need the header, and the recording does not show who reads the card.", []string{"card-cross-origin"}},
	{"A first notification has ten seconds (`hook-attempted-0x`).", []string{"push-delivery"}},
	{"A task from before the recording may have the webhook, too.", []string{"push-delivery-task"}},
	{"Responses to POST are not cached, with or without the header.", []string{"legacy-stream-cache"}},
	{"The event may still arrive: a stream may stay open while its task waits for input.", []string{"legacy-stream-input"}},
	{"Artifacts may be made after the stream has ended.", []string{"legacy-stream-artifacts"}},
	{"0.1 has no code for a message to a task that has ended. The call counts as failed.", []string{"legacy-send-ended-code"}},
	{
		"An internal error says that the agent failed, not that it broke a rule. The call counts as failed.",
		[]string{"push-config-read", "error-internal-for-named-case"},
	},
	{"0.1 does not demand TLS of a webhook.", []string{"push-https-accepted"}},
	{
		"0.1 does not say which members a notification has besides the task.",
		[]string{"push-delivery-event-type", "push-delivery-status", "push-delivery-timestamp"},
	},
	{"0.1 allows it: a result may be null, and a task may take any time.", []string{"rpc-result-null", "task-completes-never"}},
	{"The method may have to be refused for the request's shape.", []string{"rpc-invalid-request-unfounded"}},
}

// The page about agents lists each fault that a tap does not show, with the reason.
func TestUnseenFaultsAreExplained(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile("../docs/agents.md"))(t))
	for _, u := range unseenBefore01 {
		if row := fmt.Sprintf("| `%s` | %s |\n", strings.Join(u.faults, "`, `"), u.why); !strings.Contains(page, row) {
			t.Errorf("docs/agents.md lacks the row %s", row)
		}
	}
}

// unseen returns why no rule finds a fault; empty if one does.
func unseen(fault string) string {
	for _, u := range unseenBefore01 {
		if slices.Contains(u.faults, fault) {
			return u.why
		}
	}
	return ""
}

// Each fault of an agent from before 0.1 is found when a plain client of that time uses it through a tap, even if the
// traffic shows its age only later. The agent without a fault has no findings.
func TestLegacyFaults(t *testing.T) {
	t.Parallel()
	for _, streamsFirst := range []bool{false, true} {
		t.Run(fmt.Sprint("none/", streamsFirst), func(t *testing.T) {
			t.Parallel()
			for _, f := range judged(t, "legacy", refagent.Options{}, client.Early, client.Options{}, plainTalk(streamsFirst, 10)) {
				if f.Side == a2a.Agent {
					t.Errorf("%s", &f)
				}
			}
			for _, f := range notified(t, "") {
				if f.Side == a2a.Agent {
					t.Errorf("with a webhook: %s", &f)
				}
			}
		})
		for _, f := range refagent.Faults("legacy") {
			t.Run(fmt.Sprint(f.Slug, "/", streamsFirst), func(t *testing.T) {
				t.Parallel()
				o, looks := refagent.Options{Fault: f.Slug}, 1
				if f.Slug == "stream-dropped" {
					o.StepTime, looks = 100*time.Millisecond, 150 // the client leaves before the stream ends
				}
				var found map[breach]bool
				if strings.HasPrefix(f.Slug, "push-delivery") || strings.HasPrefix(f.Slug, "push-token") {
					found = broken(notified(t, f.Slug))
				} else {
					found = broken(judged(t, "legacy", o, client.Early, client.Options{}, plainTalk(streamsFirst, looks)))
				}
				by := cmp.Or(foundBefore01[f.Slug], f.Slug)
				switch why := unseen(f.Slug); {
				case why == "" && !found[breach{by, a2a.Agent}]:
					t.Errorf("%q does not name it; found are %v", by, found)
				case why != "":
					for b := range found {
						if b.side == a2a.Agent {
							t.Errorf("listed as not visible, since %s; found %v", why, b)
						}
					}
				}
			})
		}
	}
}

// plainTalk returns the session of a client from before 0.1 that knows only the protocol: streams come last or first,
// even before the card. After it left a stream, the client polls its task the given number of times, ten times a
// second, until the agent no longer has the task.
func plainTalk(streamsFirst bool, looks int) talk {
	return func(ctx context.Context, tapURL string, _ client.Protocol, _ client.Options) {
		plainly(ctx, tapURL, streamsFirst, looks)
	}
}

func plainly(ctx context.Context, tapURL string, streamsFirst bool, looks int) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	base := strings.TrimRight(tapURL, "/")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	n := 0
	// says sends a request, and returns the answer up to a line that has one of the texts.
	says := func(verb, path, body string, until ...string) string {
		req, err := http.NewRequestWithContext(ctx, verb, base+path, strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		if body == "" {
			req.Body = http.NoBody
		} else {
			req.Header.Set("Content-Type", "application/json")
		}
		res, err := transport.RoundTrip(req)
		if err != nil {
			return ""
		}
		defer res.Body.Close()
		if len(until) == 0 {
			whole, _ := io.ReadAll(res.Body) //nolint:errcheck // what came, came
			return string(whole)
		}
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if slices.ContainsFunc(until, func(s string) bool { return strings.Contains(lines.Text(), s) }) {
				break
			}
		}
		return ""
	}
	calls := func(method, params string) string {
		n++
		return says(http.MethodPost, "/", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, method, params))
	}
	message := func(id, text string) string {
		return fmt.Sprintf(`{"id":%q,"sessionId":"session-of-%[1]s","message":{"role":"user","parts":[{"type":"text","text":%q}]}}`,
			id, text)
	}
	streams := func(id, text string, until ...string) {
		n++
		says(http.MethodPost, "/subscribe",
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tasks/sendSubscribe","params":%s}`, n, message(id, text)), until...)
	}
	// ends polls until a task has ended or waits.
	ends := func(id string) {
		for range 100 {
			told := calls("tasks/get", fmt.Sprintf(`{"id":%q}`, id))
			if !strings.Contains(told, `"submitted"},"`) && !strings.Contains(told, `"status":{"state":"working"`) &&
				!strings.Contains(told, `"status":{"state":"submitted"`) {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	streamed := func() {
		streams("streamed", "task-lifecycle please")
		calls("tasks/get", `{"id":"streamed"}`)
		streams("left", "long-running please", `"working"`)
		for range looks { // an agent may forget a task some time after
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
			if told := calls("tasks/get", `{"id":"left"}`); !strings.Contains(told, `"result"`) {
				break
			}
		}
	}
	if streamsFirst {
		streamed()
	}
	for range 2 {
		says(http.MethodGet, "/.well-known/agent.json", "")
	}
	calls("tasks/send", message("done", "task-lifecycle please"))
	ends("done")
	calls("tasks/get", `{"id":"done","historyLength":100}`)
	calls("tasks/get", `{"id":"done","historyLength":1}`)
	calls("tasks/cancel", `{"id":"done"}`)
	calls("tasks/send", message("done", "and again"))
	calls("tasks/get", `{"id":"done"}`)
	calls("tasks/send", message("asks", "multi-turn start"))
	ends("asks")
	calls("tasks/send", message("asks", "more"))
	calls("tasks/get", `{"id":"asks"}`)
	calls("tasks/pushNotification/set", `{"id":"asks","pushNotificationConfig":{"url":"http://hooks.example/a2a"}}`)
	calls("tasks/pushNotification/set", `{"id":"asks","pushNotificationConfig":{"url":"https://hooks.example/a2a"}}`)
	calls("tasks/pushNotification/get", `{"id":"asks"}`)
	calls("tasks/send", message("long", "task-cancel please"))
	calls("tasks/get", `{"id":"long"}`)
	calls("tasks/cancel", `{"id":"long"}`)
	calls("tasks/get", `{"id":"long"}`)
	calls("tasks/get", `{"id":"nobody-made-this"}`)
	calls("tasks/cancel", `{"id":"nobody-made-this-either"}`)
	calls("tasks/send", `{"id":"empty","message":{"role":"user"}}`)
	calls("tasks/nonexistent", `{}`)
	for _, body := range []string{
		`{"not":"valid jsonrpc"}`, `{"jsonrpc":"2.0","id":9,"params":{}}`, `{"jsonrpc":"2.0","id":10,"method":`,
		`{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"nobody-made-this"}}`,
		`[{"jsonrpc":"2.0","id":11,"method":"tasks/get","params":{"id":"done"}},` +
			`{"jsonrpc":"2.0","id":12,"method":"tasks/get","params":{"id":"nobody-made-this"}}]`,
	} {
		says(http.MethodPost, "/", body)
	}
	if !streamsFirst {
		streamed()
	}
}

// notified makes a plain client set a webhook for a task. The notifications pass the tap. It returns the findings of
// all rules.
func notified(t *testing.T, fault string) []analysis.Finding {
	t.Helper()
	heard := make(chan bool, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard <- true }))
	defer hook.Close()
	var tap atomic.Pointer[url.URL]
	tunnel := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(tap.Load()) }})
	defer tunnel.Close()
	roots := x509.NewCertPool()
	roots.AddCert(tunnel.Certificate())
	agent := agenttest.Start(t, "legacy", refagent.Options{Fault: fault, Push: true, WebhookRoots: roots})
	key := []byte("0123456789abcdef0123456789abcdef")
	src := agenttest.RecordOne(t, agenttest.Recording{
		Redact:   redact.Options{Key: key, Describer: reading.NewDescriber()},
		Webhooks: &webhook.Spec{Key: key, URL: must.Get(url.Parse(tunnel.URL))(t)},
	}, agent, func(tapURL string) {
		tap.Store(must.Get(url.Parse(tapURL))(t))
		c := agenttest.Connect(t, tapURL, client.Early, client.Options{})
		task := sent(c.Send(t.Context(), client.Text("multi-turn start"), client.SendOptions{}))
		must.Get(c.CreatePush(t.Context(), client.PushConfig{TaskID: task.ID, URL: hook.URL, Token: "tok-12345678"}))(t)
		must.Get(c.Cancel(t.Context(), task.ID, nil))(t)
		if fault != "push-delivery" {
			<-heard
		}
		must.Get(c.Get(t.Context(), task.ID, nil))(t)
	})
	return must.Get(engine.Run(t.Context(), rules.All, src, nil))(t).Findings
}
