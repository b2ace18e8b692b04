package present

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/safetext"
)

// Exchange prints an exchange that has ended, as a line of text or, read back from the capture, of JSON. For
// consecutive exchanges that cannot be read for the same reason, it reports only the first.
func (p *Recorded) Exchange(src capture.Source, x summary.Summary) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.JSON {
		p.text(PassedLine(&x)...)
		return
	}
	shown, err := shortened(context.Background(), src, x.Seq)
	if err != nil {
		if why := analysis.Clean(err.Error()); why != p.unread {
			fmt.Fprintf(p.Env.Err, "a2atap: print exchange %d: %s\n", x.Seq, why)
			p.unread = why
		}
		return
	}
	text, err := jsonl.Format(shown, Annotator{Reader: &p.reader})
	if err != nil {
		fmt.Fprintf(p.Env.Err, "a2atap: print: %s\n", analysis.Clean(err.Error()))
		return
	}
	p.typed("exchange", text)
}

// These constants bound the content of an exchange that is printed as JSON during a recording, in bytes. The printed
// JSON counts the rest as dropped; the capture has it.
const (
	maxPrinted   = 1 << 20
	eventPrinted = 64 // overhead of each event
)

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
			if room = max(room-eventPrinted, 0); room == 0 {
				s.What = capture.ResponseBody{Dropped: int64(len(what.Event.Raw))}
				break
			}
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

// Event prints an event of a stream.
func (p *Recorded) Event(v summary.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.JSON {
		p.text(passedEventLine(&v)...)
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

// text prints a line that may include foreign text.
func (p *Recorded) text(line ...piece) {
	// Run prints to standard error, which needs paint too: secrets may be kept.
	fmt.Fprintln(p.Env.Out, paint(p.Env.Colours(p.Env.Out), line...)) //nolint:errcheck // a closed terminal ends no recording
}

// object prints a value as a JSON object with a first member type.
func (p *Recorded) object(kind string, v any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		fmt.Fprintf(p.Env.Err, "a2atap: print: %v\n", err)
		return
	}
	p.typed(kind, bytes.TrimSpace(text.Bytes()))
}

// typed prints a JSON object with a first member type.
func (p *Recorded) typed(kind string, object []byte) {
	line := append([]byte(`{"type":"`+kind+`"`), object[1:]...)
	if len(object) > 2 {
		line = append([]byte(`{"type":"`+kind+`",`), object[1:]...)
	}
	p.Env.Out.Write(append(safetext.JSON(line), '\n')) //nolint:errcheck // a closed terminal ends no recording
}

// PassedLine describes an exchange in one line: number, time, link, request, HTTP status, duration, outcome.
func PassedLine(x *summary.Summary) []piece {
	status := "–"
	if x.Status > 0 {
		status = fmt.Sprint(x.Status)
	}
	line := beginning(x.Seq, x.Started, x.Link)
	line = append(line,
		piece{fmt.Sprintf("%-22s  ", analysis.Clip(x.Asked)), inkPlain},
		piece{fmt.Sprintf("%3s", status), statusInk(x.Status)},
		piece{fmt.Sprintf("  %7s  ", summary.DurationWords(x.Took)), inkDim})
	return append(line, cameOf(x)...)
}

// beginning returns the start of each line about traffic: number, time and link.
func beginning(seq uint64, at time.Time, l analysis.Link) []piece {
	return []piece{
		{fmt.Sprintf("%5d  %s  ", seq, clock(at)), inkDim},
		{fmt.Sprintf("%-18s  ", analysis.Clip(l.Client+" → "+l.Agent)), inkPlain},
	}
}

// cameOf returns the outcome of an exchange.
func cameOf(x *summary.Summary) []piece {
	var line []piece
	for _, w := range x.Words() {
		line = append(line, piece{w.Text, wordInk(w)})
	}
	return line
}

// wordInk returns the ink of a word of an outcome.
func wordInk(w summary.Word) ink {
	switch w.Look {
	case summary.Dim:
		return inkDim
	case summary.Bad:
		return inkBad
	case summary.Warn:
		return inkWarn
	case summary.OfState:
		return stateInk(w.State)
	}
	return inkPlain
}

// taskWords names a task and its state, if known.
func taskWords(task string, s a2a.State) []piece {
	var words []piece
	if task != "" {
		words = append(words, piece{task, inkPlain})
	}
	if state := stateWords(s); state != "" {
		if task != "" {
			state = " " + state
		}
		words = append(words, piece{state, stateInk(s)})
	}
	return words
}

func passedEventLine(v *summary.Event) []piece {
	line := append(beginning(v.Seq, v.At, v.Link), piece{fmt.Sprintf("event %d: %s", v.K, v.Kind), inkPlain})
	for _, words := range [][]piece{taskWords(v.Task, v.State), {{v.Err, inkBad}}} {
		if len(words) > 0 && words[0].Text != "" {
			line = append(append(line, piece{" ", inkPlain}), words...)
		}
	}
	return line
}

func stateWords(s a2a.State) string {
	if s == a2a.NoState {
		return ""
	}
	return s.String()
}

// clock formats a time of day, in UTC.
func clock(t time.Time) string {
	if t.IsZero() {
		return "–           "
	}
	return t.UTC().Format("15:04:05.000")
}

// instant formats a time as RFC 3339. An unknown time is "".
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
