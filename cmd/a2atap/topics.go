package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/manual"
	"a2atap/proxy/capture/filter"
	differences "a2atap/replay/report"
)

// topics returns the topics of the help: those that are read for themselves, then those that list flags. What begins with
// two blanks and a2atap in their texts is a command line that works on a capture called c.a2atap.
func topics() []manual.Topic {
	return append([]manual.Topic{
		{Name: "filter", Short: "How to choose exchanges: --filter", Text: filterTopic()},
		{Name: "places", Short: "How findings and differences say where", Text: placesTopic},
		{Name: "formats", Short: "What captures and reports are written as", Text: formatsTopic()},
		{Name: "exit", Short: "What the exit statuses mean", Text: exitTopic},
	}, flagTopics()...)
}

// newHelp returns the command help, which says so where there is nothing to explain.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Explain a command, or a topic",
		Example: `  a2atap help check
  a2atap help filter`,
		ValidArgsFunction: func(help *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			cmd, rest, err := help.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names := slices.DeleteFunc(commandNames(cmd), func(name string) bool { return !strings.HasPrefix(name, text) })
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(help *cobra.Command, args []string) error {
			cmd, rest, err := help.Root().Find(args)
			if err != nil || len(rest) > 0 {
				word := args[len(args)-max(1, len(rest))]
				return cli.Usage("there is no help on %q; a2atap help lists commands and topics%s", word,
					cli.Nearest(word, commandNames(help.Root())))
			}
			return cmd.Help()
		},
	}
}

// commandNames returns the names of the commands and the topics beneath a command.
func commandNames(of *cobra.Command) []string {
	var names []string
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

func filterTopic() string {
	var b strings.Builder
	b.WriteString(`A filter chooses exchanges, with --filter of check, show, replay, playback, export and tui.

  a2atap show c.a2atap --filter 'op:SendMessage state:failed'
  a2atap show c.a2atap --filter 'status:>=400 or is:error'
  a2atap check c.a2atap --filter 'agent:booker -client:probe*'
  a2atap show c.a2atap --filter 'header:Content-Type=text/event-stream dur:>2s'
  a2atap show c.a2atap --filter 'json:/params/message/role=ROLE_USER (n:1..9 or size:>1MB)'
  a2atap export c.a2atap --filter '/kyoto|osaka/ time:09:00..09:30' -o part.jsonl

Words side by side all have to hold; "or", "not" (or a leading -) and parentheses do the rest. A word is KEY:VALUE, or
alone: then it is looked for in the URL and the bodies, and /in slashes/ as a regular expression (RE2). * in a value
stands for any text. Quotes keep blanks together. Case matters only in ids and JSON values. Of an id that is a UUID the
first digits are enough, six or more: task:2f1e9c04, as show prints it.

Numbers, durations, sizes and times can be compared (>, >=, <, <=) and given as ranges (3..9, 12:00..12:05). Operations,
states and roles may be spelled as in any version of A2A. A key holds if any operation, event or part of the exchange
has it.

Keys:
`)
	for _, k := range filter.Keys() {
		fmt.Fprintf(&b, "  %-9s %-40s %s\n", k.Name, k.Example, k.Help)
	}
	return b.String()
}

const placesTopic = `A place says where in a capture something stands, for people and for programs:

  12.response.event[3]#/result/statusUpdate/status/state

12           the number of the exchange, as show and tui have it
.request     what the client sent, or
.response    what the agent answered
.line        the request line or status line
.status      the status code
.header[X]   the field X of the head
.body        the body
.event[3]    the third event of a stream
#/a/0/b      a JSON Pointer (RFC 6901) into that body or the event's data: member b of the first element of a; in a
             name, ~1 is a slash and ~0 is ~

Each part may be missing: 12.request is the whole request. In a text report the place stands at the beginning of a
finding, in JSON it is the member "place". A number is enough to look at the rest:

  a2atap show c.a2atap --filter n:2 --format transcript
  a2atap show c.a2atap --filter n:2 --format json
  a2atap check c.a2atap --filter n:2
`

func formatsTopic() string {
	var b strings.Builder
	b.WriteString(`Captures. Every command that reads a capture reads all of these, also while the first is growing; - is standard input.

  .a2atap   what record writes: all bytes, with times; several files if it is large
  .jsonl    JSON Lines, one exchange a line, for jq and scripts
  .har      HAR 1.2, for the tools of browsers; events are in _eventStream
  .txtar    a transcript: HTTP as text, for people, reviews and repositories
  .otlp     spans of OpenTelemetry; only written
  .html     a page for people, with findings, ladders and each exchange; only written

What a capture lacks (lost traffic, a killed recorder, agents that were not verified) is in every copy of it: in the
section gaps of a transcript, in a line {"gaps": ...} of JSON Lines, in _a2atap of the log of a HAR.

  a2atap export c.a2atap -o c.txtar
  a2atap export c.a2atap -o c.har --filter op:SendMessage
  a2atap export c.a2atap -o c.html
  a2atap import c.txtar -o again.a2atap
  a2atap check c.txtar

What is on the screen: show --format list, ladder, tree, transcript, curl, csv, json.

  a2atap show c.a2atap --format ladder

Reports of check, probe, replay and diff, with --format, or by the ending of --output (.html, .md, .json, .xml, .sarif):

`)
	for _, name := range report.Formats() {
		fmt.Fprintf(&b, "  %-9s %s", name, report.Purpose(name))
		if !slices.Contains(differences.Formats(), name) {
			b.WriteString("; only of check and probe")
		}
		b.WriteString("\n")
	}
	b.WriteString(`
On a page of check each finding leads to where it stands in the traffic, which is folded below. It shows at most 1,000
exchanges, those with findings first, and says how many it leaves out.

  a2atap check c.a2atap --format markdown
  a2atap check c.a2atap -o report.html
  a2atap diff c.a2atap c.a2atap -o differences.html
  a2atap check c.a2atap -o report.json
`)
	return b.String()
}

const exitTopic = `Exit statuses are the same everywhere, so that a script knows why it stopped.

  0    proved good: exchanges were judged, sent or compared, and nothing at or above --fail-on or different was found
  1    findings at or above --fail-on, a link at least half of whose calls or tasks failed, differences, or requests
       without a match
  2    the command line is wrong; nothing was done
  3    it could not be done: a capture that cannot be read, an agent that cannot be reached, an address in use
  4    inconclusive: nothing was judged, sent or compared, or at least half of a link was not seen; --allow-empty
       makes it 0
  130  interrupted while it read, or a second time before the end was orderly

If several apply, the first of 2, 3, 1, 4 is given. What was found goes to standard output, the verdict and errors to
standard error.

The verdict of check, record and run answers three questions: was all traffic seen, did the calls and tasks work, and
was it right? Its first word is the first of these that applies:

  findings      rules were broken, at or above --fail-on                                            1
  failing       at least half of the calls of a link failed, or of its tasks                        1
  nothing       nothing was judged                                                                  4
  incomplete    at least half of a link was not seen or judged; traffic was lost, or the recorder
                killed; a client read the card of an agent that nobody called, or that it cannot
                use; or nobody knows how the calls of a link came out                               4
  warnings      rules were broken at warning, below --fail-on                                       0
  no violation  no rule was broken above note, but calls or tasks failed, or something was not seen 0
  clean         all traffic was seen, all calls and tasks worked, no rule was broken above note     0

With --fail-on calls each of these words gives 1 if a call or task failed. With --fail-on never findings and failing
give 0. With --allow-empty nothing and incomplete give 0.

Every format of a report states the same verdict and agrees with the exit status. JUnit has a failure or an error
exactly if the status is not 0; a rule that is broken below --fail-on is skipped there, with its message.

A call failed if the agent answered with an error or not at all, or over JSON-RPC without an envelope or with the id of
another call, if its client left before the response was complete, or if its stream ended while the task was at work
and nobody resumed it or asked for the task afterwards; so did a notification that its receiver never accepted: it
answered with another status than 2xx, closed, reset, or could not be reached. A call was refused, which is not a
failure, if the agent said in the words of the protocol what cannot be done, and another call of the same link
succeeded: a task that it never showed is not there, a task that has ended cannot be canceled, or the operation is not
offered. If a client asks the same of the same task three times and always gets that answer, the
calls failed. A call that was refused for its credentials (401, 403, 407, UNAUTHENTICATED) counts as refused, too, if the
same client repeats it and succeeds by the third attempt. Each call of a batch counts.

A task failed if it ended as failed or rejected, or as canceled though its client neither canceled it nor left nor sent
it another message. It counts once, wherever its end is shown, and not if it had ended before anybody sent it, streamed
it or saw it at work here. At least half are counted of the tasks and of the messages that were answered with one.

Not seen is what the record lacks: the end of calls and streams that were open when the recording ended, of streams
that their client left while the task was at work, if no later call or notification showed the task, and of tasks that were at
work when they were shown last, or waited for input or a login that no one gave; whether a client still read that had
ended its sending before its answer came, where a redirect led, bodies that were not kept or cannot be decoded,
versions of the protocol that are not known here, calls whose dialect is not decided, what follows an upgrade or passes
in a tunnel, messages of gRPC that cannot be read, requests that the recorder refused, connections whose client did not
take our certificate, webhooks and interfaces of a card that are not tapped. A client that read a card, never called,
and says of itself that it speaks 0.3 where the card offers only 1.0, or the other way round, is named with that.

--fail-on calls makes one failed call or task a failure: with findings as --fail-on error,calls or --fail-on
warning,calls. Failed calls and tasks that a baseline accepts count, but fail nothing by themselves. With --fail-on
never neither findings nor failed calls and tasks matter.

  a2atap check c.a2atap --fail-on warning,calls
  a2atap check c.a2atap --filter op:NoSuchOperation --allow-empty
`
