package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
)

// policy allows the page's own parts, and nothing from its contents (Content Security Policy Level 3).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// maxAsked bounds the body of a request, in bytes.
const maxAsked = 1 << 20

// A guard gives clients with the token access to everything, and others only the empty page, whose script sends the
// token.
type guard struct {
	token string
	next  http.Handler

	mu    sync.RWMutex // held for reading while a request is answered
	ended bool         // no more requests are answered
}

// end waits until no request is being answered. Later requests are rejected.
func (g *guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.ended {
		return
	}
	for name, value := range map[string]string{
		"Content-Security-Policy":      policy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
	} {
		w.Header().Set(name, value)
	}
	if status, why := g.refuses(r); status != 0 {
		http.Error(w, why, status)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxAsked)
	g.next.ServeHTTP(w, r)
}

// refuses returns the status and the reason to reject a request; 0 to accept it.
func (g *guard) refuses(r *http.Request) (status int, why string) {
	origin := r.Header.Get("Origin") // RFC 6454 section 7; browsers send it with every request that may change something
	if origin != "" && origin != "http://"+r.Host || origin == "" && r.Method == http.MethodPost {
		return http.StatusForbidden, "the request comes from another page"
	}
	if strings.HasPrefix(r.URL.Path, "/api/") && !g.admits(r) {
		return http.StatusUnauthorized, "the token is missing or wrong; open the address that a2atap web has printed"
	}
	return 0, ""
}

// admits reports whether a request has the token, in a time that does not depend on how much of the token is right.
func (g *guard) admits(r *http.Request) bool {
	given, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ") // RFC 6750 section 2.1
	got, want := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && is
}
