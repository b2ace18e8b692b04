//go:build peers

package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/proxy"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/injection"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// patience bounds the wait of these tests' clients for something that never comes.
const patience = 25 * time.Second

// borne are the faults that clients must handle, and whether they occur in a stream.
var borne = []struct {
	fault  string
	stream bool
}{
	{"", false},
	{"", true},
	{"delay=1s", false},
	{"drop", false},
	{"status=503,retry-after=1", false},
	{"status=503,retry-after=1", true},
	{"reset", false},
	{"reset", true},
	{"reset-body", false},
	{"content-type=text/html", false},
	{"content-type=text/html", true},
	{"delay-events=100ms", true},
	{"cut-stream=0", true},
	{"cut-stream=2", true},
	{"end-stream=2", true},
	{"stall-stream=2", true},
	{"duplicate-event=2", true},
}

// A faultCase is one call of a client, and its address.
type faultCase struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Stream bool   `json:"stream"`
}

// A faultOutcome is the client's result.
type faultOutcome struct {
	Name   string `json:"name"`
	Events int    `json:"events"` // that the client received; 1 for an answer
	Late   bool   `json:"late"`   // it would have continued to wait
	Error  string `json:"error"`  // as the SDK names it
}

// TestHowClientsBearFaults makes each fault in a call of each SDK, and compares the client's results with the table
// in docs/faults.md.
func TestHowClientsBearFaults(t *testing.T) {
	clients := []struct {
		name string
		play func(*testing.T, []faultCase) []faultOutcome
	}{
		{"Go 2.x", go2Faults}, {"JavaScript 1.x", JS1.faults}, {"Python 1.x", Py1.faults},
	}
	columns := make([]map[string]string, len(clients))
	t.Run("clients", func(t *testing.T) { // in parallel, since each waits for a timeout
		for i, c := range clients {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				columns[i] = bear(t, c.play)
			})
		}
	})
	var b strings.Builder
	b.WriteString("| fault | call |")
	for _, c := range clients {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString("\n|---|---|---|---|---|\n")
	for i, f := range borne {
		call, fault := "send", "none"
		if f.stream {
			call = "stream"
		}
		if f.fault != "" {
			fault = "`" + f.fault + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |", fault, call)
		for _, column := range columns {
			fmt.Fprintf(&b, " %s |", column[fmt.Sprintf("t%d", i)])
		}
		b.WriteString("\n")
	}
	page := filepath.Join("..", "..", "docs", "faults.md")
	text := must.Get(os.ReadFile(page))(t)
	const begin, end = "<!-- written by TestHowClientsBearFaults -->\n", "<!-- end -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	was, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	if *update {
		must.Do(t, os.WriteFile(page, []byte(before+begin+b.String()+end+after), 0o644))
	} else if diff := cmp.Diff(was, b.String()); diff != "" {
		t.Errorf("%s says something else (-page +now; go test -tags peers ./replay/peers -run Bear -update):\n%s", page, diff)
	}
}

// bear makes a client perform each call through a separate tap, and returns the results.
func bear(t *testing.T, play func(*testing.T, []faultCase) []faultOutcome) map[string]string {
	t.Helper()
	running := Go2Agent.Start(t)
	defer running.Stop()
	agent := must.Get(url.Parse(running.URL))(t)
	memory := capture.NewMemory(capture.Info{})
	opts := proxy.Options{NoCallers: true, Recorder: recording.New(recording.Options{Sink: memory})}
	for i, f := range borne {
		name := fmt.Sprintf("t%d", i)
		opts.Taps = append(opts.Taps, proxy.TapSpec{Name: name, Agent: agent, Listen: "127.0.0.1:0"})
		if f.fault == "" {
			continue
		}
		spec := must.Get(injection.Parse(name + ":" + f.fault))(t)
		opts.Faults = append(opts.Faults, spec)
	}
	p := must.Get(proxy.New(opts))(t)
	ctx, stop := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() { p.Serve(ctx) })
	var cases []faultCase
	for i, tap := range p.Taps() {
		cases = append(cases, faultCase{Name: tap.Name(), URL: tap.URL(), Stream: borne[i].stream})
	}
	outcomes := play(t, cases)
	stop()
	served.Wait()
	must.Do(t, opts.Recorder.Close(context.Background()))
	words := make(map[string]string)
	for _, o := range outcomes {
		words[o.Name] = o.String()
	}
	calls := make(map[string]int)
	for x, err := range memory.Exchanges(context.Background(), 1) {
		must.Do(t, err)
		if o := reading.Read(x).Call.Operation; o == a2a.GetCard {
			continue
		} else if calls[x.Agent.Name]++; calls[x.Agent.Name] > 1 {
			words[x.Agent.Name] += ", then " + o.String()
		}
	}
	return words
}

// String says it in a few words.
func (o faultOutcome) String() string {
	text := analysis.Plural(o.Events, "answer")
	switch {
	case o.Late:
		return text + ", then waits on"
	case o.Error != "":
		return text + ", then `" + o.Error + "`"
	}
	return text
}

// go2Faults plays the client of the Go SDK.
func go2Faults(t *testing.T, cases []faultCase) []faultOutcome {
	outcomes := make([]faultOutcome, len(cases))
	var all sync.WaitGroup
	for i, c := range cases {
		d := Go2Client.driver(newHTTPClient(t))
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			o := &outcomes[i]
			o.Name = c.Name
			_, err := d.discover(ctx, c.URL, JSONRPC)
			switch {
			case err != nil:
			case c.Stream:
				err = d.stream(ctx, turn{text: "work"}, func(Observation) { o.Events++ })
			default:
				if _, err = d.send(ctx, turn{text: "work"}); err == nil {
					o.Events = 1
				}
			}
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				o.Late = true
			case err != nil: // the innermost cause, which has no address in it
				text := err.Error()
				o.Error = text[strings.LastIndex(text, ": ")+1:]
				o.Error = strings.TrimSpace(o.Error)
			}
		})
	}
	all.Wait()
	return outcomes
}

// faults plays the client of an SDK in another language.
func (p Program) faults(t *testing.T, cases []faultCase) (outcomes []faultOutcome) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), playTimeout)
	defer cancel()
	cmd := p.prepare(ctx, t, "faults")
	cmd.Args = append(cmd.Args, fmt.Sprint(patience.Milliseconds()))
	var in, out, stderr bytes.Buffer
	for _, c := range cases {
		must.Do(t, json.NewEncoder(&in).Encode(c))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("run the client %s: %v\n%s", p.Name, err, stderr.String())
	}
	for d := json.NewDecoder(&out); d.More(); {
		var o faultOutcome
		must.Do(t, d.Decode(&o))
		outcomes = append(outcomes, o)
	}
	if len(outcomes) != len(cases) {
		t.Fatalf("the client %s told of %d calls of %d", p.Name, len(outcomes), len(cases))
	}
	return outcomes
}
