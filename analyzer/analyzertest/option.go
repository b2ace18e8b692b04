package analyzertest

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/baseline"
	"a2atap/analyzer/rules"
	"a2atap/proxy"
	"a2atap/proxy/a2a"
)

// An Option changes what Tap opens, or what it fails the test for.
type Option func(*options)

type options struct {
	gate    analysis.Severity
	side    *a2a.Side         // nil for all
	without map[string]string // id of a rule → why it is left out
	known   *baseline.Baseline
	keep    string // directory; empty for none
	name    string
	aliases []proxy.Alias
	roots   *x509.CertPool
	wrong   []error // what the caller has to mend
}

// Gate fails the test for findings of this severity or worse, instead of errors only. Milder ones are logged.
func Gate(least analysis.Severity) Option {
	return func(o *options) { o.gate = least }
}

// Side fails the test only for what this side broke: who writes an agent wants a2a.Agent, who writes a client
// a2a.Client. What the other one broke is logged. Without this option both count.
func Side(side a2a.Side) Option {
	return func(o *options) { o.side = &side }
}

// Without leaves a rule out: what breaks it neither fails the test nor is logged. The reason is for those who read
// the test, and must not be empty. May be given several times, for a rule each.
func Without(rule, reason string) Option {
	return func(o *options) {
		switch {
		case rules.ByID(rule) == nil:
			o.fail("Without: there is no rule %q; a2atap rules lists them", rule)
		case reason == "":
			o.fail("Without: say why %s is left out", rule)
		}
		o.without[rule] = reason
	}
}

// Baseline accepts the findings and failed calls that a file holds, as a2atap check --update-baseline writes it: they are
// counted, and do not fail the test. They are recognised by the agent's name too; see Named.
func Baseline(file string) Option {
	return func(o *options) {
		f, err := os.Open(file)
		if err != nil {
			o.fail("Baseline: %w; a2atap check CAPTURE --baseline %s --update-baseline makes it, "+
				"of a capture that Keep has kept", err, file)
			return
		}
		defer f.Close() //nolint:errcheck // it is only read
		if o.known, err = baseline.Read(f, time.Now()); err != nil {
			o.fail("Baseline: read %s: %w", file, err)
		}
	}
}

// Keep writes what has passed to a transcript in the directory if the test has failed, for whatever reason: a2atap
// check, show and tui read it, and Run takes it as a test of its own. Its name is made of the test's and the
// agent's (see Named), and it replaces the one of an earlier run. t.ArtifactDir() is a good place, with go test
// -artifacts.
func Keep(dir string) Option {
	return func(o *options) { o.keep = dir }
}

// Named names the agent in findings, in a baseline and in what Keep writes; it is "agent" otherwise. A name is made
// of letters, digits, '.', '_' and '-'. Several taps in one test should have names of their own.
func Named(agent string) Option {
	return func(o *options) { o.name = agent }
}

// Alias names another origin at which the agent's card may say that it is reached, such as its public URL: clients
// that follow the card then stay with the tap. Only scheme, host and port count. May be given several times.
func Alias(origin string) Option {
	return func(o *options) {
		u, err := parseURL(origin)
		if err != nil {
			o.fail("Alias: %w", err)
			return
		}
		o.aliases = append(o.aliases, proxy.Alias{URL: u})
	}
}

// RootCAs verifies an agent behind TLS against these authorities instead of those of the system. Clients speak plain
// HTTP to the tap all the same.
func RootCAs(pool *x509.CertPool) Option {
	return func(o *options) { o.roots = pool }
}

func (o *options) fail(format string, args ...any) {
	o.wrong = append(o.wrong, fmt.Errorf(format, args...))
}

var goodName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// newOptions returns what the options come to, or what is wrong with them.
func newOptions(list []Option) (*options, error) {
	o := &options{gate: analysis.Error, without: make(map[string]string), name: "agent"}
	for _, option := range list {
		option(o)
	}
	if !goodName.MatchString(o.name) {
		o.fail("Named: %q is not made of letters, digits, '.', '_' and '-'", o.name)
	}
	for i := range o.aliases {
		o.aliases[i].Name = o.name
	}
	return o, errors.Join(o.wrong...)
}

// parseURL reads the URL of an agent: http or https, with a host, and without user information and fragment.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%q is not the URL of an agent; write http://HOST:PORT/PATH", s)
	case u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("%q: leave out user information and fragment; the client sends credentials", s)
	}
	return u, nil
}
