// Package playback plays the agent's side of a capture for a live client.
//
// A Player is an http.Handler. It finds the recorded exchange that a request asks for, by operation, task, context and
// kinds of parts (or by more: see Match and Options.Pointers), whatever the binding, then by what has been played
// before; and gives the recorded answer: with the ids that the live client chose, with a card that points to the
// player, and with the events of a stream in their recorded pace. Notifications follow in theirs, to the client's
// webhook.
//
// What the agent had made, such as task ids, is given as it was recorded, so a client that plays the recorded workflow
// meets the recorded values everywhere. Repeated requests get the recorded answers one after another; when they are
// used up the last one is repeated, unless Options say otherwise. A request that nothing recorded matches gets a
// protocol error, and the report explains what the nearest recorded request has otherwise; or a live agent answers it
// (Forward). A Disruption is made where one is asked for, and counted.
//
// One player plays one agent, or all of a capture as one. Several players of one capture are told by Place where the
// others are.
//
// # Caveats
//
// The capture is held in memory. Batches of JSON-RPC are not played. Answers change their binding only in A2A 1.0,
// where all bindings hold the same objects. A stream that the recorded client had left, while its task was at work,
// stays open after the last recorded event, until the live client leaves; and so does a call that was not answered
// while the recorded client waited. The live agent of a Forward does not know the ids of the recording.
package playback
