package auth

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"a2atap/proxy/outbound"
	"a2atap/replay/client"
)

// OAuth configures how a client gets access tokens: with a user's password if User is set (RFC 6749 section 4.3),
// else with the client's own credentials (section 4.4).
type OAuth struct {
	Agent    string // URL of the agent, from which the token server is found if TokenURL is empty
	TokenURL string

	ClientID, ClientSecret string
	User, Password         string
	Scopes                 []string

	// Dialer connects to servers; nil connects like a client without options. It is ignored if HTTP is set.
	Dialer *outbound.Dialer
	// HTTP asks the servers; nil is a client with a timeout of 30 s that follows no redirects.
	HTTP *http.Client
	// OnToken is called with each issued token before its first use. It may be nil.
	OnToken func(token string)
}

// Method returns a method that gets a token on first use, keeps it in memory, and gets another shortly before it
// expires. Concurrent requests that need a new token share it.
func (o OAuth) Method() Method {
	if o.HTTP == nil {
		transport := client.NewTransport(30 * time.Second)
		if o.Dialer != nil {
			o.Dialer.Configure(transport)
		}
		transport.DisableKeepAlives = true // the next token is asked for much later
		o.HTTP = &http.Client{
			Timeout:   30 * time.Second,
			Transport: transport,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // never send the secret to another address
			},
		}
	}
	tokens := &tokens{o: o, style: oauth2.AuthStyleAutoDetect}
	return func(ctx context.Context, out *client.Outgoing) error {
		t, err := tokens.get(ctx)
		if err != nil {
			return err
		}
		out.Header.Set("Authorization", t.Type()+" "+t.AccessToken)
		return nil
	}
}

// tokens issues tokens, each until shortly before it expires.
type tokens struct {
	o OAuth

	mu    sync.Mutex
	url   string // of the token server, once known
	style oauth2.AuthStyle
	token *oauth2.Token
}

func (t *tokens) get(ctx context.Context) (*oauth2.Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token.Valid() { // false in the last 10 s, as the library defines it
		return t.token, nil
	}
	if t.url == "" {
		if err := t.find(ctx); err != nil {
			return nil, err
		}
	}
	token, err := t.fetch(context.WithValue(ctx, oauth2.HTTPClient, t.o.HTTP))
	if err != nil {
		return nil, fmt.Errorf("get a token from %s: %w", shown(t.url), plain(err))
	}
	if t.o.OnToken != nil {
		t.o.OnToken(token.AccessToken)
	}
	t.token = token
	return token, nil
}

// find finds the token server.
func (t *tokens) find(ctx context.Context) error {
	if t.o.TokenURL != "" {
		t.url = t.o.TokenURL
		return nil
	}
	found, err := discover(ctx, t.o.HTTP, t.o.Agent)
	if err != nil {
		return err
	}
	t.url, t.style = found.TokenEndpoint, found.style()
	return nil
}

func (t *tokens) fetch(ctx context.Context) (*oauth2.Token, error) {
	style := t.style
	if t.o.ClientSecret == "" {
		style = oauth2.AuthStyleInParams // a public client sends only its client ID, if it has one
	}
	if t.o.User == "" {
		c := clientcredentials.Config{
			ClientID: t.o.ClientID, ClientSecret: t.o.ClientSecret, TokenURL: t.url, Scopes: t.o.Scopes, AuthStyle: style,
		}
		return c.Token(ctx)
	}
	c := oauth2.Config{
		ClientID: t.o.ClientID, ClientSecret: t.o.ClientSecret, Scopes: t.o.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: t.url, AuthStyle: style},
	}
	return c.PasswordCredentialsToken(ctx, t.o.User, t.o.Password)
}
