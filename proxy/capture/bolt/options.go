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

	// Flush is how long a step waits for others to be committed with it; 0 means 10 ms.
	Flush time.Duration

	// SegmentSize is the file size in bytes at which a capture continues in the next file; 0 means never.
	SegmentSize int64

	// SecretsKept means that secrets are stored unredacted. The capture states it permanently.
	SecretsKept bool

	// Insecure means that agents' TLS certificates are not verified. The capture states it permanently.
	Insecure bool

	// Copied has the gaps of the captures from which a new one is made: their crashes, and whether one was still being
	// recorded. Their other gaps are in other options and in steps.
	Copied capture.Gaps

	// Urgency is the urgency of the work; it may be nil.
	Urgency *background.Urgency

	// RedactionKey is the fingerprint of the key that hides secrets, without blanks; empty for none. The capture
	// records it. The store never has the key itself.
	RedactionKey string

	// Budget is how many bytes of steps may wait to be stored; 0 means 16 MiB. Beyond it, Append waits.
	Budget int

	// Wait makes a commit that fails, because the disk is full or the file was moved away, retry until it succeeds, or
	// until StopWaiting or Close; Append waits in the meantime. Without Wait the steps are lost, and counted.
	Wait bool

	// Waits, if not nil, is called with true when a commit has failed and begins to retry, and with false when it stops
	// retrying. The caller of Append can then hold traffic at its source, so that only one commit's data exists in
	// memory alone. Waits is called by the goroutine that writes and must not call the Store.
	Waits func(bool)

	// Behind, if not nil, returns how long the data being appended has already waited. It is called in Append, for the
	// first steps of each commit.
	Behind func() time.Duration

	// Fault, if not nil, is called in each commit and makes the commit fail with the returned error. It is for tests.
	Fault func() error

	copied *layout.Meta // properties of a new capture that is a copy of another
	begins layout.State // of such a capture

	// OnError is called when steps could not be stored, or after another problem that does not end the recording: once
	// for a series of equal errors. It is called by the goroutine that writes and must not call the Store.
	OnError func(error)
}

const (
	defaultFlush  = 10 * time.Millisecond
	defaultBudget = 16 << 20
	commitBytes   = 1 << 20 // that wait end the wait
)
