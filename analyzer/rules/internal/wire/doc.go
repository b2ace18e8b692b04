// Package wire holds the rules about the layers below calls: the transport, how HTTP is used, and JSON texts; and rules
// that do not depend on the binding, such as refusals without a cause.
package wire
