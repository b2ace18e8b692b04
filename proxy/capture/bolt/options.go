package bolt

import (
	"time"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// Options configure recording. The zero value is useful.
type Options struct {
	// Tool is the name and version of the recording program. A new capture keeps it.
	Tool string

	// Flush is how long a step waits for others before they are committed together; 0 means 10 ms.
	Flush time.Duration

	// SegmentSize is the size in bytes from which on a file is continued in the next one; 0 means never.
	SegmentSize int64

	// SecretsKept means that secrets are stored unredacted. The capture states it permanently.
	SecretsKept bool

	// Insecure means that agents' TLS certificates are not verified. The capture states it permanently.
	Insecure bool

	// Copied has the gaps of the captures that a new one is made from: their crashes, and that one was still being
	// recorded. Their other gaps are in other options and in steps.
	Copied capture.Gaps

	// Urgency is the urgency of the work; it may be nil.
	Urgency *background.Urgency

	// RedactionKey is the fingerprint of the key with which secrets are hidden, without blanks; empty for none. The
	// capture names it. The key itself is not for the store.
	RedactionKey string

	// Budget is how many bytes of steps may wait to be stored; 0 means 16 MiB. Append waits while they are more.
	Budget int

	// Wait makes a commit that fails, since the disk is full or the file was moved away, wait until it succeeds, until
	// StopWaiting or Close: then Append waits too. Without it the steps are lost, and counted.
	Wait bool

	// Waits, if not nil, is called with true when a commit has failed and begins to wait, and with false when it waits no
	// more. Who appends can have what comes next wait where it comes from, so that no more than a commit's worth is in
	// memory and nowhere else. It is called by the goroutine that writes and must not call the Store.
	Waits func(bool)

	// Behind, if not nil, says for how long what is being appended has waited already. It is called in Append, for the
	// first steps of each commit.
	Behind func() time.Duration

	// Fault, if not nil, is called in each commit and makes it fail with the error that it returns. It is for tests.
	Fault func() error

	copied *layout.Meta // what a new capture is, if it is a copy of another
	begins layout.State // of such a capture

	// OnError is called when steps could not be stored, or when something else went wrong that does not end the
	// recording: once for a series of the same. It is called by the goroutine that writes and must not call the Store.
	OnError func(error)
}

const (
	defaultFlush  = 10 * time.Millisecond
	defaultBudget = 16 << 20
	commitBytes   = 1 << 20 // that wait end the wait
)
