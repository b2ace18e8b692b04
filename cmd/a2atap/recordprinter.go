package main

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/report"
	"a2atap/analyzer/track/push"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy"
)

// A recordPrinter prints taps, what passes, notices, findings and the verdict of a recording. It may be used by several
// goroutines.
type recordPrinter struct {
	mu     sync.Mutex
	e      cli.Env
	json   bool
	reader reading.Reader // of the exchanges that are printed as JSON

	configs []push.Standing // that point at the recorder when it ends
}

// behind holds output back while show uses the screen, and prints it when show returns.
func (p *recordPrinter) behind(show func() error) error {
	var out, talk bytes.Buffer
	p.mu.Lock()
	screen := p.e
	p.e.Out, p.e.Err = &out, &talk
	p.mu.Unlock()
	err := show()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.e = screen
	_, outErr := out.WriteTo(screen.Out)
	_, talkErr := talk.WriteTo(screen.Err)
	return errors.Join(err, outErr, talkErr)
}

func (p *recordPrinter) tap(t *proxy.Tap) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.json {
		fmt.Fprintf(p.e.Out, "%s %s (agent at %s)\n", t.Name(), t.URL(), t.Agent())
		return
	}
	p.object("tap", map[string]string{"name": t.Name(), "url": t.URL(), "agent": t.Agent().String()})
}

func (p *recordPrinter) forward(f *proxy.Forward) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.json {
		fmt.Fprintf(p.e.Out, "forward %s (proxy for any agent)\n", f.URL())
		return
	}
	p.object("forward", map[string]string{"url": f.URL()})
}

func (p *recordPrinter) notice(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.e.Notice(text)
}

// tell is notice for what the user may do without.
func (p *recordPrinter) tell(text string) {
	if !p.e.Quiet() {
		p.notice(text)
	}
}

func (p *recordPrinter) finding(f analyzer.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		p.object("finding", report.JSONFinding(&f))
	} else {
		p.text(findingPieces(&f)...)
	}
}

// end prints the verdict and returns the exit status as an error, nil for 0.
func (p *recordPrinter) end(
	o recordOptions, gate analyzer.Severity, output string, r *analyzer.Result, s proxy.Stats, err error,
) error {
	if r == nil {
		return err
	}
	v := displayedVerdict(r, gate)
	fmt.Fprintf(p.e.Err, "record: %s, %s in %s",
		analyzer.Plural(s.Exchanges, "exchange"), analyzer.Plural(s.Bytes, "byte"), output)
	if s.LostExchanges > 0 || s.LostBytes > 0 {
		fmt.Fprintf(p.e.Err, "; NOT recorded: %s, %s",
			analyzer.Plural(s.LostExchanges, "exchange"), analyzer.Plural(s.LostBytes, "byte"))
	}
	if s.Unrelated > 0 {
		fmt.Fprintf(p.e.Err, "; of %s without a sign of A2A the bodies are not kept (--all-traffic keeps them)",
			analyzer.Plural(s.Unrelated, "exchange"))
	}
	fmt.Fprintln(p.e.Err)
	p.printStanding()
	if p.json {
		p.object("verdict", report.JSONVerdict(&report.Report{Result: r, Gate: gate}))
	}
	printVerdict(p.e, "record", v)
	switch {
	case err != nil:
		return err
	case o.failOn == "never":
		return nil
	}
	return verdictExit(r, gate, o.allowEmpty)
}
