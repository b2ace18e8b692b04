// Package wire holds the rules about what carries calls: the transport, how HTTP is used, JSON texts, and what does not
// depend on the binding, such as refusals without a cause.
package wire
