package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"a2atap/proxy/hostname"
)

// maxMetadata bounds the metadata of an authorization server, in bytes.
const maxMetadata = 1 << 20

// metadata is what an authorization server says about itself (RFC 8414 section 2).
type metadata struct {
	TokenEndpoint string   `json:"token_endpoint"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
}

// style returns how a client shows its credentials there: in the header, unless only the other way is offered.
func (m metadata) style() oauth2.AuthStyle {
	if len(m.Methods) > 0 && !slices.Contains(m.Methods, "client_secret_basic") &&
		slices.Contains(m.Methods, "client_secret_post") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleAutoDetect
}

// metadataURLs returns where the metadata for an agent may be: beneath its URL, where RFC 8414 section 3.1 puts it for
// an issuer with a path, and at the root.
func metadataURLs(agent string) ([]string, error) {
	u, err := url.Parse(agent)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("find the token server: %s is not a URL", shown(agent))
	}
	const place = "/.well-known/oauth-authorization-server"
	path, _, _ := strings.Cut(u.EscapedPath(), "/.well-known/") // the URL may be that of the card
	path = strings.TrimRight(path, "/")
	root := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	return slices.Compact([]string{root + path + place, root + place + path, root + place}), nil
}

// discover finds the token server of an agent.
func discover(ctx context.Context, h *http.Client, agent string) (metadata, error) {
	places, err := metadataURLs(agent)
	if err != nil {
		return metadata{}, err
	}
	var tried []string
	for _, at := range places {
		m, err := readMetadata(ctx, h, at)
		if err == nil {
			if err := checkTokenURL(m.TokenEndpoint); err != nil {
				return m, fmt.Errorf("find the token server: %s names a token endpoint, but %w", at, err)
			}
			if !sameOrigin(m.TokenEndpoint, at) { // secrets go where their owner said
				return m, fmt.Errorf("find the token server: %s names %s, which is at another origin; give the token server's URL "+
					"yourself to send your secret there", at, shown(m.TokenEndpoint))
			}
			return m, nil
		}
		if ctx.Err() != nil {
			return m, ctx.Err()
		}
		tried = append(tried, fmt.Sprintf("%s: %v", at, err))
	}
	return metadata{}, fmt.Errorf("find the token server: no metadata with a token_endpoint (%s)",
		strings.Join(tried, "; "))
}

// sameOrigin reports whether two URLs have one scheme, host and port, or are both of this machine, where the agent may
// stand behind a tap.
func sameOrigin(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	if err != nil || err2 != nil {
		return false
	}
	port := func(u *url.URL) string {
		return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	here, there := hostname.Normal(u.Hostname()), hostname.Normal(v.Hostname())
	return hostname.IsLoopback(here) && hostname.IsLoopback(there) ||
		here == there && u.Scheme == v.Scheme && port(u) == port(v)
}

func readMetadata(ctx context.Context, h *http.Client, at string) (metadata, error) {
	var m metadata
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return m, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := h.Do(req)
	if err != nil {
		return m, plain(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return m, fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata))
	if err != nil {
		return m, fmt.Errorf("the answer breaks off")
	}
	if json.Unmarshal(body, &m) != nil || m.TokenEndpoint == "" {
		return m, fmt.Errorf("no token_endpoint")
	}
	return m, nil
}
