package checker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/report/exchanges"
	"a2atap/analyzer/report/parts"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
)

// checkParts refuses flags that make no sense with --shard or --merge.
func (o *Options) checkParts() error {
	ofWhole := []struct {
		flag string
		set  bool
	}{
		{"--baseline", o.Baseline != ""},
		{"--update-baseline", o.Update},
		{"--min-severity", o.MinSeverity != "note"},
		{"--coverage", o.Coverage},
	}
	ofPart := []struct {
		flag string
		set  bool
	}{
		{"--filter", o.Filter != ""},
		{"--agent", o.Agent != ""},
		{"--rule", len(o.Only) > 0},
		{"--no-rule", len(o.Not) > 0},
		{"--jwks", len(o.JWKS) > 0},
	}
	switch {
	case o.Shard != "" && o.Merge:
		return cli.Usage("--shard judges a part, --merge puts parts together; use one of them")
	case o.Follow && o.Shard != "":
		return cli.Usage("--follow and --shard exclude each other: parts have to be of one state of a capture")
	case o.Follow && o.Merge:
		return cli.Usage("--follow follows a capture, --merge reads reports; use one of them")
	case o.Shard != "" && o.Format != "json":
		return cli.Usage("--shard writes JSON, from which check --merge makes a report in any format; leave out --format")
	}
	if o.Shard != "" {
		for _, f := range ofWhole {
			if f.set {
				return cli.Usage("%s is about the whole: give it to check --merge, not with --shard", f.flag)
			}
		}
	}
	if o.Merge {
		for _, f := range ofPart {
			if f.set {
				return cli.Usage("%s is for judging: give it to every check --shard, and --merge takes it from the reports", f.flag)
			}
		}
	}
	return nil
}

// judgePart prepares the judging of a part.
func (c *checker) judgePart(o *Options) (err error) {
	if c.part, err = analyzer.ParsePart(o.Shard); err != nil {
		return cli.Usage("--shard: %w", err)
	}
	if c.keep.Judged {
		return cli.Usage("--filter %q asks for findings, of which a part knows only its own; filter without rule:, severity: "+
			"and side:, or select rules with --rule", o.Filter)
	}
	c.written = &parts.Judgement{
		Format: parts.Format,
		Selection: parts.Selection{
			Rules: parts.Catalogue(rules.All), Only: o.Only, Not: o.Not, Filter: o.Filter, Agent: o.Agent,
		},
	}
	for _, file := range o.JWKS {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("--jwks: %w", err)
		}
		sum := sha256.Sum256(text)
		c.written.Selection.Keys = append(c.written.Selection.Keys,
			filepath.Base(file)+" "+hex.EncodeToString(sum[:8]))
	}
	return nil
}

// judgeAndAddPart adds what is found in a part of a capture to total, and all that merging needs to what is written.
func (c *checker) judgeAndAddPart(
	ctx context.Context, e cli.Env, name string, src capture.Source, total *analyzer.Result,
) error {
	seen := judged.NewCensus()
	var of cli.Set // what was judged in this part
	result, err := analyzer.Run(ctx, rules.All, e.WithProgress(ctx, "check "+name, src), nil,
		append(seen.Options(c.keys), analyzer.InPart(c.part), analyzer.OnEnded(func(s analyzer.Summary) {
			if s.Judged {
				of.Add(s.Seq)
			}
		}))...)
	if err != nil {
		return err
	}
	for i := range result.Findings {
		judged.InWorkflow(seen.Links, &result.Findings[i])
	}
	var choice *parts.Choice
	if !c.keep.All() {
		j, err := judged.Open(ctx, e, "check", name, src, false)
		if err != nil {
			return err
		}
		defer j.Close()
		if choice, err = c.keep.Choose(ctx, j, result, func(row *kept.Row) bool { return of.Has(row.Seq) }); err != nil {
			return err
		}
	}
	c.written.Captures = append(c.written.Captures, parts.Of(result, choice))
	result.Settle()
	c.finish(result, choice)
	total.Add(result)
	return nil
}

// finish leaves in a result what is chosen, and what is not known yet.
func (c *checker) finish(result *analyzer.Result, choice *parts.Choice) {
	if choice != nil {
		c.keep.Leave(result, choice)
	}
	c.rules.apply(result)
	c.known.apply(result)
}

// addParts puts the parts together on which there are reports, and adds what comes of it to total. What is selected the
// reports say. The captures themselves are named for a page alone.
func (c *checker) addParts(ctx context.Context, e cli.Env, names []string, total *analyzer.Result) error {
	files, captures, err := readParts(names)
	if err != nil {
		return err
	}
	whole, err := parts.Merge(files, rules.All)
	if err != nil {
		return fmt.Errorf("check --merge: %w", err)
	}
	s := files[0].Selection
	if c.keep, err = judged.ParseSelection(s.Filter, s.Agent); err != nil {
		return fmt.Errorf("check --merge: %s: %w", files[0].Name, err)
	}
	if c.rules, err = selectRules(s.Only, s.Not); err != nil {
		return fmt.Errorf("check --merge: %s: %w", files[0].Name, err)
	}
	switch {
	case c.page == nil && len(captures) > 0:
		return cli.Usage("%s is a capture; --merge reads the reports on its parts, and the capture for --format html alone",
			captures[0])
	case c.page != nil && len(captures) != len(whole):
		return cli.Usage("a page shows the exchanges: name the captures behind the reports, in their order: %s",
			strings.Join(capturesOf(whole), " "))
	}
	for i, w := range whole {
		var shown exchanges.Capture
		if c.page != nil {
			if shown, err = c.showWhole(ctx, e, captures[i], &w, files[0].Captures[i].Sum); err != nil {
				return fmt.Errorf("check %s: %w", captures[i], err)
			}
		}
		c.finish(w.Result, w.Choice)
		c.add(w.Result, shown, total)
	}
	return nil
}

// readParts reads the reports on parts, and returns the names of captures that are among them.
func readParts(names []string) (files []*parts.File, captures []string, err error) {
	for _, name := range names {
		if source.IsText(name) || strings.HasSuffix(name, ".a2atap") || strings.Contains(name, "://") {
			captures = append(captures, name)
			continue
		}
		text, readErr := os.ReadFile(name)
		if readErr != nil {
			err = errors.Join(err, fmt.Errorf("read the report %s: %w", name, cli.Cause(readErr)))
			continue
		}
		f, readErr := parts.Read(name, text)
		if readErr != nil {
			err = errors.Join(err, fmt.Errorf("read the report %s: %w", name, readErr))
			continue
		}
		files = append(files, f)
	}
	if err == nil && len(files) == 0 {
		err = cli.Usage("--merge reads the reports of check CAPTURE --shard K/N, and there is none among the arguments")
	}
	return files, captures, err
}

func capturesOf(whole []parts.Whole) []string {
	var names []string
	for _, w := range whole {
		names = append(names, analyzer.Clean(w.Result.Captures[0]))
	}
	return names
}

// showWhole returns what a page shows of a capture whose parts were put together.
func (c *checker) showWhole(
	ctx context.Context, e cli.Env, name string, w *parts.Whole, sum string,
) (shown exchanges.Capture, err error) {
	src, err := c.from.Open(e, name)
	if err != nil {
		return shown, err
	}
	c.page.open = append(c.page.open, src)
	var is string
	if is, err = analyzer.Sum(ctx, src); err != nil {
		return shown, err
	}
	if is != sum {
		return shown, errors.New("the reports are on another capture, or on another state of it")
	}
	if c.keep.Noted {
		if c.keep.Notes, err = source.ReadNotes(ctx, e, "check", src); err != nil {
			return shown, err
		}
	}
	j, err := judged.Open(ctx, e, "check", name, src, false)
	if err != nil {
		return shown, err
	}
	defer j.Close()
	return c.show(ctx, j, w.Result)
}
