//go:build peers

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

// promptfooDiffers are the answers of odd.txtar of which send makes something else, with what it prints or says, and
// why.
var promptfooDiffers = map[string]struct{ ours, reason string }{
	"no wrapper": {
		"is not a task, message", "the answer to a send holds a task or a message, by A2A 1.0 section 3.2.1; send reports it",
	},
	"no id": {"it has no id", "a task has an id, by section 4.1.1: nobody could ask for what becomes of this one"},
	"an end that is cut": {
		"polled", "what no empty line follows is no event, so the stream was cut, and the task is polled",
	},
	"an unknown event": {"is not a task, message", "send is there to notice; it says what it cannot read"},
	"two messages":     {"a", "a stream of a message ends with it, by section 3.1.2; what follows does not count"},
	"no event":         {"without an event", "promptfoo takes the empty list of events for the text"},
}

// TestPromptfooReadsTheSame has promptfoo and send read answers that are hard to read.
func TestPromptfooReadsTheSame(t *testing.T) {
	archive := must.Get(txtar.ParseFile(filepath.Join("testdata", "promptfoo", "odd.txtar")))(t)
	agent := httptest.NewServer(oddAgent(archive))
	defer agent.Close()
	type object = map[string]any
	config := object{"prompts": []string{"{{prompt}}"}}
	var tests, providers []object
	for _, f := range archive.Files {
		mode, name, _ := strings.Cut(f.Name, "/")
		tests = append(tests, object{"vars": object{"prompt": name}, "providers": []string{mode}})
	}
	for _, mode := range []string{"send", "stream"} {
		providers = append(providers, object{"id": "a2a:" + agent.URL, "label": mode, "config": object{"mode": mode}})
	}
	config["tests"], config["providers"] = tests, providers
	text := must.Get(json.Marshal(config))(t)
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "odd.json"), text, 0o600))
	results := promptfooEval(t, dir, "odd.json", nil, 100)
	if len(results) != len(archive.Files) {
		t.Errorf("%d results for %d answers", len(results), len(archive.Files))
	}
	s := &promptfooStage{agents: map[string]string{"ODD": agent.URL}}
	for _, r := range results {
		way := promptfooWay{"ODD", []string{"--no-card", "--mode", r.Provider.Label}}
		printed, said, code := s.ask(t, way, r.Vars.Prompt, "text")
		differs, known := promptfooDiffers[r.Vars.Prompt]
		switch same := printed == r.Response.Output+"\n" && code == cli.ExitOK; {
		case known && (same || !strings.Contains(printed+said, differs.ours)):
			t.Errorf("%s: send ends with %d, prints %q and says %q; want %q, since %s", r.Vars.Prompt, code, printed, said,
				differs.ours, differs.reason)
		case known:
		case r.Error == "" && !same:
			t.Errorf("%s: promptfoo gets %q; send ends with %d, prints %q and says %q", r.Vars.Prompt, r.Response.Output, code,
				printed, said)
		case r.Error != "" && code == cli.ExitOK:
			t.Errorf("%s: promptfoo says %q, and send prints %q", r.Vars.Prompt, r.Error, printed)
		}
	}
}

// oddAgent answers with the files of an archive.
func oddAgent(archive *txtar.Archive) http.Handler {
	answers := make(map[string]string)
	for _, f := range archive.Files {
		answers[f.Name] = strings.ReplaceAll(string(f.Data), "BOM", "\ufeff")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/tasks/polled" {
			io.WriteString(w, `{"id":"polled","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},`+
				`"artifacts":[{"artifactId":"1","parts":[{"text":"polled"}]}]}`)
			return
		}
		var asked struct {
			Message struct{ Parts []struct{ Text string } }
		}
		err := json.NewDecoder(r.Body).Decode(&asked)
		mode, known := strings.CutPrefix(r.URL.Path, "/message:")
		if err != nil || !known || len(asked.Message.Parts) != 1 {
			http.NotFound(w, r)
			return
		}
		answer, known := answers[mode+"/"+asked.Message.Parts[0].Text]
		switch {
		case !known:
			http.NotFound(w, r)
		case mode == "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, answer)
		default:
			io.WriteString(w, strings.TrimSpace(answer))
		}
	})
}
