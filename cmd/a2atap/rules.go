package main

import (
	"io"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
)

func newRules(e env) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "rules [ID]",
		Short: "List the rules, or explain one",
		Long: `Rules lists the rules that check applies. With an id it explains that rule: what is required, why it matters,
the section of the specification, how to fix it, and what is not reported.`,
		Example: `  a2atap rules
  a2atap rules stream-closed-on-terminal
  a2atap rules --format json`,
		RunE: func(_ *cobra.Command, args []string) error { return listRules(e.Out, format, args) },
	}
	cmd.Flags().StringVar(&format, "format", format, "write as `FORMAT`: text, json or markdown")
	return withArgs(cmd, 0, 1)
}

func listRules(w io.Writer, format string, args []string) error {
	list := rules.All
	if len(args) == 1 {
		r := rules.ByID(args[0])
		if u, ok := rules.UnobservedByID(args[0]); ok {
			return usage("%s (%s) is never observed: %s", u.ID, u.Title, u.Reason)
		}
		if r == nil {
			return usage("unknown rule %q; a2atap rules lists them%s", args[0], nearest(args[0], ruleIDs()))
		}
		list = []*analyzer.Rule{r}
	}
	switch {
	case format == "json":
		return report.RulesJSON(w, list)
	case format == "markdown" && len(args) == 1:
		return report.RulesMarkdown(w, list)
	case format == "markdown":
		if err := report.RulesMarkdown(w, list); err != nil {
			return err
		}
		return report.UnobservedMarkdown(w, rules.Unobserved)
	case format != "text":
		return choose("format", format, "text", "json", "markdown")
	case len(args) == 1:
		return report.RuleText(w, list[0])
	}
	if err := report.RulesText(w, list); err != nil {
		return err
	}
	return report.UnobservedText(w, rules.Unobserved)
}

func ruleIDs() []string {
	ids := make([]string, 0, len(rules.All))
	for _, r := range rules.All {
		ids = append(ids, r.ID)
	}
	return ids
}
