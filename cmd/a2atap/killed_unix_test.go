//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// TestKilledRecorderIsSaid kills recorders under traffic. What the capture lacks of the exchanges that were answered is
// within what it says, and no reader calls it complete.
func TestKilledRecorderIsSaid(t *testing.T) {
	t.Parallel()
	spec := must.Get(refagent.New("spec", refagent.Options{}))(t)
	agent := httptest.NewServer(spec)
	defer agent.Close()
	random := rand.New(rand.NewPCG(1, kills))
	path := filepath.Join(t.TempDir(), "c.a2atap")
	total, all := 0, &traffic{answered: make(map[string]time.Time)}
	for round := range kills {
		p := startKilled(t, path, agent.URL, false)
		all.pass(t, p, path, round, 500+random.IntN(500))
		total += lackedAfterKill(t, path, uint64(round)+1, all)
		if round%5 > 0 && round < kills-1 {
			continue // judging is for all that was recorded, which is more each time
		}
		if code, said := runQuietly(t, "check", path); code != cli.ExitInconclusive ||
			!strings.Contains(said, "check: incomplete: ") {
			t.Errorf("check exits with %d and says %q", code, said)
		}
	}
	t.Logf("%d of %d answered exchanges are missing after %d kills", total, len(all.answered), kills)
	code, said := runQuietly(t, "check", path, "--format", "json", "-o", filepath.Join(t.TempDir(), "report.json"))
	if code != cli.ExitInconclusive {
		t.Errorf("check exits with %d", code)
	}
	if !saidKilled.MatchString(said) || !strings.HasPrefix(said, "check: incomplete: ") {
		t.Errorf("check says %q", said)
	}
	code, said = runQuietly(t, "show", path, "1")
	if code != cli.ExitOK || !saidKilled.MatchString(said) {
		t.Errorf("show exits with %d and says %q", code, said)
	}
}

var saidKilled = regexp.MustCompile(
	`the recorder was killed; up to \d+ ms of traffic before that, after \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC, may be missing`)

// lackedAfterKill looks at what a killed recorder left, and returns how many answered exchanges are missing.
func lackedAfterKill(t *testing.T, path string, crashes uint64, all *traffic) (missing int) {
	t.Helper()
	src := must.Get(bolt.Read(path))(t)
	defer src.Close()
	info := must.Get(src.Info(t.Context()))(t)
	all.stored = info.Arrivals
	if info.Crashes != crashes || !saidKilled.MatchString(info.Crash.String()) {
		t.Errorf("after %d kills: %d, the last %v", crashes, info.Crashes, info.Crash)
	}
	if late := all.killed.Sub(info.Crash.After); late < 0 || late > must.Patience {
		t.Errorf("killed at %v, said to be after %v", all.killed, info.Crash.After)
	}
	kept := make(map[string]bool)
	for x, err := range src.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		if x.Request.Body.Complete {
			kept[numberOf(x)] = true
		}
	}
	var oldest time.Duration
	for n, at := range all.answered {
		if kept[n] {
			continue
		}
		missing++
		if all.latest(n) {
			oldest = max(oldest, all.killed.Sub(at))
		}
		if all.latest(n) && at.Before(info.Crash.After) {
			t.Errorf("exchange %s was answered at %v and is missing; all before %v is said to be there", n, at, info.Crash.After)
		}
	}
	t.Logf("the oldest that is missing was answered %v before the kill; %v is said", oldest, info.Crash.Within)
	return missing - all.missedBefore(missing)
}

const exchangeNumber = "X-Exchange"

func numberOf(x *capture.Exchange) string {
	head := capture.ParseRequestHead(x.Request.Head)
	return head.Fields.Get(exchangeNumber)
}

// A killed is a recorder that will be killed.
type killed struct {
	cmd *exec.Cmd
	url string
}

// startKilled starts a recorder. With nohup, the recorder ignores SIGHUP, as under the command nohup.
func startKilled(t *testing.T, path, agent string, nohup bool) *killed {
	t.Helper()
	args := []string{"a2atap", "record", "--agent", "a=" + agent + "/spec", "-o", path, "--format", "json"}
	if nohup {
		args = append([]string{"sh", "-c", `trap "" HUP; exec "$@"`, "sh"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	var said bytes.Buffer
	cmd.Stderr = &said
	return startCommand(t, cmd, &said)
}

func startCommand(t *testing.T, cmd *exec.Cmd, said fmt.Stringer) *killed {
	t.Helper()
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	lines := bufio.NewReader(out)
	var first struct{ URL string }
	line, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &first)
	}
	if err != nil {
		t.Fatalf("start a2atap record: %v\n%s", err, said.String())
	}
	go io.Copy(io.Discard, lines)
	return &killed{cmd, first.URL}
}

// traffic is what clients sent through recorders, and when it was answered.
type traffic struct {
	mu       sync.Mutex
	answered map[string]time.Time // by number
	round    int
	killed   time.Time // the last recorder
	missed   int       // in earlier rounds
	stored   uint64    // steps in earlier rounds
}

// pass sends messages with four clients, and kills the recorder after some answers.
func (a *traffic) pass(t *testing.T, p *killed, path string, round, answers int) {
	t.Helper()
	a.round = round
	enough := make(chan struct{})
	var clients sync.WaitGroup
	left := answers
	for c := range 4 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := 0; ; i++ {
				n := fmt.Sprintf("%d-%d-%d", round, c, i)
				if sendNumbered(client, p.url, n) != nil {
					return
				}
				a.mu.Lock()
				a.answered[n] = time.Now()
				if left--; left == 0 {
					close(enough)
				}
				a.mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(must.Patience):
		t.Error("the recorder passes nothing")
	}
	// A machine that is busy with other things may not have stored anything yet.
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	src := must.Get(bolt.Read(path))(t)
	defer src.Close()
	must.Do(t, src.Wait(ctx, a.stored+50))
	a.killed = time.Now()
	must.Do(t, p.cmd.Process.Signal(syscall.SIGKILL))
	p.cmd.Wait()
	clients.Wait()
}

// latest reports whether an exchange is of the last recorder.
func (a *traffic) latest(n string) bool { return strings.HasPrefix(n, fmt.Sprintf("%d-", a.round)) }

// missedBefore returns how many exchanges were missing before this round, and takes note of how many are now.
func (a *traffic) missedBefore(now int) int {
	before := a.missed
	a.missed = now
	return before
}

func sendNumbered(client *http.Client, url, n string) error {
	body := `{"jsonrpc":"2.0","id":"` + n + `","method":"SendMessage","params":{"message":{"messageId":"m-` + n +
		`","role":"ROLE_USER","parts":[{"text":"message-only"}]}}}`
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("A2A-Version", "1.0")
	request.Header.Set(exchangeNumber, n)
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// runQuietly runs a command and returns its exit status, and what it says on standard error.
func runQuietly(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var said bytes.Buffer
	e := cli.Env{
		In: strings.NewReader(""), Out: io.Discard, Err: &said, Now: time.Now,
		Getenv: unset,
	}
	code := run(context.Background(), e, args)
	return code, said.String()
}
