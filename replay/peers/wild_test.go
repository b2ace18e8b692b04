//go:build peers

package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
)

// older are the versions of SDKs that are not peers over every route: unexpected findings on them test a2atap's
// rules.
var older = []GoProgram{Go0303, Go200, Go210}

// TestWild lets older versions talk to each other and to the newest of their dialect through a tap, and demands exactly
// the findings that are confirmed. With -update it keeps the traffic as transcripts, which the tests of analyzer/rules
// judge.
func TestWild(t *testing.T) {
	agents, clients := make(map[string]Agent), make(map[string]Client)
	for _, p := range older {
		path := must.Get(p.Build(t.Context(), t.TempDir()))(t)
		agents[p.Name], clients[p.Name] = p.Agent(path), p.Client(path)
	}
	var pairs []Pair
	add := func(c Client, a Agent, bindings ...string) {
		for _, b := range bindings {
			pairs = append(pairs, Pair{Client: c, Agent: a, Binding: b})
		}
	}
	for _, name := range []string{"go200", "go210"} {
		add(clients[name], agents[name], JSONRPC, HTTPJSON)
		add(clients[name], Go2Agent, JSONRPC, HTTPJSON)
		add(Go2Client, agents[name], JSONRPC, HTTPJSON)
	}
	add(clients["go0303"], agents["go0303"], JSONRPC)
	add(clients["go0303"], Go03Agent, JSONRPC)
	add(Go03Client, agents["go0303"], JSONRPC)
	add(JS02.Client(), JS02.Agent(), JSONRPC)
	add(JS02.Client(), Py02.Agent(), JSONRPC)
	add(Py02.Client(), Py02.Agent(), JSONRPC)
	add(Py02.Client(), JS02.Agent(), JSONRPC)
	add(JS10.Client(), JS10.Agent(), JSONRPC, HTTPJSON)
	add(JS10.Client(), Go2Agent, JSONRPC, HTTPJSON)
	add(Go2Client, JS10.Agent(), JSONRPC, HTTPJSON)
	add(JS10.Client(), Py1.Agent(), JSONRPC, HTTPJSON)
	add(Py1.Client(), JS10.Agent(), JSONRPC, HTTPJSON)
	// A pair without a common version gets only as far as the card, or a refusal.
	add(Go2Client, agents["go0303"], JSONRPC)
	add(clients["go0303"], agents["go200"], JSONRPC)
	add(JS1.Client(), JS03.Agent(), JSONRPC)
	add(JS03.Client(), JS1.Agent(), JSONRPC)
	add(Py1.Client(), Py03.Agent(), JSONRPC)
	add(JS02.Client(), Go03Agent, JSONRPC)
	add(Go03Client, JS02.Agent(), JSONRPC)
	for _, pair := range pairs {
		t.Run(pair.String(), func(t *testing.T) {
			t.Parallel()
			playWild(t, pair)
		})
	}
}

// playWild plays as much of the script as possible.
func playWild(t *testing.T, pair Pair) {
	tp := &tap{agent: pair.Agent.Name}
	agent := pair.Agent.Start(t)
	hook := newWebhook(t)
	tapURL := tp.route(t, agent.URL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // until which one pair waits for each other
	defer cancel()
	if _, err := pair.Client.Run(ctx, t, tapURL, pair.Binding, hook.URL); err != nil {
		t.Logf("the script ended early: %v", err)
	}
	src := tp.capture(t)
	result := must.Get(engine.Run(t.Context(), rules.All, src, nil))(t)
	// How often something happens is chance with some of these: an agent that is busy refuses now and then.
	if diff := cmp.Diff(places(confirmedFor(pair)), places(summarise(result.Findings))); diff != "" {
		t.Errorf("findings (-confirmed +got):\n%s", diff)
		for i := range result.Findings {
			t.Logf("%s", &result.Findings[i])
		}
	}
	if *update {
		keep(t, pair, src)
	}
}

// places returns lines of summarise without the operations, and without notes: those are kept with the transcripts.
func places(lines []string) []string {
	var short []string
	for _, l := range lines {
		place, _, _ := strings.Cut(l, ": ")
		if strings.HasPrefix(place, "note ") {
			continue
		}
		short = append(short, place)
	}
	slices.Sort(short)
	return slices.Compact(short)
}

// keep writes what was recorded as a transcript; its head says what is confirmed about it.
func keep(t *testing.T, pair Pair, src capture.Source) {
	var head strings.Builder
	fmt.Fprintf(&head, "Recorded: an agent of %s, asked by a client of %s over %s.\n", pair.Agent.Name, pair.Client.Name,
		pair.Binding)
	for _, c := range slices.Concat(confirmed, confirmedWild) {
		if c.matches(pair) {
			fmt.Fprintf(&head, "%s: %s.\n", strings.Fields(c.finding)[2], c.reason)
		}
	}
	tr := &transcript.Transcript{Comment: head.String()}
	for x, err := range src.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		tr.Exchanges = append(tr.Exchanges, x)
	}
	file := filepath.Join("..", "..", "analyzer", "rules", "testdata", "wild", pair.String()+".txtar")
	must.Do(t, os.WriteFile(file, transcript.Format(tr), 0o644))
}
