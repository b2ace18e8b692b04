// Package translate converts a recorded request to another binding or dialect of A2A: to the bytes of the request
// with the same meaning.
//
// It translates exactly or not at all. A method that the other dialect lacks, a member without a counterpart, and a
// request that was invalid when recorded have no translation; the error names the cause. Texts, ids and numbers keep
// their spelling; null members are omitted, as in ProtoJSON.
//
// A request is first converted to JSON-RPC parameters in its own dialect, from the path, the query and the body of
// HTTP+JSON. These are converted to the other dialect, and then written in the other binding. 0.2 and 0.3 are one JSON;
// 0.3 over HTTP+JSON is read in both of its forms and written in that of its text (A2A 0.3 §3.2.3), not in that of its
// proto file.
//
// gRPC messages of 1.0 are the same objects: their JSON is the parameters. Those of 0.3 are the objects of its proto
// file, which names tasks and push configs by paths.
//
// Call does not translate 0.1: there the client makes the ids of tasks, and no request says whether a task is new.
//
// [Write] writes calls for clients, from their parameters in 1.0, with the same tables: what one of them says about a
// protocol holds for a client's request and for a translated one. It is lenient, since a client also tests how agents
// treat odd requests, and it also writes 0.1.
//
// All functions are safe for concurrent use.
package translate
