// Package card rewrites agent cards on their way to a client, so that a client which reads the card through a tap comes
// back through a tap.
//
// An [Editor] finds the answers that are cards: by the path of the request, by the call of JSON-RPC that asks for the
// extended card, or by the answer itself where neither tells. In a card, of all dialects, it replaces the authority of
// each URL for which its [Site] has a tap. Only these string tokens are replaced; every other byte stays.
//
// # What it promises
//
// Only a response that is or may be a card is held until it is complete: up to 1 MiB, and for at most half a second if
// only the body can tell. Everything else passes at once and unchanged. The record has the replacements, in addition to
// what the agent sent.
//
// # What will surprise
//
//   - The ETag of a card that was changed has a suffix, since it is another representation; the suffix is taken off
//     again in If-None-Match (RFC 9110 section 8.8.3). It changes with the addresses of the taps.
//   - A request for a card asks the agent for no content coding and no range.
//   - The signature of a card becomes invalid: the user gets a notice.
package card
