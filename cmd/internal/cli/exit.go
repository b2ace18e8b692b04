package cli

import (
	"errors"
	"fmt"
)

// Exit codes. When several apply, the order is usage, failed, findings, inconclusive, ok.
const (
	ExitOK           = 0
	ExitFindings     = 1 // findings at or above the gate, or differences
	ExitUsage        = 2
	ExitFailed       = 3   // unreadable capture, unreachable agent, address in use
	ExitInconclusive = 4   // nothing was checked, sent or compared, or traffic was lost
	ExitInterrupted  = 130 // a second interrupt
)

// An Exit is an error with an exit code. Its error may be nil, which means that everything has been printed.
type Exit struct {
	Code int
	Err  error
}

// Error implements error.
func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the cause; it may be nil.
func (e *Exit) Unwrap() error { return e.Err }

// Usage returns an error about the command line.
func Usage(format string, args ...any) error {
	return &Exit{ExitUsage, fmt.Errorf(format, args...)}
}

// WithoutStatus returns the error inside an Exit, which may be nil, or other errors unchanged.
func WithoutStatus(err error) error {
	if x, ok := errors.AsType[*Exit](err); ok {
		return x.Err
	}
	return err
}

// AsUsage returns an error as a usage error, unless it already has a status.
func AsUsage(err error) error {
	var known *Exit
	var inFile interface{ Timeout() bool } // an *fs.PathError
	if errors.As(err, &known) || errors.As(err, &inFile) {
		return err
	}
	return Usage("%w", err)
}
