// Package replaytest uses recorded sessions in go test, to test agents and clients.
//
// Run plays the client of a recorded session against a live agent, and fails the test for each difference between the
// agent and the recording. Agent plays the recorded agent for a live client, on a test server.
//
// A session is a transcript: HTTP as text, in a file under testdata, as a2atap export c.a2atap -o session.txtar writes
// it. Credentials in it are placeholders; RunOptions.Authorize provides real ones for Run.
//
// # What it promises
//
// A test passes only if something was sent, or served. It logs the omitted parts of a session, with the reasons.
// Options include those of packages replay and playback, so that a test can do what the commands can. After a test
// has ended, none of its goroutines and listeners remain.
//
// # What will surprise you
//
//   - Run judges by all rules, too: one that the agent breaks now and did not break in the recording is a difference.
//   - Texts are not compared, unless the profile is compare.Exact.
//   - Pauses are left out, unless Speed asks for them.
package replaytest
