//go:build peers

package scenarios_test

// everyCase is whether a fault is shown to a whole suite, rather than to the cases that it makes fail and a few more, and
// whether a correct agent is tried in all dialects, rather than in one.
const everyCase = true
