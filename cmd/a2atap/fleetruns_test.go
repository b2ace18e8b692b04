package main

import (
	"bytes"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// The services of docs/fleet/compose.yaml do together what the file says: the same command lines, as processes of this
// machine, with the users of docs/fleet/server.conf. Nobody may do more than he has to.
func TestComposeRuns(t *testing.T) {
	t.Parallel()
	file, conf := readCompose(t), readServerConf(t)
	nats := fleettest.Start(t, func(o *server.Options) {
		store := o.StoreDir
		*o = *conf
		o.Host, o.Port, o.HTTPPort, o.StoreDir, o.NoLog, o.NoSigs = "127.0.0.1", server.RANDOM_PORT, 0, store, true, true
	})
	s := &shell{t: t, dir: t.TempDir()}
	taps := make(map[string]*started)
	for name, service := range file.Services {
		partner, inside := strings.CutPrefix(service.NetworkMode, "service:")
		if !inside {
			continue
		}
		agent := s.start(composeLine(file.Services[partner].Command), partner+".agent", "--listen", "127.0.0.1:0")
		defer agent.stop()
		s.asUser(service.Environment)
		line := strings.NewReplacer("http://127.0.0.1:9001/spec@0.0.0.0:7001", agent.url, "--allow-remote ", "",
			"/spool/", name+"-", "nats://nats:4222", nats.ClientURL()).Replace(composeLine(service.Command))
		taps[partner] = s.start(line, name+".ready")
		comesIn(t, taps[partner].url, partner)
	}
	for line := range strings.Lines(file.Services["client"].Command[0]) {
		for name, tap := range taps {
			line = strings.Replace(line, "http://"+name+":7001/spec", tap.url, 1)
		}
		if _, errs, code := s.execute(strings.TrimSpace(line)); code != cli.ExitOK {
			t.Fatalf("%s: exit %d: %s", line, code, errs)
		}
	}
	s.asUser(file.Services["reader"].Environment)
	stream := strings.Replace(file.Services["reader"].Command[1], "nats://nats:4222", nats.ClientURL(), 1)
	s.until("a2atap show "+stream, `(?s)planner +SendStreamingMessage .*booker +SendMessage `)
	s.until("a2atap hosts "+stream, `(?s)booker .*planner `)
	ships := s.command(arguments("a2atap ship booker-tap-booker.a2atap " + stream + " --ship-host elsewhere"))
	s.asUser(file.Services["booker-tap"].Environment)
	reads := s.command(arguments("a2atap show " + stream))
	refused(t, map[string]*exec.Cmd{"does not allow it": ships, "give this user access to the stream": reads})
	for name, tap := range taps {
		tap.stop()
		if said := tap.out.String(); !strings.Contains(said, "as "+name) {
			t.Errorf("%s says: %s", name, said)
		}
	}
}

func composeLine(command []string) string { return "a2atap " + strings.Join(command, " ") }

// asUser gives commands to come the variables of a service.
func (s *shell) asUser(environment map[string]string) {
	who, secret, _ := strings.Cut(environment["A2ATAP_NATS_USER"], ":")
	s.env = []string{
		"REDACTION_KEY=" + strings.Repeat("of-the-team-", 4),
		"A2ATAP_NATS_USER=" + who + ":" + fleetPasswords[passwordName.FindString(secret)],
	}
}

// refused runs commands at the same time, each of which the server must not let do what it wants, and which must say so
// in the given words.
func refused(t *testing.T, commands map[string]*exec.Cmd) {
	t.Helper()
	said := make(map[string]*bytes.Buffer)
	for words, cmd := range commands {
		said[words] = new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = said[words], said[words]
		must.Do(t, cmd.Start())
	}
	for words, cmd := range commands {
		cmd.Wait()
		if text := said[words].String(); cmd.ProcessState.ExitCode() != cli.ExitFailed || !strings.Contains(text, words) {
			t.Errorf("%s: exit %d, want %q: %s", cmd, cmd.ProcessState.ExitCode(), words, text)
		}
	}
}

// comesIn asks a tap for the agent's card by the name that other containers use, and by an unknown name.
func comesIn(t *testing.T, tap, name string) {
	t.Helper()
	want := map[string]int{name + ":7001": http.StatusOK, "elsewhere:7001": http.StatusMisdirectedRequest}
	for host, want := range want {
		u := must.Get(url.Parse(tap))(t)
		card := "http://" + u.Host + "/.well-known/agent-card.json"
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, card, nil))(t)
		req.Host = host
		answer := must.Get(http.DefaultTransport.RoundTrip(req))(t)
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("a request to %s gets %s", host, answer.Status)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// until runs a command line again and again until what it writes matches: what another process does arrives a little
// later.
func (s *shell) until(line, pattern string) {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(must.Patience); ; {
		out, errs, _ := s.execute(line)
		if want.MatchString(out) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: %s does not come in:\n%s%s", line, pattern, out, errs)
		}
	}
}

// The commands with which docs/fleet.md begins lead to a picture of two hosts.
func TestFleetFromNothing(t *testing.T) {
	t.Parallel()
	fleetFromNothing(t, func(string) string { return fleettest.Start(t).ClientURL() })
}

// fleetFromNothing runs the first commands of docs/fleet.md, the first of them by run, which returns the server's URL.
func fleetFromNothing(t *testing.T, run func(line string) string) {
	t.Helper()
	blocks, err := pageBlocks("fleet.md", "sh")
	if err != nil || len(blocks) == 0 {
		t.Fatalf("the page has no commands: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(blocks[0]), "\n")
	if len(lines) != 4 {
		t.Fatalf("the page begins with %d commands: %q", len(lines), lines)
	}
	stream := run(lines[0]) + "/trips"
	s := &shell{t: t, dir: t.TempDir()}
	agent := s.start("a2atap agent spec --listen 127.0.0.1:0", "agent", "--listen", "127.0.0.1:0")
	defer agent.stop()
	for i, name := range []string{"planner", "booker"} {
		tap := s.start(lines[1+i], name, "--agent", name+"="+agent.url, "--ship", stream)
		defer tap.stop()
		if _, errs, code := s.execute("a2atap send " + tap.url + " 'a week in Kyoto'"); code != cli.ExitOK {
			t.Fatalf("%s: exit %d: %s", lines[1+i], code, errs)
		}
	}
	args := arguments(lines[3])
	if cmd, err := parseLine(args); err != nil || cmd.Name() != "tui" {
		t.Errorf("%s: %v", lines[3], err)
	}
	s.until("a2atap show "+stream, `(?s)planner +SendStreamingMessage .*booker +SendStreamingMessage `)
	s.until("a2atap hosts "+stream, `(?s)east .*west `)
}
