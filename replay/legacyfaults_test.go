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

// foundBefore01 says for each fault of an agent from before 0.1 which rule names it. That of the dialects after it is
// often another one than the fault is called by, which is the name of the scenario of package probe.
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

// unseenBefore01 are the faults of an agent from before 0.1 that no rule finds behind a tap, by the reason.
var unseenBefore01 = map[string][]string{
	"a task that one client never heard of may be another's":     {"act-task-not-found-canceled", "error-task-not-found-accepted"},
	"an agent may have other methods, at any path":               {"error-unknown-method-accepted", "legacy-stream-method"},
	"the code -32000 tells clients enough":                       {"act-auth-challenge", "auth-401"},
	"over JSON-RPC any error may refuse a stranger":              {"auth-error-code"},
	"only web pages need it":                                     {"card-cross-origin"},
	"a first notification has ten seconds (hook-attempted-0x)":   {"push-delivery"},
	"a task from before the recording may have the webhook, too": {"push-delivery-task"},
	"answers to POST are not cached":                             {"legacy-stream-cache"},
	"the event may be still to come":                             {"legacy-stream-input"},
	"artifacts may be made after the stream":                     {"legacy-stream-artifacts"},
	"an agent may use another code":                              {"legacy-send-ended-code"},
	"an internal error counts as a failed call":                  {"push-config-read", "error-internal-for-named-case"},
	"0.1 allows it": {
		"push-https-accepted", "rpc-result-null", "task-completes-never", "push-delivery-event-type", "push-delivery-status",
		"push-delivery-timestamp",
	},
	"the method may have to be refused for the request's shape": {"rpc-invalid-request-unfounded"},
}

// unseen returns why no rule finds a fault; it is empty if one does.
func unseen(fault string) string {
	for why, list := range unseenBefore01 {
		if slices.Contains(list, fault) {
			return why
		}
	}
	return ""
}

// Whatever an agent from before 0.1 does wrong is named when a plain client of that time talks to it through a tap, also
// where it shows its age only after that; of the agent without a fault nothing is said.
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
					o.StepTime, looks = 100*time.Millisecond, 150 // so that the stream has not ended when it is left
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

// plainTalk returns what a client from before 0.1 says that knows nothing but the protocol: streams come last or first,
// even before the card. It looks so often, ten times a second, whether the task of a stream that it has left is there, and
// no more once it is not.
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
	// says sends a request, and returns what comes back up to a line that has one of the texts.
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

// notified lets a plain client give a task a webhook, whose notifications come through the tap, and returns what all rules
// find.
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
