package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/jsondoc"
)

// exchange prints an exchange that has ended, as a line of text or, read back from the capture, of JSON.
func (p *recordPrinter) exchange(src capture.Source, x analyzer.Ended) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.json {
		p.text(passedLine(&x))
		return
	}
	shown, err := shortened(context.Background(), src, x.Seq)
	if err != nil {
		fmt.Fprintf(p.e.Err, "a2atap: print exchange %d: %s\n", x.Seq, analyzer.Clean(err.Error()))
		return
	}
	text, err := jsonl.Format(shown, annotator{&p.reader})
	if err != nil {
		fmt.Fprintf(p.e.Err, "a2atap: print: %s\n", analyzer.Clean(err.Error()))
		return
	}
	p.typed("exchange", text)
}

// maxPrinted bounds the content of an exchange that is printed as JSON while it is recorded, in bytes. What comes beyond
// counts as dropped there; the capture has it.
const maxPrinted = 1 << 20

// shortened reads an exchange from the capture with no more than maxPrinted bytes of content.
func shortened(ctx context.Context, src capture.Source, seq uint64) (*capture.Exchange, error) {
	var x *capture.Exchange
	room := maxPrinted
	cut := func(data []byte, dropped *int64) []byte {
		kept := min(len(data), room)
		room -= kept
		*dropped += int64(len(data) - kept)
		return data[:kept]
	}
	for s, err := range src.StepsOf(ctx, seq, 0) {
		if err != nil {
			return nil, err
		}
		switch what := s.What.(type) {
		case capture.RequestBody:
			what.Data = cut(what.Data, &what.Dropped)
			s.What = what
		case capture.ResponseBody:
			what.Data = cut(what.Data, &what.Dropped)
			s.What = what
		case capture.ResponseEvent:
			what.Event.Raw = cut(what.Event.Raw, &what.Event.Dropped)
			s.What = what
		}
		x = capture.Assemble(x, s)
	}
	if x == nil {
		return nil, fmt.Errorf("exchange %d is not in the capture", seq)
	}
	return x, nil
}

// event prints an event of a stream.
func (p *recordPrinter) event(v analyzer.PassedEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.json {
		p.text(passedEventLine(&v))
		return
	}
	p.object("event", struct {
		N     uint64 `json:"n"`
		Link  string `json:"link"`
		K     int    `json:"k"`
		At    string `json:"at,omitempty"` // RFC 3339
		Kind  string `json:"kind"`
		Task  string `json:"task,omitempty"`
		State string `json:"state,omitempty"`
		Error string `json:"error,omitempty"`
	}{v.Seq, v.Link.String(), v.K, instant(v.At), v.Kind.String(), v.Task, stateWords(v.State), v.Err})
}

// text prints a line in which foreign text may be.
func (p *recordPrinter) text(line string) {
	line = analyzer.Clean(credential.WithoutUserinfo(line)) // run prints to standard error, and secrets may be kept
	fmt.Fprintln(p.e.Out, line)                             //nolint:errcheck // a closed terminal ends no recording
}

// object prints a value as a JSON object with a first member type.
func (p *recordPrinter) object(kind string, v any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		fmt.Fprintf(p.e.Err, "a2atap: print: %v\n", err)
		return
	}
	p.typed(kind, bytes.TrimSpace(text.Bytes()))
}

// typed prints a JSON object with a first member type.
func (p *recordPrinter) typed(kind string, object []byte) {
	line := append([]byte(`{"type":"`+kind+`"`), object[1:]...)
	if len(object) > 2 {
		line = append([]byte(`{"type":"`+kind+`",`), object[1:]...)
	}
	p.e.Out.Write(append(jsondoc.Escape(line), '\n')) //nolint:errcheck // a closed terminal ends no recording
}

// passedLine says in one line what passed: number, time, link, what was asked, HTTP status, duration, what came of it.
func passedLine(x *analyzer.Ended) string {
	status := "–"
	if x.Status > 0 {
		status = fmt.Sprint(x.Status)
	}
	return strings.TrimRight(fmt.Sprintf("%5d  %s  %-18s  %-22s  %3s  %7s  %s", x.Seq, clock(x.Started),
		analyzer.Clip(x.Link.Client+" → "+x.Link.Agent), analyzer.Clip(x.Asked), status, durationWords(x.Took),
		strings.Join(cameOf(x), ", ")), " ")
}

// cameOf says what came of an exchange: the task and its state, the error, the number of events.
func cameOf(x *analyzer.Ended) []string {
	var words []string
	add := func(word string) {
		if word != "" {
			words = append(words, word)
		}
	}
	task := x.Task
	if state := stateWords(x.State); state != "" {
		task = strings.TrimSpace(task + " " + state)
	}
	add(task)
	if !x.Outcome.Succeeded {
		add(x.Outcome.Failure)
	}
	if x.Events >= 0 {
		add(analyzer.Plural(x.Events, "event"))
	}
	add(x.Faulted)
	return words
}

func passedEventLine(v *analyzer.PassedEvent) string {
	words := []string{v.Kind.String()}
	for _, w := range []string{v.Task, stateWords(v.State), v.Err} {
		if w != "" {
			words = append(words, w)
		}
	}
	return fmt.Sprintf("%5d  %s  %-18s  event %d: %s", v.Seq, clock(v.At),
		analyzer.Clip(v.Link.Client+" → "+v.Link.Agent), v.K, strings.Join(words, " "))
}

func stateWords(s a2a.State) string {
	if s == a2a.NoState {
		return ""
	}
	return s.String()
}

// clock writes a time of day, UTC as everywhere.
func clock(t time.Time) string {
	if t.IsZero() {
		return "–           "
	}
	return t.UTC().Format("15:04:05.000")
}

// instant writes a time as RFC 3339; one that is not known is empty.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
