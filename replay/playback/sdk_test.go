package playback_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/peers"
	"a2atap/replay/playback"
)

// The official SDK's clients run their script against the player as against the SDK's agent.
func TestPlaybackForSDKClients(t *testing.T) {
	for _, pair := range []peers.Pair{
		{Client: peers.Go2Client, Agent: peers.Go2Agent, Binding: peers.JSONRPC},
		{Client: peers.Go2Client, Agent: peers.Go2Agent, Binding: peers.HTTPJSON},
		{Client: peers.Go2GRPCClient, Agent: peers.Go2GRPCAgent, Binding: peers.GRPC},
		{Client: peers.Go03Client, Agent: peers.Go03Agent, Binding: peers.JSONRPC},
		{Client: peers.Go03GRPCClient, Agent: peers.Go03GRPCAgent, Binding: peers.GRPC},
	} {
		t.Run(pair.String(), func(t *testing.T) { playToSDK(t, pair, pair.Client) })
	}
}

// playToSDK records a pair, and plays its agent to a client, which must observe the same as with the live agent.
func playToSDK(t *testing.T, pair peers.Pair, to peers.Client) {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer hook.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run := func(c peers.Client, agentURL string) []string {
		return peers.Lines(must.Get(c.Run(ctx, t, agentURL, pair.Binding, hook.URL))(t), agentURL, hook.URL)
	}
	var was []string
	src := record(t, pair.Agent.Start(t).URL, func(tapURL string) { was = run(pair.Client, tapURL) })
	if to.Name != pair.Client.Name {
		was = run(to, pair.Agent.Start(t).URL)
	}
	p, origin := perform(t, src, playback.Options{OnMiss: func(m playback.Miss) { t.Error(m) }})
	expect.Same(t, "what the client saw", was, run(to, origin))
	if r := p.Report(); r.Missed > 0 || r.Served == 0 || r.Undelivered > 0 {
		t.Errorf("%s; misses %v", r.Verdict(), r.Misses)
	}
}

// A gRPC client of the SDK works with an agent that was recorded over JSON-RPC, and the other way round.
func TestPlaybackAcrossBindingsForSDKClients(t *testing.T) {
	plain := peers.Pair{Client: peers.Go2Client, Agent: peers.Go2Agent, Binding: peers.JSONRPC}
	messages := peers.Pair{Client: peers.Go2GRPCClient, Agent: peers.Go2GRPCAgent, Binding: peers.GRPC}
	for _, way := range []struct{ from, to peers.Pair }{{plain, messages}, {messages, plain}} {
		t.Run(way.from.Binding+" to "+way.to.Binding, func(t *testing.T) {
			hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			defer hook.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			run := func(p peers.Pair, agentURL string) []string {
				seen := must.Get(p.Client.Run(ctx, t, agentURL, p.Binding, hook.URL))(t)
				return slices.DeleteFunc(peers.Lines(seen, agentURL, hook.URL), func(line string) bool {
					return strings.HasPrefix(line, "discover: interface") // which the player chose
				})
			}
			src := record(t, way.from.Agent.Start(t).URL, func(tapURL string) { run(way.from, tapURL) })
			was := run(way.to, way.to.Agent.Start(t).URL)
			binding, _ := a2a.ParseBinding(way.to.Binding)
			p, origin := perform(t, src, playback.Options{Binding: binding})
			expect.Same(t, "what the client saw", was, run(way.to, origin))
			if r := p.Report(); r.Missed > 0 || r.Undelivered > 0 {
				t.Errorf("%s; misses %v", r.Verdict(), r.Misses)
			}
		})
	}
}
