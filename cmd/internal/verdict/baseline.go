package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/baseline"
	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/cli"
)

// BaselineFlags are the flags for accepted findings.
type BaselineFlags struct {
	File   string
	Update bool
}

// Register adds the flags to a command. what names the things that a baseline accepts.
func (o *BaselineFlags) Register(f *pflag.FlagSet, what string) {
	f.StringVar(&o.File, "baseline", "", "accept the "+what+" listed in `FILE`; they are still counted")
	f.BoolVar(&o.Update, "update-baseline", false, "accept the current "+what+": write them to the baseline")
}

// A Baseline is the accepted findings, failures and failed calls from the file of --baseline. Without that flag it is
// empty.
type Baseline struct {
	file   string
	update bool
	base   *baseline.Baseline // nil without --baseline
}

// Open reads the baseline. With --update-baseline the file may be missing.
func (o *BaselineFlags) Open(e cli.Env) (*Baseline, error) {
	b := &Baseline{file: o.File, update: o.Update}
	if b.file == "" {
		if b.update {
			return nil, cli.Usage("--update-baseline needs --baseline FILE, the file to write")
		}
		return b, nil
	}
	text, err := os.ReadFile(b.file)
	if errors.Is(err, fs.ErrNotExist) && b.update {
		b.base = &baseline.Baseline{}
		return b, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w; --update-baseline creates it", b.file, cli.Cause(err))
	}
	if b.base, err = baseline.Read(bytes.NewReader(text), e.Now()); err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w; correct it, or move it away and create a new one with "+
			"--update-baseline", b.file, err)
	}
	return b, nil
}

// Knows reports whether a finding is accepted. With --update-baseline every finding becomes accepted.
func (b *Baseline) Knows(f *analysis.Finding) bool {
	switch {
	case b.base == nil:
		return false
	case b.update:
		b.base.Accept(f)
		return true
	}
	return b.base.Knows(f)
}

// KnowsFailure reports whether the failure of a test is accepted, and why. With --update-baseline every failure becomes
// accepted.
func (b *Baseline) KnowsFailure(t baseline.Test, message string) (reason string, ok bool) {
	if b.base == nil {
		return "", false
	}
	if b.update {
		b.base.AcceptFailure(t, message)
	}
	return b.base.KnowsFailure(t)
}

// KnowsCalls reports whether failed calls are accepted. With --update-baseline all of them become accepted.
func (b *Baseline) KnowsCalls(f *judgment.FailedCalls) bool {
	if b.base == nil {
		return false
	}
	if b.update {
		b.base.AcceptCalls(f)
	}
	return b.base.KnowsCalls(f)
}

// Apply removes known findings from the result and counts them.
func (b *Baseline) Apply(r *judgment.Result) {
	before := len(r.Findings)
	r.Keep(func(f *analysis.Finding) bool { return !b.Knows(f) })
	r.Baselined += before - len(r.Findings)
}

// Finish writes the baseline with --update-baseline. Otherwise it lists the entries that have expired, and those that
// the coverage, the calls and the passed tests show to be obsolete.
func (b *Baseline) Finish(e cli.Env, coverage []judgment.Coverage, calls []judgment.Calls, passed []baseline.Test) error {
	if b.base == nil {
		return nil
	}
	stale := b.base.Stale(coverage, calls, passed)
	if !b.update {
		for _, entry := range b.base.Expired() {
			e.Tell("a2atap: %s: %s has expired on %s", b.file, &entry, entry.Until)
		}
		for _, entry := range stale {
			e.Tell("a2atap: %s: %s is no longer found; --update-baseline removes it", b.file, &entry)
		}
		return nil
	}
	b.base.Drop(stale)
	if err := cli.WriteFile(b.file, func(w io.Writer) error { return b.base.Write(w) }); err != nil {
		return err
	}
	failed := 0
	for i := range b.base.Known {
		if b.base.Known[i].Error != "" {
			failed++
		}
	}
	words := analysis.Plural(len(b.base.Known)-failed, "known finding")
	if failed > 0 {
		words += " and " + analysis.Plural(failed, "kind") + " of failed calls"
	}
	e.Tell("a2atap: %s holds %s", b.file, words)
	return nil
}
