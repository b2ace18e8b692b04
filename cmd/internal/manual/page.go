package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Pages returns a page for each command beneath root, and for root itself, which also lists the others, and one for each
// topic. The page of a command has all its flags.
func Pages(root *cobra.Command, e Edition) []Page {
	list(root)
	var pages []Page
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		switch {
		case explains(cmd):
			pages = append(pages, topicPage(cmd, e))
		case cmd.IsAvailableCommand() || cmd == root:
			pages = append(pages, commandPage(cmd, e))
		}
		for _, c := range cmd.Commands() {
			add(c)
		}
	}
	add(root)
	return pages
}

// Write writes pages beneath a folder, where man looks for them: man1/a2atap-record.1. It creates missing folders and
// replaces existing pages.
func Write(dir string, pages []Page) error {
	for _, p := range pages {
		folder := filepath.Join(dir, fmt.Sprintf("man%d", p.Section))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		file := filepath.Join(folder, fmt.Sprintf("%s.%d", p.Name, p.Section))
		if err := os.WriteFile(file, []byte(p.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func commandPage(cmd *cobra.Command, e Edition) Page {
	p := Page{Name: pageName(cmd), Section: 1}
	r := begin(p, e, cmd.Short)
	r.section("SYNOPSIS")
	r.line(".B " + escaped(cmd.CommandPath()))
	if rest := strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())); rest != "" {
		r.line(escaped(rest))
	}
	if cmd.Long != "" {
		r.section("DESCRIPTION")
		r.paragraphs(cmd.Long)
	}
	var beneath, topics []*cobra.Command
	for _, c := range cmd.Commands() {
		switch {
		case explains(c):
			topics = append(topics, c)
		case c.IsAvailableCommand():
			beneath = append(beneath, c)
		}
	}
	r.pages("COMMANDS", beneath, 1)
	r.pages("TOPICS", topics, 7)
	see := r.options(cmd)
	if cmd.Example != "" {
		r.section("EXAMPLES")
		r.asIs(cmd.Example)
	}
	if cmd.HasParent() {
		see = append([]string{reference(pageName(cmd.Parent()), 1)}, see...)
	}
	if len(see) > 0 {
		r.section("SEE ALSO")
		r.line(strings.Join(see, ",\n"))
	}
	p.Text = r.String()
	return p
}

func topicPage(topic *cobra.Command, e Edition) Page {
	p := Page{Name: pageName(topic), Section: 7}
	r := begin(p, e, topic.Short)
	r.section("DESCRIPTION")
	r.paragraphs(topic.Long)
	see := []string{reference(topic.Root().Name(), 1)}
	seen := make(map[string]bool)
	for i, s := range shelves(topic) {
		if i == 0 {
			r.section("OPTIONS")
		}
		r.line(`.SS "Of ` + escaped(and(s.commands)) + `"`)
		for _, f := range s.flags {
			r.option(f)
		}
		for _, name := range s.commands {
			if !seen[name] {
				see = append(see, reference(topic.Root().Name()+"-"+name, 1))
			}
			seen[name] = true
		}
	}
	r.section("SEE ALSO")
	r.line(strings.Join(see, ",\n"))
	p.Text = r.String()
	return p
}

// options writes the flags of a command, those that topics list by topic, and returns the references to these.
func (r *roff) options(cmd *cobra.Command) (topics []string) {
	byTopic := make(map[string][]*pflag.Flag)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			byTopic[topicOf(f)] = append(byTopic[topicOf(f)], f)
		}
	})
	r.section("OPTIONS")
	for _, f := range byTopic[""] {
		r.option(f)
	}
	for _, topic := range topicsOf(cmd.Root()) {
		flags := byTopic[topic.Name()]
		if flags == nil {
			continue
		}
		r.line(`.SS "` + escaped(topic.Short) + `"`)
		r.line("Explained by\n" + reference(pageName(topic), 7) + ":")
		for _, f := range flags {
			r.option(f)
		}
		topics = append(topics, reference(pageName(topic), 7))
	}
	if !cmd.HasParent() {
		return topics
	}
	r.line(`.SS "Of all commands"`)
	cmd.InheritedFlags().VisitAll(r.option)
	return topics
}
