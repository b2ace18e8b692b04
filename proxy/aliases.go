package proxy

import (
	"net"
	"net/http"

	"a2atap/proxy/forward"
	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/listener"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
)

// What the parts of a recording are called by those who put one together.
type (
	Recorder        = recording.Recorder
	RecorderOptions = recording.Options
	Stats           = recording.Stats
	Policy          = recording.Policy
	ClientPattern   = recording.ClientPattern
	HostPattern     = hostname.Pattern
	WebhookSpec     = webhook.Spec
	Forward         = forward.Proxy
	ForwardSpec     = forward.Spec
)

// The policies.
const (
	Pass = recording.Pass
	Wait = recording.Wait
	Stop = recording.Stop
)

// ErrBehind is recording.ErrBehind.
var ErrBehind = recording.ErrBehind

// NewRecorder is recording.New.
func NewRecorder(o RecorderOptions) *Recorder { return recording.New(o) }

// ParseClient is recording.ParseClient.
func ParseClient(flag string) (ClientPattern, error) { return recording.ParseClient(flag) }

// ParseHostPattern is hostname.ParsePattern.
func ParseHostPattern(flag string) (HostPattern, error) { return hostname.ParsePattern(flag) }

// ParseAllowedHost is hostname.ParseAllowed.
func ParseAllowedHost(flag string) (HostPattern, error) { return hostname.ParseAllowed(flag) }

// CheckHosts is listener.CheckHosts.
func CheckHosts(h http.Handler, asked string, at net.Addr, allowed []HostPattern, refused func(string)) http.Handler {
	return listener.CheckHosts(h, asked, at, allowed, refused)
}

// ParseForward is forward.ParseListen.
func ParseForward(flag string) (string, error) { return forward.ParseListen(flag) }

// ParseCredentials is forward.ParseCredentials.
func ParseCredentials(flag string) (*forward.Credentials, error) {
	return forward.ParseCredentials(flag)
}
