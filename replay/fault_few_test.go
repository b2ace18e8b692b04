//go:build !peers

package replay_test

// everyBinding has each fault of an agent shown over every binding that the agent speaks.
const everyBinding = false
