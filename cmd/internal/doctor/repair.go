package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"

	"a2atap/analyzer"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture/bolt"
)

// repaired makes a new capture of what can be read of a damaged one, and says what that is.
func (o *Options) repaired(ctx context.Context, e cli.Env, name string) error {
	to := o.Output
	if to == "" {
		to = strings.TrimSuffix(name, ".a2atap") + ".repaired.a2atap"
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("repair into %s: the file already exists; remove it or choose another with -o", to)
	}
	// What was recorded is redacted already; the keys by which exchanges are found are described anew.
	kept := redacted.Options{Keep: true}
	r, err := bolt.Rebuild(ctx, name, to, kept.Sink)
	if err != nil {
		return err
	}
	said := fmt.Sprintf("doctor: repaired into %s: %s with %s", to, analyzer.Plural(r.Exchanges, "exchange"),
		analyzer.Plural(r.Steps, "step"))
	if r.Whole() {
		fmt.Fprintln(e.Err, said+"; nothing is missing")
	} else {
		said += fmt.Sprintf("; missing: %s, and all of %s", analyzer.Plural(r.LostSteps, "step"),
			analyzer.Plural(r.LostExchanges, "exchange"))
		if r.EndUnknown {
			said += ", and what came after them, if anything did"
		}
		fmt.Fprintln(e.Err, said)
	}
	if r.Anonymous {
		e.Tell("doctor: what the capture says of itself could not be read: the new one has another id, and counts as " +
			"one that holds secrets")
	}
	if r.Crash != "" {
		e.Tell("doctor: %s", r.Crash)
	}
	if !r.Whole() {
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}
