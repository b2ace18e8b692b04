// Package diff compares two captures of the same workflow: an old version of an agent with a new one, one SDK with
// another. Nothing is sent.
//
// It pairs the exchanges of both captures, and compares each pair by package compare: the client's request and the
// agent's answer. Exchanges belong to threads: those about one task, or in one context, or of one kind if they have
// neither. Threads are paired first, the most similar ones first, then the exchanges within two threads. Neither ids
// nor the order in which concurrent threads were interleaved matter. What has no counterpart is a difference by itself,
// and not all that follows.
//
// # Caveats
//
// The number of polls does not matter: a request for a task that continues is compared only if no other one follows it.
// The client of an exchange is the recorded one; two clients that the recording does not distinguish count as one.
package diff
