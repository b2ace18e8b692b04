package replaytest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
	"a2atap/replay/client/auth"
	"a2atap/replay/compare"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
	"a2atap/replay/replaytest"
)

const session = "testdata/session.txtar"

// An agent that behaves as recorded passes, in every profile that ignores texts and ids.
func TestRunPasses(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) {
		booker := startBooker(t)
		for _, profile := range []compare.Profile{compare.Protocol, compare.Shape} {
			r := replaytest.Run(t, session, booker, func(o *replaytest.RunOptions) { o.Profile = profile })
			if !r.Same() || r.Sent != 6 {
				t.Errorf("%s: %s", profile, r.Verdict())
			}
		}
	})
	s.wantErrors(t)
	s.wantLog(t, session+": no difference; 6 sent")
}

// A change in the agent fails the test, with the file, the exchange and the change. The traffic is kept for further
// checks.
func TestRunFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := watch(t, func(t testing.TB) {
		booker := agenttest.Start(t, "spec", refagent.Options{Fault: "stream-closed-on-terminal"})
		replaytest.Run(t, session, booker, func(o *replaytest.RunOptions) {
			o.KeepIn = dir
			o.Authorize = auth.Header("X-Booker-Key", "sesame-of-today")
		})
	})
	if len(s.errors) == 0 || s.fatal != "" {
		t.Fatalf("got the errors %q, and %q", s.errors, s.fatal)
	}
	all := strings.Join(s.errors, "\n")
	for _, want := range []string{session + ": ", "exchange 4", "SendStreamingMessage", "stream-closed-on-terminal"} {
		if !strings.Contains(all, want) {
			t.Errorf("the errors lack %q:\n%s", want, all)
		}
	}
	kept := filepath.Join(dir, "TestRunFails-session.txtar")
	s.wantLog(t, "the traffic is in "+kept)
	tr := must.Get(transcript.ReadFile(kept))(t)
	if len(tr.Exchanges) != 6 || !tr.Exchanges[0].Replayed {
		t.Errorf("%d exchanges were kept, replayed: %v", len(tr.Exchanges), tr.Exchanges[0].Replayed)
	}
	if text, err := os.ReadFile(kept); err != nil || strings.Contains(string(text), "sesame-of-today") {
		t.Errorf("a credential was kept, or %v", err)
	}
}

// A secret that the session lacks is sent from the options, and not written to files.
func TestRunWithCredentials(t *testing.T) {
	t.Parallel()
	const key = "sesame-of-today"
	hidden := credential.Placeholder("0123456789abcdef", "01234567")
	file := changed(t, func(x *capture.Exchange) {
		head := string(x.Request.Head)
		x.Request.Head = []byte(strings.Replace(head, "\r\n\r\n", "\r\nX-Booker-Key: "+hidden+"\r\n\r\n", 1))
	})
	dir := t.TempDir()
	without := watch(t, func(t testing.TB) { replaytest.Run(t, file, startBooker(t)) })
	without.wantLog(t, "exchange 1 and 5 more to booker: header X-Booker-Key had a secret that is not in the recording")
	s := watch(t, func(t testing.TB) {
		booker := agenttest.Start(t, "spec", refagent.Options{Fault: "rpc-id-echo"})
		replaytest.Run(t, file, booker, func(o *replaytest.RunOptions) {
			o.KeepIn = dir
			o.Authorize = auth.Header("X-Booker-Key", key)
		})
	})
	if s.fatal != "" {
		t.Fatal(s.fatal)
	}
	text := must.Get(os.ReadFile(filepath.Join(dir, "TestRunWithCredentials-session.txtar")))(t)
	if strings.Contains(string(text), key) || !strings.Contains(string(text), "X-Booker-Key: ") {
		t.Errorf("the credential was kept, or not sent:\n%s", text)
	}
}

// changed writes a copy of the session with changed exchanges, and returns the file.
func changed(t *testing.T, change func(*capture.Exchange)) string {
	t.Helper()
	tr := must.Get(transcript.ReadFile(session))(t)
	for _, x := range tr.Exchanges {
		change(x)
	}
	file := filepath.Join(t.TempDir(), "session.txtar")
	must.Do(t, os.WriteFile(file, transcript.Format(tr), 0o600))
	return file
}

// A run that proves nothing is not a success.
func TestRunProvesNothing(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) {
		replaytest.Run(t, session, startBooker(t), func(o *replaytest.RunOptions) {
			o.Keep = func(*capture.Exchange) bool { return false }
		})
	})
	s.wantErrors(t, session+": nothing was sent")
}

// A run that cannot begin ends the test, with an error that says what to do.
func TestRunRefuses(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.txtar")
	must.Do(t, os.WriteFile(empty, []byte("Nothing yet.\n"), 0o600))
	several := changed(t, func(x *capture.Exchange) {
		if x.Seq > 2 {
			x.Agent.Name = "planner"
		}
	})
	for name, c := range map[string]struct {
		file, url, want string
		options         func(*replaytest.RunOptions)
	}{
		"no file": {
			"testdata/none.txtar", "http://127.0.0.1:9", "a2atap export CAPTURE -o testdata/none.txtar creates it", nil,
		},
		"empty":          {empty, "http://127.0.0.1:9", "has no exchanges", nil},
		"no agent":       {session, "http://127.0.0.1:1/spec", "connect", nil},
		"no URL":         {session, "booker", session, nil},
		"several agents": {several, "http://127.0.0.1:9", "set Options.Agents", nil},
		"two keepers": {session, "http://127.0.0.1:9", "exclude each other", func(o *replaytest.RunOptions) {
			o.Sink, o.KeepIn = capture.NewMemory(capture.Info{}), "kept"
		}},
	} {
		s := watch(t, func(t testing.TB) {
			var options []func(*replaytest.RunOptions)
			if c.options != nil {
				options = append(options, c.options)
			}
			replaytest.Run(t, c.file, c.url, options...)
		})
		if !strings.Contains(s.fatal, c.want) || !strings.Contains(s.fatal, filepath.ToSlash(c.file)) {
			t.Errorf("%s: got %q, want %q with the file's name", name, s.fatal, c.want)
		}
	}
}
