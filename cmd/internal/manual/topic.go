// Package manual explains the commands of a program to its users. The help of each command fits on one screen. Topics
// have the material that several commands share, and the flags that do not fit. Manual pages have everything.
//
// The package derives its output from the commands: their texts, and the flags that they have registered. It knows none
// of them.
//
// Texts are plain: paragraphs with blank lines between them. A paragraph with an indented line, or with columns, is
// kept as is; others may be rewrapped.
package manual

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Topic explains a subject of several commands.
type Topic struct {
	Name  string
	Short string // its subject, as a title
	Text  string

	// Flags are the flags that the topic lists instead of their commands' help. Each is a list of names separated by
	// blanks, with * for any text: for all commands, or for those before a colon, as in "record,run: max-body".
	Flags []string
}

const (
	isTopic = "a2atap_topic"       // annotates a command that is a topic with its place among them
	lists   = "a2atap_lists"       // and with the flags that it lists, a list in each line
	listed  = "a2atap_listed_with" // annotates a flag with the topic that lists it, and root when all are
)

// Add adds topics beneath root, as commands that only explain. It sets the help of the commands beneath root to the
// result of Help. If two topics list a flag, the flag belongs to the first one.
func Add(root *cobra.Command, topics []Topic) {
	for i, t := range topics {
		root.AddCommand(&cobra.Command{
			Use: t.Name, Short: t.Short, Long: t.Text,
			Annotations: map[string]string{isTopic: strconv.Itoa(i), lists: strings.Join(t.Flags, "\n")},
		})
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { cmd.Print(Help(cmd)) })
}

// list removes the flags that topics list from the help of the commands beneath root. It runs at the first request for
// help, since most command lines request none. By then, commands must have all their flags.
func list(root *cobra.Command) {
	if _, done := root.Annotations[listed]; done {
		return
	}
	topics := topicsOf(root)
	slices.SortFunc(topics, func(a, b *cobra.Command) int { return place(a) - place(b) })
	for _, topic := range topics {
		for _, cmd := range root.Commands() {
			for _, pattern := range patterns(topic, cmd.Name()) {
				visit(cmd.Flags(), pattern, func(f *pflag.Flag) {
					if topicOf(f) == "" {
						cobra.CheckErr(cmd.Flags().SetAnnotation(f.Name, listed, []string{topic.Name()}))
					}
				})
			}
		}
	}
	if root.Annotations == nil {
		root.Annotations = make(map[string]string)
	}
	root.Annotations[listed] = ""
}

// place returns the place of a topic among those that were added.
func place(topic *cobra.Command) int {
	i, _ := strconv.Atoi(topic.Annotations[isTopic])
	return i
}

// patterns returns the patterns of the flags of a command that a topic lists.
func patterns(topic *cobra.Command, command string) []string {
	var patterns []string
	for list := range strings.Lines(topic.Annotations[lists]) {
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

// topicOf returns the topic that lists a flag, "" if its command's help does.
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

// shelves returns the flags that a topic lists, grouped by the commands that have them.
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
