// Package probe asks an agent what nobody says through a tap: nonsense, unknown tasks, missing credentials, and each
// ordinary operation once. It is the active half of the checks; what is asked is recorded, and the passive rules judge
// it too.
//
// A [Scenario] is a value: what to ask, of which agents, what must come back, what to do if it does not. Package
// scenarios has the list of them; [Run] is given those to ask. It takes the card of the agent at a URL, makes a case of
// each scenario for each interface that the agent offers, and returns a [Result] for each. A scenario speaks through its
// [Session] and tells by its error how it came out: [Failure], [Skip] and [Inconclusive] are errors, and any other error
// means that no answer came, or none that can be read.
//
// Scenarios assert protocol, never content: what an agent says is its own affair. What they need an agent to do (to
// fail, to ask back, to take long) is a [Behavior]; the reference skills do it on request, and of an agent with unknown
// skills the examples of its card are tried. Where an agent does not do it, the scenario is inconclusive.
package probe
