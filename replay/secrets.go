package replay

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/replay/client"
)

// secrets has a live request's replacements for secrets that the recording lacks. A nil secrets has none.
type secrets struct {
	header http.Header
	query  []parameter
	added  bool // the placeholders have other names: these secrets are added to the remaining values
}

type parameter struct{ name, pair string }

// secretsFor returns the replacements of the placeholders in the head of a recorded request; nil without placeholders,
// or without credentials for this agent.
func (t *target) secretsFor(ctx context.Context, recorded *capture.Head) (*secrets, error) {
	if t.authorize == nil {
		return nil, nil
	}
	_, query, _ := strings.Cut(recorded.Target, "?")
	var fields, parameters []string
	for _, f := range recorded.Fields {
		if credential.HasPlaceholder([]byte(f.Value)) {
			fields = append(fields, f.Name)
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		if credential.HasPlaceholder([]byte(pair)) {
			parameters = append(parameters, parameterName(pair))
		}
	}
	if len(fields)+len(parameters) == 0 {
		return nil, nil
	}
	s, err := t.credentials(ctx)
	if err != nil {
		return nil, err
	}
	s.added = !slices.ContainsFunc(fields, func(name string) bool { _, ok := s.field(name); return ok }) &&
		!slices.ContainsFunc(parameters, func(name string) bool { _, ok := s.parameter(name); return ok })
	return s, nil
}

// credentials returns the current credentials of a request: tokens expire.
func (t *target) credentials(ctx context.Context) (*secrets, error) {
	out := &client.Outgoing{Header: http.Header{}}
	if err := t.authorize(ctx, out); err != nil {
		return nil, fmt.Errorf("get credentials: %w", err)
	}
	s := &secrets{header: out.Header}
	_, query, _ := strings.Cut(out.URL, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if pair != "" {
			s.query = append(s.query, parameter{parameterName(pair), pair})
		}
	}
	return s, nil
}

// parameterName returns the name in a pair of a query.
func parameterName(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		return plain
	}
	return name
}

// field returns the value of a header field according to the credentials, if they have it.
func (s *secrets) field(name string) (string, bool) {
	if s == nil || len(s.header.Values(name)) == 0 {
		return "", false
	}
	return s.header.Get(name), true
}

// parameter returns the pair of a parameter, escaped, if the credentials have it.
func (s *secrets) parameter(name string) (string, bool) {
	if s == nil {
		return "", false
	}
	i := slices.IndexFunc(s.query, func(p parameter) bool { return p.name == name })
	if i < 0 {
		return "", false
	}
	return s.query[i].pair, true
}

// unsent describes a place whose secret is not available.
func (s *secrets) unsent(what string) string {
	if s != nil && s.added {
		return what + " had a redacted secret and was not sent; the credentials were sent in their own header or parameter"
	}
	return what + " had a redacted secret and was not sent; give credentials to replace it"
}

// addFields writes the fields for which the recording has no place.
func (s *secrets) addFields(b *bytes.Buffer) {
	if s != nil && s.added {
		s.header.Write(b) // to memory
	}
}

// withSecrets replaces the placeholders in a target's query with credentials, and removes those without credentials.
func (p *player) withSecrets(target string, s *secrets) string {
	var more []parameter
	if s != nil && s.added {
		more = s.query
	}
	return refilled(target, func(name string) (string, bool) {
		ours, ok := s.parameter(name)
		if !ok {
			p.notes.once(s.unsent("query parameter " + name))
		}
		return ours, ok
	}, more...)
}

// refilled returns a target in whose query pairs with placeholders are replaced by name, or removed, and more pairs are
// appended.
func refilled(target string, fill func(name string) (string, bool), more ...parameter) string {
	path, query, found := strings.Cut(target, "?")
	var kept []string
	if found && credential.HasPlaceholder([]byte(query)) {
		for pair := range strings.SplitSeq(query, "&") {
			filled := true
			if credential.HasPlaceholder([]byte(pair)) {
				pair, filled = fill(parameterName(pair))
			}
			if filled {
				kept = append(kept, pair)
			}
		}
	} else if found {
		kept = append(kept, query)
	}
	for _, p := range more {
		kept = append(kept, p.pair)
	}
	if len(kept) == 0 {
		return path
	}
	return path + "?" + strings.Join(kept, "&")
}
