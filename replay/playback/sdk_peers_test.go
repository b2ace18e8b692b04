//go:build peers

package playback_test

import (
	"testing"

	"a2atap/replay/peers"
)

// The SDKs for JavaScript and Python observe the same with a played agent as with the live one: their own agent, and
// one of another SDK that was recorded with its own client.
func TestPlaybackForSDKsInOtherLanguages(t *testing.T) {
	for _, test := range []struct {
		pair peers.Pair
		to   peers.Client
	}{
		{peers.Pair{Client: peers.JS1.Client(), Agent: peers.JS1.Agent(), Binding: peers.JSONRPC}, peers.JS1.Client()},
		{peers.Pair{Client: peers.JS1.Client(), Agent: peers.JS1.Agent(), Binding: peers.HTTPJSON}, peers.JS1.Client()},
		{peers.Pair{Client: peers.Py1.Client(), Agent: peers.Py1.Agent(), Binding: peers.JSONRPC}, peers.Py1.Client()},
		{peers.Pair{Client: peers.Py1.Client(), Agent: peers.Py1.Agent(), Binding: peers.HTTPJSON}, peers.Py1.Client()},
		{peers.Pair{Client: peers.JS03.Client(), Agent: peers.JS03.Agent(), Binding: peers.JSONRPC}, peers.JS03.Client()},
		{peers.Pair{Client: peers.Py03.Client(), Agent: peers.Py03.Agent(), Binding: peers.JSONRPC}, peers.Py03.Client()},
		{peers.Pair{Client: peers.JS1.Client(), Agent: peers.JS1.GRPCAgent(), Binding: peers.GRPC}, peers.JS1.Client()},
		{peers.Pair{Client: peers.Py1.Client(), Agent: peers.Py1.GRPCAgent(), Binding: peers.GRPC}, peers.Py1.Client()},
		{peers.Pair{Client: peers.JS03.Client(), Agent: peers.JS03.GRPCAgent(), Binding: peers.GRPC}, peers.JS03.Client()},
		{peers.Pair{Client: peers.Py03.Client(), Agent: peers.Py03.GRPCAgent(), Binding: peers.GRPC}, peers.Py03.Client()},
		{peers.Pair{Client: peers.Go2GRPCClient, Agent: peers.Go2GRPCAgent, Binding: peers.GRPC}, peers.Py1.Client()},
		{peers.Pair{Client: peers.Go03GRPCClient, Agent: peers.Go03GRPCAgent, Binding: peers.GRPC}, peers.JS03.Client()},
		{peers.Pair{Client: peers.Go2Client, Agent: peers.Go2Agent, Binding: peers.JSONRPC}, peers.JS1.Client()},
		{peers.Pair{Client: peers.Go2Client, Agent: peers.Go2Agent, Binding: peers.HTTPJSON}, peers.Py1.Client()},
		{peers.Pair{Client: peers.Go2Client, Agent: peers.JS1.Agent(), Binding: peers.JSONRPC}, peers.Py1.Client()},
	} {
		t.Run(test.pair.String()+" to "+test.to.Name, func(t *testing.T) { playToSDK(t, test.pair, test.to) })
	}
}
