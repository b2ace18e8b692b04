package prober

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/safetext"
	"a2atap/proxy/spelling"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
)

// A choice selects the scenarios to run.
type choice struct {
	suite     string
	only, not []string
}

func (c *choice) Register(f *pflag.FlagSet) {
	f.StringVar(&c.suite, "suite", scenarios.ProtocolSuite, "run the `SUITE`: "+strings.Join(scenarios.Suites(), " or ")+
		", which is for the agents echo, spec and spec03 below URL")
	f.StringSliceVar(&c.only, "only", nil,
		"run only scenarios whose id, name, tag or agent is `WORD`; * matches any text except /; repeatable")
	f.StringSliceVar(&c.not, "skip", nil, "skip scenarios whose id, name, tag or agent is `WORD`; repeatable")
}

// scenarios returns the selected scenarios of the suite. It fails if a word matches none of them.
func (c *choice) scenarios() ([]*probe.Scenario, error) {
	list, err := scenarios.Suite(c.suite)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	for _, word := range slices.Concat(c.only, c.not) {
		if _, err := path.Match(word, ""); err != nil {
			return nil, cli.Usage("invalid pattern %q: %w; write an id, a name such as rest/card, or a tag", word, err)
		}
		if !slices.ContainsFunc(list, func(s *probe.Scenario) bool { return mayMatch(word, s) }) {
			return nil, cli.Usage("no scenario is %q; %s", word, c.elsewhere(word, list))
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(list), func(s *probe.Scenario) bool {
		return len(c.only) > 0 && !slices.ContainsFunc(c.only, func(word string) bool { return mayMatch(word, s) })
	})
	return chosen, nil
}

// elsewhere suggests where to find a word that matches nothing.
func (c *choice) elsewhere(word string, list []*probe.Scenario) string {
	for _, name := range scenarios.Suites() {
		suite, err := scenarios.Suite(name)
		if err == nil && slices.ContainsFunc(suite, func(s *probe.Scenario) bool { return mayMatch(word, s) }) {
			return "the suite " + name + " has some: --suite " + name
		}
	}
	return "a2atap probe --list names them" + spelling.Hint(word, scenarioWords(list))
}

// mayMatch reports whether a word selects a case of a scenario, on any interface.
func mayMatch(word string, s *probe.Scenario) bool {
	if matchesScenario(word, s) {
		return true
	}
	_, id, inName := strings.Cut(word, "/")
	return inName && matches1(id, s.ID)
}

// matchesScenario reports whether a word is the id, a tag or the agent of a scenario.
func matchesScenario(word string, s *probe.Scenario) bool {
	return matches1(word, s.ID) || s.Agent != "" && matches1(word, s.Agent) || slices.ContainsFunc(s.Tags, func(tag string) bool { return matches1(word, tag) })
}

// matches1 compares names, ignoring case. A space equals a hyphen, so that the names of groups and agents are tags.
func matches1(pattern, text string) bool {
	ok, err := path.Match(plain(pattern), plain(text))
	return ok && err == nil
}

func plain(text string) string { return strings.ReplaceAll(strings.ToLower(text), " ", "-") }

// keep reports whether a case is selected.
func (c *choice) keep(s *probe.Scenario, test string) bool {
	is := func(word string) bool { return matchesScenario(word, s) || matches1(word, test) }
	return (len(c.only) == 0 || slices.ContainsFunc(c.only, is)) && !slices.ContainsFunc(c.not, is)
}

// scenarioWords returns the ids and tags of scenarios.
func scenarioWords(list []*probe.Scenario) []string {
	var words []string
	for _, s := range list {
		words = append(append(words, s.ID, s.Agent), s.Tags...)
	}
	return words
}

// A listedScenario is a scenario in the JSON of --list.
type listedScenario struct {
	ID       string   `json:"id"`
	Category string   `json:"category"`
	Dialects []string `json:"dialects"`
	Bindings []string `json:"bindings"`
	Sections []string `json:"sections"`
	Tags     []string `json:"tags"`
	Agent    string   `json:"agent,omitempty"` // agent of the scenario, in a suite for several
	Title    string   `json:"title"`
	Level    string   `json:"level"`
	Finds    []string `json:"finds"` // faults of reference agents
}

// listScenarios prints the selected scenarios.
func (o *Options) listScenarios(e cli.Env, args []string) error {
	if len(args) > 0 {
		return cli.Usage("probe --list sends nothing; leave out %q", args[0])
	}
	if err := cli.ChooseFormat("format of a list", &o.Format, o.Output, "text", "json"); err != nil {
		return err
	}
	list, err := o.Choice.scenarios()
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(s *probe.Scenario) bool {
		return slices.ContainsFunc(o.Choice.not, func(word string) bool { return matchesScenario(word, s) })
	})
	return cli.WriteOutput(e, o.Output, func(w io.Writer) error {
		if o.Format == "json" {
			out := make([]listedScenario, 0, len(list))
			for _, s := range list {
				out = append(out, listed(s))
			}
			return safetext.NewEncoder(w, "  ").Encode(out)
		}
		if _, err := fmt.Fprintf(w, "%-34s %-15s %-20s %6s %s\n", "SCENARIO", "CATEGORY", "DIALECTS", "FAULTS", "VERIFIES"); err != nil {
			return err
		}
		for _, s := range list {
			_, err := fmt.Fprintf(w, "%-34s %-15s %-20s %6d %s\n", s.ID, report.Kebab(s.Category),
				strings.Join(listed(s).Dialects, " "), len(scenarios.Finds(s.ID)), s.Title)
			if err == nil && len(s.Tags) > 0 {
				_, err = fmt.Fprintf(w, "  tags: %s\n", strings.Join(s.Tags, ", "))
			}
			if err != nil {
				return err
			}
		}
		if len(o.Choice.only) == 0 {
			for _, u := range scenarios.Unaskeds() {
				if _, err := fmt.Fprintf(w, "not run: %s: %s\n", u.ID, u.Why); err != nil {
					return err
				}
			}
		}
		_, err := fmt.Fprintf(w, "\n%d scenarios; FAULTS is the number of reference agents' faults that each finds; "+
			"--format json names them, with sections\n", len(list))
		return err
	})
}

func listed(s *probe.Scenario) listedScenario {
	l := listedScenario{
		ID: s.ID, Category: report.Kebab(s.Category), Sections: append([]string{}, s.Sections...),
		Tags: append([]string{}, s.Tags...), Agent: s.Agent, Title: s.Title, Level: s.Level.String(),
		Finds: append([]string{}, scenarios.Finds(s.ID)...),
	}
	protocols := s.Protocols
	if len(protocols) == 0 {
		protocols = client.Protocols()
	}
	add := func(to *[]string, word string) {
		if !slices.Contains(*to, word) {
			*to = append(*to, word)
		}
	}
	for _, p := range protocols {
		add(&l.Dialects, p.Version)
		if p == client.JSONRPC03 {
			add(&l.Dialects, "0.2")
		}
		add(&l.Bindings, strings.ToLower(p.Binding))
	}
	return l
}
