// Package manual explains the commands of a program to its users: by the help of each command, which fits one screen; by
// topics, which have what several commands share, and the flags that do not fit; and by manual pages, which have all of it.
//
// What it says is read off the commands: their texts, and the flags that they have registered. It knows none of them.
//
// Texts are plain: paragraphs with blank lines between them. A paragraph of which a line is indented, or has columns,
// stays as it is; in others lines may be broken anew.
package manual

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Topic explains something that several commands have to do with.
type Topic struct {
	Name  string
	Short string // what it is about, as a title
	Text  string

	// Flags are those that the topic lists in place of the help of their commands. Each is a list of names with blanks
	// between them, * standing for any text: of all commands, or of those before a colon, as in "record,run: max-body".
	Flags []string
}

const (
	isTopic = "a2atap_topic"       // annotates a command that is a topic
	listed  = "a2atap_listed_with" // annotates a flag with the topic that lists it
)

// Add adds topics beneath root, as commands that only explain, takes the flags that they list out of the help of the
// commands beneath root, and makes that help what Help returns. Commands are to have all their flags by then. A flag that
// two topics list is the first one's.
func Add(root *cobra.Command, topics []Topic) {
	commands := root.Commands()
	for _, t := range topics {
		root.AddCommand(&cobra.Command{
			Use: t.Name, Short: t.Short, Long: t.Text, Annotations: map[string]string{isTopic: ""},
		})
		for _, cmd := range commands {
			list := func(f *pflag.Flag) {
				if topicOf(f) == "" {
					cobra.CheckErr(cmd.Flags().SetAnnotation(f.Name, listed, []string{t.Name}))
				}
			}
			for _, pattern := range t.patterns(cmd.Name()) {
				visit(cmd.Flags(), pattern, list)
			}
		}
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { cmd.Print(Help(cmd)) })
}

// patterns returns the patterns of the flags of a command that the topic lists.
func (t *Topic) patterns(command string) []string {
	var patterns []string
	for _, list := range t.Flags {
		commands, names, some := strings.Cut(list, ":")
		if !some {
			names = list
		} else if !slices.Contains(strings.Split(commands, ","), command) {
			continue
		}
		patterns = append(patterns, strings.Fields(names)...)
	}
	return patterns
}

// visit calls do with the flags whose names fit a pattern.
func visit(flags *pflag.FlagSet, pattern string, do func(*pflag.Flag)) {
	if !strings.Contains(pattern, "*") {
		if f := flags.Lookup(pattern); f != nil {
			do(f)
		}
		return
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if fits, err := path.Match(pattern, f.Name); fits && err == nil {
			do(f)
		}
	})
}

// topicOf returns the name of the topic that lists a flag, "" for one that stands in the help of its command.
func topicOf(f *pflag.Flag) string {
	if names := f.Annotations[listed]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// topicsOf returns the topics beneath root, in the order of their names.
func topicsOf(root *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(root.Commands()), func(cmd *cobra.Command) bool { return !explains(cmd) })
}

// explains reports whether a command is a topic.
func explains(cmd *cobra.Command) bool {
	_, is := cmd.Annotations[isTopic]
	return is
}

// A shelf has the flags that only these commands have, in the same words.
type shelf struct {
	commands []string // their names without the program's
	flags    []*pflag.Flag
}

// shelves returns the flags that a topic lists, by which commands have them.
func shelves(topic *cobra.Command) []*shelf {
	type one struct {
		flag *pflag.Flag
		of   []string
	}
	var all []*one
	for _, cmd := range topic.Root().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if topicOf(f) != topic.Name() {
				return
			}
			i := slices.IndexFunc(all, func(o *one) bool {
				return o.flag.Name == f.Name && o.flag.Usage == f.Usage && o.flag.DefValue == f.DefValue
			})
			if i < 0 {
				i, all = len(all), append(all, &one{flag: f})
			}
			all[i].of = append(all[i].of, cmd.Name())
		})
	}
	var list []*shelf
	for _, o := range all {
		i := slices.IndexFunc(list, func(s *shelf) bool { return slices.Equal(s.commands, o.of) })
		if i < 0 {
			i, list = len(list), append(list, &shelf{commands: o.of})
		}
		list[i].flags = append(list[i].flags, o.flag)
	}
	return list
}

// and joins words as a sentence does.
func and(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
