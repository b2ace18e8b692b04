// Package playback plays the agents, models, tools and other services of a capture for a live client.
//
// A Player is an http.Handler. It finds the recorded exchange for a request by operation, task, context and kinds of
// parts (or by more: see Match and Options.Pointers), regardless of the binding. Among equal exchanges, previous
// playback decides. It gives the recorded answer with the ids that the live client chose, with a card that points to
// the player, and with the events of a stream at their recorded pace. Notifications go to the client's webhook at
// their recorded pace, too.
//
// Values that the agent made, such as task ids, are given as recorded. A client that plays the recorded workflow thus
// receives the recorded values everywhere. Repeated requests get the recorded answers one after another; after that
// the last one is repeated, unless Options select otherwise. A request without a recorded match gets a protocol
// error, and the report shows how the nearest recorded request differs; or a live agent answers it (Forward).
// Disruptions are made on request, and counted.
//
// What is not A2A is matched as a whole: see package canonical. Equal requests get their answers in the recorded order,
// one more than recorded is unmatched, and an unmatched request gets an error that SDKs do not retry. Answers have the
// recorded bytes, except for ids of JSON-RPC requests and of MCP sessions.
//
// One player plays one agent, or all agents of a capture as one. Place gives several players of one capture each
// other's addresses. With Options.Upstream, one player plays everything that a program calls, each service at its
// recorded address.
//
// # Caveats
//
// The capture is held in memory. Batches of JSON-RPC are not played. Answers change their binding only in A2A 1.0,
// where all bindings hold the same objects. If the recorded client left a stream while its task was working, the
// stream stays open after the last recorded event until the live client leaves. The same applies to a call that had
// no answer while the recorded client waited. The live agent of a Forward does not know the ids of the recording.
package playback
