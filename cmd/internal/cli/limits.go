package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"a2atap/replay/limits"
)

// RegisterLimits adds the flags that limit an agent's responses. The limit of pages is only for commands that read
// lists.
func RegisterLimits(f *pflag.FlagSet, l *limits.Limits, pages bool) {
	*l = l.OrDefaults()
	f.Var(sizeValue{&l.Answer, "--" + limits.AnswerFlag}, limits.AnswerFlag, "give up on an answer or a stream of more than `SIZE`")
	f.Var(countValue{&l.Events}, limits.EventsFlag, "give up on a stream of more than `N` events")
	f.Var(countValue{&l.Skills}, limits.SkillsFlag, "give up on a card of more than `N` skills")
	f.DurationVar(&l.Idle, limits.IdleFlag, l.Idle, "give up on a stream without an event for `D`")
	if pages {
		f.Var(countValue{&l.Pages}, limits.PagesFlag, "with --list: give up on a list of more than `N` pages")
	}
}

// A sizeValue is a flag for a number of bytes.
type sizeValue struct {
	to   *int64
	flag string
}

// String implements pflag.Value.
func (v sizeValue) String() string {
	if v.to == nil {
		return ""
	}
	return SizeWords(*v.to)
}

// Set implements pflag.Value.
func (v sizeValue) Set(text string) (err error) {
	if text == "" {
		return errors.New("write a size such as 16MiB")
	}
	*v.to, err = ParseSize(v.flag, text)
	return err
}

// Type implements pflag.Value.
func (sizeValue) Type() string { return "size" }

// A countValue is a flag for a number above 0.
type countValue struct{ to *int }

// String implements pflag.Value.
func (v countValue) String() string {
	if v.to == nil {
		return ""
	}
	return strconv.Itoa(*v.to)
}

// Set implements pflag.Value.
func (v countValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("write a number above 0")
	}
	*v.to = n
	return nil
}

// Type implements pflag.Value.
func (countValue) Type() string { return "count" }
