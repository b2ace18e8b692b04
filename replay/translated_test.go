package replay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/compare"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/peers"
	"a2atap/replay/refagent"
)

// startPolyglot runs one agent that supports 1.0 and 0.3, each over both bindings, at separate addresses, and returns
// its URL. Its card lists the addresses in its 0.3 and 1.0 forms. The interfaces share no tasks: a recording goes to
// one of them. A fault is the 1.0 agent's.
func startPolyglot(t testing.TB, fault string) string {
	t.Helper()
	names := []string{"spec", "spec03", "spec03-rest"}
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	for _, name := range names {
		o := refagent.Options{StepTime: time.Millisecond, Push: true}
		if name == "spec" {
			o.Fault = fault
		}
		a := must.Get(refagent.New(name, o))(t)
		t.Cleanup(a.Close)
		mux.Handle(a.Path()+"/", a)
		mux.Handle(a.Path(), a)
	}
	mux.HandleFunc("/.well-known/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, polyglotCard(t, s.URL)) //nolint:errcheck // a client that left is found by what it lacks
	})
	t.Cleanup(s.Close)
	return s.URL
}

// polyglotCard is the card of spec, extended with its 0.3 form.
func polyglotCard(t testing.TB, origin string) string {
	resp, err := http.Get(origin + "/spec/.well-known/agent-card.json")
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	var card map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&card); err != nil {
		t.Error(err)
		return ""
	}
	card["url"], card["preferredTransport"], card["protocolVersion"] = origin+"/spec03", "JSONRPC", "0.3.0"
	card["additionalInterfaces"] = []any{map[string]any{"url": origin + "/spec03-rest", "transport": "HTTP+JSON"}}
	text, err := json.Marshal(card)
	expect.OK(t, err)
	return string(text)
}

// converse is a session with an operation of each kind.
func converse(t testing.TB, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	sent := must.Get(c.Send(ctx, client.Text("multi-turn start"), client.SendOptions{}))(t)
	answer := client.Text("done")
	answer.TaskID, answer.ContextID = sent.Task.ID, sent.Task.ContextID
	must.Get(c.Send(ctx, answer, client.SendOptions{}))(t)
	must.Get(c.Get(ctx, sent.Task.ID, new(2)))(t)
	for _, err := range c.Stream(ctx, client.Text("streaming please"), client.SendOptions{}) {
		must.Do(t, err)
	}
	for _, skill := range []string{"data-types please", "task-failure please"} {
		must.Get(c.Send(ctx, client.Text(skill), client.SendOptions{}))(t)
	}
	must.Get(c.Send(ctx, client.Text("message-only hello"), client.SendOptions{ReturnImmediately: true}))(t)
	// A task that waits for its client: its history at cancellation is predictable, unlike a working task's.
	waiting := must.Get(c.Send(ctx, client.Text("multi-turn start"), client.SendOptions{}))(t)
	must.Get(c.Cancel(ctx, waiting.Task.ID, nil))(t)
	var refused *client.Error
	if _, err := c.Get(ctx, "nobody-knows-4711", nil); !errors.As(err, &refused) {
		t.Fatalf("a task that is not there is answered with %v", err)
	}
	if _, err := c.Cancel(ctx, sent.Task.ID, nil); !errors.As(err, &refused) {
		t.Fatalf("a task that has ended is canceled: %v", err)
	}
	hook := client.PushConfig{TaskID: sent.Task.ID, ID: "h1", URL: "http://127.0.0.1:9/hook", Token: "t"}
	config := must.Get(c.CreatePush(ctx, hook))(t)
	must.Get(c.GetPush(ctx, sent.Task.ID, config.ID))(t)
	must.Get(c.ListPush(ctx, sent.Task.ID))(t)
	must.Do(t, c.DeletePush(ctx, sent.Task.ID, config.ID))
}

// A session of any binding and dialect is replayed in any other without a difference.
func TestReplayTranslated(t *testing.T) {
	t.Parallel()
	protocols := []client.Protocol{client.JSONRPC10, client.REST10, client.JSONRPC03, client.REST03}
	for _, from := range protocols {
		t.Run(from.String(), func(t *testing.T) {
			t.Parallel()
			agent := startPolyglot(t, "")
			src := record(t, agent, func(tapURL string) { converse(t, agenttest.Connect(t, tapURL, from, client.Options{})) })
			for _, to := range protocols {
				o := replay.Options{Dialect: a2a.VersionDialects(to.Version)}
				o.Binding, _ = a2a.ParseBinding(to.Binding)
				kept := capture.NewMemory(capture.Info{Name: "replayed"})
				o.Sink = kept
				r := play(t, src, agent, o)
				wantSame(t, r)
				if r.Sent != 16 {
					t.Errorf("to %s: %s", to, r.Verdict())
				}
				wantSpoken(t, kept, o)
				if translated := strings.Contains(fmt.Sprint(r.Notes), "translated"); translated == (from == to) {
					t.Errorf("to %s: the notes are %q", to, r.Notes)
				}
			}
		})
	}
}

// wantSpoken fails the test unless all calls of a capture use the binding and dialect of the options.
func wantSpoken(t *testing.T, src capture.Source, o replay.Options) {
	t.Helper()
	for x, err := range src.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		head := capture.ParseRequestHead(x.Request.Head)
		var known a2a.Known
		known.Add(a2a.Interface{URL: "http://a/spec03-rest", Binding: a2a.HTTPJSON, Dialects: a2a.Of(a2a.V0_3)},
			"http://a"+head.Target)
		call := a2a.DecodeRequest(a2a.Request{
			Method: head.Method, Target: head.Target, Header: head.Fields.Get, Body: x.Request.Body.Data, HasBody: true,
			BodyKept: true,
		}, known)
		if call.Operation != a2a.GetCard && (call.Binding != o.Binding || call.Dialects.Intersect(o.Dialect).Empty()) {
			t.Errorf("%s %s was sent: it is %s %s", head.Method, head.Target, call.Binding, call.Dialects)
		}
	}
}

// A change planted in the agent is found over the other binding, and in the other dialect.
func TestReplayTranslatedFindsFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		from  client.Protocol
		o     replay.Options
		plant func(string) string
		kind  compare.Kind
	}{
		{
			"state over the other binding", client.JSONRPC10,
			replay.Options{Binding: a2a.HTTPJSON},
			strings.NewReplacer("TASK_STATE_COMPLETED", "TASK_STATE_FAILED").Replace, compare.DifferentState,
		},
		{
			"state in the other dialect", client.JSONRPC03,
			replay.Options{Dialect: a2a.Of(a2a.V1_0)},
			strings.NewReplacer("TASK_STATE_COMPLETED", "TASK_STATE_REJECTED").Replace, compare.DifferentState,
		},
		{
			"kind of part over the other binding", client.REST10,
			replay.Options{Binding: a2a.JSONRPC},
			strings.NewReplacer(`{"text":`, `{"data":`).Replace, compare.DifferentPart,
		},
		{
			"kind of part in the other dialect", client.JSONRPC03,
			replay.Options{Dialect: a2a.Of(a2a.V1_0)},
			strings.NewReplacer(`{"text":`, `{"data":`).Replace, compare.DifferentPart,
		},
		{
			"a renamed member over the other binding", client.JSONRPC10,
			replay.Options{Binding: a2a.HTTPJSON},
			strings.NewReplacer(`"name":`, `"title":`).Replace, compare.DifferentMember,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := record(t, startPolyglot(t, ""), func(tapURL string) {
				sent := must.Get(agenttest.Connect(t, tapURL, c.from, client.Options{}).Send(t.Context(),
					client.Text("task-lifecycle"), client.SendOptions{}))(t)
				if sent.Task == nil || len(sent.Task.Artifacts) == 0 {
					t.Fatalf("the recorded agent gave %s", sent.Raw)
				}
			})
			r := play(t, src, startPlanted(t, c.plant), c.o)
			if !slices.ContainsFunc(r.Differences, func(d compare.Difference) bool { return d.Kind == c.kind }) {
				t.Errorf("%s %+v", r.Verdict(), r.Differences)
			}
		})
	}
}

// startPlanted runs the polyglot agent behind a server that changes answers to calls.
func startPlanted(t *testing.T, plant func(string) string) string {
	t.Helper()
	agent := startPolyglot(t, "")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		expect.OK(t, err)
		out, err := http.NewRequestWithContext(r.Context(), r.Method, agent+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		out.Header = r.Header.Clone()
		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		expect.OK(t, err)
		text := strings.ReplaceAll(string(answer), agent, "http://"+r.Host)
		if r.Method != http.MethodGet || strings.Contains(r.URL.Path, "/tasks") {
			text = plant(text)
		}
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		io.WriteString(w, text) //nolint:errcheck // a client that left is found by what it lacks
	}))
	t.Cleanup(func() {
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return s.URL
}

// Requests that cannot be translated are left out with the reason. If no request can be, the error lists what the
// card offers.
func TestReplayTranslatedLeavesOut(t *testing.T) {
	t.Parallel()
	agent := agenttest.Start(t, "spec", refagent.Options{})
	src := record(t, agent, func(tapURL string) {
		c := agenttest.Connect(t, tapURL, client.JSONRPC10, client.Options{})
		must.Get(c.Send(t.Context(), client.Text("message-only hello"), client.SendOptions{}))(t)
		resp, err := http.Post(c.Endpoint().URL, "application/json",
			strings.NewReader(`[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]`))
		must.Do(t, err)
		resp.Body.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	r := play(t, src, agent, replay.Options{Binding: a2a.HTTPJSON})
	if r.LeftOut != 1 || len(r.Differences) > 0 || !strings.Contains(fmt.Sprint(r.Lines), "it is a JSON-RPC batch") {
		t.Errorf("%s %+v", r.Verdict(), r.Lines)
	}
	_, err := replay.Run(t.Context(), src, agent, replay.Options{Dialect: a2a.Of(a2a.V0_3)})
	offered := "it offers jsonrpc 1.0, http+json 1.0"
	if !errors.Is(err, replay.ErrNotOffered) || !strings.Contains(fmt.Sprint(err), offered) {
		t.Errorf("the agent speaks no 0.3, and yet: %v", err)
	}
}

// Without the options nothing is translated; the report names the helpful option.
func TestReplayNotesWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	src := record(t, agenttest.Start(t, "spec03", refagent.Options{}), func(tapURL string) {
		c := agenttest.Connect(t, tapURL, client.JSONRPC03, client.Options{})
		must.Get(c.Send(t.Context(), client.Text("message-only hello"), client.SendOptions{}))(t)
	})
	agent := agenttest.Start(t, "spec", refagent.Options{})
	r := play(t, src, agent, replay.Options{})
	want := "the live card no longer offers jsonrpc 0.3, which the recording uses; " +
		"it offers jsonrpc 1.0, http+json 1.0: --binding or --dialect plays the recording there"
	if !slices.Contains(r.Notes, want) || len(r.Differences) == 0 {
		t.Errorf("%s; the notes are %q", r.Verdict(), r.Notes)
	}
	wantSame(t, play(t, src, agent, replay.Options{Dialect: a2a.Of(a2a.V1_0)}))
}

// A rule that does not apply to the recorded dialect could not be broken there. Breaking it in another dialect is
// noted, and is not a difference. A broken rule that applies to both is a difference.
func TestReplayTranslatedKnowsNewRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		new   bool
	}{{"rpc-a2a-errorinfo", true}, {"rpc-response-jsonrpc", false}} {
		src := record(t, startPolyglot(t, ""), func(tapURL string) {
			c := agenttest.Connect(t, tapURL, client.JSONRPC03, client.Options{})
			var refused *client.Error
			if _, err := c.Get(t.Context(), "nobody-knows-4711", nil); !errors.As(err, &refused) {
				t.Fatalf("a task that is not there is answered with %v", err)
			}
		})
		r := play(t, src, startPolyglot(t, c.fault), replay.Options{Dialect: a2a.Of(a2a.V1_0)})
		noted := strings.Contains(fmt.Sprint(r.Notes), "has no such rule: "+c.fault)
		if noted != c.new || len(r.Differences) == 0 != c.new {
			t.Errorf("%s: %s; the notes are %q", c.fault, r.Verdict(), r.Notes)
		}
	}
}

// An agent that has moved to another version is one difference, whatever the requests.
func TestReplayToAnotherVersionIsOneCause(t *testing.T) {
	t.Parallel()
	src := record(t, agenttest.Start(t, "spec03", refagent.Options{Push: true}), func(tapURL string) {
		converse(t, agenttest.Connect(t, tapURL, client.JSONRPC03, client.Options{}))
	})
	r := play(t, src, agenttest.Start(t, "spec", refagent.Options{Push: true}), replay.Options{})
	causes := r.Causes()
	if len(causes) != 1 || causes[0].Differences[0].Message != "the card no longer offers jsonrpc 0.3" ||
		causes[0].Count() < 5 {
		for _, c := range causes {
			t.Errorf("%s, and %d that follow", c.Differences[0].String(), c.Count())
		}
	}
}

// The official client's recorded requests are replayed to the official agent over the other binding.
func TestReplayOfSDKsTranslated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pair  peers.Pair
		o     replay.Options
		rules []string // that only the other binding has, and the agent breaks
	}{
		{
			peers.Pair{Client: peers.Go2Client, Agent: peers.Go2Agent, Binding: peers.JSONRPC},
			replay.Options{Binding: a2a.HTTPJSON},
			nil,
		},
		{
			peers.Pair{Client: peers.Go2Client, Agent: peers.Go2Agent, Binding: peers.HTTPJSON},
			replay.Options{Binding: a2a.JSONRPC},
			[]string{"rpc-result-xor-error"},
		},
	} {
		t.Run(c.pair.String(), func(t *testing.T) {
			t.Parallel()
			src := recordSDK(t, c.pair)
			r := play(t, src, c.pair.Agent.Start(t).URL, c.o)
			var broken []string
			for _, d := range r.Differences {
				if broken = append(broken, d.Rule); d.Rule == "" {
					t.Errorf("%s %+v", d.String(), d.Changes)
				}
			}
			if !slices.Equal(broken, c.rules) || r.LeftOut > 0 || r.Sent != 17 {
				t.Errorf("%s %q, want %q", r.Verdict(), broken, c.rules)
			}
			expect.Contains(t, fmt.Sprintf("the notes are %q", r.Notes),
				"requests were translated to", fmt.Sprint(r.Notes))
		})
	}
}

// A tour of all operations, with its errors and abandoned streams, is equal over the other binding.
func TestReplayTourTranslated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from client.Protocol
		o    replay.Options
	}{
		{client.JSONRPC10, replay.Options{Binding: a2a.HTTPJSON}},
		{client.REST10, replay.Options{Binding: a2a.JSONRPC}},
		{client.JSONRPC03, replay.Options{Dialect: a2a.Of(a2a.V1_0)}},
	} {
		c.o.Keep = func(x *capture.Exchange) bool { // only one of the two agents has it
			return c.from.Version == "1.0" || !bytes.Contains(x.Request.Body.Data, []byte("ExtendedCard"))
		}
		t.Run(c.from.String(), func(t *testing.T) {
			t.Parallel()
			src := record(t, startPolyglot(t, ""), func(tapURL string) {
				tour(t.Context(), tapURL, c.from, client.Options{})
			})
			r := play(t, src, startPolyglot(t, ""), c.o)
			if wantSame(t, r); r.Sent < 20 {
				t.Errorf("%s %s: %s", c.from, c.o.Binding, r.Verdict())
			}
		})
	}
}
