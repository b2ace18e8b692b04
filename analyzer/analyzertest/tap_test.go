package analyzertest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/baseline"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
	"a2atap/proxy/unreachable"
	"a2atap/replay/client"
	"a2atap/replay/client/fault"
	"a2atap/replay/refagent"
)

// resumes is the fault of an agent that continues after it has reported the end.
const resumes = "stream-closed-on-terminal"

// stream asks the agent at a URL for a stream, and reads it to its end.
func stream(t testing.TB, url string, o client.Options) {
	t.Helper()
	c, err := client.Connect(t.Context(), url, o)
	if err != nil {
		t.Errorf("connect: %v", err)
		return
	}
	defer c.Close()
	for _, err := range c.Stream(t.Context(), client.Text("streaming two tickets to Kyoto"), client.SendOptions{}) {
		if err != nil {
			t.Errorf("stream: %v", err)
		}
	}
}

// streamed is a user's test that streams through a tap.
func streamed(t *testing.T, agent string, o client.Options, list ...Option) *spy {
	t.Helper()
	return watch(t, func(t testing.TB) { stream(t, Tap(t, agent, list...).URL, o) })
}

func TestTapPassesFaithful(t *testing.T) {
	t.Parallel()
	s := streamed(t, startAgent(t, refagent.Options{}), client.Options{})
	s.wantErrors(t)
	if !s.logged("agent: ", " rules observed, ", "2 checked of 2 recorded", "0 fail the test") {
		t.Errorf("what was observed is not logged: %q", s.logs)
	}
}

func TestTapFailsForFaultyAgent(t *testing.T) {
	t.Parallel()
	agent := startAgent(t, refagent.Options{Fault: resumes})
	tests := []struct {
		name  string
		list  []Option
		fails bool
		log   string
	}{
		{"plain", nil, true, "a2atap rules ID"},
		{"of the agent", []Option{Side(a2a.Agent)}, true, "1 fail the test"},
		{"of the client", []Option{Side(a2a.Client)}, false, "does not fail the test: 2.response.event["},
		{"left out", []Option{Without(resumes, "booker 2 does it")}, false, "1 of rules left out"},
		{
			"another left out",
			[]Option{Without("json-wellformed", "we like it so")},
			true,
			"json-wellformed is left out (we like it so), but was observed",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := streamed(t, agent, client.Options{}, test.list...)
			if !test.fails {
				s.wantErrors(t)
			} else {
				s.wantErrors(t, "["+resumes+"] (error; agent at fault; 1.0 §3.1.2")
			}
			if !s.logged(test.log) {
				t.Errorf("not logged: %s\nlogged: %q", test.log, s.logs)
			}
		})
	}
}

// A client that says one thing twice is warned of, and not its agent's fault.
func TestTapTellsSidesAndGates(t *testing.T) {
	t.Parallel()
	const twice = "json-duplicate-keys"
	agent := startAgent(t, refagent.Options{})
	tests := []struct {
		name  string
		list  []Option
		fails bool
	}{
		{"errors", nil, false},
		{"warnings", []Option{Gate(analysis.Warning)}, true},
		{"warnings of the client", []Option{Gate(analysis.Warning), Side(a2a.Client)}, true},
		{"warnings of the agent", []Option{Gate(analysis.Warning), Side(a2a.Agent)}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := streamed(t, agent, client.Options{Break: fault.Named(twice)}, test.list...)
			if test.fails {
				s.wantErrors(t, "["+twice+"] (warning; client ")
				return
			}
			s.wantErrors(t)
			if !s.logged("does not fail the test: ", "["+twice+"] (warning; client ") {
				t.Errorf("the finding is not logged: %q", s.logs)
			}
		})
	}
}

// Where nothing was checked, nothing is proved.
func TestTapFailsForNothing(t *testing.T) {
	t.Parallel()
	get := func(t testing.TB, url string) {
		t.Helper()
		resp, err := http.Get(url)
		if err != nil {
			t.Errorf("get: %v", err)
			return
		}
		resp.Body.Close()
	}
	files := httptest.NewServer(http.FileServer(http.Dir(t.TempDir())))
	t.Cleanup(files.Close)

	var url string
	s := watch(t, func(t testing.TB) { url = Tap(t, files.URL+"/rpc").URL })
	s.wantErrors(t, "no traffic passed through the tap, so nothing was checked; "+
		"let the client use "+url+" instead of "+files.URL)
	s = watch(t, func(t testing.TB) { get(t, Tap(t, files.URL+"/readme.txt").URL) })
	s.wantErrors(t, "nothing was checked: no rule applied to any of 1 recorded exchanges; "+
		`the first one is "GET /readme.txt HTTP/1.1"; is http://`)
	s = watch(t, func(t testing.TB) { get(t, Tap(t, "http://"+unreachable.Address(t)+"/rpc").URL) })
	s.wantErrors(t, `ended with the fault unreachable (`)
	s = watch(t, func(t testing.TB) {
		Tap(t, files.URL)
		t.(*spy).skipped = true
	})
	s.wantErrors(t)
}

// What was not recorded is not called good.
func TestTapFailsForLosses(t *testing.T) {
	t.Parallel()
	o := must.Get(newOptions(nil))(t)
	s := watch(t, func(t testing.TB) {
		lossy := &judgment.Result{Counts: judgment.Counts{Exchanges: 9, Judged: 9, Lost: 2}}
		(&Recording{options: o}).report(t, lossy)
	})
	s.wantErrors(t, "2 exchanges were not recorded completely")
}

// A message that is wrong a thousand times does not bury what else there is to read.
func TestTapBoundsItsOutput(t *testing.T) {
	t.Parallel()
	o := must.Get(newOptions(nil))(t)
	result := &judgment.Result{Counts: judgment.Counts{Exchanges: 1, Judged: 1}}
	for range maxLines + 20 {
		result.Findings = append(result.Findings, analysis.Finding{Rule: rules.All[0], Severity: analysis.Error})
	}
	s := watch(t, func(t testing.TB) { (&Recording{options: o}).report(t, result) })
	if n := len(s.errors); n != maxLines+1 || s.errors[n-1] != "and 20 more findings that fail the test" {
		t.Errorf("got %d errors, the last one %q", n, s.errors[n-1])
	}
}

// What has passed is kept if the test failed, without the client's credentials, and is found to break the same.
func TestTapKeeps(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	o := client.Options{Token: "tickets-please"}
	s := streamed(t, startAgent(t, refagent.Options{}), o, Keep(dir))
	s.wantErrors(t)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("a test that passed keeps something: %v", err)
	}
	s = streamed(t, startAgent(t, refagent.Options{Fault: resumes}), o, Keep(dir), Named("booker"))
	s.wantErrors(t, resumes)
	file := filepath.Join(dir, "TestTapKeeps-booker.txtar")
	if !s.logged("the traffic is in " + file) {
		t.Errorf("nobody says where it is: %q", s.logs)
	}
	text := must.Get(os.ReadFile(file))(t)
	if strings.Contains(string(text), o.Token) {
		t.Error("the token is in what was kept")
	}
	tr := must.Get(transcript.Parse(file, text))(t)
	for _, f := range judge(t, tr).Findings {
		if f.Severity == analysis.Error && !strings.HasPrefix(s.errors[0], f.String()) {
			t.Errorf("what was kept breaks %s, what passed %s", &f, s.errors[0])
		}
	}
	if len(judge(t, tr).Findings) == 0 {
		t.Error("what was kept breaks nothing")
	}
}

// What is in the baseline is accepted, whichever port the agent has.
func TestTapKnowsBaseline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	faulty := startAgent(t, refagent.Options{Fault: resumes})
	streamed(t, faulty, client.Options{}, Named("booker"), Keep(dir)).wantErrors(t, resumes)
	tr := must.Get(transcript.ReadFile(filepath.Join(dir, "TestTapKnowsBaseline-booker.txtar")))(t)
	known := baseline.Baseline{Version: baseline.Version}
	result := judge(t, tr)
	for i := range result.Findings {
		known.Accept(&result.Findings[i])
	}
	var text bytes.Buffer
	must.Do(t, known.Write(&text))
	file := filepath.Join(dir, "known.json")
	must.Do(t, os.WriteFile(file, text.Bytes(), 0o644))
	s := streamed(t, startAgent(t, refagent.Options{Fault: resumes}), client.Options{}, Baseline(file), Named("booker"))
	s.wantErrors(t)
	if !s.logged("0 fail the test", "1 in the baseline") {
		t.Errorf("what is accepted is not counted: %q", s.logs)
	}
	streamed(t, faulty, client.Options{}, Baseline(file), Named("hotel")).wantErrors(t, resumes)
	s = streamed(t, startAgent(t, refagent.Options{}), client.Options{}, Baseline(file), Named("booker"))
	s.wantErrors(t)
	if !s.logged("the baseline contains " + resumes) {
		t.Errorf("nobody says that the entry is not needed: %q", s.logs)
	}
}

// An agent behind TLS, whose card names its public address, is judged all the same.
func TestTapReachesAgents(t *testing.T) {
	t.Parallel()
	const public = "https://booker.example"
	agent := must.Get(refagent.New("spec", refagent.Options{BaseURL: public, Fault: resumes}))(t)
	server := httptest.NewTLSServer(agent)
	t.Cleanup(func() {
		agent.Close()
		server.Close()
	})
	pool := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	s := streamed(t, server.URL+agent.Path(), client.Options{}, RootCAs(pool), Alias(public))
	s.wantErrors(t, resumes)
}

// A test that is set up wrongly ends at once, and says how to set it up.
func TestTapRefuses(t *testing.T) {
	t.Parallel()
	const agent = "http://127.0.0.1:9001"
	text := filepath.Join(t.TempDir(), "known.json")
	must.Do(t, os.WriteFile(text, []byte("none"), 0o644))
	tests := []struct {
		agent string
		list  []Option
		want  string
	}{
		{"127.0.0.1:9001", nil, "first path segment in URL"},
		{"localhost:9001", nil, `"localhost:9001" is not the URL of an agent; write http://HOST:PORT/PATH`},
		{"http://me:secret@127.0.0.1:9001", nil, "leave out user information"},
		{agent, []Option{Without("stream-close", "x")}, `unknown rule "stream-close"; a2atap rules lists the rules`},
		{agent, []Option{Without(resumes, "")}, "say why " + resumes + " is left out"},
		{agent, []Option{Baseline(text + ".old")}, "--baseline " + text + ".old --update-baseline creates it"},
		{agent, []Option{Baseline(text)}, "it is not a baseline"},
		{agent, []Option{Named("the booker")}, `"the booker" may contain only letters`},
		{agent, []Option{Alias("booker.example")}, `Alias: "booker.example" is not the URL of an agent`},
	}
	for _, test := range tests {
		s := watch(t, func(t testing.TB) { Tap(t, test.agent, test.list...) })
		if !strings.HasPrefix(s.fatal, "analyzertest.Tap: ") || !strings.Contains(s.fatal, test.want) {
			t.Errorf("Tap(%q) ends with %q, want %q", test.agent, s.fatal, test.want)
		}
	}
}

// One test may have several taps, and subtests that run in parallel.
func TestTapsBesideEachOther(t *testing.T) {
	t.Parallel()
	booker := Tap(t, startAgent(t, refagent.Options{}), Named("booker"))
	hotel := Tap(t, startAgent(t, refagent.Options{}), Named("hotel"))
	for range 4 {
		t.Run("client", func(t *testing.T) {
			t.Parallel()
			stream(t, booker.URL, client.Options{})
			stream(t, hotel.URL, client.Options{})
		})
	}
}
