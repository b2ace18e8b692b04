package player

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/replay/compare"
	"a2atap/replay/playback"
	"a2atap/replay/report"
)

// outputs checks -o and --format: a capture for the new traffic, or a report.
func (o *Flags) outputs(name string) error {
	if filepath.Ext(o.output) == ".a2atap" {
		if o.capture.File != "" {
			return cli.Usage("-o %s and --capture %s both name the new capture; use one", o.output, o.capture.File)
		}
		o.capture.File, o.output = o.output, ""
	}
	if o.capture.File != "" {
		if err := cli.NotOver(o.capture.File, name); err != nil {
			return err
		}
	}
	if o.output == "" && o.format != "" {
		return cli.Usage("--format %s: standard output is the program's; add -o FILE for the report, or -o -", o.format)
	}
	if err := cli.NotOver(o.output, name); err != nil {
		return err
	}
	return cli.ChooseFormat("format", &o.format, o.output, report.Formats()...)
}

// write writes the report, if the flags say where.
func (r *run) write(played *playback.Report, program string, status int) error {
	if r.flags.output == "" {
		return nil
	}
	out := r.report(played, program, status)
	if r.flags.output == "-" {
		out.Paint = present.PaintReport(r.env, r.env.Out)
	}
	return cli.WriteOutput(r.env, r.flags.output, func(w io.Writer) error { return report.Write(w, r.flags.format, out) })
}

// report describes a run: a line for each recorded call that can be played, and differences for what was missed, what was
// never asked for, and a program that failed.
func (r *run) report(played *playback.Report, program string, status int) *report.Report {
	live := int(r.calls.Load())
	out := &report.Report{
		Tool: cli.Tool(), Verb: "playback", Capture: r.capture, To: program, Sides: report.Sides{Was: r.capture, Now: program},
		Profile: r.flags.matching(), Played: &report.Played{
			Answered: played.Served, Exactly: played.Exact, ByMeaning: played.Served - played.Exact, Repeated: played.Repeated,
			Missed: played.Missed, NeverAskedFor: len(played.Unused), Live: live, NotPlayable: played.NotPlayed(),
			Elsewhere: r.isolated.addresses(), Program: program, ExitStatus: status, Verdict: played.Whole(live),
		},
	}
	var misses []compare.Difference
	out.Lines, misses, out.Notes = describe(played, r.flags.allowUnused)
	out.Tally()
	out.Differences = append(out.Differences, misses...)
	out.Notes = append(out.Notes, r.isolated.String())
	for _, flag := range r.flags.answer {
		n, file, _ := strings.Cut(flag, "=")
		out.Notes = append(out.Notes, fmt.Sprintf("exchange %s has the answer in %s instead of the recorded one", n, file))
	}
	if r.flags.isolated && !r.isolated.proved() {
		out.Differences = append(out.Differences, compare.Difference{
			Side: compare.Client, Kind: compare.ProgramFailed, Message: r.isolated.String(),
		})
	}
	if status != 0 {
		out.Differences = append(out.Differences, compare.Difference{
			Side: compare.Client, Kind: compare.ProgramFailed, Message: fmt.Sprintf("%s exited with %d", program, status),
		})
	}
	return out
}

// describe returns a line for each recorded call that can be played, a difference for each explained miss, and notes.
func describe(played *playback.Report, allowUnused bool) (lines []report.Line, misses []compare.Difference, notes []string) {
	unused := map[uint64]bool{}
	for _, u := range played.Unused {
		unused[u.Exchange] = true
	}
	for _, c := range played.Calls {
		l := report.Line{Exchange: c.Exchange, Agent: c.Agent, Operation: c.Operation, Status: report.Matched, Requests: c.Uses}
		switch {
		case c.Uses > 0:
		case !unused[c.Exchange]:
			l.Status, l.Why = report.LeftOut, "an equal request was answered; how often a program polls depends on time"
		case allowUnused:
			l.Status, l.Why = report.LeftOut, "it was never asked for"
		default:
			l.Status = report.Missing
			l.Differences = []compare.Difference{{
				Side: compare.Client, Kind: compare.MissingExchange, Exchange: c.Exchange, Message: "it was never asked for",
			}}
		}
		lines = append(lines, l)
	}
	for _, m := range played.Misses {
		misses = append(misses, compare.Difference{
			Side: compare.Client, Kind: compare.NewExchange, Message: "not matched: " + m.Operation + ": " + m.Why, Changes: m.Changes,
		})
	}
	if more := played.Missed - len(played.Misses); more > 0 {
		notes = append(notes, analysis.Plural(more, "further request")+" had no recorded answer")
	}
	return lines, misses, append(notes, played.NotPlayable()...)
}

// matching names what had to match.
func (o *Flags) matching() string {
	for _, text := range o.match {
		if !strings.HasPrefix(text, "/") {
			return text
		}
	}
	return string(playback.ByValue)
}
