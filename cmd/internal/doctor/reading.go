package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"

	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
)

// A secondReading is the result of checking a capture again and comparing the result with its stored reading.
type secondReading struct {
	Kept       bool   `json:"kept"`                 // there was one to compare with
	Difference string `json:"difference,omitempty"` // first difference; empty if they are equal
}

// readAgain checks a capture again, if it has a stored reading, and compares the results.
func readAgain(ctx context.Context, e cli.Env, name string) (second secondReading, err error) {
	src, err := source.OpenFile(name)
	if err != nil {
		return second, err
	}
	defer src.Close()
	was := verdict.Stored(ctx, name, src)
	if was == nil {
		return second, nil
	}
	defer was.Close()
	second.Kept = true
	now, err := verdict.Open(ctx, e, "doctor", name, src, verdict.How{Again: true, Quiet: true, Volatile: true})
	if err != nil {
		return second, err
	}
	defer now.Close()
	second.Difference, err = snapshot.Compare(ctx, was.Results, now.Results)
	if errors.Is(err, capture.ErrDamagedEntry) {
		second.Difference, err = err.Error(), nil
	}
	return second, err
}

func (s secondReading) text(w io.Writer) error {
	switch {
	case !s.Kept:
		return nil
	case s.Difference != "":
		_, err := fmt.Fprintf(w, "the stored check result differs from a new check: %s\n", s.Difference)
		return err
	}
	_, err := fmt.Fprintln(w, "the stored check result equals a new check")
	return err
}
