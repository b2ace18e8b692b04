// Package probe sends an agent requests that a tap seldom sees: invalid ones, unknown tasks, missing credentials, and
// each ordinary operation once. It is the active half of the checks. Its requests are recorded, and the passive rules
// check them too.
//
// A [Scenario] is a value: the requests, the agents that it applies to, the expected answer, and advice for a
// failure. Package scenarios has the list of them; [Run] receives the selected ones. Run reads the card of the agent
// at a URL, makes a case of each scenario for each interface that the agent offers, and returns a [Result] for each.
// A scenario sends requests through its [Session] and returns its outcome as an error: [Failure], [Skip] and
// [Inconclusive] are errors. Any other error means that no answer came, or an unreadable one.
//
// Scenarios assert protocol, never content: the wording is up to the agent. If a scenario needs the agent to fail, to
// ask back, or to take long, it asks for a [Behavior]. The reference skills show it on request. With unknown skills,
// the examples of the card are tried. If the agent does not show the behavior, the scenario is inconclusive.
package probe
