package checker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"a2atap/analyzer"
	"a2atap/analyzer/baseline"
	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/cli"
)

// knownFindings is the baseline of --baseline and --update-baseline.
type knownFindings struct {
	file   string
	update bool
	base   *baseline.Baseline // nil without --baseline
}

func openBaseline(file string, update bool) (*knownFindings, error) {
	k := &knownFindings{file: file, update: update}
	if file == "" {
		if update {
			return nil, cli.Usage("--update-baseline needs --baseline FILE, the file to write")
		}
		return k, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && update {
		k.base = &baseline.Baseline{}
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w; --update-baseline creates it from the current findings",
			file, cli.Cause(err))
	}
	if k.base, err = baseline.Read(bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w; move it away and create a new one with --update-baseline",
			file, err)
	}
	return k, nil
}

// apply removes known findings from the result, and counts them. With --update-baseline all findings become known.
func (k *knownFindings) apply(r *judgment.Result) {
	if k.base == nil {
		return
	}
	before := len(r.Findings)
	r.Keep(func(f *analyzer.Finding) bool {
		if k.update {
			k.base.Accept(f)
			return false
		}
		return !k.base.Knows(f)
	})
	r.Baselined += before - len(r.Findings)
}

// finish writes the baseline with --update-baseline, else prints the entries that are no longer found.
func (k *knownFindings) finish(e cli.Env, r *judgment.Result) error {
	if k.base == nil {
		return nil
	}
	stale := k.base.Stale(r.Coverage)
	if !k.update {
		for _, entry := range stale {
			e.Tell("a2atap: %s: %s of %s %s at %s is no longer found; --update-baseline removes it",
				k.file, entry.Rule, entry.Side, analyzer.Clean(entry.Agent), analyzer.Clean(entry.Place))
		}
		return nil
	}
	k.base.Drop(stale)
	if err := cli.WriteFile(k.file, func(w io.Writer) error { return k.base.Write(w) }); err != nil {
		return err
	}
	e.Tell("a2atap: %s holds %s", k.file, analyzer.Plural(len(k.base.Known), "known finding"))
	return nil
}
