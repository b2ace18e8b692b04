// Package compare compares two exchanges of the same workflow by meaning, whatever they come from: a recording and what
// an agent answers now, or two recordings. One of them is called recorded, the other live.
//
// It works in two steps. A Pairer reads the live answer beside the recorded one and pairs the values that stand in the
// same place (ids of tasks, contexts, artifacts and the like) in a table, Values, which all exchanges with one agent
// share. A Comparison then says what differs, the ids of the live answer renamed: two fresh ids are not a difference,
// two swapped ids are one.
//
// Underneath there are the roles that identifiers have in the protocol (Sites), the replacement of values by their role
// (RewriteJSON, RewriteTarget), the meaning of an answer (Reply, a list of Items), and the smallest difference of two
// JSON values (Diff).
//
// # Caveats
//
// A Comparison says nothing of requests: playing a recording sends the same ones. What is free depends on the Profile;
// in every profile it is chance how far a task has come in a snapshot of it while it goes on.
package compare
