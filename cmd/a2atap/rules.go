package main

import (
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/spelling"
)

func newRules(e cli.Env) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "rules [ID | WORD...]",
		Short: "List the rules, or explain one",
		Long: `Rules lists the rules that check applies. With an id it explains that rule: what is required, why it
matters, the section of the specification, how to fix it, and what is not reported. Any other words select from the
list: part of an id or a family, with * for any text, or words that all occur in a rule's description.`,
		Example: `  a2atap rules
  a2atap rules stream-closed-on-terminal
  a2atap rules 'stream-*'
  a2atap rules push url
  a2atap rules --format json`,
		RunE: func(_ *cobra.Command, args []string) error { return listRules(e.Out, format, args) },
	}
	cmd.Flags().StringVar(&format, "format", format, "write as `FORMAT`: text, json or markdown")
	return withArgs(cmd, 0, -1)
}

func listRules(w io.Writer, format string, args []string) error {
	if err := cli.Choose("format", format, "text", "json", "markdown"); err != nil {
		return err
	}
	list, one := rules.All, false
	if len(args) > 0 {
		var err error
		if list, err = chooseRules(args); err != nil {
			return err
		}
		one = len(args) == 1 && rules.ByID(args[0]) != nil
	}
	switch {
	case format == "json":
		return report.RulesJSON(w, list)
	case format == "markdown" && len(args) > 0:
		return report.RulesMarkdown(w, list)
	case format == "markdown":
		if err := report.RulesMarkdown(w, list); err != nil {
			return err
		}
		return report.UnobservedMarkdown(w, rules.Unobserved)
	case one:
		return report.RuleText(w, list[0])
	case len(args) > 0:
		return report.RulesText(w, list)
	}
	if err := report.RulesText(w, list); err != nil {
		return err
	}
	return report.UnobservedText(w, rules.Unobserved)
}

// chooseRules returns the rule with that id, or the rules that match all words.
func chooseRules(words []string) ([]*analysis.Rule, error) {
	if len(words) == 1 {
		if r := rules.ByID(words[0]); r != nil {
			return []*analysis.Rule{r}, nil
		}
		if u, ok := rules.UnobservedByID(words[0]); ok {
			return nil, cli.Usage("%s (%s) is never observed: %s", u.ID, u.Title, u.Reason)
		}
	}
	for _, word := range words {
		if _, err := path.Match(word, ""); err != nil {
			return nil, cli.Usage("invalid pattern %q: %w; write a rule's id, or a part of it with *", word, err)
		}
	}
	list := slices.DeleteFunc(slices.Clone(rules.All), func(r *analysis.Rule) bool {
		return slices.ContainsFunc(words, func(word string) bool { return !isAbout(r, word) })
	})
	if len(list) == 0 {
		text := strings.Join(words, " ")
		return nil, cli.Usage("unknown rule %q; a2atap rules lists the rules%s", text, spelling.Hint(text, verdict.RuleIDs()))
	}
	return list, nil
}

// isAbout reports whether a word matches a rule: as a pattern its id or family, or as a part of its id or its title.
func isAbout(r *analysis.Rule, word string) bool {
	word = strings.ToLower(word)
	for _, name := range []string{r.ID, r.Family} {
		if ok, err := path.Match(word, name); ok && err == nil {
			return true
		}
	}
	return strings.Contains(r.ID, word) || strings.Contains(strings.ToLower(r.Title), word)
}
