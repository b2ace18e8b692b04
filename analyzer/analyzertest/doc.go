// Package analyzertest has the rules in go test, for those who write agents and clients.
//
// Tap stands in front of a live agent for the length of a test and fails the test for what breaks the protocol. Run
// judges transcripts, exchanges written down as text, and compares with the findings that each of them lists.
//
// # What it promises
//
// Silence is a result only where something was looked at: Tap fails a test in which nothing was judged, or in which
// something passed unrecorded. Traffic passes the tap byte for byte, as it does when a2atap records, but for Host
// and the URLs in the agent card, which must lead back to the tap. Credentials are hidden before anything is kept.
// When a test has ended, no goroutine and no listening address of it is left.
//
// # What will surprise you
//
//   - A test is judged when it ends, after its subtests: a finding fails it, and does not stop it.
//   - A tap speaks HTTP/1.1.
//   - The capture of a test is in memory. A test that moves gigabytes is better recorded by a2atap record.
//   - The rules know A2A 0.1 to 1.0 and recognise the version from the traffic; there is nothing to configure.
package analyzertest
