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
	// ProfileFrom is a capture with more information about the agent.
	ProfileFrom string

	Format    string
	Output    string
	Capture   redacted.CaptureFlags
	Sink      capture.Sink // receives the traffic instead of Capture, and is closed; may be nil
	Program   string
	transform *prompt.Transform // of program; may be nil
	Fault     string
}
