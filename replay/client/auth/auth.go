// Package auth gives the requests of a client credentials of every kind that cards declare: bearer tokens, user name
// and password, API keys in a header or in the query, and OAuth.
//
// No error of this package has a secret, or any text from a token server except its error code.
package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"a2atap/replay/client"
)

// A Method adds credentials to a request. It fits [client.Options].Authorize.
type Method func(context.Context, *client.Outgoing) error

// Bearer sends a token.
func Bearer(token string) Method { return Header(authorization, "Bearer "+token) }

// Basic sends a user name and a password (RFC 7617).
func Basic(user, password string) Method {
	return Header(authorization, "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

// Header sends a header field, replacing any other with the same name.
func Header(name, value string) Method {
	return func(_ context.Context, out *client.Outgoing) error {
		out.Header.Set(name, value)
		return nil
	}
}

// Query sends a query parameter, replacing any other with the same name.
func Query(name, value string) Method {
	return func(_ context.Context, out *client.Outgoing) error {
		base, query, asked := strings.Cut(out.URL, "?")
		var kept []string
		for pair := range strings.SplitSeq(query, "&") {
			was, _, _ := strings.Cut(pair, "=")
			if was, err := url.QueryUnescape(was); pair != "" && (err != nil || was != name) {
				kept = append(kept, pair)
			}
		}
		if !asked {
			kept = nil
		}
		out.URL = base + "?" + strings.Join(append(kept, url.QueryEscape(name)+"="+url.QueryEscape(value)), "&")
		return nil
	}
}

// DefaultKeyName is the header field of an API key whose name is not given.
const DefaultKeyName = "X-API-Key"

// Credentials are what Parse reads.
type Credentials struct {
	Method  Method
	Secrets []string // in the forms in which they are sent
	Header  string   // the header field that carries them; empty if none does
	Query   string   // the parameter of the query that carries them; empty if none does
}

// ErrFormat explains the format of credentials.
var ErrFormat = errors.New("invalid credentials; write bearer:TOKEN, basic:USER:PASSWORD, apikey:KEY, " +
	"header:NAME=VALUE or query:NAME=VALUE")

// Parse reads credentials in command-line form: bearer:TOKEN, basic:USER:PASSWORD, apikey:KEY (in the header field
// X-API-Key), header:NAME=VALUE or query:NAME=VALUE. The secret in them, after the kind and the name, is passed through
// resolve. All errors but those of resolve are ErrFormat.
func Parse(text string, resolve func(string) (string, error)) (Credentials, error) {
	kind, rest, ok := strings.Cut(text, ":")
	if !ok || rest == "" {
		return Credentials{}, ErrFormat
	}
	kind = strings.ToLower(kind)
	name := ""
	switch kind {
	case "bearer", "basic":
	case "apikey":
		name = DefaultKeyName
	case "header", "query":
		if name, rest, ok = strings.Cut(rest, "="); !ok || name == "" {
			return Credentials{}, ErrFormat
		}
	default:
		return Credentials{}, ErrFormat
	}
	if kind == "basic" {
		return parseBasic(rest, resolve)
	}
	value, err := resolve(rest)
	switch {
	case err != nil:
		return Credentials{}, err
	case value == "":
		return Credentials{}, ErrFormat
	case kind == "query":
		return Credentials{Query(name, value), []string{value, url.QueryEscape(value)}, "", name}, nil
	case !fits(value) || !httpguts.ValidHeaderFieldName(name) && kind == "header":
		return Credentials{}, ErrFormat
	case kind == "bearer":
		return Credentials{Bearer(value), []string{value}, authorization, ""}, nil
	}
	return Credentials{Header(name, value), []string{value}, name, ""}, nil
}

const authorization = "Authorization"

// parseBasic reads USER:PASSWORD. Either all of it or only the password may be a reference.
func parseBasic(rest string, resolve func(string) (string, error)) (Credentials, error) {
	user, password, ok := strings.Cut(rest, ":")
	var err error
	if ok && user != "env" && !strings.HasPrefix(user, "@") {
		password, err = resolve(password)
	} else if rest, err = resolve(rest); err == nil {
		user, password, ok = strings.Cut(rest, ":")
	}
	switch {
	case err != nil:
		return Credentials{}, err
	case !ok || !fits(user+password):
		return Credentials{}, ErrFormat
	}
	secrets := []string{password, base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}
	return Credentials{Basic(user, password), secrets, authorization, ""}, nil
}

// ValidHeader reports whether a header field may have that name and that value.
func ValidHeader(name, value string) bool { return httpguts.ValidHeaderFieldName(name) && fits(value) }

// fits reports whether a text is valid in a header field.
func fits(value string) bool { return !strings.ContainsAny(value, "\r\n\x00") }
