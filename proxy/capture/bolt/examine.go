package bolt

import (
	"context"
	"errors"
	"fmt"

	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// Check is Examine for callers that only need to know whether a capture is sound: the error describes the problem.
func Check(ctx context.Context, path string) error {
	c, err := Examine(ctx, path, nil)
	if err != nil {
		return err
	}
	var problems []error
	for _, p := range c.Problems {
		problems = append(problems, errors.New(p.String()))
	}
	if c.More > 0 {
		problems = append(problems, fmt.Errorf("and %d more", c.More))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	return nil
}

// Examine reads a whole capture and reports its problems. It checks that all blocks can be decoded and the arrival
// numbers have no gap; that rows, parts and the list of open exchanges agree with the blocks; that the index names
// existing exchanges; that the totals are right; and that bbolt finds its pages in order. It calls at, which may be
// nil, from time to time with the current and the last arrival number.
//
// It changes nothing. The capture must not be in use by a recorder; recorders wait while Examine reads. An error means
// that the capture could not be examined: a recorder, named in the error, has it, it cannot be opened (see Read), or
// the context ended.
func Examine(ctx context.Context, path string, at func(arrival, last uint64)) (*check.Checkup, error) {
	o := remote.New(path)
	o.Lenient = true
	defer o.Close()
	c := check.Checker{Ctx: ctx, At: at}
	err := o.Files(func(set segments.Set) error {
		c.Check(set)
		return ctx.Err()
	})
	if errors.Is(err, segments.ErrLocked) {
		err = notWhileHeld(path, err)
	}
	if errors.Is(err, pages.ErrPages) {
		c.Problem(check.Problem{File: path, What: err.Error()})
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", path, err)
	}
	return &c.Checkup, nil
}

// notWhileHeld returns an error that names the process that holds a capture and prevents the check.
func notWhileHeld(path string, cause error) error {
	h, err := remote.AskHolder(path)
	if err != nil {
		return remote.HeldBy(path, cause)
	}
	return fmt.Errorf("%w: %s records into it; a capture that is being recorded can be read, but not examined; stop the recorder first",
		segments.ErrLocked, h)
}
