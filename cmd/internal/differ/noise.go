package differ

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/noise"
)

// learning reads the rules that the file of --learn-noise already has. They apply while more are learned.
func (o *Noise) learning() ([]noise.Rule, error) {
	if o.Learn == "" {
		return nil, nil
	}
	rules, err := readNoise("--learn-noise", o.Learn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return rules, err
}

// Noise has the flags for accepted differences between two runs. All comparing commands share them.
type Noise struct {
	ignore    []string
	match     []string
	files     []string
	Learn     string // file; only of replay
	Tolerance time.Duration
}

// Register adds the flags to a command.
func (o *Noise) Register(f *pflag.FlagSet) {
	f.StringArrayVar(&o.ignore, "ignore", nil, "do not compare the value at `[OPERATION:]POINTER` in answers, such as "+
		"GetTask:/metadata/took; * matches any name; repeatable")
	f.StringArrayVar(&o.match, "match", nil, "whatever was recorded, the live value has to match REGEXP entirely: "+
		"`[OPERATION:]POINTER=REGEXP`; repeatable")
	f.StringArrayVar(&o.files, "noise", nil,
		"read such rules from `FILE`: one per line, written as for --ignore or --match, # begins a comment; repeatable")
	f.DurationVar(&o.Tolerance, "time-tolerance", 0,
		"an answer, or the next event of a stream, differs if it takes more than `D` longer than recorded (default: no limit)")
}

// Rules parses the rules of all flags; nil without rules.
func (o *Noise) Rules() (*noise.Rules, error) {
	if o.Tolerance < 0 {
		return nil, cli.Usage("--time-tolerance %s: it cannot be negative", o.Tolerance)
	}
	var list []noise.Rule
	for _, text := range o.ignore {
		r, err := noise.ParseIgnore(text)
		if err != nil {
			return nil, cli.Usage("--ignore %w", err)
		}
		list = append(list, r)
	}
	for _, text := range o.match {
		r, err := noise.ParseMatch(text)
		if err != nil {
			return nil, cli.Usage("--match %w", err)
		}
		list = append(list, r)
	}
	for _, name := range o.files {
		rules, err := readNoise("--noise", name)
		if err != nil {
			return nil, err
		}
		list = append(list, rules...)
	}
	learnt, err := o.learning()
	if err != nil {
		return nil, err
	}
	if list = append(list, learnt...); len(list) == 0 {
		return nil, nil
	}
	return noise.New(list...), nil
}

// RegisterLearning adds the flag for commands that can run a workflow again.
func (o *Noise) RegisterLearning(f *pflag.FlagSet) {
	f.StringVar(&o.Learn, "learn-noise", "", "replay twice, and write rules for values that differ between the live runs "+
		"to `FILE`, for you to review; never for what the protocol defines")
}

// readNoise reads the file of rules that a flag names.
func readNoise(flag, name string) ([]noise.Rule, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, name, cli.Cause(err))
	}
	defer f.Close()
	rules, err := noise.Read(f, name)
	if err != nil {
		return nil, cli.Usage("%s: %w", flag, err)
	}
	return rules, nil
}
