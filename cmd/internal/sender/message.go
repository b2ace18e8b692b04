package sender

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/client"
	"a2atap/replay/client/setup"
	"a2atap/replay/prompt"
)

// messages builds the messages of a conversation from templates.
type messages struct {
	vars                   setup.Vars
	message, configuration string // JSON; empty for none
	id                     string
	stable                 bool
	turn                   int
}

// newMessages parses the templates.
func newMessages(o Options, s *setup.Setup) (*messages, error) {
	m := &messages{vars: s.Vars, id: o.MessageID, stable: o.StableID}
	var err error
	if m.message, err = inline("--message", o.Message); err != nil {
		return nil, err
	}
	if m.configuration, err = inline("--configuration", o.Configuration); err != nil {
		return nil, err
	}
	_, err = m.patch("") // reports their errors before anything is sent
	return m, err
}

const jqProgram = "a program in jq, such as .task.artifacts[0].parts[0].text, not JavaScript or Python"

// contents describes the contents of files for flags.
var contents = map[string]string{
	"--transform": jqProgram, "--message": "a JSON object", "--configuration": "a JSON object",
}

// inline returns the value of a flag, or the contents of the file that it names as @FILE.
func inline(flag, value string) (string, error) {
	if strings.HasPrefix(value, "file://") {
		return "", cli.Usage("%s %s: file:// is another tool's syntax; write @FILE, a file that contains %s", flag,
			cli.ShownName(value), contents[flag])
	}
	name, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s @FILE: %w", flag, err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", cli.Usage("%s @%s: the file is empty", flag, name)
	}
	return string(text), nil
}

// next returns the message of the next turn.
func (m *messages) next(text, task, contextID string) (client.Message, client.SendOptions, error) {
	out := client.Text(text)
	out.TaskID, out.ContextID = task, contextID
	patch, err := m.patch(text)
	if err != nil {
		return out, client.SendOptions{}, err
	}
	m.turn++
	switch {
	case m.stable:
		out.ID = prompt.StableID(m.turn, text, task, contextID, patch)
	case m.turn == 1: // later messages differ
		out.ID = m.id
	}
	return out, client.SendOptions{Patch: patch}, nil
}

// patch returns the object to merge into the parameters of a send, nil for none.
func (m *messages) patch(text string) (json.RawMessage, error) {
	if m.message == "" && m.configuration == "" {
		return nil, nil
	}
	vars := m.vars.With("prompt", text)
	patch := make(map[string]any)
	if m.message != "" {
		message, err := vars.Object(m.message)
		if err != nil {
			return nil, fmt.Errorf("--message: %w", err)
		}
		if _, all := message["message"].(map[string]any); all {
			patch = message
		} else {
			patch["message"] = message
		}
	}
	if m.configuration != "" {
		configuration, err := vars.Object(m.configuration)
		if err != nil {
			return nil, fmt.Errorf("--configuration: %w", err)
		}
		patch["configuration"] = configuration
	}
	return json.Marshal(patch)
}
