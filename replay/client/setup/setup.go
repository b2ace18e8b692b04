package setup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"a2atap/proxy/capture/credential"
	"a2atap/proxy/outbound"
	"a2atap/replay/client"
	"a2atap/replay/client/auth"
)

// A World is the environment in which flags are read.
type World struct {
	// Getenv reads a variable of the environment.
	Getenv func(string) string
	// Secret resolves the value of a flag that accepts a secret: @FILE, env:NAME, or the secret itself.
	Secret func(flag, value string) (string, error)
	// Version is the program's version.
	Version string
	// Dialer is the dialer that [ReachFlags] configure; nil is one without options.
	Dialer *outbound.Dialer
}

// A Setup is the configuration that flags describe.
type Setup struct {
	Options client.Options
	Mask    *Mask
	Vars    Vars
	URL     string // of the agent

	// SecretHeaders and SecretQuery are the names of the header fields and query parameters in which the flags send
	// secrets.
	SecretHeaders, SecretQuery []string

	noCard bool
	chosen client.Protocol // from --protocol, else HTTP+JSON of 1.0: the protocol to use without a card
}

// Setup reads the flags for an agent, whose URL may be written as a2a:URL. Errors are about the command line, or come
// from World.Secret; none has a secret.
func (f *Flags) Setup(w World, agent string) (*Setup, error) {
	s, err := f.begin(w, agent)
	if err != nil {
		return nil, err
	}
	if f.Timeout <= 0 {
		return nil, fmt.Errorf("--timeout %v: write a time above 0, such as 30s", f.Timeout)
	}
	if s.Options.Tenant, err = s.Vars.Text(f.Tenant); err != nil {
		return nil, fmt.Errorf("--tenant: %w", err)
	}
	if strings.ContainsAny(f.A2AVersion, "\r\n\x00") {
		return nil, fmt.Errorf("--protocol-version %q: write a version such as 1.0", f.A2AVersion)
	}
	for _, step := range []func(*Flags, World) error{s.protocol, s.headers, s.credentials} {
		if err := step(f, w); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// setupCredentials is Setup for the flags that [Flags.registerCredentials] adds. Of the options, it sets only
// Authorize.
func (f *Flags) setupCredentials(w World, agent string) (*Setup, error) {
	s, err := f.begin(w, agent)
	if err != nil {
		return nil, err
	}
	if err := s.credentials(f, w); err != nil {
		return nil, err
	}
	return s, nil
}

// begin reads the variables and the URL.
func (f *Flags) begin(w World, agent string) (*Setup, error) {
	vars, err := parseVars(f.Vars, w.Getenv)
	if err != nil {
		return nil, err
	}
	s := &Setup{
		Options: client.Options{
			Dialer: w.Dialer, Version: w.Version, Timeout: f.Timeout, A2AVersion: f.A2AVersion,
			CredentialsTo: f.To, Limits: f.Limits,
		},
		Mask: &Mask{}, Vars: vars, noCard: f.NoCard, chosen: client.REST10,
	}
	if err := checkCredentialsTo(f.To); err != nil {
		return nil, err
	}
	s.URL = strings.TrimPrefix(agent, "a2a:")
	if !f.Verbatim {
		if s.URL, err = vars.Text(s.URL); err != nil {
			return nil, fmt.Errorf("URL: %w", err)
		}
	}
	if u, err := url.Parse(s.URL); err == nil && u.User != nil {
		password, _ := u.User.Password()
		s.Mask.Add(password)
	}
	return s, nil
}

func (s *Setup) protocol(f *Flags, _ World) error {
	for _, p := range protocols {
		if p.word == f.Protocol {
			s.Options.Prefer, s.Options.ProtoJSON, s.chosen = []client.Protocol{p.protocol}, p.proto, p.protocol
			return nil
		}
	}
	if f.Protocol != "" {
		return fmt.Errorf("unknown protocol %q; use one of %s", f.Protocol, strings.Join(Protocols(), ", "))
	}
	for _, p := range client.Protocols() {
		if f.A2AVersion != "" && (f.A2AVersion == p.Version || strings.HasPrefix(f.A2AVersion, p.Version+".")) {
			s.Options.Prefer = append(s.Options.Prefer, p)
			if p.Binding == "HTTP+JSON" {
				s.chosen = p
			}
		}
	}
	return nil
}

func (s *Setup) headers(f *Flags, w World) error {
	for _, flag := range f.Headers {
		name, value, ok := strings.Cut(flag, ":")
		name = strings.TrimSpace(name)
		if !ok {
			return fmt.Errorf("--header: write NAME:VALUE")
		}
		written := strings.TrimSpace(value)
		value, err := s.secret(w, "--header", written)
		if err != nil {
			return err
		}
		if !auth.ValidHeader(name, value) {
			return fmt.Errorf("--header %q: the name or the value has invalid characters", name)
		}
		if credential.Header(name).Hidden() {
			s.Mask.Add(secretOf(value))
		}
		if value != written {
			s.SecretHeaders = append(s.SecretHeaders, name)
		}
		if s.Options.Header == nil {
			s.Options.Header = http.Header{}
		}
		s.Options.Header.Add(name, value)
	}
	return nil
}

// secretOf returns the credentials behind a scheme, or the whole value.
func secretOf(value string) string {
	if scheme, rest, ok := strings.Cut(value, " "); ok && rest != "" && !strings.ContainsAny(scheme, "=;") {
		return rest
	}
	return value
}

// secret renders the value of a flag, which may point to a file or a variable. Values from there are hidden in output.
func (s *Setup) secret(w World, flag, value string) (string, error) {
	rendered, err := s.Vars.Text(value)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	if rendered != value { // a variable is not a name of a file or of another variable
		s.Mask.Add(rendered)
		return rendered, nil
	}
	text, err := w.Secret(flag, value)
	if text != value {
		s.Mask.Add(secretOf(text))
	}
	return text, err
}

func (s *Setup) credentials(f *Flags, w World) error {
	if f.OAuth.given() {
		if f.Auth != "" {
			return errors.New("--auth and --oauth-… exclude each other; use one")
		}
		return s.oauth(f.OAuth, w)
	}
	if f.Auth == "" {
		return nil
	}
	text, err := f.Auth, error(nil)
	if strings.HasPrefix(text, "@") || strings.HasPrefix(text, "env:") {
		if text, err = s.secret(w, "--auth", text); err != nil {
			return err
		}
	}
	c, err := auth.Parse(text, func(value string) (string, error) {
		return s.secret(w, "--auth", value)
	})
	if errors.Is(err, auth.ErrFormat) {
		return fmt.Errorf("--auth: %w", err)
	}
	if err != nil {
		return err
	}
	s.Mask.Add(c.Secrets...)
	s.Options.Authorize = c.Method
	if c.Header != "" {
		s.SecretHeaders = append(s.SecretHeaders, c.Header)
	}
	if c.Query != "" {
		s.SecretQuery = append(s.SecretQuery, c.Query)
	}
	return nil
}

func (s *Setup) oauth(f OAuthFlags, w World) error {
	o := auth.OAuth{Agent: s.URL, Scopes: f.Scopes, Dialer: w.Dialer, OnToken: func(token string) { s.Mask.Add(token) }}
	var err error
	for _, v := range []struct {
		flag, value string
		to          *string
		secret      bool
	}{
		{"--oauth-token-url", f.TokenURL, &o.TokenURL, false},
		{"--oauth-client-id", f.ClientID, &o.ClientID, false},
		{"--oauth-user", f.User, &o.User, false},
		{"--oauth-client-secret", f.ClientSecret, &o.ClientSecret, true},
		{"--oauth-password", f.Password, &o.Password, true},
	} {
		if v.secret && v.value != "" {
			*v.to, err = s.secret(w, v.flag, v.value)
			s.Mask.Add(*v.to)
		} else if *v.to, err = s.Vars.Text(v.value); err != nil {
			err = fmt.Errorf("%s: %w", v.flag, err)
		}
		if err != nil {
			return err
		}
	}
	switch u, err := url.Parse(o.TokenURL); {
	case o.TokenURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http"):
		return errors.New("--oauth-token-url: it must begin with http:// or https://")
	case o.ClientID == "" && o.User == "":
		return errors.New("--oauth-client-id is missing; a token by password needs --oauth-user")
	case (o.User == "") != (o.Password == ""):
		return errors.New("--oauth-user and --oauth-password need each other")
	}
	s.Options.Authorize = o.Method()
	return nil
}

// Connect returns a client for the agent: for an interface of its card, or for its URL itself if the flags ask for
// that, or if the agent answers and has no card. In the last case it also returns why the card is missing.
func (s *Setup) Connect(ctx context.Context) (c *client.Client, noCard error, err error) {
	if !s.noCard {
		c, err := client.Connect(ctx, s.URL, s.Options)
		if !errors.Is(err, client.ErrNoCard) {
			return c, nil, err
		}
		noCard = err
	}
	u, err := url.Parse(s.URL)
	if err == nil && noCard != nil && strings.HasSuffix(u.Path, ".json") {
		return nil, nil, noCard // the URL was the card's
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, noCard, fmt.Errorf("%s: it must begin with http:// or https://", credential.WithoutUserinfo(s.URL))
	}
	c, err = client.New(client.Interface{URL: s.URL, Protocol: s.chosen}, s.Options)
	return c, noCard, err
}
