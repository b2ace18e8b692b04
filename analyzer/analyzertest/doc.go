// Package analyzertest runs the rules in go test, for authors of agents and clients.
//
// Tap runs in front of a live agent during a test and fails the test for violations of the protocol. Run checks
// transcripts, which are exchanges as text, and compares the result with the findings that each of them lists.
//
// # What it promises
//
// Silence is a result only if something was checked: Tap fails a test in which nothing was checked, or in which
// something passed unrecorded. Traffic passes through the tap byte for byte, as when a2atap records, except for Host
// and the URLs in the agent card, which must lead back to the tap. Credentials are hidden before anything is stored.
// After a test has ended, all of its goroutines and listeners are gone.
//
// # What will surprise you
//
//   - A test is judged when it ends, after its subtests: a finding fails it, and does not stop it.
//   - A tap speaks HTTP/1.1.
//   - The capture of a test is in memory. A test that moves gigabytes is better recorded by a2atap record.
//   - The rules support A2A 0.1 to 1.0 and detect the version from the traffic; there is nothing to configure.
package analyzertest
