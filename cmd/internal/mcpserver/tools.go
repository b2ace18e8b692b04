package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"a2atap/proxy/capture/filter"
	"a2atap/proxy/spelling"
)

// args are the arguments of all tools.
type args struct {
	Capture string `json:"capture"`
	Filter  string `json:"filter"`
	From    uint64 `json:"from"`
	Number  uint64 `json:"number"`
	Part    string `json:"part"`
	ID      string `json:"id"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Agent   string `json:"agent"`
	Offset  int    `json:"offset"`
	Limit   int    `json:"limit"`
}

// A parameter describes an argument.
type parameter struct{ kind, does string }

var parameters = map[string]parameter{
	"capture": {"string", "the capture to read, one of those that the tool captures lists"},
	"filter":  {"string", "selects exchanges, as in 'op:SendMessage state:failed' or 'is:failed dur:>2s'; keys: " + filterKeys()},
	"from":    {"integer", "the number of the first exchange to list"},
	"number":  {"integer", "the number of an exchange"},
	"part":    {"string", "only a part of the exchange: request, response, response.event[2], or over gRPC response.message[2]"},
	"id":      {"string", "the id of a rule, as findings have it in brackets, or words to search for"},
	"before":  {"string", "the first capture, a file in the working directory; not needed if one capture is served"},
	"after":   {"string", "the second capture, a file in the working directory"},
	"agent":   {"string", "only calls to this agent"},
	"offset":  {"integer", "the number of characters of the output to skip, to continue an earlier answer"},
	"limit": {"integer", fmt.Sprintf("the greatest number of characters of the output to return: %d by default, at most %d",
		usualLimit, mostLimit)},
}

func filterKeys() string {
	var names []string
	for _, key := range filter.Keys() {
		names = append(names, key.Name)
	}
	return strings.Join(names, " ")
}

// A tool is a command as clients see it.
type tool struct {
	name, does string
	needs      []string // required parameters
	takes      []string // further ones; every tool takes offset and limit
	quotes     bool     // its output may contain recorded text
	sends      bool     // it sends to agents

	// command returns the command line; nil lists the captures.
	command func(context.Context, *server, args) []string
}

// tools are in the order in which clients list them. Flags have their values after =, and -- precedes the arguments, so
// that no value from a client is read as a flag.
var tools = []tool{
	{
		name: "captures", does: "Lists the captures in the working directory, the newest first.", quotes: true,
		command: func(context.Context, *server, args) []string { return nil },
	},
	{
		name:  "overview",
		does:  "Where to begin: the verdict on a capture, failed and refused calls, what was not seen, and who called whom.",
		needs: []string{"capture"}, quotes: true,
		command: func(_ context.Context, _ *server, a args) []string {
			return []string{"check", "--brief", "--", a.Capture}
		},
	},
	{
		name:  "exchanges",
		does:  "Lists exchanges, one per line: number, time, client and agent, operation, HTTP status, duration and outcome. ! marks an error, ? a warning.",
		needs: []string{"capture"}, takes: []string{"filter", "from"}, quotes: true,
		command: func(_ context.Context, _ *server, a args) []string {
			if a.From > 0 {
				a.Filter = strings.TrimSuffix(fmt.Sprintf("n:>=%d (%s)", a.From, a.Filter), " ()")
			}
			return []string{"show", "--format=list", "--filter=" + a.Filter, "--", a.Capture}
		},
	},
	{
		name:  "exchange",
		does:  "Shows one exchange: heads, formatted bodies, events with their times, and the findings in it.",
		needs: []string{"capture", "number"}, takes: []string{"part"}, quotes: true,
		command: func(_ context.Context, _ *server, a args) []string {
			return []string{"show", "--", a.Capture, strings.TrimSuffix(fmt.Sprintf("%d.%s", a.Number, a.Part), ".")}
		},
	},
	{
		name:  "findings",
		does:  "Lists violations of the specification, the worst first: where, what was seen and expected, the side at fault, and how to fix it.",
		needs: []string{"capture"}, takes: []string{"filter"}, quotes: true,
		command: func(_ context.Context, _ *server, a args) []string {
			return []string{"check", "--filter=" + a.Filter, "--", a.Capture}
		},
	},
	{
		name: "rule", does: "Explains a rule: what it requires, why, the section of the specification, and how to fix a violation.",
		needs:   []string{"id"},
		command: func(_ context.Context, _ *server, a args) []string { return []string{"rules", "--", a.ID} },
	},
	{
		name:  "tree",
		does:  "Shows which call caused which, across agents: the workflow of one exchange, or all workflows without number.",
		needs: []string{"capture"}, takes: []string{"number"}, quotes: true,
		command: func(ctx context.Context, s *server, a args) []string {
			show := []string{"show", "--format=tree"}
			if a.Number > 0 {
				show = append(show, fmt.Sprintf("--filter=workflow:%d", s.workflowOf(ctx, a)))
			}
			return append(show, "--", a.Capture)
		},
	},
	{
		name:  "compare",
		does:  "Compares two captures of the same workflow by meaning, such as before and after a change of an agent.",
		needs: []string{"before", "after"}, takes: []string{"filter"}, quotes: true,
		command: func(_ context.Context, _ *server, a args) []string {
			return []string{"diff", "--filter=" + a.Filter, "--", a.Before, a.After}
		},
	},
	{
		name: "replay",
		does: "Sends the recorded requests again, to the addresses that the user has chosen, and compares the answers. " +
			"Agents act on these requests.",
		needs: []string{"capture"}, takes: []string{"filter", "agent"}, quotes: true, sends: true,
		command: func(_ context.Context, s *server, a args) []string {
			line := []string{"replay", "--stay", "--filter=" + a.Filter, "--agent=" + a.Agent}
			for _, to := range s.replay {
				line = append(line, "--to="+to)
			}
			return append(line, "--", a.Capture)
		},
	},
}

// params returns the names of a tool's parameters. If one capture is served, capture is not a parameter, and before is
// optional.
func (t tool) params(fixed bool) (needs, all []string) {
	needs = []string{} // in JSON, clients reject null
	for _, name := range t.needs {
		if !fixed || name != "capture" {
			all = append(all, name)
		}
		if !fixed || name != "capture" && name != "before" {
			needs = append(needs, name)
		}
	}
	return needs, slices.Concat(all, t.takes, []string{"offset", "limit"})
}

// described returns a tool as clients see it.
func (t tool) described(fixed bool) *mcp.Tool {
	needs, all := t.params(fixed)
	properties := make(map[string]any)
	for _, name := range all {
		property := map[string]any{"type": parameters[name].kind, "description": parameters[name].does}
		if parameters[name].kind == "integer" {
			property["minimum"] = 0
		}
		properties[name] = property
	}
	return &mcp.Tool{
		Name: t.name, Description: t.does,
		InputSchema: map[string]any{
			"type": "object", "properties": properties, "required": needs, "additionalProperties": false,
		},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !t.sends, DestructiveHint: &t.sends, OpenWorldHint: &t.sends},
	}
}

// parse returns the arguments of a tool, with the capture to read.
func (s *server) parse(t tool, raw []byte) (a args, err error) {
	a.Limit = usualLimit
	needs, all := t.params(s.capture != "")
	given := make(map[string]json.RawMessage)
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return a, fmt.Errorf("the arguments are not a JSON object: %w", err)
		}
	}
	for name := range given {
		if !slices.Contains(all, name) {
			return a, fmt.Errorf("unknown argument %q; use %s%s", name, strings.Join(all, ", "), spelling.Hint(name, all))
		}
	}
	for _, name := range needs {
		if value := string(given[name]); value == "" || value == `""` || value == "null" {
			return a, fmt.Errorf("the argument %s is missing: %s", name, parameters[name].does)
		}
	}
	if len(given) > 0 {
		if err := json.Unmarshal(raw, &a); err != nil {
			if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
				return a, fmt.Errorf("the argument %s is a JSON %s: it must be %s", wrong.Field, wrong.Value, aKind(wrong.Field))
			}
			return a, err
		}
	}
	switch {
	case a.Offset < 0:
		return a, errors.New("offset is negative; write the offset that the last answer named")
	case a.Limit < 1 || a.Limit > mostLimit:
		return a, fmt.Errorf("limit is %d; write 1 to %d characters, and continue with offset", a.Limit, mostLimit)
	case slices.Contains(needs, "number") && a.Number == 0:
		return a, errors.New("number is 0; exchanges are counted from 1")
	}
	for _, name := range []*string{&a.Capture, &a.Before, &a.After} {
		if *name == "" {
			*name = s.capture
		} else if *name, err = s.find(*name); err != nil {
			return a, err
		}
	}
	return a, nil
}

func aKind(name string) string {
	if parameters[name].kind == "integer" {
		return "a whole number, 0 or more"
	}
	return "a string"
}
