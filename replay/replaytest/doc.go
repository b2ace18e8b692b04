// Package replaytest has recorded sessions in go test, for those who write agents and clients.
//
// Run plays the client of a recorded session against a live agent, and fails the test for each thing that the agent
// does otherwise than it was recorded. Agent plays the agent of one for a live client, on a test server.
//
// A session is a transcript: HTTP as text, in a file under testdata, as a2atap export c.a2atap -o session.txtar writes
// it. Credentials in it are placeholders; Run takes those of today by RunOptions.Authorize.
//
// # What it promises
//
// A test passes only if something was sent, or served. What was left out of a session, and why, is logged. Options are
// those of packages replay and playback, so that a test can do what the commands can. When a test has ended, no
// goroutine and no listening address of it is left.
//
// # What will surprise you
//
//   - Run judges by all rules, too: one that the agent breaks now and did not break in the recording is a difference.
//   - Texts are not compared, unless the profile is compare.Exact.
//   - Pauses are left out, unless Speed asks for them.
package replaytest
