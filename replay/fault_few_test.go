//go:build !peers

package replay_test

// everyWay makes the tests show each fault on every agent that supports it, over every binding of the agent.
const everyWay = false

// oneIn limits the faults that agents and clients show to one in oneIn.
const oneIn = 40
