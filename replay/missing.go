package replay

import (
	"context"
	"fmt"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// A Missing is a secret in recorded requests that neither the recording nor the user has supplied.
type Missing struct {
	Agent     string   // recorded name of the agent that was asked
	Field     string   // the header field that held it; empty if a query parameter did
	Parameter string   // the parameter of the query
	Scheme    string   // of authentication, in lower case, such as "bearer"; may be empty
	Exchanges []uint64 // the numbers of the requests, at least one
}

// Credentials returns the secret's form on a command line, with an environment variable instead of its value.
func (m *Missing) Credentials() string {
	switch {
	case m.Field == "":
		return "query:" + m.Parameter + "=env:SECRET"
	case m.Scheme == "bearer":
		return "bearer:env:TOKEN"
	case m.Scheme == "basic":
		return "basic:USER:env:PASSWORD"
	}
	return "header:" + m.Field + "=env:SECRET"
}

// String describes where the secret was: lower case, no final period.
func (m *Missing) String() string {
	where := fmt.Sprintf("exchange %d", m.Exchanges[0])
	if more := len(m.Exchanges) - 1; more > 0 {
		where += fmt.Sprintf(" and %d more", more)
	}
	what := "header " + m.Field
	if m.Field == "" {
		what = "query parameter " + m.Parameter
	}
	return fmt.Sprintf("%s to %s: %s had a secret that is not in the recording", where, m.Agent, what)
}

// missing returns the secrets that will be missing, in the order in which they are first needed.
func (p *player) missing(ctx context.Context) ([]*Missing, error) {
	var list []*Missing
	known := map[string]*Missing{}
	note := func(e *entry, m Missing) {
		m.Agent = e.agent
		key := strings.Join([]string{m.Agent, strings.ToLower(m.Field), m.Parameter, m.Scheme}, "\x00")
		if known[key] == nil {
			known[key] = &m
			list = append(list, &m)
		}
		known[key].Exchanges = append(known[key].Exchanges, e.seq)
	}
	for _, e := range p.plan.entries {
		if e.skip != "" || e.webhook {
			continue
		}
		x, err := p.src.Exchange(ctx, e.seq)
		if err != nil {
			return nil, fmt.Errorf("read the capture: %w", err)
		}
		head := capture.ParseRequestHead(x.Request.Head)
		if !credential.HasPlaceholder(x.Request.Head) {
			continue
		}
		given, err := p.targets[e.agent].secretsFor(ctx, &head)
		if err != nil {
			return nil, err
		}
		if given != nil && given.added {
			continue // under their own name
		}
		for _, f := range head.Fields {
			if _, ok := given.field(f.Name); !ok && credential.HasPlaceholder([]byte(f.Value)) {
				note(e, Missing{Field: f.Name, Scheme: schemeOf(f.Value)})
			}
		}
		_, query, _ := strings.Cut(head.Target, "?")
		for pair := range strings.SplitSeq(query, "&") {
			name := parameterName(pair)
			if _, ok := given.parameter(name); !ok && credential.HasPlaceholder([]byte(pair)) {
				note(e, Missing{Parameter: name})
			}
		}
	}
	return list, nil
}

// tellMissing calls OnMissing with the secrets that will be missing.
func (p *player) tellMissing(ctx context.Context) error {
	if p.opts.OnMissing == nil {
		return nil
	}
	list, err := p.missing(ctx)
	for _, m := range list {
		p.opts.OnMissing(m)
	}
	return err
}

// schemeOf returns the scheme of authentication in a field's value (RFC 9110 §11.4), in lower case.
func schemeOf(value string) string {
	scheme, rest, found := strings.Cut(value, " ")
	if !found || rest == "" || !capture.IsToken(scheme) || credential.HasPlaceholder([]byte(scheme)) {
		return ""
	}
	return strings.ToLower(scheme)
}
