//go:build !peers

package replay_test

// everyWay has each fault shown by every agent that can have it, over every binding that the agent speaks.
const everyWay = false

// oneIn says which part of the faults is shown by agents and clients.
const oneIn = 40
