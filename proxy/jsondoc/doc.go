// Package jsondoc parses a JSON text once, for all who read it: the protocol's words, the redaction of secrets, the
// rules.
//
// A [Doc] remembers what a reader of foreign bytes wants to know besides the values: names that stand twice, a byte
// order mark, bytes that are not UTF-8, what follows the value. A [Value] is a place in the bytes that were parsed,
// which must not be changed while it is in use.
//
// All functions may be called at the same time, and everything that they return may be read at the same time.
package jsondoc
