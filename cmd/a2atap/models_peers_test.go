//go:build peers

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/peers"
)

// A modelAnswer is what an SDK made of a model's answer, or what show says of it.
type modelAnswer struct {
	Model  string
	Stream bool
	Text   string
	Calls  []modelToolCall
	Input  int64
	Output int64
	Failed int
}

type modelToolCall struct {
	Name      string
	Arguments map[string]string
}

// modelKeys are the variables of the SDKs for the keys of models, with a key for each.
var modelKeys = map[string]string{
	"OPENAI_API_KEY":    "sk-proj-planted0openai0123456789abcdef",
	"ANTHROPIC_API_KEY": "sk-ant-api03-planted0anthropic0123456789",
	"GEMINI_API_KEY":    "AIzaSyPlanted0gemini0123456789abcdefghi",
	"OLLAMA_API_KEY":    "planted0ollama0123456789abcdef",
	"TOOL_KEY":          "planted0tool0123456789abcdef",
}

// modelBases are the variables from which the SDKs read the address of their model, and the path in it.
var modelBases = map[string]string{
	"OPENAI_BASE_URL": "/v1", "ANTHROPIC_BASE_URL": "", "GOOGLE_GEMINI_BASE_URL": "", "OLLAMA_HOST": "",
}

// modelEnvironment returns variables for the SDKs of models, with their addresses at origin unless it is empty.
func modelEnvironment(t *testing.T, origin string) (env []string) {
	t.Helper()
	for name, key := range modelKeys {
		env = append(env, name+"="+key)
	}
	for name, path := range modelBases {
		if origin != "" {
			env = append(env, name+"="+origin+path)
		}
	}
	return append(env, "XDG_CONFIG_HOME="+t.TempDir())
}

// What the SDKs of OpenAI, Anthropic, Google and Ollama make of models' answers is what show says of them: text, tool
// calls, tokens and failures, of whole answers and of streams. The programs print the same behind run as without it.
func TestModelsOfSDKs(t *testing.T) {
	t.Parallel()
	texts := []string{
		"What is the weather in Rome?", "I am " + peers.Busy + " in Oslo", "Use the " + peers.Secret + " word in Bern",
	}
	for _, sdks := range []peers.Program{peers.PyFlow, peers.JSFlow} {
		t.Run(sdks.Name, func(t *testing.T) {
			t.Parallel()
			origin := peers.StartModels(t)
			dir := t.TempDir()
			argv, env := sdks.Command(t, "models")
			argv, env = append(argv, texts...), append(env, modelEnvironment(t, origin)...)
			direct := shown(t, dir, env, argv)
			recorded := shown(t, dir, env, append([]string{"a2atap", "run", "-o", "c.a2atap", "--"}, argv...))
			expect.Equal(t, "the program's output", direct, recorded)

			path := filepath.Join(dir, "c.a2atap")
			var want []modelAnswer
			recorded = strings.ReplaceAll(recorded, peers.SecretArgument, "redacted")
			for line := range strings.Lines(recorded) {
				var a modelAnswer
				must.Do(t, json.Unmarshal([]byte(line), &a))
				want = append(want, a)
			}
			var got []modelAnswer
			for _, x := range causedExchanges(t, path) {
				got = append(got, x.answer(t))
			}
			if len(want) < 18 {
				t.Fatalf("the program made %d calls:\n%s", len(want), recorded)
			}
			expect.Same(t, "answers", answerLines(want), answerLines(got))
			checkNoFindings(t, path)
			checkNoSecrets(t, path)
		})
	}
}

func answerLines(all []modelAnswer) string {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "%+v\n", a)
	}
	return b.String()
}

// placeholder matches what stands for a secret.
var placeholder = regexp.MustCompile(`redacted\.[0-9a-f.]+`)

// answer returns what show says of a model's answer.
func (x *caused) answer(t *testing.T) modelAnswer {
	t.Helper()
	line, asked := x.Request.Line, x.Request.Body
	a := modelAnswer{
		Model: x.Model.Name, Text: x.Model.Text, Input: x.Model.InputTokens, Output: x.Model.OutputTokens,
		Stream: strings.Contains(asked, `"stream":true`) || strings.Contains(asked, `"stream": true`) || strings.Contains(line, ":stream"),
	}
	if x.Response.Status >= 400 {
		a.Failed = x.Response.Status
	} else if events := !strings.Contains(line, "/api/chat"); a.Stream && events != (x.Model.FirstChunk > 0) {
		t.Errorf("%s: the first chunk came after %v ms", x, x.Model.FirstChunk)
	}
	for _, c := range x.Model.ToolCalls {
		call := modelToolCall{Name: c.Name}
		must.Do(t, json.Unmarshal(placeholder.ReplaceAll([]byte(c.Arguments), []byte("redacted")), &call.Arguments))
		a.Calls = append(a.Calls, call)
	}
	return a
}

// checkNoFindings demands that nothing is reported about exchanges that are not A2A, except that calls failed, which it
// returns.
func checkNoFindings(t *testing.T, path string) (otherCalls []string) {
	t.Helper()
	kinds := make(map[uint64]string)
	for _, x := range causedExchanges(t, path) {
		kinds[x.N] = x.Kind
	}
	var result struct {
		Findings []struct {
			Rule, Message string
			Exchange      uint64
		}
		Verdict struct {
			Status     string
			OtherCalls []struct{ Operation, Error, Text string }
		}
	}
	must.Do(t, json.Unmarshal([]byte(printed(t, "check", path, "--format", "json")), &result))
	for _, f := range result.Findings {
		if kinds[f.Exchange] != "a2a" {
			t.Errorf("%s in exchange %d of kind %q: %s", f.Rule, f.Exchange, kinds[f.Exchange], f.Message)
		}
	}
	for _, c := range result.Verdict.OtherCalls {
		otherCalls = append(otherCalls, c.Operation+": "+c.Text)
	}
	return otherCalls
}

// checkNoSecrets demands that no key that the programs sent is in any form in which the capture is shown or exported.
func checkNoSecrets(t *testing.T, path string) {
	t.Helper()
	secrets := append(slices.Collect(maps.Values(modelKeys)), peers.SecretArgument)
	for verb, formats := range map[string][]string{
		"show":   {"list", "detail", "tree", "ladder", "transcript", "curl", "csv", "json"},
		"check":  {"text", "markdown", "html", "json", "sarif", "junit"},
		"export": {"har", "jsonl", "txtar", "html", "otlp"},
	} {
		for _, format := range formats {
			out := printed(t, verb, path, "--format", format)
			if out == "" {
				t.Errorf("%s --format %s prints nothing", verb, format)
			}
			for _, secret := range secrets {
				if at := strings.Index(out, secret); at >= 0 {
					t.Errorf("%s --format %s prints a key: …%s…", verb, format, out[max(0, at-100):at+len(secret)])
				}
			}
		}
	}
}

// printed returns what a command prints, whatever its verdict.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	e := cli.Env{In: strings.NewReader(""), Out: &out, Err: &said, Now: time.Now, Getenv: unset}
	if code := run(t.Context(), e, args); code != cli.ExitOK && code != cli.ExitInconclusive {
		t.Fatalf("%s ends with %d:\n%s", strings.Join(args, " "), code, said.String())
	}
	return out.String()
}
