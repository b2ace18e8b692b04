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
	"a2atap/proxy/spelling"
	differences "a2atap/replay/report"
)

// topics returns the help topics: first those for reading, then those that list flags. In their texts, a line that
// begins with two blanks and a2atap is a command line that works on a capture called c.a2atap.
func topics() []manual.Topic {
	return append([]manual.Topic{
		{Name: "filter", Short: "Selecting exchanges with --filter", Text: filterTopic()},
		{Name: "places", Short: "Places: where a finding or difference is", Text: placesTopic},
		{Name: "formats", Short: "Formats of captures and reports", Text: formatsTopic()},
		{Name: "exit", Short: "Exit statuses and verdicts", Text: exitTopic},
	}, flagTopics()...)
}

// newHelp returns the command help, which reports unknown topics.
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
				return cli.Usage("no help on %q; a2atap help lists commands and topics%s", word,
					spelling.Hint(word, commandNames(help.Root())))
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
	b.WriteString(`A filter selects exchanges. check, show, replay, playback, export and tui accept one with --filter.

  a2atap show c.a2atap --filter 'op:SendMessage state:failed'
  a2atap show c.a2atap --filter 'is:refused or dur:>5s'
  a2atap check c.a2atap --filter 'agent:booker -client:probe*'
  a2atap show c.a2atap --filter 'header:Content-Type=text/event-stream dur:>2s'
  a2atap show c.a2atap --filter 'json:/params/message/role=ROLE_USER (n:1..9 or size:>1MB)'
  a2atap export c.a2atap --filter '/kyoto|osaka/ time:09:00..09:30' -o part.jsonl

Terms separated by blanks must all match; combine them with "or", "not" (or a leading -) and parentheses. A term is
KEY:VALUE, or a text that is searched in the URL and the bodies; /in slashes/ it is a regular expression (RE2). * in a
value matches any text. Use quotes around blanks. Case matters only in ids and JSON values. For a UUID, six or more
leading digits are enough: task:2f1e9c04, as show prints it.

Numbers, durations, sizes and times can be compared (>, >=, <, <=) and given as ranges (3..9, 12:00..12:05). Operations,
states and roles may have the spelling of any A2A version. A term matches if any operation, event or part of the
exchange matches.

Keys:
`)
	for _, k := range filter.Keys() {
		fmt.Fprintf(&b, "  %-9s %-40s %s\n", k.Name, k.Example, k.Help)
	}
	b.WriteString("\nProperties, for is:\n")
	for _, p := range filter.Properties() {
		fmt.Fprintf(&b, "  %-12s %s\n", p.Name, p.Help)
	}
	return b.String()
}

const placesTopic = `A place is a position in a capture, readable for people and programs:

  12.response.event[3]#/result/statusUpdate/status/state

12           the number of the exchange, as in show and tui
.request     what the client sent, or
.response    what the agent answered
.line        the request line or status line
.status      the status code
.header[X]   the header X
.body        the body
.event[3]    the third event of a stream
#/a/0/b      a JSON Pointer (RFC 6901) into that body or the event's data: member b of the first element of a; in a
             name, ~1 is a slash and ~0 is ~

Any part may be missing: 12.request is the whole request. A finding in a text report begins with its place; in JSON it
is the member "place". Use the number to look at the exchange:

  a2atap show c.a2atap --filter n:2 --format transcript
  a2atap show c.a2atap --filter n:2 --format json
  a2atap check c.a2atap --filter n:2
`

func formatsTopic() string {
	var b strings.Builder
	b.WriteString(`Captures. Every command that reads a capture accepts these formats, and an .a2atap file while it is
being recorded; - is standard input.

  .a2atap   written by record: all bytes, with times; several files if it is large
  .jsonl    JSON Lines, one exchange per line, for jq and scripts
  .har      HAR 1.2, for browser tools; events are in _eventStream
  .txtar    a transcript: HTTP as text, for reading, reviews and repositories
  .otlp     OpenTelemetry spans; write only
  .html     a web page with findings, ladders and each exchange; write only

Gaps of a capture (lost traffic, a killed recorder, unverified agents) are listed in every copy of it: in the section
gaps of a transcript, in a line {"gaps": ...} of JSON Lines, in _a2atap of the log of a HAR.

  a2atap export c.a2atap -o c.txtar
  a2atap export c.a2atap -o c.har --filter op:SendMessage
  a2atap export c.a2atap -o c.html
  a2atap import c.txtar -o again.a2atap
  a2atap check c.txtar

Output on the screen: show --format list, ladder, tree, transcript, curl, csv, json.

  a2atap show c.a2atap --format ladder

Reports of check, probe, replay and diff, chosen with --format or the extension of --output (.html, .md, .json, .xml,
.sarif):

`)
	for _, name := range report.Formats() {
		fmt.Fprintf(&b, "  %-9s %s", name, report.Purpose(name))
		if !slices.Contains(differences.Formats(), name) {
			b.WriteString("; check and probe only")
		}
		b.WriteString("\n")
	}
	b.WriteString(`
On a page of check each finding links to its place in the traffic, which is folded below. The page shows at most 1,000
exchanges, those with findings first, and says how many are left out.

  a2atap check c.a2atap --format markdown
  a2atap check c.a2atap -o report.html
  a2atap diff c.a2atap c.a2atap -o differences.html
  a2atap check c.a2atap -o report.json
`)
	return b.String()
}

const exitTopic = `Exit statuses are the same for all commands:

  0    success: exchanges were checked, sent or compared, without findings at or above --fail-on or differences
  1    findings at or above --fail-on, a link at least half of whose calls or tasks failed, differences, or requests
       without a match
  2    the command line is wrong; nothing was done
  3    failure: a capture that cannot be read, an agent that cannot be reached, an address in use
  4    inconclusive: nothing was checked, sent or compared, or at least half of a link was not seen; --allow-empty
       makes it 0
  130  interrupted while reading, or interrupted a second time before an orderly end

If several apply, the first of 2, 3, 1, 4 is used. Findings are printed on standard output, the verdict and errors on
standard error.

The verdict of check, record and run answers three questions: was all traffic seen, did the calls and tasks succeed, and
did the traffic follow the rules? Its first word is the first of these that applies:

  findings      rules were broken, at or above --fail-on                                            1
  failing       at least half of the calls of a link failed, or of its tasks                        1
  nothing       nothing was checked                                                                 4
  incomplete    at least half of a link was not seen or checked; traffic was lost, or the recorder
                killed; a client read the card of an agent that no one called, or that it cannot
                use; or the outcome of a link's calls is unknown                                    4
  warnings      rules were broken at warning, below --fail-on                                       0
  no violation  no rule was broken above note, but calls or tasks failed, or something was not seen 0
  clean         all traffic was seen, all calls and tasks succeeded, no rule was broken above note  0

With --fail-on calls, any verdict with a failed call or task exits with 1. With --fail-on never, findings and failing
exit with 0. With --allow-empty, nothing and incomplete exit with 0.

All report formats have the same verdict, which matches the exit status. JUnit has a failure or an error exactly if the
status is not 0; a rule that is broken below --fail-on is skipped there, with its message. With --brief, JUnit only counts
the rules that are not broken.

A call failed if the agent answered with an error or not at all, or over JSON-RPC without an envelope or with the id of
another call; if its client left before the response was complete; or if its stream ended while the task was active and
no one resumed it or polled the task afterwards. A notification failed if its receiver never accepted it: it answered
with a status other than 2xx, closed or reset the connection, or could not be reached. A refused call is not a failure:
the agent answered with a protocol error that says what is impossible, and another call of the same link succeeded. Such
errors are: a task that the agent never showed does not exist, a task that has ended cannot be canceled, or the
operation is not offered. If a client repeats a request about the same task three times and always gets that answer, the
calls failed. A call that was refused for its credentials (401, 403, 407, UNAUTHENTICATED) also counts as refused if the
same client repeats it and succeeds by the third attempt. Each call of a batch counts.

A task failed if it ended as failed or rejected, or as canceled although its client neither canceled it nor left nor
sent it another message. It counts once, wherever its end is shown, unless it had already ended before the capture shows
it active, streamed, or sent. "At least half" refers to the tasks and the messages that were answered with one.

"Not seen" lists what the recording lacks. Ends: of calls and streams that were open when the recording ended; of
streams that their client left while the task was active, if no later call or notification showed the task; of tasks
that were last seen active, or that waited for input or a login that never came. Contents: bodies that were not kept or
cannot be decoded, unknown versions of the protocol, calls of undecided dialect, gRPC messages that cannot be read, and
traffic after an upgrade or in a tunnel. Connections: targets of redirects, requests that the recorder refused, clients
that did not accept a2atap's certificate, clients that may have stopped reading before their answer came, and webhooks
and interfaces that are not tapped. A client that read a card and never called is listed if it identifies itself as 0.3
and the card offers only 1.0, or the reverse.

--fail-on calls makes a single failed call or task a failure; combine it with findings as --fail-on error,calls or
--fail-on warning,calls. Failed calls and tasks that a baseline accepts are counted, but do not fail the run. With
--fail-on never neither findings nor failed calls and tasks matter.

  a2atap check c.a2atap --fail-on warning,calls
  a2atap check c.a2atap --filter op:NoSuchOperation --allow-empty
`
