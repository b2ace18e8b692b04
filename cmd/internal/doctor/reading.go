package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"

	"a2atap/analyzer/kept"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
)

// A secondReading is what came of judging a capture again whose reading is kept.
type secondReading struct {
	Kept       bool   `json:"kept"`                 // there was one to compare with
	Difference string `json:"difference,omitempty"` // where the two differ first; empty if they do not
}

// readAgain judges a capture again, if its reading is kept, and compares the two.
func readAgain(ctx context.Context, e cli.Env, name string) (second secondReading, err error) {
	src, err := source.OpenFile(name)
	if err != nil {
		return second, err
	}
	defer src.Close()
	k := judged.KeeperOf(ctx, e, "doctor", name, src)
	was := k.Read(ctx)
	if was == nil {
		return second, nil
	}
	defer was.Close()
	second.Kept = true
	shelf := &capture.MemoryShelf{}
	if _, _, err := k.Run(ctx, shelf.Put); err != nil {
		return second, err
	}
	now, err := kept.Open(ctx, shelf, rules.All)
	if err != nil {
		return second, err
	}
	second.Difference, err = kept.Compare(ctx, was.Reading, now)
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
		_, err := fmt.Fprintf(w, "what judging it came to was kept, and differs from what it comes to now: %s\n", s.Difference)
		return err
	}
	_, err := fmt.Fprintln(w, "what judging it came to was kept, and is what it comes to now")
	return err
}
