// Package diff compares two captures of the same workflow: an old version of an agent with a new one, one SDK with
// another. Nothing is sent.
//
// It pairs the exchanges of both captures, and compares each pair by package compare: what the client asked and what
// the agent answered. Exchanges belong to threads: those about one task, or in one context, or of one kind if they are
// about neither. Threads are paired first, the more alike the sooner, then the exchanges within two threads. Neither
// ids nor the order in which concurrent threads were interleaved matter. What has no counterpart is a difference by
// itself, and not all that follows.
//
// # Caveats
//
// How often a client polled is free: a request for a task that goes on is compared only if no other one follows it. The
// client of an exchange is the one that was recorded; two clients that cannot be told apart there count as one.
package diff
