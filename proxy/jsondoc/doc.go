// Package jsondoc parses a JSON text once, for all who read it: the protocol's words, the redaction of secrets, the
// rules.
//
// A [Doc] records facts about untrusted bytes in addition to the values: duplicate names, a byte order mark, invalid
// UTF-8, data after the value. A [Value] is a place in the bytes that were parsed, which must not be changed while it
// is in use.
//
// All functions may be called at the same time, and everything that they return may be read at the same time.
package jsondoc
