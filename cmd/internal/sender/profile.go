package sender

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer"
	"a2atap/cmd/internal/cli"
	"a2atap/replay/client"
	"a2atap/replay/client/setup"
)

// A profile is what an agent says about itself that helps to write prompts for it.
type profile struct {
	Name         string             `json:"name"`
	Description  string             `json:"description"`
	Version      string             `json:"version"`
	CardURL      string             `json:"cardUrl"`
	Interfaces   []profileInterface `json:"interfaces"`
	Capabilities json.RawMessage    `json:"capabilities,omitempty"` // as the card has them
	Skills       []client.Skill     `json:"skills"`
}

type profileInterface struct {
	URL      string `json:"url"`
	Protocol string `json:"protocol"`
	Tenant   string `json:"tenant,omitempty"`
}

func printProfile(ctx context.Context, e cli.Env, s *setup.Setup, format string) error {
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
	json.Unmarshal(card.Raw, &w) // it was read before
	p.Capabilities = w.Capabilities
	for _, i := range card.Interfaces {
		p.Interfaces = append(p.Interfaces, profileInterface{i.URL, i.Protocol.String(), i.Tenant})
	}
	if p.Skills == nil {
		p.Skills = []client.Skill{}
	}
	if format == "json" {
		return (&sender{e: e}).json(p)
	}
	return p.text(e.Out)
}

// text writes the profile for people, and for models.
func (p profile) text(w io.Writer) error {
	var b strings.Builder
	line := func(indent int, name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s%s: %s\n", strings.Repeat("  ", indent), name, analyzer.Clean(text))
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
	_, err := io.WriteString(w, b.String())
	return err
}
