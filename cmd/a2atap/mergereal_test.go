package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/reading"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/merge"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/must"
	proxyrecord "a2atap/proxy/record"
	"a2atap/replay/client"
	"a2atap/replay/refagent"
)

// A tapped is a tap with a recorder of its own.
type tapped struct {
	url string
	end func() *capture.Memory // ends it and returns what it recorded
}

func tapOf(t *testing.T, name, agent string) tapped {
	t.Helper()
	u := must.Get(url.Parse(agent))(t)
	memory := capture.NewMemory(capture.Info{Name: name})
	r := proxyrecord.New(memory, proxyrecord.Options{
		Proxy: proxy.Options{
			Taps: []proxy.TapSpec{{Name: name, Agent: u, Listen: "127.0.0.1:0"}}, Grace: time.Second,
		},
		Redact: redact.Options{Key: []byte(name), Describer: reading.NewDescriber()},
	})
	must.Do(t, r.Start())
	return tapped{r.Taps()[0].URL(), func() *capture.Memory {
		t.Helper()
		must.Do(t, r.Close(context.Background()))
		return memory
	}}
}

// TestThreeTapsInARow lets many clients talk at the same time through three taps, each with a recorder of its own:
// merged, each exchange is there once, nothing is found that the recordings do not show by themselves, and the links
// are those that the outer recorder shows.
func TestThreeTapsInARow(t *testing.T) {
	t.Parallel()
	agent := must.Get(refagent.New("spec", refagent.Options{StepTime: time.Millisecond}))(t)
	server := httptest.NewServer(agent)
	defer server.Close()
	defer agent.Close()
	inner := tapOf(t, "inner", server.URL+agent.Path())
	middle := tapOf(t, "middle", inner.url)
	outer := tapOf(t, "outer", middle.url)
	talkAtOnce(t, outer.url, 8, 10)
	recorded := map[string]*capture.Memory{"outer": outer.end(), "middle": middle.end(), "inner": inner.end()}

	merged := capture.NewMemory(capture.Info{})
	m := merge.New(merged, merge.Options{})
	for name, memory := range recorded {
		m.Add(merge.Recording{Host: name, Name: name, Source: memory})
	}
	must.Do(t, m.Run(t.Context()))
	must.Do(t, merged.Close())
	want, got := capturetest.ReadAll(t, recorded["outer"]), capturetest.ReadAll(t, merged)
	if len(got) != len(want) || len(want) < 240 {
		t.Fatalf("got %d exchanges of %d that the outer recorder saw", len(got), len(want))
	}
	for _, x := range got {
		if len(x.Notes) != 2 || x.Agent.Name != "inner" || x.Agent.URL != server.URL+agent.Path() {
			t.Errorf("exchange %d to %+v has the notes %q", x.Seq, x.Agent, x.Notes)
		}
	}
	var alone []string
	for _, memory := range recorded {
		alone = append(alone, foundIn(t, memory)...)
	}
	for _, found := range foundIn(t, merged) {
		if !slices.Contains(alone, found) {
			t.Errorf("found in the merged capture alone: %s", found)
		}
	}
	if diff := cmp.Diff(linksIn(t, recorded["outer"], want), linksIn(t, merged, got)); diff != "" {
		t.Errorf("the links are others (-outer +merged):\n%s", diff)
	}
}

// talkAtOnce makes clients send, stream, and ask for their tasks, all at the same time. They begin one after another,
// with the card: for equal requests that overlap, on connections that carry nothing else, no one can tell which is
// which.
func talkAtOnce(t *testing.T, at string, clients, times int) {
	t.Helper()
	var all sync.WaitGroup
	for range clients {
		c, err := client.Connect(t.Context(), at, client.Options{
			Prefer: []client.Protocol{client.JSONRPC10}, Timeout: must.Patience,
		})
		must.Do(t, err)
		must.Get(c.Send(t.Context(), client.Text("task-lifecycle first"), client.SendOptions{}))(t)
		all.Go(func() {
			defer c.Close()
			for range times {
				r, err := c.Send(t.Context(), client.Text("task-lifecycle hello"), client.SendOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := c.Get(t.Context(), r.Task.ID, nil); err != nil {
					t.Error(err)
				}
				for _, err := range c.Stream(t.Context(), client.Text("streaming hello"), client.SendOptions{}) {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
}

// linksIn returns the links of a capture by the ids of the exchanges.
func linksIn(t *testing.T, src capture.Source, all []*capture.Exchange) map[string]string {
	t.Helper()
	ix := must.Get(workflow.Read(t.Context(), src))(t)
	ids := make(map[uint64]string)
	for _, x := range all {
		ids[x.Seq] = x.ID.String()
	}
	links := make(map[string]string)
	for _, x := range all {
		l := ix.Of(x.Seq)
		links[x.ID.String()] = fmt.Sprint(ids[l.Workflow], ids[l.Parent])
	}
	return links
}
