// Package doctor examines the files of a capture for damage, compares its stored results with new ones, and salvages
// the readable part of a damaged capture into a new one.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet"
	"a2atap/proxy/safetext"
)

// Options are the flags of doctor.
type Options struct {
	Format string
	Repair bool
	Output string
}

// Run examines the files of a capture, and repairs it if requested.
func Run(ctx context.Context, e cli.Env, o Options, name string) error {
	if err := cli.Choose("format", o.Format, "text", "json"); err != nil {
		return err
	}
	if o.Output != "" && !o.Repair {
		return cli.Usage("-o names the capture that --repair makes; add --repair")
	}
	if name == "-" || source.IsText(name) || cli.LikeAnAddress.MatchString(name) || fleet.IsAddress(name) {
		return cli.Usage("doctor examines files that a2atap recorded, and %s is not one; use a2atap check for its traffic",
			displayName(name))
	}
	p := &cli.Progress{W: e.Err, What: "doctor " + name, Began: time.Now()}
	at := func(arrival, last uint64) { p.Count("step", arrival, last) }
	if !e.ShowsProgress() {
		at = nil
	}
	found, err := bolt.Examine(ctx, name, at)
	p.Clear()
	if o.Repair && errors.Is(err, bolt.ErrDamaged) {
		e.Tell("doctor: %v", err)
		return o.repaired(ctx, e, name)
	}
	if err != nil {
		return err
	}
	second := secondReading{}
	if found.Sound() {
		if second, err = readAgain(ctx, e, name); err != nil {
			return err
		}
	}
	if o.Format == "json" {
		err = doctorJSON(e.Out, name, found, second)
	} else {
		err = errors.Join(doctorText(e.Out, found), second.text(e.Out))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "doctor: %s\n", diagnosis(found))
	if second.Difference != "" {
		fmt.Fprintf(e.Err, "doctor: the stored findings differ from a new check; a2atap check --again %s replaces them\n",
			cli.ShownName(name))
		return &cli.Exit{Code: cli.ExitFindings}
	}
	if !found.Sound() && o.Repair {
		return o.repaired(ctx, e, name)
	}
	if !found.Sound() {
		return &cli.Exit{Code: cli.ExitFindings}
	}
	return nil
}

func displayName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return cli.ShownName(name)
}

// diagnosis is the verdict in one line.
func diagnosis(c *bolt.Checkup) string {
	looked := fmt.Sprintf("%s with %s in %s",
		analysis.Plural(c.Exchanges, "exchange"), analysis.Plural(c.Steps, "step"), analysis.Plural(len(c.Files), "file"))
	if c.Sound() {
		return "sound: " + looked
	}
	return fmt.Sprintf("damaged: %s in %s; --repair copies the readable part into a new capture",
		analysis.Plural(len(c.Problems)+c.More, "problem"), looked)
}

func doctorText(w io.Writer, c *bolt.Checkup) error {
	if err := doctorKeys(w, c); err != nil {
		return err
	}
	for _, f := range c.Files {
		_, err := fmt.Fprintf(w, "%s: %s with %s in %s, %s, %s open, %s\n",
			analysis.Clean(f.Name), analysis.Plural(f.Exchanges, "exchange"), analysis.Plural(f.Steps, "step"),
			analysis.Plural(f.Blocks, "block"),
			analysis.Plural(f.Entries, "index key"), analysis.Plural(f.Open, "exchange"), analysis.Plural(f.Bytes, "byte"))
		if err != nil {
			return err
		}
	}
	if !c.Ended {
		_, err := fmt.Fprintf(w, "%s; exchanges that were open then are marked interrupted, which is not damage\n", c.Crash)
		if err != nil {
			return err
		}
	}
	for _, p := range c.Problems {
		if _, err := fmt.Fprintln(w, analysis.Clean(p.String())); err != nil {
			return err
		}
	}
	if c.More > 0 {
		_, err := fmt.Fprintf(w, "and %s more\n", analysis.Plural(c.More, "problem"))
		return err
	}
	return nil
}

// doctorKeys prints the keys with which secrets are hidden.
func doctorKeys(w io.Writer, c *bolt.Checkup) error {
	if len(c.Keys) > 0 {
		_, err := fmt.Fprintf(w, "secrets are hidden with %s that the capture does not contain: %s\n",
			analysis.Plural(len(c.Keys), "key"), analysis.Clean(strings.Join(c.Keys, ", ")))
		if err != nil {
			return err
		}
	}
	if c.KeyInside {
		_, err := fmt.Fprintln(w,
			"the capture contains the key that hides its secrets, as all captures of format 1 do: anyone who has it "+
				"can guess short secrets; record more into it, which removes the key, before you pass it on")
		if err != nil {
			return err
		}
	}
	return nil
}

type (
	doctorReport struct {
		Tool     report.Tool    `json:"tool"`
		Capture  string         `json:"capture"`
		Verdict  doctorVerdict  `json:"verdict"`
		Files    []bolt.File    `json:"files"`
		Keys     []string       `json:"keys"`      // fingerprints of the keys that hide secrets
		Inside   bool           `json:"keyInside"` // the capture holds such a key
		Problems []bolt.Problem `json:"problems"`
		Reading  secondReading  `json:"reading"` // comparison with the results of a second check
	}
	doctorVerdict struct {
		Status    string `json:"status"` // sound or damaged
		Problems  int    `json:"problems"`
		Exchanges int    `json:"exchanges"`
		Steps     uint64 `json:"steps"`
		Ended     bool   `json:"ended"`
	}
)

func doctorJSON(w io.Writer, name string, c *bolt.Checkup, second secondReading) error {
	out := doctorReport{
		Tool: cli.Tool(), Capture: name, Files: append([]bolt.File{}, c.Files...), Problems: append([]bolt.Problem{}, c.Problems...),
		Keys: append([]string{}, c.Keys...), Inside: c.KeyInside, Reading: second,
		Verdict: doctorVerdict{
			Status: "sound", Problems: len(c.Problems) + c.More, Exchanges: c.Exchanges, Steps: c.Steps, Ended: c.Ended,
		},
	}
	if !c.Sound() {
		out.Verdict.Status = "damaged"
	}
	return safetext.NewEncoder(w, "  ").Encode(out)
}

// repaired makes a new capture from the readable parts of a damaged one, and reports them.
func (o *Options) repaired(ctx context.Context, e cli.Env, name string) error {
	to := o.Output
	if to == "" {
		to = strings.TrimSuffix(name, ".a2atap") + ".repaired.a2atap"
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("repair into %s: the file already exists; remove it or choose another with -o", to)
	}
	// The recording is already redacted; only the index keys of exchanges are computed again.
	kept := redacted.Options{Keep: true}
	r, err := bolt.Rebuild(ctx, name, to, kept.Sink)
	if err != nil {
		return err
	}
	said := fmt.Sprintf("doctor: repaired into %s: %s with %s", to, analysis.Plural(r.Exchanges, "exchange"),
		analysis.Plural(r.Steps, "step"))
	if r.Whole() {
		fmt.Fprintln(e.Err, said+"; nothing is missing")
	} else {
		said += fmt.Sprintf("; missing: %s, and all of %s", analysis.Plural(r.LostSteps, "step"),
			analysis.Plural(r.LostExchanges, "exchange"))
		if r.EndUnknown {
			said += ", and anything after them"
		}
		fmt.Fprintln(e.Err, said)
	}
	if r.Anonymous {
		e.Tell("doctor: the capture's own description could not be read: the new one has another id, and counts as " +
			"containing secrets")
	}
	if r.Crash != "" {
		e.Tell("doctor: %s", r.Crash)
	}
	if !r.Whole() {
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}
