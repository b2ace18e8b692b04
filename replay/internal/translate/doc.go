// Package translate says a recorded request in another binding or dialect of A2A: the bytes of the request that asks
// for the same.
//
// It says a thing exactly or not at all. A method that the other dialect does not have, a member that nothing there
// stands for, and a request that was wrong when it was recorded have no translation, and the error says which it is.
// Texts, ids and numbers stay as they are written; members that are null are left out, as ProtoJSON reads them.
//
// A request goes through its parameters as JSON-RPC has them in its own dialect: the path, the query and the body of
// HTTP+JSON become those, the members of one dialect become those of another, and from them the other binding is
// written. 0.2 and 0.3 are one JSON; 0.3 over HTTP+JSON is read in both of its forms and written in that of its text
// (A2A 0.3 §3.2.3), not in that of its proto file.
//
// The messages of gRPC in 1.0 are the same objects: their JSON is the parameters, and is written as such. Those of 0.3
// are the objects of its proto file, which name tasks and push configs by paths.
//
// 0.1 is not among the dialects: there the client makes the ids of tasks, and no request says whether a task is new.
//
// All functions may be called at the same time.
package translate
