package present

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/report"
	"a2atap/analyzer/track/push"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/shipment"
	"a2atap/proxy"
	"a2atap/proxy/forward"
	"a2atap/proxy/injection"
	"a2atap/proxy/recording"
)

// Faults prints a warning that the recording injects faults.
func (p *Recorded) Faults(specs []injection.Spec) {
	if len(specs) > 0 {
		p.Notice("faults on: " + injection.Words(specs))
	}
}

// A Recorded prints taps, traffic, notices, findings and the verdict of a recording. It is safe for concurrent use.
type Recorded struct {
	mu     sync.Mutex
	Env    cli.Env
	JSON   bool
	reader reading.Reader // of the exchanges that are printed as JSON
	unread string         // the last reason why an exchange could not be read

	configs []push.Standing // the configs that point at the recorder when it ends
}

// Behind holds output back while show uses the screen, and prints it when show returns.
func (p *Recorded) Behind(show func() error) error {
	var out, talk bytes.Buffer
	p.mu.Lock()
	screen := p.Env
	p.Env.Out, p.Env.Err = &out, &talk
	p.mu.Unlock()
	err := show()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Env = screen
	_, outErr := out.WriteTo(screen.Out)
	_, talkErr := talk.WriteTo(screen.Err)
	return errors.Join(err, outErr, talkErr)
}

// Tap prints where a tap listens.
func (p *Recorded) Tap(t *proxy.Tap) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.JSON {
		fmt.Fprintf(p.Env.Out, "%s %s (agent at %s)\n", t.Name(), t.URL(), t.Agent())
		return
	}
	p.object("tap", map[string]string{"name": t.Name(), "url": t.URL(), "agent": t.Agent().String()})
}

// Forward prints where the forward proxy listens.
func (p *Recorded) Forward(f *forward.Proxy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.JSON {
		fmt.Fprintf(p.Env.Out, "forward %s (proxy for any agent)\n", f.URL())
		return
	}
	p.object("forward", map[string]string{"url": f.URL()})
}

// Page prints the URL of the page that shows the recording.
func (p *Recorded) Page(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.JSON {
		fmt.Fprintf(p.Env.Out, "page %s\n", url)
		return
	}
	p.object("page", map[string]string{"url": url})
}

// Notice prints a message that the user should see at once.
func (p *Recorded) Notice(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Env.Notice(text)
}

// Tell prints an optional message.
func (p *Recorded) Tell(text string) {
	if !p.Env.Quiet() {
		p.Notice(text)
	}
}

// Finding prints a finding.
func (p *Recorded) Finding(f analysis.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.JSON {
		p.object("finding", report.JSONFinding(&f))
	} else {
		p.text(findingPieces(&f)...)
	}
}

// End prints the statistics and the verdict of the recording. It returns the exit status as an error, nil for 0. If no
// severity reaches the gate, the status depends on recording alone. The result is nil if the recording could not be
// checked.
func (p *Recorded) End(
	gate judgment.Gate, output string, r *judgment.Result, s recording.Stats, err error,
) error {
	fmt.Fprintf(p.Env.Err, "record: %s, %s in %s",
		analysis.Plural(s.Exchanges, "exchange"), analysis.Plural(s.Bytes, "byte"), output)
	if s.LostExchanges > 0 || s.LostBytes > 0 {
		fmt.Fprintf(p.Env.Err, "; NOT recorded: %s, %s",
			analysis.Plural(s.LostExchanges, "exchange"), analysis.Plural(s.LostBytes, "byte"))
	}
	if s.Unrelated > 0 {
		fmt.Fprintf(p.Env.Err, "; bodies of %s without any sign of A2A were not kept (--all-traffic keeps them)",
			analysis.Plural(s.Unrelated, "exchange"))
	}
	fmt.Fprintln(p.Env.Err)
	p.printStanding()
	if r == nil { // the recording could not be checked
		return err
	}
	gate.AllowEmpty = gate.AllowEmpty || gate.Never
	v := r.Judge(gate)
	if p.JSON {
		p.object("verdict", report.JSONVerdict(report.Under(gate, r)))
	}
	PrintVerdict(p.Env, "record", v)
	if err != nil {
		return err
	}
	return VerdictExit(v.Exit)
}

// Apart calls a function while nothing else is printed.
func (p *Recorded) Apart(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// Shipped prints the result of shipping one capture.
func (p *Recorded) Shipped(v shipment.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.JSON:
		p.object("ship", v)
	case v.Text != "":
		fmt.Fprintln(p.Env.Out, analysis.Clean(v.Text))
	}
}

// Ship prints the state of shipping.
func (p *Recorded) Ship(v shipment.Event) {
	switch {
	case v.Urgent():
		p.Notice(v.Text)
	default:
		p.Tell(v.Text)
	}
	if p.JSON {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.object("ship", v)
	}
}

// Standing receives, at the end of a recording, the push notification configs that still point to the recorder.
func (p *Recorded) Standing(all []push.Standing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.configs = all
}

// maxStanding is the maximum number of configs listed as text.
const maxStanding = 20

// printStanding lists the push notification configs that still point to the recorder. Nothing is printed after it.
func (p *Recorded) printStanding() {
	if p.JSON {
		for _, c := range p.configs {
			p.object("webhook", struct {
				Agent   string `json:"agent"`
				Client  string `json:"client"`
				Task    string `json:"task"`
				Config  string `json:"config,omitempty"`
				Address string `json:"address"`
			}{c.Link.Agent, c.Link.Client, c.TaskID, c.ConfigID, c.At})
		}
	}
	if len(p.configs) == 0 {
		return
	}
	fmt.Fprintf(p.Env.Err, "record: %s still %s at this recorder, for tasks that were not seen to end. Until a recorder with the "+
		"same redaction key listens there again, notifications fail. Delete the configs at the agent, or start record again with "+
		"--agent NAME=URL@PORT:\n", analysis.Plural(len(p.configs), "push notification config"), pointWord(len(p.configs)))
	for i, c := range p.configs {
		if i == maxStanding {
			fmt.Fprintf(p.Env.Err, "  and %d more\n", len(p.configs)-maxStanding)
			break
		}
		line := "  " + c.Link.Agent + ": task " + orUnknown(c.TaskID)
		if c.ConfigID != "" {
			line += ", config " + c.ConfigID
		}
		fmt.Fprintln(p.Env.Err, analysis.Clean(line+", of "+c.Link.Client+", at "+c.At))
	}
}

func pointWord(n int) string {
	if n == 1 {
		return "points"
	}
	return "point"
}

func orUnknown(id string) string {
	if id == "" {
		return "unknown"
	}
	return id
}
