// Package compare compares two exchanges of the same workflow by meaning: a recording with an agent's current answer,
// or two recordings. One of them is called recorded, the other live.
//
// It works in two steps. A Pairer reads the live answer alongside the recorded one and pairs the values in the same
// places (ids of tasks, contexts, artifacts and the like) in a table, Values, which all exchanges with one agent share.
// A Comparison then reports the differences, with the live ids replaced by the recorded ones: two fresh ids are not a
// difference, two swapped ids are.
//
// Underneath there are the roles that identifiers have in the protocol (Sites), the replacement of values by their role
// (RewriteJSON, RewriteTarget), the meaning of an answer (Reply, a list of Items), and the smallest difference of two
// JSON values (Diff).
//
// # Caveats
//
// A Comparison ignores requests, since a replay sends the recorded ones. What may differ depends on the Profile; in
// every profile the progress of an unfinished task in a snapshot may differ.
package compare
