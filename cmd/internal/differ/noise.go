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

// learning reads the rules that are in the file of --learn-noise already: they hold while more are learnt.
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

// Noise say what may differ between two runs. The commands that compare share them.
type Noise struct {
	ignore    []string
	match     []string
	files     []string
	Learn     string // file; only of replay
	Tolerance time.Duration
}

// Register adds the flags to a command.
func (o *Noise) Register(f *pflag.FlagSet) {
	f.StringArrayVar(&o.ignore, "ignore", nil, "do not compare what is at `[OPERATION:]POINTER` in answers, such as "+
		"GetTask:/metadata/took; * stands for any name; repeatable")
	f.StringArrayVar(&o.match, "match", nil, "whatever was recorded, what is there now has to match the whole of REGEXP: "+
		"`[OPERATION:]POINTER=REGEXP`; repeatable")
	f.StringArrayVar(&o.files, "noise", nil,
		"take the rules in `FILE`: one a line, spelt as for --ignore or --match, and # before comments; repeatable")
	f.DurationVar(&o.Tolerance, "time-tolerance", 0,
		"what takes more than `D` longer than recorded differs: an answer, or the next event of a stream (default: no limit)")
}

// Rules reads the rules of all flags; nil if there are none.
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

// RegisterLearning adds the flag that only those have who can run a workflow again.
func (o *Noise) RegisterLearning(f *pflag.FlagSet) {
	f.StringVar(&o.Learn, "learn-noise", "", "replay twice, and add rules for what differs from one live run to the other "+
		"to `FILE`, to be reviewed; nothing that the protocol is about is learnt")
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
