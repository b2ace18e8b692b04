// Package completer provides shell completions: values of flags, names of captures, and filter terms for the capture on
// the command line. It opens captures like any reader, reads little of them, and prints no messages.
package completer

import (
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/cmd/internal/viewer"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/replay/refagent"
	"a2atap/replay/refagent/hostile"
	differences "a2atap/replay/report"
)

// sampled is the number of exchanges read for names.
const sampled = 500

// endings are the file name endings of readable captures.
var endings = []string{"a2atap", "jsonl", "har", "txtar"}

// Add gives all commands beneath root their completions.
func Add(root *cobra.Command, e cli.Env) {
	e.Err = io.Discard
	root.PersistentFlags().VisitAll(plain)
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(plain)
		use := cmd.Use
		switch {
		case strings.Contains(use, " CAPTURE"):
			cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return endings, cobra.ShellCompDirectiveFilterFileExt
			}
		case strings.HasPrefix(use, "agent "):
			cmd.ValidArgsFunction = words(append(refagent.Names(), hostile.Name)...)
		case strings.HasPrefix(use, "rules"):
			cmd.ValidArgsFunction = ruleIDs
		}
		for name, complete := range flagsOf(cmd.Name(), e) {
			if cmd.Flags().Lookup(name) != nil {
				cobra.CheckErr(cmd.RegisterFlagCompletionFunc(name, complete))
			}
		}
	}
	cobra.CheckErr(root.RegisterFlagCompletionFunc("progress", words("auto", "always", "never")))
}

// plain removes the marks from a flag's usage, since shells show it unchanged.
func plain(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// words completes one of a few words.
func words(list ...string) completion {
	return func(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
		return beginning(text, list), cobra.ShellCompDirectiveNoFileComp
	}
}

// ruleIDs completes the name of a rule.
func ruleIDs(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	return beginning(text, verdict.RuleIDs()), cobra.ShellCompDirectiveNoFileComp
}

// flagsOf returns the completions of flags, by their names.
func flagsOf(command string, e cli.Env) map[string]completion {
	all := map[string]completion{
		"rule": ruleIDs, "no-rule": ruleIDs,
		"severity": words("error", "warning", "note"), "min-severity": words("error", "warning", "note"),
		"fail-on": words("error", "warning", "note", "calls", "never"), "profile": words("protocol", "shape", "exact"),
		"binding": words("jsonrpc", "http+json", "grpc"), "dialect": words("0.2", "0.3", "1.0"),
		"columns": completeColumns,
		"filter": func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			return completeFilter(cmd.Context(), e, args, text)
		},
		"agent": func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			return beginning(text, sample(cmd.Context(), e, args).of("agent")), cobra.ShellCompDirectiveNoFileComp
		},
	}
	switch command {
	case "check", "probe":
		all["format"] = words(report.Formats()...)
	case "replay", "diff":
		all["format"] = words(differences.Formats()...)
	case "show":
		all["format"] = words(viewer.Formats...)
	case "agent":
		all["fault"] = completeFault
	case "record", "run":
		delete(all, "agent") // which it gives a name
		all["format"] = words("text", "json")
	}
	return all
}

// completeFault completes the name of a fault that the first agent can have.
func completeFault(_ *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	list := []string{"list"}
	if len(args) > 0 {
		if args[0] == hostile.Name {
			for _, b := range hostile.Behaviors {
				list = append(list, b.Name)
			}
		}
		for _, f := range refagent.Faults(args[0]) {
			list = append(list, f.Slug)
		}
	}
	return beginning(text, list), cobra.ShellCompDirectiveNoFileComp
}

// completeColumns completes the last name of a list with commas.
func completeColumns(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	before := text[:strings.LastIndexByte(text, ',')+1]
	return beginning(text, each(before, present.ColumnNames(), "")), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// beginning returns the words with a prefix.
func beginning(text string, list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(word string) bool { return !strings.HasPrefix(word, text) })
}

func each(before string, names []string, after string) []string {
	var list []string
	for _, name := range names {
		list = append(list, before+name+after)
	}
	return list
}

// completeFilter completes the last word of a filter: a key, or its value.
func completeFilter(ctx context.Context, e cli.Env, args []string, text string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	at := strings.LastIndexAny(text, " (-") + 1
	before, word := text[:at], text[at:]
	key, _, valued := strings.Cut(word, ":")
	if !valued {
		var keys []string
		for _, k := range filter.Keys() {
			keys = append(keys, k.Name)
		}
		return beginning(text, each(before, keys, ":")), directive
	}
	values := verdict.ValuesOf(key)
	switch key {
	case "agent", "client", "task", "context":
		values = sample(ctx, e, args).of(key)
	case "severity":
		values = []string{"error", "warning", "note"}
	}
	if values == nil {
		values = filter.Values(key)
	}
	return beginning(text, each(before+key+":", values, "")), directive
}

// A names has the values in a capture, by key of the filter language.
type names map[string]map[string]bool

func (n names) of(key string) []string { return slices.Sorted(maps.Keys(n[key])) }

// sample reads the first exchanges of the capture on the command line. An unreadable capture has no names.
func sample(ctx context.Context, e cli.Env, args []string) names {
	found := names{"agent": {}, "client": {}, "task": {}, "context": {}}
	if len(args) == 0 || args[0] == "-" || strings.Contains(args[0], "://") {
		return found
	}
	if ctx == nil {
		ctx = context.Background()
	}
	src, err := (&source.Flags{}).Open(e, filepath.Clean(args[0]))
	if err != nil {
		return found
	}
	defer src.Close()
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil || x.Seq > sampled {
			break
		}
		found.take(x)
	}
	return found
}

func (n names) take(x *capture.Exchange) {
	s := engine.Summarize(x)
	programs := s.Programs()
	n["agent"][programs.Agent], n["client"][programs.Client] = true, true
	for _, id := range s.Tasks {
		n["task"][id] = true
	}
	for _, id := range s.Contexts {
		n["context"][id] = true
	}
	for _, key := range n {
		delete(key, "")
	}
}
