package sender

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/replay/client"
	"a2atap/replay/client/setup"
	"a2atap/replay/probe"
)

// A profile is an agent's own information that helps to write prompts for it.
type profile struct {
	Name         string             `json:"name"`
	Description  string             `json:"description"`
	Version      string             `json:"version"`
	CardURL      string             `json:"cardUrl"`
	Interfaces   []profileInterface `json:"interfaces"`
	Capabilities json.RawMessage    `json:"capabilities,omitempty"` // as in the card
	Skills       []client.Skill     `json:"skills"`
	Seen         []profileSeen      `json:"seen,omitempty"` // in a recording
}

// A profileSeen is a text that was sent to the agent, and the agent's reaction.
type profileSeen struct {
	Behavior string `json:"behavior"`
	Text     string `json:"text"`
}

// seen learns about the agent from a recording.
func seen(ctx context.Context, e cli.Env, capture, url string) ([]profileSeen, error) {
	if capture == "" {
		return nil, nil
	}
	src, err := source.Open(e, capture)
	if err != nil {
		return nil, fmt.Errorf("--profile-from: %w", err)
	}
	defer src.Close()
	learned, err := probe.Learn(ctx, src, "", url)
	if err != nil {
		return nil, fmt.Errorf("--profile-from %s: %w", cli.ShownName(capture), err)
	}
	var list []profileSeen
	for _, b := range learned.Behaviors() {
		list = append(list, profileSeen{b, learned.Prompts[probe.Behavior(b)]})
	}
	return list, nil
}

type profileInterface struct {
	URL      string `json:"url"`
	Protocol string `json:"protocol"`
	Tenant   string `json:"tenant,omitempty"`
}

func printProfile(ctx context.Context, e cli.Env, s *setup.Setup, format, capture string) error {
	card, err := client.Discover(ctx, s.URL, s.Options)
	if err != nil {
		return fmt.Errorf("send to %s: %w", s.URL, err)
	}
	p := profile{
		Name: card.Name, Description: card.Description, Version: card.Version, CardURL: card.URL,
		Interfaces: []profileInterface{}, Skills: card.Skills,
	}
	var w struct {
		Capabilities json.RawMessage `json:"capabilities"`
	}
	json.Unmarshal(card.Raw, &w) // the card has been parsed before, without errors
	p.Capabilities = w.Capabilities
	for _, i := range card.Interfaces {
		p.Interfaces = append(p.Interfaces, profileInterface{i.URL, i.Protocol.String(), i.Tenant})
	}
	if p.Seen, err = seen(ctx, e, capture, s.URL); err != nil {
		return err
	}
	if p.Skills == nil {
		p.Skills = []client.Skill{}
	}
	if format == "json" {
		return (&sender{e: e}).json(p)
	}
	return p.text(e.Out)
}

// text returns the profile as text for people and for models.
func (p profile) text(w io.Writer) error {
	var b strings.Builder
	line := func(indent int, name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s%s: %s\n", strings.Repeat("  ", indent), name, analysis.Clean(text))
		}
	}
	line(0, "name", p.Name)
	line(0, "description", p.Description)
	line(0, "version", p.Version)
	for _, i := range p.Interfaces {
		tenant := ""
		if i.Tenant != "" {
			tenant = " for tenant " + i.Tenant
		}
		line(0, "interface", i.Protocol+" at "+i.URL+tenant)
	}
	line(0, "capabilities", string(p.Capabilities))
	for _, s := range p.Skills {
		line(0, "skill", s.ID)
		line(1, "name", s.Name)
		line(1, "description", s.Description)
		line(1, "tags", strings.Join(s.Tags, ", "))
		for _, example := range s.Examples {
			line(1, "example", example)
		}
	}
	for _, s := range p.Seen {
		line(0, "seen", s.Behavior)
		line(1, "text", s.Text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
