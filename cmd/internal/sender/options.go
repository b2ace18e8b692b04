package sender

import (
	"time"

	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/replay/client/setup"
	"a2atap/replay/prompt"
)

// Options are the flags of send.
type Options struct {
	Flags       setup.Flags
	Reach       setup.ReachFlags
	FollowCard  bool
	Mode        string
	Stream      bool
	NoPoll      bool
	Interval    time.Duration
	PollTimeout time.Duration

	Task, ContextID string
	Message         string
	Configuration   string
	MessageID       string
	StableID        bool
	Interactive     bool

	Tasks   taskOptions
	Push    pushOptions
	Profile bool
	// ProfileFrom is a capture that shows more of the agent.
	ProfileFrom string

	Format    string
	Output    string
	Capture   redacted.CaptureFlags
	Sink      capture.Sink // takes what passes, and is closed, in place of Capture; nil for none
	Program   string
	transform *prompt.Transform // of program; nil if there is none
	Fault     string
}
