//go:build peers

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/recorder"
	"a2atap/proxy"
	"a2atap/proxy/a2a"
	"a2atap/proxy/must"
	"a2atap/replay/peers"
	"a2atap/replay/refagent"
)

// A promptfooWay is how send asks what promptfoo asks under one label of the evaluations in testdata/promptfoo.
type promptfooWay struct {
	agent string
	flags []string
}

var promptfooWays = map[string]promptfooWay{
	"send":   {"SPEC", []string{"--auth", "bearer:env:TOKEN", "--mode", "send"}},
	"stream": {"SPEC", []string{"--auth", "bearer:env:TOKEN", "--mode", "stream"}},
	"card":   {"SPEC", []string{"--auth", "bearer:env:TOKEN", "--mode", "auto"}},
	"url":    {"SPEC", []string{"--auth", "bearer:env:TOKEN", "--mode", "auto", "--no-card"}},
	"poll": {"SPEC", []string{
		"--auth", "bearer:env:TOKEN", "--configuration", `{"returnImmediately":true}`,
		"--poll-interval", "10ms", "--mode", "send",
	}},
	"echo":  {"ECHO", []string{"--auth", "bearer:env:TOKEN", "--mode", "auto"}},
	"basic": {"BASIC", []string{"--auth", "basic:alice:env:PASSWORD"}},
	"key":   {"KEY", []string{"--auth", "header:X-Seat-Key=env:KEY"}},
	"query": {"QUERY", []string{"--auth", "query:api_key=env:GUARD_KEY", "--mode", "auto"}},
	"oauth": {"OAUTH", []string{
		"--oauth-client-id", "cli", "--oauth-client-secret", "env:GUARD_TOKEN",
		"--mode", "auto",
	}},
	"user": {"USER", []string{"--oauth-user", "alice", "--oauth-password", "env:GUARD_PASSWORD", "--mode", "auto"}},
}

// promptfooSecrets are what the agents ask for.
var promptfooSecrets = map[string]string{
	"TOKEN": "s3c-000-q00aa01", "PASSWORD": "s3c-001-q00aa02", "KEY": "s3c-002-q00aa03",
	"GUARD_TOKEN": guardToken, "GUARD_PASSWORD": guardPassword, "GUARD_KEY": guardKey,
}

// promptfooFindings are all findings about promptfoo, and why they are right.
var promptfooFindings = map[string]string{
	"note card-cache-honoured": "the card is fetched before each call, and says that it may be kept; 1.0 section 8.6.2",
}

// TestPromptfoo has promptfoo evaluate reference agents through taps. What it asserts of the answers holds, nothing is
// wrong with the traffic, no secret is in the capture, and send prints the same answers.
func TestPromptfoo(t *testing.T) {
	s := newPromptfooStage(t)
	answers := s.evaluate(t, "answers.yaml", 0)
	failures := s.evaluate(t, "errors.yaml", 100)
	s.check(t)
	if len(answers) != 36 || len(failures) != 6 {
		t.Errorf("%d answers and %d failures, want 36 and 6", len(answers), len(failures))
	}
	for _, r := range answers {
		if !r.Success {
			t.Errorf("%s: %q: failed with %s, output %q", r.Provider.Label, r.Vars.Prompt, r.Error, r.Response.Output)
		}
		text, _ := s.send(t, r, "text", cli.ExitOK)
		if diff := cmp.Diff(r.Response.Output+"\n", text); diff != "" {
			t.Errorf("%s: %q: send prints another text (-promptfoo +send):\n%s", r.Provider.Label, r.Vars.Prompt, diff)
		}
		text, _ = s.send(t, r, "json", cli.ExitOK)
		var ours promptfooResponse
		must.Do(t, json.Unmarshal([]byte(text), &ours))
		if diff := cmp.Diff(r.Response, ours); diff != "" {
			t.Errorf("%s: %q: send gives something else (-promptfoo +send):\n%s", r.Provider.Label, r.Vars.Prompt, diff)
		}
	}
	for _, r := range failures {
		text, said := s.send(t, r, "text", cli.ExitFindings)
		if r.Success || !strings.HasSuffix(r.Error, ": "+strings.TrimSpace(text)) || said == "" {
			t.Errorf("%s: %q: promptfoo says %q, send %q and %q", r.Provider.Label, r.Vars.Prompt, r.Error, text, said)
		}
	}
}

// A promptfooStage is agents that ask for credentials, and a recording of taps before them.
type promptfooStage struct {
	agents    map[string]string // their URLs
	variables []string          // of promptfoo: the URLs of the taps, and the secrets
	recording *recorder.Recording
	capture   sowing
}

func newPromptfooStage(t *testing.T) *promptfooStage {
	s := &promptfooStage{
		agents:  make(map[string]string),
		capture: sowing{path: filepath.Join(t.TempDir(), "c.a2atap")},
	}
	o := recorder.Options{Output: s.capture.path}
	serve := func(tap, path string, agent http.Handler) (origin string) {
		server := httptest.NewServer(agent)
		t.Cleanup(server.Close)
		address := must.Get(url.Parse(server.URL))(t)
		s.agents[tap] = server.URL + path
		o.Proxy.Taps = append(o.Proxy.Taps, proxy.TapSpec{Name: tap, Agent: address, Listen: "127.0.0.1:0"})
		return server.URL
	}
	for tap, asks := range map[string]refagent.Credentials{
		"SPEC":  {Scheme: refagent.BearerAuth, Secret: promptfooSecrets["TOKEN"]},
		"ECHO":  {Scheme: refagent.BearerAuth, Secret: promptfooSecrets["TOKEN"]},
		"BASIC": {Scheme: refagent.BasicAuth, Secret: "alice:" + promptfooSecrets["PASSWORD"]},
		"KEY":   {Scheme: refagent.APIKeyAuth, Header: "X-Seat-Key", Secret: promptfooSecrets["KEY"]},
	} {
		name := "echo"
		if tap == "SPEC" {
			name = "spec"
		}
		agent, err := refagent.New(name, refagent.Options{
			Auth: &asks, StepTime: 5 * time.Millisecond,
			Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		})
		must.Do(t, err)
		t.Cleanup(agent.Close)
		serve(tap, agent.Path(), agent)
	}
	for tap, kind := range map[string]string{"QUERY": "query", "OAUTH": "oauth", "USER": "password"} {
		agent := must.Get(refagent.New("spec", refagent.Options{StepTime: 1}))(t)
		t.Cleanup(agent.Close)
		g := &guard{kind: kind, agent: agent}
		g.origin = serve(tap, agent.Path(), g)
	}
	var err error
	if s.recording, err = recorder.Start(o); err != nil {
		t.Fatal(err)
	}
	for _, tap := range s.recording.Taps() {
		path := s.agents[tap.Name()][strings.LastIndexByte(s.agents[tap.Name()], '/'):]
		s.variables = append(s.variables, tap.Name()+"_URL="+tap.URL()+path)
	}
	for name, secret := range promptfooSecrets {
		s.variables = append(s.variables, name+"="+secret)
	}
	return s
}

// A promptfooResult is the result of one prompt.
type promptfooResult struct {
	Success  bool
	Error    string
	Provider struct{ Label string }
	Vars     struct{ Prompt string }
	Response promptfooResponse
}

type promptfooResponse struct {
	Output   string
	Metadata struct {
		A2A struct {
			Events    []struct{} // only how many
			Mode      string
			TaskState string
		}
	}
}

// evaluate runs an evaluation of testdata/promptfoo and returns its results. It must end with the status.
func (s *promptfooStage) evaluate(t *testing.T, config string, status int) []promptfooResult {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join("testdata", "promptfoo", config))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, config), text, 0o600)
	}
	must.Do(t, err)
	return promptfooEval(t, dir, config, s.variables, status)
}

// promptfooEval runs an evaluation in a directory.
func promptfooEval(t *testing.T, dir, config string, variables []string, status int) []promptfooResult {
	t.Helper()
	begun := time.Now()
	said, err := peers.Promptfoo(t.Context(), t, dir, variables,
		"eval", "--config", config, "--output", "results.json", "--no-cache", "--no-write", "--no-table", "--no-progress-bar")
	t.Logf("promptfoo eval --config %s took %v", config, time.Since(begun).Round(time.Millisecond))
	var ended *exec.ExitError
	switch {
	case err == nil && status == 0, errors.As(err, &ended) && ended.ExitCode() == status:
	default:
		t.Fatalf("promptfoo ends with %v, want status %d:\n%s", err, status, said)
	}
	text := must.Get(os.ReadFile(filepath.Join(dir, "results.json")))(t)
	var written struct {
		Results struct{ Results []promptfooResult }
	}
	must.Do(t, json.Unmarshal(text, &written))
	return written.Results.Results
}

// check ends the recording and looks at the capture.
func (s *promptfooStage) check(t *testing.T) {
	t.Helper()
	result := cmdtest.Stop(t, s.recording)
	if c := result.Counts; c.Calls < 42 || c.Judged < c.Calls || c.Failed > 0 || c.Lost > 0 || c.Unproved > 0 {
		t.Errorf("the capture has %+v, want 42 calls at least, none of which failed or is lost", c)
	}
	found := make(map[string]bool)
	for i := range result.Findings {
		f := &result.Findings[i]
		found[f.Severity.String()+" "+f.Rule.ID] = true
		if f.Side == a2a.Agent {
			t.Errorf("about an agent: %s", f)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(promptfooFindings)), slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("findings (-confirmed +got):\n%s", diff)
		for i := range result.Findings {
			t.Logf("%s", &result.Findings[i])
		}
	}
	if code, said := runQuietly(t, "check", s.capture.path); code != cli.ExitOK {
		t.Errorf("check ends with %d: %s", code, said)
	}
	stored := s.capture.unpacked(t)
	for name, secret := range promptfooSecrets {
		if strings.Contains(stored, secret) || strings.Contains(stored, url.QueryEscape(secret)) {
			t.Errorf("the secret %s is in the capture", name)
		}
	}
	basic := base64.StdEncoding.EncodeToString([]byte("alice:" + promptfooSecrets["PASSWORD"]))
	if strings.Contains(stored, "s3cret-access") || strings.Contains(stored, basic) {
		t.Error("a token that promptfoo got, or user and password, are in the capture")
	}
	for _, passed := range []string{
		"Authorization: Bearer redacted.", "Authorization: Basic redacted.", "X-Seat-Key: redacted.", "?api_key=redacted.",
		"POST /spec/message:send ", "POST /spec/message:stream ", "GET /spec/tasks/", `"returnImmediately":true`,
	} {
		if !strings.Contains(strings.ToLower(stored), strings.ToLower(passed)) {
			t.Errorf("nothing in the capture says %q", passed)
		}
	}
}

// send asks the same of the same agent as promptfoo did, and returns what is printed.
func (s *promptfooStage) send(t *testing.T, r promptfooResult, output string, status int) (printed, said string) {
	t.Helper()
	way, known := promptfooWays[r.Provider.Label]
	if !known {
		t.Fatalf("promptfoo asked in the way %q", r.Provider.Label)
	}
	printed, said, code := s.ask(t, way, r.Vars.Prompt, output)
	if code != status {
		t.Errorf("%s: %q: send ends with %d, want %d: %s", r.Provider.Label, r.Vars.Prompt, code, status, said)
	}
	return printed, said
}

// ask runs the command send.
func (s *promptfooStage) ask(t *testing.T, way promptfooWay, prompt, output string) (printed, said string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	e := cli.Env{
		In: strings.NewReader(""), Out: &out, Err: &err, Now: time.Now,
		Getenv: func(name string) string { return promptfooSecrets[name] },
	}
	args := []string{"send", "a2a:" + s.agents[way.agent], prompt, "--protocol", "1.0-rest", "--output", output}
	code = run(t.Context(), e, append(args, way.flags...))
	return out.String(), err.String(), code
}
