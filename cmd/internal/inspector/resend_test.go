package inspector

import (
	"context"
	"io"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/source"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
	"a2atap/tui"
)

// liveAgent starts the reference agent spec, and returns its URL.
func liveAgent(t *testing.T) string {
	t.Helper()
	agent := must.Get(refagent.New("spec", refagent.Options{StepTime: 1}))(t)
	server := httptest.NewServer(agent)
	t.Cleanup(func() {
		server.Close()
		agent.Close()
	})
	return server.URL + agent.Path()
}

// sentBefore is the exchange of a capture whose request is sent again.
func sentBefore(agent, secret string) *capture.Exchange {
	u, _ := url.Parse(agent)
	body := `{"jsonrpc":"2.0","id":"a","method":"SendMessage","params":{"message":{"messageId":"m-1","role":"ROLE_USER",` +
		`"parts":[{"text":"task-lifecycle: two seats"}]}}}`
	return &capture.Exchange{
		Seq: 1, ID: [16]byte{1}, State: capture.StateClosed, Client: capture.Peer{Name: "planner"},
		Agent: capture.Peer{Name: "booker", URL: u.Scheme + "://" + u.Host},
		Request: capture.Request{
			Head: []byte("POST " + u.Path + "?key=" + secret + "&a=b HTTP/1.1\r\nHost: booker\r\nA2A-Version: 1.0\r\n" +
				"Authorization: Bearer " + secret + "\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n"),
			Body: capture.Body{Data: []byte(body), Size: int64(len(body)), Complete: true},
		},
	}
}

func inMemory(t *testing.T, list ...*capture.Exchange) *capture.Memory {
	t.Helper()
	return must.Get(capture.ReadMemory(capture.Info{Name: "c.a2atap"}, capture.Each(list...)))(t)
}

// A request is sent again as it was, but for secrets, and kept in a capture of its own.
func TestResendToAgent(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	secret := credential.Placeholder(strings.Repeat("a", 64), strings.Repeat("b", 16))
	x := sentBefore(liveAgent(t), secret)
	src := inMemory(t, x)
	file := filepath.Join(t.TempDir(), "c-resent.a2atap")
	s := &resender{e: cli.Env{Getenv: func(string) string { return "" }, Err: os.Stderr}, src: src, file: file}
	out := must.Get(s.request(t.Context(), x))(t)
	if want := "POST " + x.Agent.URL + "/spec?a=b"; out.What != want || out.File != file || len(out.Remote) > 0 {
		t.Errorf("it says %q, %q, %v", out.What, out.File, out.Remote)
	}
	if got := strings.Join(out.Remarks, "\n"); !strings.Contains(got, "query parameter key, header Authorization: ") {
		t.Errorf("of secrets it says %q", got)
	}
	for n := uint64(1); n <= 2; n++ { // the second is appended
		sent := must.Get(out.Send(t.Context()))(t)
		if sent.Exchange.Seq != n || sent.File != file || !sent.Exchange.Replayed {
			t.Errorf("sent as %d into %s", sent.Exchange.Seq, sent.File)
		}
		if head := string(sent.Exchange.Request.Head); strings.Contains(head, "Bearer") || strings.Contains(head, "key=") {
			t.Errorf("a placeholder was sent: %q", head)
		}
		expect.Contains(t, "the agent answers", `"task"`, string(sent.Exchange.Response.Body.Data))
	}
	kept := must.Get(source.Open(s.e, file))(t)
	defer kept.Close()
	if info, err := kept.Info(t.Context()); err != nil || info.Exchanges != 2 {
		t.Errorf("kept %d exchanges, %v", info.Exchanges, err)
	}
}

// An edited request is sent as written. A request that cannot be sent is reported with the place of the error.
func TestResendEdited(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	x := sentBefore(liveAgent(t), "s")
	s := &resender{e: cli.Env{}, src: inMemory(t, x), file: filepath.Join(t.TempDir(), "r.a2atap")}
	out := must.Get(s.request(t.Context(), x))(t)
	text := string(out.Text)
	for _, words := range []string{
		"-- 1.request --\nPOST /spec?key=s&a=b HTTP/1.1\n", `"text": "task-lifecycle: two seats"`, "Save and leave",
	} {
		if !strings.Contains(text, words) {
			t.Errorf("the editor does not get %q:\n%s", words, text)
		}
	}
	if strings.Contains(text, "Content-Length:") || strings.Contains(text, ".meta") {
		t.Errorf("the editor gets what it does not need:\n%s", text)
	}
	edited, err := out.Edited([]byte(strings.Replace(text, "task-lifecycle: two seats", "task-failure please", 1)))
	must.Do(t, err)
	sent, err := edited.Send(t.Context())
	if err != nil || !strings.Contains(string(sent.Exchange.Request.Body.Data), "task-failure please") {
		t.Fatalf("sent %v, %v", sent, err)
	}
	for wrong, why := range map[string]string{
		"":                          "expected one section, 1.request",
		"-- 1.request --\nPOST\n\n": "is not a request line",
		"-- 1.requst --\n":          "request:1: ",
		"-- 1.request --\nGET / HTTP/1.1\nx y\n\n":   "cannot be sent",
		text + "-- 2.request --\nGET / HTTP/1.1\n\n": "nothing else is sent",
	} {
		if _, err := out.Edited([]byte(wrong)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q is answered with %v, want %q", wrong, err, why)
		}
	}
}

// While this process records, what is sent again goes through its tap and is part of the recording.
func TestResendThroughTap(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	at := liveAgent(t)
	agent := must.Get(url.Parse(at))(t)
	dir := t.TempDir()
	r, err := recorder.Start(recorder.Options{
		Output: filepath.Join(dir, "c.a2atap"),
		Proxy:  proxy.Options{Taps: []proxy.TapSpec{{Name: "booker", Agent: agent, Listen: "127.0.0.1:0"}}},
	})
	must.Do(t, err)
	defer cmdtest.Stop(t, r)
	s := resenderOf(r, cli.Env{}, r.Source())
	out := must.Get(s.request(t.Context(), sentBefore(at, "s")))(t)
	if out.File != "" || !strings.Contains(out.What, r.Taps()[0].Addr()) {
		t.Errorf("it is sent as %q into %q", out.What, out.File)
	}
	for n := uint64(1); n <= 2; n++ {
		sent, err := out.Send(t.Context())
		if err != nil || sent.Exchange == nil || sent.Exchange.Seq != n {
			t.Fatalf("recorded as %+v, %v", sent, err)
		}
	}
	task, err := s.task(t.Context(), r.Source(), []uint64{1, 2})
	if err != nil || task.File != "" || !slices.ContainsFunc(task.Remarks, func(w string) bool {
		return strings.Contains(w, "requests to booker now go to "+r.Taps()[0].URL())
	}) {
		t.Fatalf("the task is sent as %+v, %v", task, err)
	}
	if sent, err := task.Send(t.Context()); err != nil || sent.Report.Sent != 2 || len(sent.Report.Differences) > 0 {
		t.Errorf("the task came to %+v, %v", sent, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*resent*")); err != nil || len(left) > 0 {
		t.Errorf("it was also kept in %v, %v", left, err)
	}
}

// A request that cannot be sent is reported before the user is asked.
func TestResendRefuses(t *testing.T) {
	s := &resender{e: cli.Env{}, file: filepath.Join(t.TempDir(), "r.a2atap"), src: inMemory(t)}
	for why, change := range map[string]func(*capture.Exchange){
		"no request":              func(x *capture.Exchange) { x.Request.Head = nil },
		"not recorded completely": func(x *capture.Exchange) { x.Request.Body.Dropped = 3 },
		"where the agent of":      func(x *capture.Exchange) { x.Agent.URL = "" },
		"cannot be decoded": func(x *capture.Exchange) {
			x.Request.Head = []byte("POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n")
		},
	} {
		x := sentBefore("http://127.0.0.1:1/spec", "s")
		change(x)
		if _, err := s.request(t.Context(), x); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
	x := sentBefore("http://127.0.0.1:1/spec", "s")
	out, err := s.request(t.Context(), x)
	must.Do(t, err)
	if _, err := out.Send(t.Context()); err == nil || !strings.Contains(err.Error(), "connect to 127.0.0.1:1") {
		t.Errorf("an agent that is down: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := out.Send(ctx); err == nil || !strings.Contains(err.Error(), "canceled before it was sent") {
		t.Errorf("canceled: %v", err)
	}
	x.Agent.URL = "https://booker.example"
	if out, err = s.request(t.Context(), x); err != nil || !slices.Equal(out.Remote, []string{"booker.example"}) {
		t.Errorf("another machine is %+v, %v", out, err)
	}
}

// A tap may lead elsewhere than in the earlier recording whose exchange is sent again: what is asked is about where it
// leads now.
func TestResendThroughTapOfAnotherAgent(t *testing.T) {
	const before = "http://127.0.0.1:9001"
	s := &resender{e: cli.Env{}, file: "r.a2atap", taps: map[string][]wayIn{
		"booker": {{"http://127.0.0.1:7001", "https://prod.example/spec"}},
	}}
	x := sentBefore(before+"/spec", "s")
	one := must.Get(s.request(t.Context(), x))(t)
	task := must.Get(s.task(t.Context(), inMemory(t, x), []uint64{1}))(t)
	for what, out := range map[string]*tui.Outgoing{"request": one, "task": task} {
		if !slices.Equal(out.Remote, []string{"prod.example"}) ||
			!slices.Contains(out.Remarks, "the tap of booker now leads to https://prod.example/spec; this request went to "+before) {
			t.Errorf("%s: other machines are %q, remarks %q", what, out.Remote, out.Remarks)
		}
	}
}

// What an agent's card names as a credential is hidden in what is kept, whatever form the capture has.
func TestResendKeepsNoNamedSecret(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	at := liveAgent(t)
	card := &capture.Exchange{
		Seq: 2, ID: [16]byte{2}, State: capture.StateClosed, Client: capture.Peer{Name: "planner"},
		Request: capture.Request{
			Head: []byte("GET /.well-known/agent-card.json HTTP/1.1\r\nHost: booker\r\n\r\n"), Body: capture.Body{Complete: true},
		},
	}
	body := `{"name":"b","version":"1","securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"X-Booking"}}}}`
	card.Response = &capture.Response{
		Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
		Body: capture.Body{Data: []byte(body), Size: int64(len(body)), Complete: true},
	}
	x := sentBefore(at, "")
	card.Agent = x.Agent
	file := filepath.Join(t.TempDir(), "r.a2atap")
	s := &resender{e: cli.Env{Getenv: os.Getenv}, file: file, src: inMemory(t, x, card)}
	x.Request.Head = []byte(strings.Replace(string(x.Request.Head), "Authorization: Bearer ", "X-Booking: hunter-two", 1))
	out := must.Get(s.request(t.Context(), x))(t)
	must.Get(out.Send(t.Context()))(t)
	kept := must.Get(source.Open(cli.Env{Err: io.Discard, Getenv: os.Getenv}, file))(t)
	defer kept.Close()
	for sent, err := range kept.Exchanges(t.Context(), 1) {
		if head := string(sent.Request.Head); err != nil || !strings.Contains(head, "X-Booking: redacted.") {
			t.Errorf("kept as %s, %v", head, err)
		}
	}
}

func TestEditorIsTheUsers(t *testing.T) {
	for _, c := range []struct{ visual, editor, want string }{
		{"", "", ""},
		{"", "go version", "go version FILE"},
		{"go vet", "ed", "go vet FILE"},
		{"", "no-such-editor -w", `EDITOR is "no-such-editor"`},
	} {
		s := &resender{e: cli.Env{Getenv: func(name string) string {
			return map[string]string{"VISUAL": c.visual, "EDITOR": c.editor}[name]
		}}}
		got := ""
		if open := s.editor(); open != nil {
			cmd, err := open("FILE")
			if err != nil {
				got = err.Error()
			} else {
				got = strings.Join(append([]string{filepath.Base(cmd.Path)}, cmd.Args[1:]...), " ")
			}
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v opens %q", c, got)
		}
	}
}
