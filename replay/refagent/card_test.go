package refagent_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

const echoCardText = `{"name":"Echo Agent","description":"Answers every message with the same text.",` +
	`"supportedInterfaces":[{"url":"https://agents.example/echo","protocolBinding":"JSONRPC","protocolVersion":"1.0"},` +
	`{"url":"https://agents.example/echo","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}],"version":"1.0.0",` +
	`"capabilities":{"streaming":false,"pushNotifications":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
	`"skills":[{"id":"echo","name":"Echo","description":"Sends back the text that it was sent.","tags":["echo","test"]}]}`

func TestCards(t *testing.T) {
	body := bodyOf(t, serve(t, "echo", refagent.Options{BaseURL: "https://agents.example/"}),
		"GET /echo/.well-known/agent-card.json")
	expect.Same(t, "echo card", echoCardText, body)
	origin := serve(t, "spec", refagent.Options{Push: true})
	spec := bodyOf(t, origin, "GET /spec/.well-known/agent-card.json")
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
	spec03 := bodyOf(t, serve(t, "spec03", refagent.Options{BaseURL: "http://a.example"}),
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
		expect.Equal(t, name, want, resp.Header.Get(name))
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
	expect.Equal(t, "another tag", 200, headOf(t, origin,
		"GET /spec/.well-known/agent-card.json\nIf-None-Match: \"0.9\"").StatusCode)
	expect.Equal(t, "POST", 405, headOf(t, origin, "POST /spec/.well-known/agent-card.json\n\n{}").StatusCode)
}

func TestCrossOrigin(t *testing.T) {
	origin := serve(t, "spec", refagent.Options{})
	resp := headOf(t, origin,
		"OPTIONS /spec/message:send\nOrigin: https://page.example\nAccess-Control-Request-Headers: a2a-version, content-type")
	if resp.StatusCode != 204 || resp.Header.Get("Access-Control-Allow-Origin") != "*" ||
		resp.Header.Get("Access-Control-Allow-Headers") != "a2a-version, content-type" ||
		!strings.Contains(resp.Header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: got %d %v", resp.StatusCode, resp.Header)
	}
	resp = headOf(t, origin, "GET /health\nOrigin: https://page.example")
	expect.Contains(t, "answer", "A2A-Version", resp.Header.Get("Access-Control-Expose-Headers"))
}

func TestMux(t *testing.T) {
	var agents []*refagent.Agent
	for _, name := range refagent.Names() {
		a := must.Get(refagent.New(name, fixed()))(t)
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
		expect.Contains(t, path, want, bodyOf(t, s.URL, "GET "+path))
	}
}

func TestUnknownNames(t *testing.T) {
	_, err := refagent.New("nobody", refagent.Options{})
	expect.ErrorHas(t, "", "echo, spec, spec03", err)
	_, err = refagent.New("spec", refagent.Options{Fault: "stream-close"})
	expect.ErrorHas(t, "", "stream-closed-on-terminal", err)
	_, err = refagent.New("spec", refagent.Options{Fault: "nothing"})
	expect.ErrorHas(t, "", "--fault list", err)
}
