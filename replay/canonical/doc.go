// Package canonical finds out whether two requests to a model, a tool or another service are the same request.
//
// A [Form] has two sums of a request. Requests with equal Exact sums are equal: method, path, query and the whole body,
// with the members of JSON objects in any order and numbers compared by value. Requests with equal Meaning sums differ
// at most in values that every run generates: UUIDs, dates and times, temporary folders, ports of this machine, hidden secrets,
// what the user ignores, and the order of the results of one turn's tool calls. Neither sum depends on credentials, on
// header fields, or on the ids by which a JSON-RPC client recognizes its responses.
//
// [Rules.Differences] says where two requests differ, by path, and [Rules.Distance] by how much.
//
// What belongs to one kind of call is in one table: see dialects.
//
// # Caveats
//
// Requests should be redacted with the same key on both sides. Times that are plain numbers, such as 1764516670, are
// compared like other numbers.
package canonical
