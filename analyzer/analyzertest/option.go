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

// An Option changes what Tap opens, or the conditions under which it fails the test.
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
	wrong   []error // the mistake for the caller to fix
}

// Gate fails the test for findings of this severity or worse, instead of errors only. Milder ones are logged.
func Gate(least analysis.Severity) Option {
	return func(o *options) { o.gate = least }
}

// Side fails the test only for violations by this side: authors of an agent want a2a.Agent, authors of a client
// a2a.Client. Violations by the other side are logged. Without this option, both count.
func Side(side a2a.Side) Option {
	return func(o *options) { o.side = &side }
}

// Without ignores a rule: its violations neither fail the test nor are logged. The reason is for readers of the test,
// and must not be empty. The option may be given several times, once for each rule.
func Without(rule, reason string) Option {
	return func(o *options) {
		switch {
		case rules.ByID(rule) == nil:
			o.fail("Without: unknown rule %q; a2atap rules lists the rules", rule)
		case reason == "":
			o.fail("Without: say why %s is left out", rule)
		}
		o.without[rule] = reason
	}
}

// Baseline accepts the findings and failed calls in a file written by a2atap check --update-baseline: they are counted,
// and do not fail the test. They also match by the agent's name; see Named.
func Baseline(file string) Option {
	return func(o *options) {
		f, err := os.Open(file)
		if err != nil {
			o.fail("Baseline: %w; a2atap check CAPTURE --baseline %s --update-baseline creates it "+
				"from a capture that Keep has written", err, file)
			return
		}
		defer f.Close() //nolint:errcheck // it is only read
		if o.known, err = baseline.Read(f, time.Now()); err != nil {
			o.fail("Baseline: read %s: %w", file, err)
		}
	}
}

// Keep writes the traffic to a transcript in the directory if the test has failed, for any reason: a2atap check, show
// and tui read it, and Run accepts it as a test. Its name consists of the test's and the agent's (see Named), and it
// replaces an earlier run's transcript. t.ArtifactDir() is a good place, with go test -artifacts.
func Keep(dir string) Option {
	return func(o *options) { o.keep = dir }
}

// Named names the agent in findings, in a baseline and in the output of Keep; the default is "agent". A name consists
// of letters, digits, '.', '_' and '-'. Several taps in one test should have different names.
func Named(agent string) Option {
	return func(o *options) { o.name = agent }
}

// Alias names another origin that the agent's card may have, such as its public URL: clients that follow the card then
// stay with the tap. Only scheme, host and port count. It may be given several times.
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

// RootCAs verifies an agent behind TLS against these authorities instead of the system's. Clients still use plain HTTP
// to the tap.
func RootCAs(pool *x509.CertPool) Option {
	return func(o *options) { o.roots = pool }
}

func (o *options) fail(format string, args ...any) {
	o.wrong = append(o.wrong, fmt.Errorf(format, args...))
}

var goodName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// newOptions returns the combined options, or the errors in them.
func newOptions(list []Option) (*options, error) {
	o := &options{gate: analysis.Error, without: make(map[string]string), name: "agent"}
	for _, option := range list {
		option(o)
	}
	if !goodName.MatchString(o.name) {
		o.fail("Named: %q may contain only letters, digits, '.', '_' and '-'", o.name)
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
