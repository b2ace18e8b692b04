package main

import (
	"context"
	"iter"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/source"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
)

// A capture that grows hides what a card names as soon as the card has come.
func TestCardComesWhileTheCaptureIsRead(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	plain := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer plain.Close()
	agent := &cannedAgent{answers: make(map[string]string)}
	go agent.serve(plain)
	w := &sowing{path: filepath.Join(t.TempDir(), "c.a2atap"), sown: sown{basic: make(map[string]int)}}
	r, err := recorder.Start(recorder.Options{Output: w.path, Proxy: proxy.Options{Taps: []proxy.TapSpec{{
		Name: "a", Agent: &url.URL{Scheme: "http", Host: plain.Addr().String()}, Listen: "127.0.0.1:0",
	}}}})
	must.Do(t, err)
	defer cmdtest.Stop(t, r)
	tap := r.Taps()[0].Addr()
	all := agent.add(w.sendings("x", "", tap))
	card, named := all[len(all)-2], all[len(all)-1]
	dial := func() (net.Conn, error) { return net.Dial("tcp", tap) }
	w.talk(t, dial, []sending{named})

	reader := must.Get(bolt.Read(w.path))(t)
	defer reader.Close()
	src, ok := source.Hide(t.Context(), reader).(interface {
		capture.Source
		Learn(ctx context.Context)
	})
	if !ok {
		t.Fatal("a capture that grows is shown as it is")
	}
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	for sent, arrival := false, uint64(1); ; arrival++ {
		if err := src.Wait(ctx, arrival); err != nil {
			t.Fatalf("the card has come, and what it names is shown: %v", err)
		}
		src.Learn(ctx) // as after a second
		x := must.Get(src.Exchange(t.Context(), 1))(t)
		shown := len(w.found(string(x.Request.Head))) > 0
		if sent && !shown {
			for way, heads := range everyWay(t, src) {
				if len(heads) == 0 || !strings.Contains(heads[0], "X-Booking: redacted.") ||
					len(w.found(strings.Join(heads, ""))) > 0 {
					t.Errorf("%s: got %q", way, heads)
				}
			}
			return
		}
		if !sent {
			if !shown {
				t.Fatalf("hidden before the card came: %s", x.Request.Head)
			}
			w.talk(t, dial, []sending{card})
			sent = true
		}
	}
}

// everyWay returns the heads of the requests in a capture by the method that reads them, that of exchange 1 first.
func everyWay(t *testing.T, src capture.Source) map[string][]string {
	t.Helper()
	heads := make(map[string][]string)
	exchanges := map[string]iter.Seq2[*capture.Exchange, error]{
		"Exchanges": src.Exchanges(t.Context(), 1), "Ends": src.Ends(t.Context(), 1, 1),
	}
	for way, all := range exchanges {
		for x, err := range all {
			must.Do(t, err)
			heads[way] = append(heads[way], string(x.Request.Head))
		}
	}
	steps := map[string]iter.Seq2[capture.Step, error]{
		"Steps": src.Steps(t.Context(), 1), "StepsOf": src.StepsOf(t.Context(), 1, 1),
	}
	for way, all := range steps {
		for s, err := range all {
			must.Do(t, err)
			if opened, is := s.What.(capture.Opened); is {
				heads[way] = append(heads[way], string(opened.Head))
			}
		}
	}
	x := must.Get(src.Exchange(t.Context(), 1))(t)
	heads["Exchange"] = []string{string(x.Request.Head)}
	return heads
}
