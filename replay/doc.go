// Package replay plays the client's side of a capture against a live agent, and compares what the agent does now with
// what was recorded.
//
// Run reads a capture, sends its requests again in their recorded order and with their recorded concurrency, and gives
// a Report: what was sent, what matched, what differs, and what was left out and why.
//
//	report, err := replay.Run(ctx, session, "http://127.0.0.1:9001", replay.Options{Rules: rules.All})
//	…
//	fmt.Println(report.Verdict()) // no difference; 6 sent, 6 matched, 0 differing, 0 left out
//
// Three principles:
//
//   - Values that the agent created are carried. A task id in the recording represents the task id that the live agent
//     gave in the same place; it is replaced wherever the client sent it as a whole value, and never inside text.
//   - Comparison is by meaning. Answers are equal if they have the same outcome with ids renamed consistently: two
//     fresh ids are not a difference, two swapped ids are one.
//   - Order is causal. A request waits for whatever its client had seen when it was sent: an answer, or an event in the
//     middle of a stream that continued.
//
// # Caveats
//
// Only A2A requests are sent: over JSON-RPC and HTTP+JSON, and fetches of the card. What cannot be sent again (bodies
// that were not kept, tasks older than the recording) is left out and named in the report; it is never guessed.
package replay
