package engine

import (
	"crypto/x509"
	"time"

	"a2atap/replay/refagent/internal/model"
)

// Options set an engine up. None has a default.
type Options struct {
	StepTime     time.Duration                 // pause between two chunks
	CancelWait   time.Duration                 // how long task-cancel waits to be canceled
	MaxTasks     int                           // that have not ended; 0 if there is no limit
	Moves        map[model.State][]model.State // from states that do not end a task; nil if the protocol allows any
	NoStatuses   bool                          // tasks do not remember the statuses that they had
	Store        Store                         // nil if tasks live in memory alone
	WebhookRoots *x509.CertPool                // nil means the system's
	Edit         func(n *Delivery)             // changes push notifications; nil for a faithful agent
	Log          func(text string)
	Now          func() time.Time
	NewID        func() string
}
