package auth

import (
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

// metadata is the metadata of an authorization server (RFC 8414 section 2).
type metadata struct {
	TokenEndpoint string   `json:"token_endpoint"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
}

// style returns how a client presents its credentials: in the header, unless the server offers only the body.
func (m metadata) style() oauth2.AuthStyle {
	if len(m.Methods) > 0 && !slices.Contains(m.Methods, "client_secret_basic") &&
		slices.Contains(m.Methods, "client_secret_post") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleAutoDetect
}

// metadataURLs returns the possible URLs of the metadata for an agent: beneath its URL, where RFC 8414 section 3.1
// puts it for an issuer with a path, and at the root.
func metadataURLs(agent string) ([]string, error) {
	u, err := url.Parse(agent)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("find the token server: %s is not a URL", shown(agent))
	}
	const place = "/.well-known/oauth-authorization-server"
	path, _, _ := strings.Cut(u.EscapedPath(), "/.well-known/") // the URL may be the card's
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
			if !sameOrigin(m.TokenEndpoint, at) { // secrets go only to addresses that their owner allows
				return m, fmt.Errorf("find the token server: %s names %s, which is at another origin; name the token server's URL "+
					"explicitly to send your secret there", at, shown(m.TokenEndpoint))
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

// sameOrigin reports whether two URLs have the same scheme, host and port, or are both on this machine, where the agent
// may be behind a tap.
func sameOrigin(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	if err != nil || err2 != nil {
		return false
	}
	local := func(u *url.URL) bool { return hostname.IsLoopback(hostname.Normal(u.Hostname())) }
	return local(u) && local(v) || hostname.SameOrigin(u, v)
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
		return m, fmt.Errorf("the answer was cut off")
	}
	if json.Unmarshal(body, &m) != nil || m.TokenEndpoint == "" {
		return m, fmt.Errorf("no token_endpoint")
	}
	return m, nil
}
