package prober

import (
	"slices"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/probe"
)

const promptHelp = "send TEXT to bring the agent to do what `BEHAVIOR=TEXT` names: message-only, task-lifecycle, " +
	"task-failure, task-cancel (work for a while), multi-turn (ask back), streaming, long-running or data-types; repeatable"

// parsePrompts reads the flags --prompt.
func parsePrompts(flags []string) (map[probe.Behavior]string, error) {
	prompts := make(map[probe.Behavior]string, len(flags))
	for _, flag := range flags {
		name, text, ok := strings.Cut(flag, "=")
		behavior := probe.Behavior(name)
		switch {
		case !ok || strings.TrimSpace(text) == "":
			return nil, cli.Usage("--prompt %q: write BEHAVIOR=TEXT, such as task-cancel='count to a million'", flag)
		case !slices.Contains(probe.Behaviors(), behavior):
			var known []string
			for _, b := range probe.Behaviors() {
				known = append(known, string(b))
			}
			return nil, cli.Choose("behavior for --prompt", name, known...)
		case prompts[behavior] != "":
			return nil, cli.Usage("--prompt %s is given twice", name)
		}
		prompts[behavior] = text
	}
	return prompts, nil
}
