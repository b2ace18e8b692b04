package replayer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"a2atap/analyzer"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/replay"
	"a2atap/replay/report"
)

const learntHeader = "# What differs from run to run, as replay --learn-noise found. Review each rule, and say why it is one.\n"

// learnNoise replays twice, and adds what differs from run to run to the file of --learn-noise.
func (o *Options) learnNoise(
	ctx context.Context, mask func(io.Writer) io.Writer, src capture.Source, options replay.Options,
) (*report.Report, error) {
	before, err := os.ReadFile(o.Noise.Learn)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--learn-noise %s: %w", o.Noise.Learn, cli.Cause(err))
	}
	r, learnt, err := replay.Learn(ctx, src, o.other, options)
	if err != nil || len(learnt) == 0 {
		return r, err
	}
	var text bytes.Buffer
	if err := writeLearnt(mask(&text), learnt, len(before) == 0); err != nil {
		return r, err
	}
	if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		before = append(before, '\n')
	}
	if err := os.WriteFile(o.Noise.Learn, append(before, text.Bytes()...), 0o644); err != nil {
		return r, fmt.Errorf("--learn-noise: %w", err)
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s written to %s: review before use with --noise",
		analyzer.Plural(len(learnt), "rule"), o.Noise.Learn))
	return r, nil
}

// writeLearnt writes rules as a file has them, each with the values that show why it is one.
func writeLearnt(w io.Writer, learnt []replay.Learnt, header bool) error {
	var b strings.Builder
	if header {
		b.WriteString(learntHeader)
	}
	for _, l := range learnt {
		why := "the values look like secrets and are not shown"
		if !l.Secret {
			why = fmt.Sprintf("recorded %s, then %s and %s", shortly(l.Values[0]), shortly(l.Values[1]), shortly(l.Values[2]))
		}
		fmt.Fprintf(&b, "\n# %s\n%s\n", why, l.Rule)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func shortly(value string) string { return cmp.Or(analyzer.Clip(value), "nothing") }
