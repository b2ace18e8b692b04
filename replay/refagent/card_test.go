package refagent_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/replay/refagent"
)

const echoCardText = `{"name":"Echo Agent","description":"Answers every message with the same text.",` +
	`"supportedInterfaces":[{"url":"https://agents.example/echo","protocolBinding":"JSONRPC","protocolVersion":"1.0"},` +
	`{"url":"https://agents.example/echo","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],"version":"1.0.0",` +
	`"capabilities":{"streaming":false,"pushNotifications":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
	`"skills":[{"id":"echo","name":"Echo","description":"Sends back the text that it was sent.","tags":["echo","test"]}]}`

func TestCards(t *testing.T) {
	_, body := exchange(t, serve(t, "echo", refagent.Options{BaseURL: "https://agents.example/"}),
		"GET /echo/.well-known/agent-card.json")
	expect.Same(t, "echo card", echoCardText, body)
	origin := serve(t, "spec", refagent.Options{Push: true})
	_, spec := exchange(t, origin, "GET /spec/.well-known/agent-card.json")
	for _, want := range []string{
		`"name":"AgentBin Spec Agent"`, `"url":"` + origin + `/spec"`,
		`"capabilities":{"streaming":true,"pushNotifications":true,"extendedAgentCard":true}`,
		`"defaultOutputModes":["text/plain","application/json","image/svg+xml"]`,
		`"securitySchemes":{"bearer_token":{"httpAuthSecurityScheme":{"scheme":"bearer"}}}`,
		`"tags":["long-running","periodic","polling"],"examples":["long-running start process"]`,
	} {
		if !strings.Contains(spec, want) {
			t.Errorf("spec card lacks %s: %s", want, spec)
		}
	}
	if strings.Contains(spec, "securityRequirements") || strings.Count(spec, `"tags"`) != 8 {
		t.Errorf("spec card requires security or has not eight skills: %s", spec)
	}
	_, spec03 := exchange(t, serve(t, "spec03", refagent.Options{BaseURL: "http://a.example"}),
		"GET /spec03/.well-known/agent-card.json")
	want := `{"protocolVersion":"0.3.0","name":"AgentBin Spec Agent (v0.3)","description":"Shows every way in which a task can go.",` +
		`"url":"http://a.example/spec03","preferredTransport":"JSONRPC","version":"1.0.0","capabilities":{"streaming":true,"pushNotifications":false},`
	if !strings.HasPrefix(spec03, want) || strings.Contains(spec03, "supportedInterfaces") {
		t.Errorf("got %s, want it to begin with %s", spec03, want)
	}
}

func TestCardCaching(t *testing.T) {
	origin := serve(t, "spec", fixed())
	resp, card := exchange(t, origin, "GET /spec/.well-known/agent-card.json")
	for name, want := range map[string]string{
		"Cache-Control": "public, max-age=3600", "Etag": `"1.0.0"`, "Content-Type": "application/json",
		"Last-Modified": "Sun, 01 Mar 2026 10:00:00 GMT", "Access-Control-Allow-Origin": "*",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, path := range []string{
		"/spec", "/spec/.well-known/agent.json", "/.well-known/agent-card.json",
		"/.well-known/agent.json",
	} {
		if resp, body := exchange(t, origin, "GET "+path); resp.StatusCode != 200 || body != card {
			t.Errorf("%s: got %d %s, want the card", path, resp.StatusCode, body)
		}
	}
	for _, tag := range []string{`"1.0.0"`, `W/"1.0.0"`, `"other", "1.0.0"`, `*`} {
		resp, body := exchange(t, origin, "GET /spec/.well-known/agent-card.json\nIf-None-Match: "+tag)
		if resp.StatusCode != 304 || body != "" || resp.Header.Get("ETag") != `"1.0.0"` {
			t.Errorf("If-None-Match %s: got %d %q, want 304", tag, resp.StatusCode, body)
		}
	}
	if resp, _ := exchange(t, origin,
		"GET /spec/.well-known/agent-card.json\nIf-None-Match: \"0.9\""); resp.StatusCode != 200 {
		t.Errorf("another tag: got %d, want 200", resp.StatusCode)
	}
	if resp, _ := exchange(t, origin, "POST /spec/.well-known/agent-card.json\n\n{}"); resp.StatusCode != 405 {
		t.Errorf("POST: got %d, want 405", resp.StatusCode)
	}
}

func TestCrossOrigin(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{})
	resp, _ := exchange(t, origin,
		"OPTIONS /spec/message:send\nOrigin: https://page.example\nAccess-Control-Request-Headers: a2a-version, content-type")
	if resp.StatusCode != 204 || resp.Header.Get("Access-Control-Allow-Origin") != "*" ||
		resp.Header.Get("Access-Control-Allow-Headers") != "a2a-version, content-type" ||
		!strings.Contains(resp.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: got %d %v", resp.StatusCode, resp.Header)
	}
	resp, _ = exchange(t, origin, "GET /health\nOrigin: https://page.example")
	if !strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), "A2A-Version") {
		t.Errorf("answer: got %v, want A2A-Version exposed", resp.Header)
	}
}

func TestMux(t *testing.T) {
	var agents []*refagent.Agent
	for _, name := range refagent.Names() {
		a, err := refagent.New(name, fixed())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		agents = append(agents, a)
	}
	s := httptest.NewServer(refagent.Mux(agents[1], agents[0], agents[2]))
	t.Cleanup(s.Close)
	for path, want := range map[string]string{
		"/.well-known/agent-card.json": "AgentBin Spec Agent", "/echo": "Echo Agent", "/spec": "AgentBin Spec Agent",
		"/spec03/.well-known/agent-card.json": "AgentBin Spec Agent (v0.3)",
		"/health":                             `{"Status":"Healthy","Timestamp":"2026-03-01T10:00:00.000Z"}`,
	} {
		if !strings.HasPrefix(want, "{") {
			want = `"name":"` + want + `"`
		}
		if _, body := exchange(t, s.URL, "GET "+path); !strings.Contains(body, want) {
			t.Errorf("%s: got %s, want %s", path, body, want)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	_, err := refagent.New("nobody", refagent.Options{})
	if err == nil || !strings.Contains(err.Error(), "echo, spec, spec03") {
		t.Errorf("got %v, want the known agents", err)
	}
	_, err = refagent.New("spec", refagent.Options{Fault: "stream-close"})
	if err == nil || !strings.Contains(err.Error(), "stream-closed-on-terminal") {
		t.Errorf("got %v, want the nearest faults", err)
	}
	_, err = refagent.New("spec", refagent.Options{Fault: "nothing"})
	if err == nil || !strings.Contains(err.Error(), "--fault list") {
		t.Errorf("got %v, want where the faults are listed", err)
	}
}
