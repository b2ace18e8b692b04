// Package client is an A2A client for A2A 1.0 and 0.3 over JSON-RPC, HTTP+JSON and gRPC, and over JSON-RPC for 0.1 and
// the protocol before it.
//
// [Connect] reads an agent's card and picks an interface; [New] takes an endpoint that is already known. Results do not
// depend on the dialect: a [Task] looks the same in all protocols, and its Raw bytes show the original.
//
//	c, err := client.Connect(ctx, "http://127.0.0.1:9001/spec", client.Options{})
//	if err != nil { … }
//	result, err := c.Send(ctx, client.Text("hello"), client.SendOptions{})
//
// An agent's refusal is an [*Error]; any other error means that no answer came or that it could not be read. The client
// reads leniently and judges nothing: that is the analyzer's task. It sends what the protocol requires, unless
// [Options.Edit] changes it.
//
// A [Client] is safe for concurrent use.
package client
