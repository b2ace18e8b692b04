package manual

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// width is the width of the help in columns.
const width = 120

// Help returns the help of a command: examples that work, the description, the usage, its flags, and the topics for
// further flags; or the help of a topic: its text and its flags.
func Help(cmd *cobra.Command) string {
	list(cmd.Root())
	var b strings.Builder
	if cmd.Example != "" {
		fmt.Fprintf(&b, "%s\n\n", strings.TrimRight(cmd.Example, "\n"))
	}
	about := cmd.Long
	about = cmp.Or(about, cmd.Short)
	fmt.Fprintln(&b, strings.TrimRight(about, " \n"))
	if explains(cmd) {
		for _, s := range shelves(cmd) {
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			for _, f := range s.flags {
				flags.AddFlag(f)
			}
			fmt.Fprintf(&b, "\nFlags of %s:\n%s", and(s.commands), flags.FlagUsagesWrapped(width))
		}
		return b.String()
	}
	b.WriteString("\nUsage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
		writeCommands(&b, cmd)
	}
	writeFlags(&b, cmd)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nRun %s COMMAND --help for more about a command.\n", cmd.CommandPath())
	}
	return b.String()
}

// writeCommands lists the commands beneath one, and its topics: those that list flags by name alone, since the help of
// commands leads to them.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString("\nCommands:\n")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(b, "  %-*s %s\n", c.NamePadding(), c.Name(), c.Short)
		}
	}
	var ofFlags []string
	title := "\nTopics of " + cmd.CommandPath() + " help:\n"
	for _, topic := range topicsOf(cmd) {
		if len(shelves(topic)) > 0 {
			ofFlags = append(ofFlags, topic.Name())
			continue
		}
		fmt.Fprintf(b, "%s  %-*s %s\n", title, topic.NamePadding(), topic.Name(), topic.Short)
		title = ""
	}
	if len(ofFlags) > 0 {
		fmt.Fprintf(b, "%s  and with the flags of commands:\n", title)
		writeWords(b, "    ", ofFlags)
	}
}

// writeFlags lists the flags of a command: those that no topic lists, the others by topic, and by name those that all
// commands have, which the help of the program explains.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	own, byTopic := pflag.NewFlagSet("", pflag.ContinueOnError), make(map[string][]string)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch topic := topicOf(f); {
		case f.Hidden || f.Name == "help" && cmd.HasParent():
		case topic != "":
			byTopic[topic] = append(byTopic[topic], "--"+f.Name)
		default:
			own.AddFlag(f)
		}
	})
	if own.HasFlags() {
		fmt.Fprintf(b, "\nFlags:\n%s", own.FlagUsagesWrapped(width))
	}
	title := "\nMore flags; " + cmd.Root().Name() + " help TOPIC explains them:\n"
	for _, topic := range topicsOf(cmd.Root()) {
		if flags := byTopic[topic.Name()]; flags != nil {
			b.WriteString(title)
			title = ""
			writeWords(b, fmt.Sprintf("  %-*s ", topic.NamePadding(), topic.Name()), flags)
		}
	}
	if !cmd.HasParent() {
		return
	}
	shared := []string{"--help (-h)"}
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if value, _ := pflag.UnquoteUsage(f); value != "" {
			name += " " + value
		}
		if f.Shorthand != "" {
			name += " (-" + f.Shorthand + ")"
		}
		shared = append(shared, name)
	})
	fmt.Fprintf(b, "\nFlags of all commands: %s; see %s --help\n", strings.Join(shared, ", "), cmd.Root().Name())
}

// writeWords writes words with commas, after a prefix, in lines of the help's width.
func writeWords(b *strings.Builder, before string, words []string) {
	line := before
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		if len(line)+len(word) > width {
			fmt.Fprintln(b, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", len(before))
		}
		line += word + " "
	}
	fmt.Fprintln(b, strings.TrimRight(line, " "))
}
