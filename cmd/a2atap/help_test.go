package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/manual"
)

// everyCommand calls do with each command, and each topic, beneath a root and with the root itself.
func everyCommand(root *cobra.Command, do func(*cobra.Command)) {
	do(root)
	for _, cmd := range root.Commands() {
		everyCommand(cmd, do)
	}
}

func testRoot() *cobra.Command {
	return newRoot(cli.Env{Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }})
}

// The help of each command begins with an example and fits one screen. The help, or a topic named next to the flag,
// explains each of the command's flags.
func TestHelpFitsOneScreen(t *testing.T) {
	const mostLines, mostColumns = 60, 120
	root := testRoot()
	explains := func(help, flag string) bool {
		return regexp.MustCompile(`(?m)^ +(-\w, )?--` + flag + `( \S+)?   `).MatchString(help)
	}
	commands, flags := 0, 0
	everyCommand(root, func(cmd *cobra.Command) {
		if cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		commands++
		help, name := manual.Help(cmd), cmd.CommandPath()
		if n := strings.Count(help, "\n"); n > mostLines {
			t.Errorf("%s --help has %d lines, and a screen %d: leave flags to a topic", name, n, mostLines)
		}
		for line := range strings.Lines(help) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > mostColumns {
				t.Errorf("%s --help has %d columns: %s", name, n, line)
			}
		}
		if !strings.HasPrefix(help, "  ") && (cmd.Parent() == nil || cmd.Parent().Name() != "completion") && cmd.Name() != "completion" {
			t.Errorf("%s --help does not begin with an example", name)
		}
		_, further, _ := strings.Cut(help, "More flags;")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" || explains(help, f.Name) {
				return
			}
			flags++
			topic := topicNaming(further, f.Name)
			found, _, err := root.Find([]string{topic})
			if topic == "" || err != nil || !explains(manual.Help(found), f.Name) {
				t.Errorf("%s --%s is neither in its help nor in a topic that the help names (%q)", name, f.Name, topic)
			}
		})
	})
	if commands < 30 || flags < 100 {
		t.Errorf("%d commands have %d flags that topics explain", commands, flags)
	}
}

// topicNaming returns the topic that a list of further flags names next to a flag.
func topicNaming(list, flag string) string {
	topic := ""
	for line := range strings.Lines(list) {
		if name := regexp.MustCompile(`^  (\w+) `).FindStringSubmatch(line); name != nil {
			topic = name[1]
		}
		if slices.Contains(strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' }), "--"+flag) {
			return topic
		}
	}
	return ""
}

// What a topic is to list is there: no list names a command or a flag that was renamed.
func TestTopicsListFlags(t *testing.T) {
	root := testRoot()
	for _, topic := range topics() {
		for _, list := range topic.Flags {
			of, names, some := strings.Cut(list, ":")
			if !some {
				of, names = "", list
			}
			for _, name := range strings.FieldsFunc(of, func(r rune) bool { return r == ',' }) {
				if cmd, _, err := root.Find([]string{name}); err != nil || cmd == root {
					t.Errorf("help %s lists flags of %s, which is no command", topic.Name, name)
				}
			}
			help := ""
			if cmd, _, err := root.Find([]string{topic.Name}); err == nil {
				help = manual.Help(cmd)
			}
			for _, pattern := range strings.Fields(names) {
				flag := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `[a-z0-9-]*`)
				if !regexp.MustCompile(`(?m)^ +--` + flag + ` `).MatchString(help) {
					t.Errorf("help %s lists --%s, which no command has there", topic.Name, pattern)
				}
			}
		}
	}
}

// A flag that only a topic lists is completed as any other, and so are topics.
func TestHelpIsCompleted(t *testing.T) {
	s := newShell(t)
	for line, want := range map[string]string{
		"a2atap __complete record --nats-u": "--nats-user\t",
		"a2atap __complete help fl":         "fleet\n",
		"a2atap __complete help ca in":      "install\n",
	} {
		if out, errs, code := s.execute(line); code != cli.ExitOK || !strings.HasPrefix(out, want) {
			t.Errorf("%s: exit %d, %q, %s", line, code, out, errs)
		}
	}
}
