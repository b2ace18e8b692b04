package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"a2atap/proxy/capture/credential"
	"a2atap/proxy/hostname"
	"a2atap/proxy/recording"
)

// A TapSpec has the listening address of a tap and the agent behind it.
type TapSpec struct {
	Name   string   // of the agent; made of letters, digits, '.', '_' and '-', or host:port of the agent
	Agent  *url.URL // of the agent: http or https, without user information and fragment
	Listen string   // host:port; port 0 is a free one
}

// ParseTap reads the value of the flag --agent, [NAME=]URL[@[HOST:]PORT]. Without NAME the agent is named host:port;
// without a listening address the tap listens on a free port of 127.0.0.1, and without HOST on 127.0.0.1.
//
// The last '@' always begins the listening address; one in the URL's path is written %40. IPv6 addresses are in
// brackets. Errors show what to write instead.
func ParseTap(flag string) (TapSpec, error) {
	spec, err := parseTap(flag)
	if err != nil {
		return TapSpec{}, errors.New(withoutPassword(fmt.Sprintf("--agent %q: %v", flag, err), flag))
	}
	return spec, nil
}

// withoutPassword removes a possible password from a message about a URL in a flag: the text before an @ that does not
// begin a listening address, or that is not a port.
func withoutPassword(message, flag string) string {
	_, rest, found := strings.Cut(flag, "://")
	if !found {
		_, rest, _ = strings.Cut("="+flag, "=")
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return message
	}
	before, after := rest[:at], rest[at+1:]
	if i := strings.IndexByte(before, ']'); strings.HasPrefix(before, "[") && i >= 0 {
		before = before[i+1:] // an IPv6 address
	}
	secret := before
	if _, password, found := strings.Cut(before, ":"); found {
		secret = password
	}
	_, err := parseListen(after)
	if _, notPort := strconv.ParseUint(secret, 10, 16); err == nil && (notPort == nil || secret == before) {
		return message // host:port or host, and a listening address
	}
	for _, shown := range []string{secret, strings.Trim(strconv.Quote(secret), `"`)} {
		if shown != "" {
			message = strings.ReplaceAll(message, shown, "…")
		}
	}
	return message
}

func parseTap(flag string) (TapSpec, error) {
	name, rest, err := cutName(flag)
	if err != nil {
		return TapSpec{}, err
	}
	address, listen := rest, "127.0.0.1:0"
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		address = rest[:at]
		if listen, err = parseListen(rest[at+1:]); err != nil {
			return TapSpec{}, err
		}
	}
	agent, err := parseAgentURL(address)
	if scheme, ok := errors.AsType[*noSchemeError](err); ok {
		corrected := strings.TrimSuffix(flag, rest) + scheme.corrected + strings.TrimPrefix(rest, address)
		return TapSpec{}, fmt.Errorf("%w; write --agent %s", err, corrected)
	}
	if err != nil {
		return TapSpec{}, err
	}
	if name == "" {
		name = hostname.HostPort(agent)
	}
	return TapSpec{Name: name, Agent: agent, Listen: listen}, nil
}

// cutName takes NAME= off. An equals sign inside a URL belongs to the URL.
func cutName(flag string) (name, rest string, err error) {
	name, rest, found := strings.Cut(flag, "=")
	if !found || strings.ContainsAny(name, ":/?#[]@") {
		return "", flag, nil
	}
	if !recording.ValidName(name) {
		return "", "", fmt.Errorf("the name %q has characters other than letters, digits, '.', '_' and '-'; write NAME=URL", name)
	}
	return name, rest, nil
}

// parseListen reads [HOST:]PORT.
func parseListen(s string) (string, error) {
	host, port := "127.0.0.1", s
	if strings.Contains(s, ":") {
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil || host == "" {
			return "", fmt.Errorf("%q after the last @ is not a listening address; write @PORT or @HOST:PORT, "+
				"an IPv6 host in brackets", s)
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("%q after the last @ is not a port; the last @ begins the listening address: write "+
			"@PORT or @HOST:PORT with a port from 0 to 65535, leave user information out of the URL, and write %%40 "+
			"for an @ in its path", port)
	}
	if strings.Contains(host, ":") {
		if _, err := netip.ParseAddr(host); err != nil {
			return "", fmt.Errorf("%q after the last @ is not an IPv6 address", host)
		}
	}
	return net.JoinHostPort(host, port), nil
}

// A noSchemeError means that a URL begins with its host.
type noSchemeError struct{ corrected string }

func (e *noSchemeError) Error() string { return "the URL has no scheme" }

// parseAgentURL reads the URL of an agent.
func parseAgentURL(s string) (*url.URL, error) {
	if s == "" {
		return nil, errors.New("the agent's URL is missing; write NAME=http://HOST:PORT")
	}
	if !strings.Contains(s, "://") {
		corrected := "http://" + s
		if u, err := url.Parse(corrected); err == nil && u.Host != "" && u.User == nil {
			return nil, &noSchemeError{corrected}
		}
		return nil, fmt.Errorf("%q is not a URL; write http://HOST:PORT", s)
	}
	u, err := url.Parse(s)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("%q is not a URL: %w; the last @ begins the listening address, and user information "+
			"cannot be given", s, err)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("unknown scheme %q; use http or https", u.Scheme)
	case u.User != nil:
		return nil, errors.New("the URL has user information, which is not sent to the agent; let the client send " +
			"its credentials, and write the URL without the part before @")
	case u.Hostname() == "":
		return nil, fmt.Errorf("the URL %q has no host; write http://HOST:PORT", s)
	case u.Fragment != "" || strings.HasSuffix(s, "#"):
		return nil, errors.New("the URL has a fragment, which is never sent; leave out what begins with #")
	case u.Port() == "" && strings.HasSuffix(u.Host, ":"):
		return nil, fmt.Errorf("the URL %q has a colon but no port", s)
	case u.Port() != "" && !hostname.ValidPort(u.Port()):
		return nil, fmt.Errorf("the URL's port %q is not between 1 and 65535", u.Port())
	}
	if again, err := url.Parse(u.String()); err != nil || again.Host != u.Host { // a zone may be any bytes
		return nil, fmt.Errorf("the URL's host %q is not a host; write http://HOST:PORT", u.Hostname())
	}
	return u, nil
}

// An Alias maps a public origin, such as one that an agent's card advertises, to the tap in front of that agent.
type Alias struct {
	Name string   // of the tap
	URL  *url.URL // only its scheme, host and port count
}

// ParseAlias reads the value of the flag --alias, NAME=URL.
func ParseAlias(flag string) (Alias, error) {
	name, rest, found := strings.Cut(flag, "=")
	if !found || strings.Contains(name, "/") {
		return Alias{}, fmt.Errorf("--alias %q: the agent's name is missing; write --alias NAME=URL", flag)
	}
	u, err := parseAgentURL(rest)
	var scheme *noSchemeError
	switch {
	case errors.As(err, &scheme):
		return Alias{}, fmt.Errorf("--alias %q: %w; write --alias %s=%s", flag, err, name, scheme.corrected)
	case err != nil:
		return Alias{}, errors.New(credential.WithoutUserinfo(fmt.Sprintf("--alias %q: %v", flag, err)))
	}
	return Alias{Name: name, URL: u}, nil
}
