package importer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture/merge"
)

// MergeOptions are the flags of merge.
type MergeOptions struct {
	Output string
	Hosts  []string
	Hide   redacted.Flags
}

// Merge writes one capture from several.
func Merge(ctx context.Context, e cli.Env, o MergeOptions, names []string) error {
	hidden, err := o.Hide.Options()
	if err != nil {
		return err
	}
	hosts, err := hostsOf(names, o.Hosts)
	if err != nil {
		return err
	}
	if o.Output == "" {
		return cli.Usage("merge needs -o FILE for the merged capture")
	}
	if _, err := os.Stat(o.Output); err == nil {
		return fmt.Errorf("merge into %s: the file already exists; remove it or choose another with -o", o.Output)
	}
	var recordings []merge.Recording
	for i, name := range names {
		src, err := source.Open(e, name)
		if err != nil {
			return err
		}
		defer src.Close()
		if err := source.TellGaps(ctx, e, "merge", src); err != nil {
			return err
		}
		recordings = append(recordings, merge.Recording{
			Host: hosts[i], Name: cli.ShownName(name), Source: e.WithProgress(ctx, "merge "+cli.ShownName(name), src),
		})
	}
	if !hidden.Keep {
		if hidden.Key, err = o.Hide.Key(e); err != nil {
			return err
		}
	}
	whole := e.Temporary(o.Output) // an interrupt leaves no part of it
	done, err := mergeInto(ctx, e, o.Output, recordings, hidden)
	whole()
	if err != nil {
		return err
	}
	verdict.Keep(ctx, e, "merge", o.Output)
	e.Tell("merge: %s from %d captures into %s", analysis.Plural(done.Exchanges, "exchange"), len(names), o.Output)
	if done.Seen > 0 {
		e.Tell("merge: another recorder also saw %s of these exchanges; each is added as a note",
			analysis.Plural(done.Seen, "view"))
	}
	if done.Lost > 0 {
		e.Tell("merge: left out %s whose beginning is in no capture", analysis.Plural(done.Lost, "exchange"))
	}
	return nil
}

// mergeInto merges recordings into a new capture. On an error, it removes the new capture.
func mergeInto(ctx context.Context, e cli.Env, output string, recordings []merge.Recording, hidden redacted.Options,
) (merge.Summary, error) {
	gaps, err := merge.GapsOf(ctx, recordings...)
	if err != nil {
		return merge.Summary{}, err
	}
	hidden.Store.SecretsKept = hidden.Keep && gaps.Secrets
	hidden.Store.Insecure, hidden.Store.Copied = gaps.Insecure, gaps
	hidden.Notice = e.Notice
	to, err := redacted.Open(output, hidden)
	if err != nil {
		return merge.Summary{}, err
	}
	m := merge.New(to, merge.Options{OnNotice: func(said string) { e.Tell("merge: %s", said) }})
	for _, r := range recordings {
		m.Add(r)
	}
	if err = errors.Join(m.Run(ctx), to.Close()); err != nil {
		return merge.Summary{}, errors.Join(err, os.Remove(output))
	}
	return m.Summary(), nil
}

// hostsOf returns the host of each capture: from --host, or else from the file name.
func hostsOf(names, flags []string) ([]string, error) {
	hosts := make([]string, len(names))
	for _, flag := range flags {
		i := strings.LastIndexByte(flag, '=')
		if i <= 0 || i == len(flag)-1 {
			return nil, cli.Usage("--host %q: write FILE=HOST", cli.ShownName(flag))
		}
		at := slices.Index(names, flag[:i])
		if at < 0 {
			return nil, cli.Usage("--host %s=%s: %[1]s is not one of the captures that are merged", cli.ShownName(flag[:i]), flag[i+1:])
		}
		hosts[at] = flag[i+1:]
	}
	for i, name := range names {
		if slices.Index(names, name) != i {
			return nil, cli.Usage("merge: %s is given twice", cli.ShownName(name))
		}
		if hosts[i] != "" {
			continue
		}
		hosts[i] = withoutEnding(filepath.Base(name))
		for j, other := range names { // files with the same name in different folders
			if i != j && withoutEnding(filepath.Base(other)) == hosts[i] {
				hosts[i] = cli.ShownName(name)
				break
			}
		}
	}
	return hosts, nil
}

func withoutEnding(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
