package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
)

// listPrinter prints a line for each exchange: time, client and agent, request, status, duration, outcome.
type listPrinter struct{ w io.Writer }

func (p *listPrinter) print(x *capture.Exchange, facts analyzer.Facts) error {
	_, err := fmt.Fprintf(p.w, "%5d  %s  %-18s  %-32s  %3s  %7s  %s\n",
		x.Seq, x.Started.UTC().Format("15:04:05.000"), analyzer.Clip(x.Client.Name+" → "+x.Agent.Name),
		analyzer.Clip(asked(x, facts)), status(x), took(x), analyzer.Clean(outcome(x, facts)))
	return err
}

func (p *listPrinter) end() error { return nil }

func asked(x *capture.Exchange, facts analyzer.Facts) string {
	if words := facts.Asked(); words != "" {
		return words
	}
	head := capture.ParseRequestHead(x.Request.Head)
	return head.Method + " " + head.Target
}

func status(x *capture.Exchange) string {
	if x.Response == nil || len(x.Response.Head) == 0 {
		return "–"
	}
	head := capture.ParseResponseHead(x.Response.Head)
	return fmt.Sprint(head.Status)
}

func took(x *capture.Exchange) string { return durationWords(x.Ended) }

// durationWords writes a duration in few letters; one that is not known is a dash.
func durationWords(d time.Duration) string {
	switch {
	case d < 0:
		return "–"
	case d < time.Second:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%.2fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// faultWords names a fault, and the side that caused it where it is known: files of other tools may not say.
func faultWords(f *capture.Fault) string {
	if f.Side == "" {
		return f.Kind
	}
	return f.Kind + " by " + f.Side
}

// eventCount counts events as a client does: whatever they hold, and without comments and blank lines.
func eventCount(r *capture.Response) int {
	n := 0
	for i := range r.Events {
		n = max(n, r.Events[i].K)
	}
	return n
}

// outcome describes the result of an exchange in a few words.
func outcome(x *capture.Exchange, facts analyzer.Facts) string {
	var words []string
	if len(facts.Tasks) == 1 {
		words = append(words, facts.Tasks[0])
	}
	if state := facts.State(); state != "" {
		words = append(words, state)
	}
	if len(facts.Errors) > 0 {
		words = append(words, facts.Errors[0].String())
	}
	if x.Response != nil && x.Response.Stream {
		words = append(words, fmt.Sprintf("%d events", eventCount(x.Response)))
	}
	if x.State != capture.StateClosed {
		words = append(words, x.State.String())
	}
	if x.Fault != nil && x.Fault.Kind != capture.KindInjected { // what was done stands in a note
		words = append(words, faultWords(x.Fault))
	}
	for _, note := range x.Notes {
		if !strings.HasPrefix(note, capture.FaultMadeHere) {
			note = "note: " + note
		}
		words = append(words, note)
	}
	return strings.Join(words, ", ")
}
