package refagent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// render renders an answer as one text, with $ at the end.
func render(t *testing.T, origin, request string) string {
	resp, body := exchange(t, origin, request)
	return fmt.Sprintf("%d %s %s$", resp.StatusCode, resp.Header.Get("Content-Type"), body)
}

func TestFaults(t *testing.T) {
	for _, tt := range slices.Concat(faultTests, shapeFaultTests, cardFaultTests) {
		showFault(t, tt, false)
	}
	for _, tt := range pushFaultTests {
		showFault(t, tt, true)
	}
}

func showFault(t *testing.T, tt faultTest, push bool) {
	t.Run(tt.slug+" "+tt.agent, func(t *testing.T) {
		var got [2]string
		for i, slug := range []string{tt.slug, ""} {
			opts := fixed()
			opts.Fault, opts.Push = slug, push
			origin := serve(t, tt.agent, opts)
			for _, b := range tt.before {
				exchange(t, origin, b)
			}
			got[i] = render(t, origin, tt.request)
		}
		checkFault(t, got, tt.has, tt.lacks)
	})
}

// checkFault checks that a faulty answer and a faithful one differ as a test specifies.
func checkFault(t *testing.T, got [2]string, has, lacks string) {
	t.Helper()
	if got[0] == got[1] {
		t.Fatalf("the fault changes nothing: %s", got[0])
	}
	if !strings.Contains(got[0], has) || lacks != "" && strings.Contains(got[0], lacks) {
		t.Errorf("faulty answer: got %s\nwant %q in it and %q not", got[0], has, lacks)
	}
	if lacks != "" && !strings.Contains(got[1], lacks) {
		t.Errorf("faithful answer: got %s\nwant %q in it", got[1], lacks)
	}
	if lacks == "" && strings.Contains(got[1], has) {
		t.Errorf("faithful answer: got %s\nwant %q not in it", got[1], has)
	}
}

func TestEveryFaultIsTested(t *testing.T) {
	var tested []string
	for _, tt := range slices.Concat(faultTests, shapeFaultTests, cardFaultTests, pushFaultTests) {
		tested = append(tested, tt.agent+" "+tt.slug)
	}
	for _, tt := range cardHeaderFaults {
		tested = append(tested, "spec "+tt.slug)
	}
	for _, tt := range grpcFaultTests {
		tested = append(tested, "spec "+tt.slug, "spec03 "+tt.slug)
	}
	for _, slug := range []string{
		"id-subscribe-match",                                                   // TestSubscribeMatchFault
		"auth-www-authenticate", "ext-response-unrequested", "ext-no-fallback", // TestHeaderFaults
	} {
		tested = append(tested, "spec "+slug, "spec03 "+slug)
	}
	tested = append(tested, "spec hook-auth", // TestHookAuthFault
		"spec stream-subscribe-first-task", "spec stream-same-events") // TestSubscriptionFaults
	var missing []string
	for _, agent := range []string{"spec", "spec03"} {
		for _, f := range refagent.Faults(agent) {
			if f.Doc == "" || !strings.HasSuffix(f.Doc, ".") {
				t.Errorf("%s: doc %q is no sentence", f.Slug, f.Doc)
			}
			if name := agent + " " + f.Slug; !slices.Contains(tested, name) {
				missing = append(missing, name)
			}
		}
	}
	if missing != nil {
		t.Errorf("not tested: %v", missing)
	}
	if refagent.Faults("nobody") != nil {
		t.Error("an agent that does not exist has faults")
	}
}

// A subscription to a waiting task stays open: its first event counts.
func TestSubscribeMatchFault(t *testing.T) {
	for _, l := range []link{{"spec", client.JSONRPC10}, {"spec", client.REST10}, {"spec03", client.JSONRPC03}} {
		opts := fixed()
		opts.Fault = "id-subscribe-match"
		c := agenttest.Connect(t, serve(t, l.agent, opts)+"/"+l.agent, l.protocol, client.Options{})
		task := begin(t, c, "multi-turn start")
		for e, err := range c.Subscribe(t.Context(), task.ID) {
			if err != nil || !strings.Contains(string(e.Raw), task.ID+"-b") {
				t.Errorf("%s: the subscription begins with %s, error %v", l, e.Raw, err)
			}
			break
		}
	}
}

// Faults in the header of an answer.
func TestHeaderFaults(t *testing.T) {
	for _, tt := range []struct {
		slug, agent, request string
		status               int
		field                string
		has                  bool
	}{
		{"auth-www-authenticate", "spec", pushRPC, 401, "WWW-Authenticate", false},
		{"auth-www-authenticate", "spec03", push03, 401, "WWW-Authenticate", false},
		{"ext-response-unrequested", "spec", sendRPC, 200, "A2A-Extensions", true},
		{"ext-response-unrequested", "spec", sendREST, 200, "A2A-Extensions", true},
		{"ext-no-fallback", "spec", sendRPC, 200, "A2A-Extensions", true},
		{"ext-no-fallback", "spec03", send03, 200, "X-A2A-Extensions", true},
		{"ext-response-unrequested", "spec03", send03, 200, "X-A2A-Extensions", true},
	} {
		opts := fixed()
		opts.Fault = tt.slug
		resp := headOf(t, serve(t, tt.agent, opts), tt.request)
		if got := resp.Header.Get(tt.field) != ""; resp.StatusCode != tt.status || got != tt.has {
			t.Errorf("%s of %s: got status %d, and that it has %s is %v; want %d, %v", tt.slug, tt.agent, resp.StatusCode,
				tt.field, got, tt.status, tt.has)
		}
	}
}

func TestPushSupportedButRefusedFault(t *testing.T) {
	for _, push := range []bool{false, true} {
		opts := fixed()
		opts.Fault, opts.Push = "push-supported-but-refused", push
		origin := serve(t, "spec", opts)
		exchange(t, origin, sendRPC)
		expect.Contains(t, fmt.Sprintf("push %v", push), `"code":-32003`, render(t, origin, pushRPC))
	}
}

func TestHookAuthFault(t *testing.T) {
	c := agenttest.Connect(t, serve(t, "spec", refagent.Options{Push: true, Fault: "hook-auth"})+"/spec", client.REST10,
		client.Options{})
	hook := newWebhook(t)
	_, err := c.Send(t.Context(), client.Text("tck-reject-task"), client.SendOptions{
		Push: &client.PushConfig{URL: hook.url, Scheme: "Bearer", Credentials: "secret"},
	})
	must.Do(t, err)
	expect.Same(t, "credentials", "", (<-hook.got).auth)
}

// Faults of subscriptions, as a second client observes them: the kind of its first event, and whether its last event
// has a message.
func TestSubscriptionFaults(t *testing.T) {
	for _, tt := range []struct {
		slug          string
		task, message bool
	}{
		{"", true, true},
		{"stream-subscribe-first-task", false, true},
		{"stream-same-events", true, false},
	} {
		t.Run(tt.slug, func(t *testing.T) {
			c := agenttest.Connect(t, serve(t, "spec", refagent.Options{Fault: tt.slug})+"/spec", client.JSONRPC10, client.Options{})
			task := send(t, c, client.Text("multi-turn"))
			joined, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for !tt.task && !isClosed(joined) { // only a turn shows that the subscription has begun
					c.Send(t.Context(), followUp("more", task), client.SendOptions{}) //nolint:errcheck // the subscriber would wait
				}
				<-joined
				c.Send(t.Context(), followUp("done", task), client.SendOptions{}) //nolint:errcheck // the same
			}()
			var seen []client.Event
			for e, err := range c.Subscribe(t.Context(), task.ID) {
				must.Do(t, err)
				if seen = append(seen, e); len(seen) == 1 {
					close(joined)
				}
			}
			<-done
			if len(seen) < 2 {
				t.Fatalf("%d events came, want more", len(seen))
			}
			expect.Equal(t, "the first event holds a task", tt.task, seen[0].Task != nil)
			expect.Equal(t, "the last event holds a message",
				tt.message, seen[len(seen)-1].Status.Status.Message != nil)
		})
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A fault changes one thing: the agent answers all other requests faithfully.
func TestFaultsLeaveTheRestAlone(t *testing.T) {
	for _, tt := range []struct{ slug, request string }{
		{"rpc-id-echo", unknownRPC},
		{"rpc-error-message", sendRPC},
		{"rpc-response-content-type-v1", sendREST},
		{"rest-error-not-2xx", unknownRPC},
		{"rest-error-envelope", sendREST},
		{"id-context-stable", sendRPC},
		{"state-terminal-immutable", sendRPC},
		{"stream-first-event", messageRPC},
		{"stream-message-only", streamRPC},
		{"stream-rpc-id", streamREST},
		{"stream-closed-on-terminal", messageRPC},
		{"card-required-fields", sendRPC},
	} {
		t.Run(tt.slug, func(t *testing.T) {
			faulty := fixed()
			faulty.Fault = tt.slug
			want := render(t, serve(t, "spec", fixed()), tt.request)
			expect.Same(t, "", want, render(t, serve(t, "spec", faulty), tt.request))
		})
	}
}
