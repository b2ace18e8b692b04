//go:build peers && linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
	"a2atap/tui"
)

var (
	chaosSeeds = flag.Int("chaos-seeds", 6, "how many runs TestChaos makes")
	chaosSeed  = flag.Uint64("chaos-seed", 1, "the seed of the first of them")
	chaosTime  = flag.Duration("chaos-time", 4*time.Second, "how long each of them takes")
)

// TestChaos drives clients and agents through a tap while the tap is killed, stopped and ended, its disk fills, its
// file is damaged and removed, and connections are flooded and cut. Clients receive what agents sent. Recorded and
// counted traffic together are the traffic that was sent. A recorder ends within a second of a signal. A seed
// identifies a run.
func TestChaos(t *testing.T) {
	if !fleettest.Apart(t) {
		return
	}
	for seed := *chaosSeed; seed < *chaosSeed+uint64(*chaosSeeds); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { newChaos(t, seed).run() })
	}
}

// A chaos is one run.
type chaos struct {
	t      *testing.T
	random *rand.Rand
	crowd  *chaosCrowd
	disk   string
	path   string // of the capture
	names  int    // of captures
	port   string // of the tap
	kills  uint64 // of recorders of the capture
	looked bool   // the inspector looks on

	screens []<-chan error // of inspectors
	lives   int
	log     []string
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{t: t, random: rand.New(rand.NewPCG(seed, 3)), disk: fleettest.Disk(t, 64<<20), port: "0"}
	c.crowd = newChaosCrowd(t, seed)
	c.renew()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what happened: %s", strings.Join(c.log, ", "))
		}
	})
	return c
}

// renew begins another capture, and removes the one before.
func (c *chaos) renew() {
	if c.path != "" {
		files := must.Get(filepath.Glob(c.path + "*"))(c.t)
		for _, file := range files {
			os.Remove(file)
		}
	}
	c.names++
	c.path, c.kills = filepath.Join(c.disk, fmt.Sprintf("%d.a2atap", c.names)), 0
	c.looked = false
}

func (c *chaos) run() {
	for deadline := time.Now().Add(*chaosTime); time.Now().Before(deadline); {
		c.live()
	}
	c.crowd.end()
	for _, screen := range c.screens {
		select {
		case err := <-screen:
			c.t.Errorf("an inspector has ended with %v", err)
		default:
		}
	}
	c.t.Logf("%d recorders, %d exchanges, %d answered: %s", c.lives, c.crowd.tried.Load(), c.crowd.answered.Load(),
		strings.Join(c.log, ", "))
}

// A life is the life of one recorder.
type life struct {
	p       *killed
	said    lockedBuffer
	ended   chan struct{} // with err
	err     error
	damaged bool
	before  int   // exchanges in the capture
	tried   int64 // by clients, before it
	seen    int64 // by the agent, before it
	policy  string
}

// live starts a recorder, has things happen to it, ends it and looks at what it leaves.
func (c *chaos) live() {
	c.t.Helper()
	c.lives++
	l := &life{ended: make(chan struct{}), policy: []string{"pass", "wait", "stop"}[c.random.IntN(3)]}
	_, l.before = c.stored()
	l.tried, l.seen = c.crowd.tried.Load(), c.crowd.agent.seen.Load()
	args := []string{
		"record", "--agent", "a=" + c.crowd.agent.url + "@127.0.0.1:" + c.port, "-o", c.path, "--format", "json",
		"--if-capture-fails", l.policy,
	}
	if c.random.IntN(3) == 0 {
		args = append(args, "--segment-size", "1MiB")
	}
	c.log = append(c.log, l.policy)
	cmd := exec.Command("a2atap", args...)
	cmd.Stderr = &l.said
	l.p = startCommand(c.t, cmd, &l.said)
	go func() {
		defer close(l.ended)
		l.err = cmd.Wait()
	}()
	c.port = regexp.MustCompile(`:(\d+)`).FindStringSubmatch(l.p.url)[1]
	if !c.looked {
		c.look()
	}
	c.crowd.goOn(l.p.url)
	for range 1 + c.random.IntN(4) {
		c.trouble(l)
	}
	signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGKILL}[c.random.IntN(3)]
	c.log = append(c.log, signal.String())
	c.end(l, signal)
	c.crowd.pause(c.t)
	if signal == syscall.SIGKILL && l.err != nil && l.err.Error() == "signal: killed" {
		c.kills++
		c.afterKill(l)
	} else {
		c.afterEnd(l)
	}
	if l.damaged {
		c.repair()
	}
	if l.damaged || c.lives%8 == 0 { // and the disk is small
		c.renew()
	}
}

// look has the inspector and a follower of the capture look on, to the end of the run.
func (c *chaos) look() {
	c.t.Helper()
	src := must.Get(bolt.Read(c.path))(c.t)
	follow := exec.Command("a2atap", "show", "--follow", c.path)
	must.Do(c.t, follow.Start())
	c.t.Cleanup(func() {
		follow.Process.Kill()
		follow.Wait()
		src.Close()
	})
	_, ended := inspectSource(c.t, src, tui.Options{Rules: rules.All}, 24, 80)
	c.screens = append(c.screens, ended)
	c.looked = true
}

// trouble lets one thing happen, and mends it.
func (c *chaos) trouble(l *life) {
	c.t.Helper()
	troubles := []struct {
		name string
		do   func()
	}{
		{"quiet", func() { c.moment() }},
		{"stopped", func() {
			l.p.cmd.Process.Signal(syscall.SIGSTOP)
			c.moment()
			l.p.cmd.Process.Signal(syscall.SIGCONT)
		}},
		{"full", func() {
			ballast := fill(c.t, c.disk)
			c.moment()
			os.Remove(ballast)
		}},
		{"flooded", func() { c.crowd.flood(200); c.moment() }},
		{"away", func() {
			os.Rename(c.path, c.path+".away")
			c.moment()
			os.Rename(c.path+".away", c.path)
			c.moment()
		}},
		{"damaged", func() {
			l.damaged = true
			c.damage()
			c.moment()
		}},
	}
	one := troubles[c.random.IntN(len(troubles))]
	c.log = append(c.log, one.name)
	one.do()
}

// moment is how long something lasts.
func (c *chaos) moment() { <-time.After(time.Duration(20+c.random.IntN(300)) * time.Millisecond) }

// damage writes something into the capture.
func (c *chaos) damage() {
	f := must.Get(os.OpenFile(c.path, os.O_WRONLY, 0))(c.t)
	defer f.Close()
	info, err := f.Stat()
	must.Do(c.t, err)
	junk := make([]byte, 1+c.random.IntN(20000))
	for i := range junk {
		junk[i] = byte(c.random.Uint32())
	}
	switch c.random.IntN(3) {
	case 0:
		err = f.Truncate(c.random.Int64N(info.Size()))
	case 1:
		_, err = f.Write(junk)
	default:
		_, err = f.WriteAt(junk, c.random.Int64N(info.Size()))
	}
	if err != nil {
		c.t.Error(err)
	}
}

// end signals a recorder to end. It closes its capture within a second, or later in proportion on a slow machine.
// Checking the rest may take longer, and is reported.
func (c *chaos) end(l *life, signal syscall.Signal) {
	c.t.Helper()
	select {
	case <-l.ended: // by itself, as stop says
		if l.policy != "stop" {
			c.t.Errorf("it has ended with %v\n%s", l.err, l.said.String())
		}
		return
	default:
	}
	begun, took := time.Now(), time.Duration(0)
	l.p.cmd.Process.Signal(signal)
	for patience, ended := time.After(must.Patience), false; !ended; {
		select {
		case <-l.ended:
			ended = true
		case <-time.After(10 * time.Millisecond):
		case <-patience:
			c.t.Errorf("it does not end\n%s", l.said.String())
			l.p.cmd.Process.Signal(syscall.SIGABRT)
			<-l.ended
			return
		}
		_, err := os.Stat(c.path + ".sock") // it goes when the capture is closed
		if took == 0 && (ended || err != nil) {
			took = time.Since(begun)
		}
	}
	begun = time.Now()
	must.Do(c.t, exec.Command("a2atap", "--version").Run())
	if slow := 10 * time.Since(begun); took > time.Second+slow {
		c.t.Errorf("it took %v to end, and the machine is slow by %v\n%s", took, slow, l.said.String())
	}
}

// afterEnd holds what a recorder says at its end against what was sent, and what is in the capture.
func (c *chaos) afterEnd(l *life) {
	c.t.Helper()
	said := l.said.String()
	var exit *exec.ExitError
	if l.err != nil && (!errors.As(l.err, &exit) || exit.ExitCode() != cli.ExitFailed) {
		c.t.Fatalf("it ends with %v\n%s", l.err, said)
	}
	recorded, lost := summaryOf(c.t, said)
	tried, seen := c.crowd.tried.Load()-l.tried, c.crowd.agent.seen.Load()-l.seen
	if sum := int64(recorded + lost); sum < seen || sum > tried {
		c.t.Errorf("%d recorded and %d lost, %d came to the agent, of %d tried\n%s", recorded, lost, seen, tried, said)
	}
	if lost > 0 && l.err == nil {
		c.t.Errorf("it ends in good order, and has lost %d", lost)
	}
	if l.damaged {
		return
	}
	if _, now := c.stored(); now-l.before != recorded {
		c.t.Errorf("%d are said to be recorded, %d came into the capture\n%s", recorded, now-l.before, said)
	}
}

// afterKill holds what a killed recorder left against what it says of that.
func (c *chaos) afterKill(l *life) {
	c.t.Helper()
	if l.damaged {
		return
	}
	src := must.Get(bolt.Read(c.path))(c.t)
	defer src.Close()
	info := must.Get(src.Info(c.t.Context()))(c.t)
	if l.policy == "stop" && info.Crashes == c.kills-1 {
		c.kills-- // it had ended the recording by itself
	}
	if info.Crashes != c.kills {
		c.t.Errorf("%d kills are said, %d there were", info.Crashes, c.kills)
	}
	stored, _ := c.stored()
	missing := -c.headless()
	for n, at := range c.crowd.answers(l.tried) {
		if !stored[n] && at.Before(info.Crash.After) {
			missing++
		}
	}
	if missing > info.LostExchanges {
		c.t.Errorf("%d are missing that were answered before %v, and %d are counted", missing, info.Crash.After,
			info.LostExchanges)
	}
}

// summaryOf returns how many exchanges were recorded, and how many not.
func summaryOf(t *testing.T, said string) (recorded, lost int) {
	t.Helper()
	summary := regexp.MustCompile(`(?m)^record: ([\d,]+|no) exchanges?\b(?:.*NOT recorded: ([\d,]+) exchanges?)?`).
		FindStringSubmatch(said)
	if summary == nil {
		t.Fatalf("there is no summary in %s", said)
	}
	if summary[1] != "no" {
		recorded = parseCount(t, summary[1])
	}
	if summary[2] != "" {
		lost = parseCount(t, summary[2])
	}
	return recorded, lost
}

// stored returns the numbers of the exchanges that the capture has, each once, and how many there are, with those that
// have none.
func (c *chaos) stored() (numbers map[string]bool, n int) {
	c.t.Helper()
	numbers = make(map[string]bool)
	if _, err := os.Stat(c.path); err != nil {
		return numbers, 0
	}
	c.each(func(x *capture.Exchange) {
		n++
		number := numberOf(x)
		if numbers[number] && number != "" {
			c.t.Errorf("exchange %s is in the capture twice", number)
		}
		numbers[number] = true
	})
	return numbers, n
}

// headless returns how many exchanges are in the capture, with a gap, whose beginning was lost: which of those that
// clients made they are is not known.
func (c *chaos) headless() (n int64) {
	c.t.Helper()
	c.each(func(x *capture.Exchange) {
		if len(x.Request.Head) == 0 {
			n++
		}
	})
	return n
}

// each calls f with the exchanges of the capture.
func (c *chaos) each(f func(*capture.Exchange)) {
	c.t.Helper()
	src := must.Get(bolt.Read(c.path))(c.t)
	defer src.Close()
	for x, err := range src.Exchanges(c.t.Context(), 1) {
		must.Do(c.t, err)
		f(x)
	}
}

// repair has a damaged capture looked at and repaired, which may not be possible but is always said in words.
func (c *chaos) repair() {
	c.t.Helper()
	out, err := exec.Command("a2atap", "doctor", "--repair", "-o", c.path+".repaired", c.path).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != cli.ExitFailed && exit.ExitCode() != cli.ExitInconclusive) ||
		strings.Contains(string(out), "panic") {
		c.t.Errorf("doctor ends with %v\n%s", err, out)
	}
	os.Remove(c.path + ".repaired")
}
