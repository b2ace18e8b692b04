package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/merge"
	"a2atap/proxy/expect"
	"a2atap/proxy/fleet"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// A recorder that returns after all have ended ends again: readers that follow until the end do not hang.
func TestRecorderThatComesBackEndsAgain(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	file := cmdtest.OneExchange(t, filepath.Join(t.TempDir(), "c.a2atap"), 1)
	cmdtest.Ship(t, server, "north", file)
	address := must.Get(fleet.ParseAddress(server.URL("traffic")))(t)
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	conn := must.Get(fleet.Connect(ctx, address, fleet.Options{}))(t)
	defer conn.Close()
	reader := must.Get(fleet.NewReader(conn, fleet.ReadOptions{Folder: t.TempDir()}))(t)
	defer reader.Close()
	f := &stream{reader: reader}
	defer f.working.Wait()
	defer cancel()
	must.Do(t, reader.Read(ctx))
	f.working.Go(func() { f.watch(ctx, false) })                         //nolint:errcheck // it has none
	f.working.Go(func() { reader.Follow(ctx, func(fleet.Recorded) {}) }) //nolint:errcheck // that of the context
	src := reader.Recorded()[0].Source
	const never = 1 << 40
	if err := src.Wait(ctx, never); !errors.Is(err, capture.ErrEnded) {
		t.Fatalf("it has ended: %v", err)
	}
	info, err := src.Info(ctx)
	must.Do(t, err)
	cmdtest.Ship(t, server, "north", cmdtest.OneExchange(t, file, 2))
	for err = capture.ErrEnded; errors.Is(err, capture.ErrEnded); { // until it is heard of
		err = src.Wait(ctx, info.Arrivals+3)
	}
	must.Do(t, err)
	if err := src.Wait(ctx, never); !errors.Is(err, capture.ErrEnded) {
		t.Errorf("it has ended again: %v", err)
	}
}

// What is to be told when a screen is closed does not grow with the time that it is open.
func TestUntoldNoticesAreFew(t *testing.T) {
	var out bytes.Buffer
	f := &stream{e: cli.Env{Err: &out}, screen: true, turned: make(chan struct{})}
	const all = 1000
	for i := range all {
		f.notice(fmt.Sprintf("notice %d.", i))
	}
	if len(f.untold) > mostUntold {
		t.Errorf("%d notices are kept", len(f.untold))
	}
	f.tellRest()
	said := out.String()
	for _, want := range []string{
		fmt.Sprintf("and before, %d notices", all-mostUntold), fmt.Sprintf("notice %d.", all-mostUntold), "notice 999.",
	} {
		expect.Contains(t, "it", want, said)
	}
	expect.Equal(t, "lines that it says", mostUntold+1, strings.Count(said, "\n"))
}

// Whoever shows a stream learns that its server is away, once, and that it is there again.
func TestServerAwayIsSaid(t *testing.T) {
	var out bytes.Buffer
	f := &stream{e: cli.Env{Err: &out}, turned: make(chan struct{})}
	turns := make(chan bool)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(turns)
		away := false
		for {
			var err error
			if away, err = f.Away(ctx, away); err != nil {
				return
			}
			turns <- away
		}
	}()
	f.trouble(nil)
	away := fmt.Errorf("%w: no answer", fleet.ErrAway)
	f.trouble(away)
	if !<-turns {
		t.Error("it is not away")
	}
	f.trouble(away)
	f.trouble(nil)
	if <-turns {
		t.Error("it is away still")
	}
	f.trouble(errors.New("not allowed"))
	f.trouble(errors.New("not allowed"))
	cancel()
	if away, more := <-turns; more {
		t.Errorf("it is said again: %v", away)
	}
	if said := out.String(); strings.Count(said, "no answer") != 1 || strings.Count(said, "not allowed") != 1 ||
		strings.Count(said, "reachable again") != 1 {
		t.Errorf("it says %q", said)
	}
}

// If two hosts have shipped the same exchange, the error names the flag that reads one of them.
func TestSameExchangeOfTwoHosts(t *testing.T) {
	f := &stream{}
	one, other := merge.Recording{Host: "north", Name: "a"}, merge.Recording{Host: "south", Name: "b"}
	err := f.explained(fmt.Errorf("merge: %w", &merge.SameError{One: one, Other: other}))
	expect.Contains(t, "it says", "north and south have shipped the same exchange; choose one with --host", err.Error())
}

// A recorder that answers before anything of it is read is merged when it ships, also where it is the first.
func TestFirstRecorderThatAnswers(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	other := cmdtest.OneExchange(t, filepath.Join(t.TempDir(), "other.a2atap"), 1)
	cmdtest.Ship(t, server, "south", other) // which makes the stream
	file := cmdtest.OneExchange(t, filepath.Join(t.TempDir(), "c.a2atap"), 1)
	recorded := must.Get(bolt.Read(file))(t)
	defer recorded.Close()
	info := must.Get(recorded.Info(t.Context()))(t)
	conn := must.Get(nats.Connect(strings.TrimSuffix(server.URL("traffic"), "/traffic")))(t)
	defer conn.Close()
	answer, err := json.Marshal(fleet.Answer{
		Recorder: fleet.Recorder{Host: "north", Name: "c.a2atap", Capture: info.ID, Live: true, Committed: 3},
	})
	must.Do(t, err)
	must.Get(conn.Subscribe("a2atap-hosts.traffic", func(m *nats.Msg) { m.Respond(answer) }))(t)
	must.Do(t, conn.Flush())
	e := cli.Env{Err: io.Discard, Now: time.Now, Getenv: func(string) string { return "" }}
	from := &Flags{nats: &cli.NATSFlags{}, hosts: []string{"north"}}
	src := must.Get(from.OpenStream(t.Context(), e, server.URL("traffic"), Forever))(t)
	defer src.Close()
	f := src.(*stream)
	found := 0
	f.reader.Ask(t.Context(), func(r fleet.Recorded) { found++; f.add(r) })
	if found != 1 {
		t.Fatalf("%d recorders are found by asking", found)
	}
	cmdtest.Ship(t, server, "north", file)
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	if err := src.Wait(ctx, 3); err != nil {
		t.Errorf("nothing of it is merged: %v", err)
	}
}
