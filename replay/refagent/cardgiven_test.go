package refagent_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// givenSkills are the skills of a travel agent's card, in every dialect.
const givenSkills = `[{"id":"book-flight","name":"Flights","description":"Books a flight.","tags":["travel"],` +
	`"inputModes":["text/plain"],"outputModes":["text/plain"]},` +
	`{"id":"book","name":"Anything","description":"Asks back.","tags":["travel","multi-turn","streaming"],` +
	`"inputModes":["text/csv"],"outputModes":["text/plain"]},` +
	`{"id":"task-failure","name":"Broken","description":"Fails.","tags":["travel"],` +
	`"inputModes":["text/plain"],"outputModes":["text/plain"]}]`

// Given returns a valid card, with members replaced or added; a null member is removed.
func Given(t testing.TB, agent string, members map[string]any) []byte {
	t.Helper()
	card := map[string]any{
		"name": "Travel", "description": "Books travel.", "version": "7.1",
		"capabilities":      map[string]any{"streaming": agent != "echo"},
		"defaultInputModes": []string{"text/plain"}, "defaultOutputModes": []string{"text/plain"},
		"skills": json.RawMessage(givenSkills),
	}
	switch {
	case strings.HasPrefix(agent, "spec03"):
		card["protocolVersion"] = "0.3.0"
	case agent == "spec02":
		card["protocolVersion"] = "0.2.6"
	case agent == "legacy":
		card["capabilities"] = map[string]any{"streaming": true, "stateTransitionHistory": true}
	}
	for name, value := range members {
		if card[name] = value; value == nil {
			delete(card, name)
		}
	}
	return must.Get(json.Marshal(card))(t)
}

// served returns the card of an agent without a socket.
func served(t *testing.T, a *refagent.Agent, origin string) string {
	t.Helper()
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", origin+"/.well-known/agent.json", nil))
	return w.Body.String()
}

// tell describes an answer: a message, or the state of a task and the text of its first artifact.
func tell(r *client.Result) string {
	if r.Message != nil {
		return "message " + r.Message.Parts[0].Text
	}
	told := string(r.Task.Status.State)
	if len(r.Task.Artifacts) > 0 {
		told += " " + r.Task.Artifacts[0].Parts[0].Text
	}
	return told
}

func publicCard(t *testing.T, origin string) map[string]any {
	t.Helper()
	body := bodyOf(t, origin, "GET /.well-known/agent.json")
	var card map[string]any
	if err := json.Unmarshal([]byte(body), &card); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return card
}

// Every agent serves the given card, with its own address and no other change.
func TestGivenCardIsServed(t *testing.T) {
	for _, agent := range refagent.Names() {
		for _, address := range []string{"", "https://elsewhere.example/a2a"} {
			t.Run(agent+" "+address, func(t *testing.T) {
				more := map[string]any{"provider": map[string]any{"organization": "Us", "url": "https://us.example"}}
				transport := map[string]any{"JSONRPC": "JSONRPC", "HTTP+JSON": "HTTP+JSON"}
				modern := agent == "echo" || agent == "spec"
				switch {
				case address != "" && modern:
					more["supportedInterfaces"] = []any{
						map[string]any{"url": address, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
						map[string]any{"protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
					}
				case address != "":
					more["url"] = address
				}
				origin := serve(t, agent, refagent.Options{Card: Given(t, agent, more)})
				card := publicCard(t, origin)
				base := strings.TrimSuffix(origin+"/"+agent, "/legacy")
				provider := card["provider"].(map[string]any)
				if card["name"] != "Travel" || card["version"] != "7.1" || provider["organization"] != "Us" {
					t.Errorf("got %v", card)
				}
				if !modern {
					if card["url"] != base {
						t.Errorf("the address is %v, want %s", card["url"], base)
					}
					if want := transport["HTTP+JSON"]; strings.Contains(agent, "-") && card["preferredTransport"] != want {
						t.Errorf("the transport is %v, want %v", card["preferredTransport"], want)
					}
					return
				}
				list := card["supportedInterfaces"].([]any)
				first := "JSONRPC"
				if address != "" {
					first = "HTTP+JSON"
				}
				if len(list) != 2 || list[0].(map[string]any)["protocolBinding"] != first {
					t.Errorf("got %v, want two interfaces, %s first", list, first)
				}
				for _, i := range list {
					if i.(map[string]any)["url"] != base {
						t.Errorf("interface %v, want the address %s", i, base)
					}
				}
			})
		}
	}
}

// A message selects a skill of the card by its id or its name. The agent's fallback answers any other message.
func TestGivenSkills(t *testing.T) {
	for _, l := range specLinks {
		t.Run(l.String(), func(t *testing.T) {
			url := serve(t, l.agent, l.with(refagent.Options{Card: Given(t, l.agent, nil)})) + "/" + l.agent
			c := agenttest.Connect(t, url, l.protocol, client.Options{ProtoJSON: l.agent == "spec03-proto"})
			for text, want := range map[string]string{
				"book-flight to Rome": "completed [book-flight] Processed: book-flight to Rome",
				"FLIGHTS to Rome":     "completed [book-flight] Processed: FLIGHTS to Rome",
				"book, please":        "input-required [book] Received initial message: book, please",
				"Anything else":       "input-required [book] Received initial message: Anything else",
				"task-failure":        "failed",
				"bookkeeping": "message Begin a message with the name of a skill:\n" +
					"book-flight: Books a flight.\nbook: Asks back.\ntask-failure: Fails.",
				"task-lifecycle":       "message Begin",
				"tck-complete-task":    "message Begin",
				"task-failure-is-more": "message Begin",
			} {
				got, err := c.Send(t.Context(), client.Text(text), client.SendOptions{})
				if err != nil {
					t.Errorf("%s: %v", text, err)
					continue
				}
				if told := tell(got); !strings.HasPrefix(told, want) {
					t.Errorf("%s: got %q, want %q", text, told, want)
				}
			}
		})
	}
	legacy := serve(t, "legacy", refagent.Options{Card: Given(t, "legacy", nil)})
	older := serve(t, "spec01", refagent.Options{Card: Given(t, "spec01", nil)})
	for text, want := range map[string]string{
		"book-flight": "[book-flight] Processed", "book": "[book] Received initial",
		"nothing": "No matching skill for this request.",
	} {
		exchange(t, legacy, legacyCall("/", "tasks/send", legacySend(text, text)))
		expect.Contains(t, "legacy, "+text, want, legacyTask(t, legacy, text))
		if text == "nothing" {
			want = "Begin a message"
		}
		body := bodyOf(t, older, legacyCall("/spec01", "tasks/send", legacySend(text, text)))
		expect.Contains(t, "spec01, "+text, want, body)
	}
	echo := serve(t, "echo", refagent.Options{Card: Given(t, "echo", nil)})
	c := agenttest.Connect(t, echo+"/echo", client.REST10, client.Options{})
	for _, text := range []string{"book-flight x", "nothing"} {
		expect.Equal(t, "echo",
			"message Echo: "+text, tell(must.Get(c.Send(t.Context(), client.Text(text), client.SendOptions{}))(t)))
	}
}

// The agent refuses features that the card does not offer, and accepts the declared inputs.
func TestGivenCapabilities(t *testing.T) {
	quiet := map[string]any{"capabilities": map[string]any{}}
	for _, agent := range []string{"spec", "spec03"} {
		origin := serve(t, agent, refagent.Options{Card: Given(t, agent, quiet)})
		params, method := `{"message":`+userMessage("", "book-flight")+`}`, "SendStreamingMessage"
		if agent == "spec03" {
			params, method = message03("book-flight"), "message/stream"
		}
		body := bodyOf(t, origin, "POST /"+agent+v10Header+rpc("1", method, params))
		expect.Contains(t, agent+" streams", "-32004", body)
	}
	origin := serve(t, "spec", refagent.Options{Card: Given(t, "spec", nil)})
	body := bodyOf(t, origin, "GET /spec/extendedAgentCard\nAuthorization: Bearer agentbin-test-token")
	expect.Contains(t, "the extended card", "UNSUPPORTED_OPERATION", body)
	for media, want := range map[string]string{
		"text/csv": "completed", "application/json": "takes text/plain, text/csv",
	} {
		body := bodyOf(t, origin,
			"POST /spec/message:send"+v10Header+`{"message":{"messageId":"m","role":"ROLE_USER",`+
				`"parts":[{"text":"book-flight"},{"text":"a","mediaType":"`+media+`"}]}}`)
		if !strings.Contains(strings.ToLower(body), want) {
			t.Errorf("%s: got %s, want %s", media, body, want)
		}
	}
	legacy := serve(t, "legacy", refagent.Options{Card: Given(t, "legacy", quiet)})
	resp := headOf(t, legacy, legacyCall("/subscribe", "tasks/sendSubscribe", legacySend("t", "book-flight")))
	expect.Equal(t, "legacy streams", 404, resp.StatusCode)
	exchange(t, legacy, legacyCall("/", "tasks/send", legacySend("t", "book-flight")))
	if body := legacyTask(t, legacy, "t"); strings.Contains(body, `"history"`) {
		t.Errorf("statuses are shown: %s", body)
	}
}

// An interface of the card without a tenant represents all tenants.
func TestGivenCardOfTenants(t *testing.T) {
	card := Given(t, "spec", map[string]any{"supportedInterfaces": json.RawMessage(
		`[{"protocolBinding":"JSONRPC","protocolVersion":"1.0"},` +
			`{"protocolBinding":"HTTP+JSON","protocolVersion":"1.0","tenant":"b"}]`)})
	origin := serve(t, "spec", refagent.Options{Tenants: []string{"a", "b"}, Card: card})
	var got []string
	for _, v := range publicCard(t, origin)["supportedInterfaces"].([]any) {
		i := v.(map[string]any)
		got = append(got, i["protocolBinding"].(string)+" "+i["tenant"].(string))
	}
	expect.Equal(t, got, "JSONRPC a, JSONRPC b, HTTP+JSON b", strings.Join(got, ", "))
}

// A fault may edit any card that can be served.
func TestFaultsOfGivenCards(t *testing.T) {
	for _, agent := range refagent.Names() {
		card := Given(t, agent, nil)
		for _, f := range refagent.Faults(agent) {
			if f.OnlyGRPC { // the card does not list gRPC
				continue
			}
			a := must.Get(refagent.New(agent, refagent.Options{Card: card, Fault: f.Slug}))(t)
			served(t, a, "http://a.example")
			a.Close()
		}
	}
}

// The entity tag changes with the card.
func TestGivenCardTag(t *testing.T) {
	tag := func(card []byte) string {
		resp := headOf(t, serve(t, "spec", refagent.Options{Card: card}), "GET /spec")
		return resp.Header.Get("ETag")
	}
	one, again, other := tag(Given(t, "spec", nil)), tag(Given(t, "spec", nil)),
		tag(Given(t, "spec", map[string]any{"name": "Other"}))
	if one != again || one == other || len(one) != 18 {
		t.Errorf("got %s, %s and %s", one, again, other)
	}
}

// FuzzCard gives agents any text as a card: it is rejected, or can be served.
func FuzzCard(f *testing.F) {
	for _, agent := range refagent.Names() {
		f.Add(Given(f, agent, nil), true)
	}
	f.Add([]byte(`{"skills":[{"security":[{"a":[]}]}],"securitySchemes":{"a":1},"additionalInterfaces":[1]}`), false)
	f.Fuzz(func(t *testing.T, card []byte, push bool) {
		for _, agent := range refagent.Names() {
			a, err := refagent.New(agent, refagent.Options{Card: card, Push: push})
			if err != nil {
				continue
			}
			if origin := "http://a.example"; len(card) > 0 {
				text := served(t, a, origin)
				if !json.Valid([]byte(text)) || !strings.Contains(text, origin) {
					t.Errorf("%s serves %s", agent, text)
				}
			}
			a.Close()
		}
	})
}
