// Package task holds the rules about tasks and contexts: their ids, states, ends, histories and lists, and the requests
// about them.
package task
