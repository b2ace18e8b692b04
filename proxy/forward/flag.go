package forward

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/recording"
)

// ParseListen reads the value of the flag --forward, [HOST:]PORT, and returns host:port. Without HOST it is 127.0.0.1.
func ParseListen(flag string) (string, error) {
	host, port := "127.0.0.1", flag
	if strings.Contains(flag, ":") {
		var err error
		if host, port, err = net.SplitHostPort(flag); err != nil || host == "" {
			return "", fmt.Errorf("--forward %q is not a listening address; write PORT or HOST:PORT, an IPv6 host in "+
				"brackets", flag)
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("--forward %q: %q is not a port from 0 to 65535; write PORT or HOST:PORT", flag, port)
	}
	return net.JoinHostPort(host, port), nil
}

// A Name is the name that the user gives to an agent that is reached through a forward proxy.
type Name struct {
	Agent hostname.Origin
	Name  string
}

// ParseName reads the value of the flag --name, HOST:PORT=NAME.
func ParseName(flag string) (Name, error) {
	address, name, _ := strings.Cut(flag, "=")
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || !hostname.ValidPort(port) || !recording.ValidName(name) {
		return Name{}, fmt.Errorf("--name %q: write HOST:PORT=NAME, with letters, digits, '.', '_' and '-' in NAME", flag)
	}
	return Name{hostname.NewOrigin(host, port), name}, nil
}

// Credentials are a user and a password of the clients of a forward proxy: RFC 7617.
type Credentials struct{ sum [sha256.Size]byte }

// ParseCredentials reads the value of the flag --proxy-auth, USER:PASS.
func ParseCredentials(flag string) (*Credentials, error) {
	user, password, found := strings.Cut(flag, ":")
	if !found || user == "" || password == "" {
		return nil, errors.New("--proxy-auth: a user or a password is missing; write --proxy-auth USER:PASS")
	}
	return &Credentials{sha256.Sum256([]byte(flag))}, nil
}

// match compares in constant time.
func (c *Credentials) match(user, password string) bool {
	sum := sha256.Sum256([]byte(user + ":" + password))
	return subtle.ConstantTimeCompare(sum[:], c.sum[:]) == 1
}

// proxyCredentials decodes a client's Proxy-Authorization, which clients send for a proxy URL with user information.
func proxyCredentials(head []byte) (user, password string, ok bool) {
	scheme, text, _ := strings.Cut(string(rawhead.Value(head, "Proxy-Authorization")), " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(plain), ":")
}

// proxyUser returns the name that a client has given itself in the user part of its proxy's URL, or "".
func proxyUser(head []byte) string {
	user, _, ok := proxyCredentials(head)
	if !ok || !recording.ValidName(user) || len(user) > 64 {
		return ""
	}
	return user
}

// admits reports whether a request has the required credentials.
func (f *Proxy) admits(head []byte) bool {
	if f.Auth == nil {
		return true
	}
	user, password, ok := proxyCredentials(head)
	return ok && f.Auth.match(user, password)
}
