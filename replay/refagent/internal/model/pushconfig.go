package model

import (
	"net/url"
	"slices"
)

// A PushConfig is a client's webhook for notifications about a task (A2A 1.0 §4.3.1, 0.3 §6.8).
type PushConfig struct {
	ID, TaskID  string
	Tenant      string
	URL, Token  string
	Schemes     []string // HTTP authentication schemes; 1.0 has one
	Credentials string
	Dialect     Dialect // of the request that created it, and so of the notifications

	Events        []string // that it subscribes to, by their names before A2A 0.1; all if empty
	Retries       int      // of a delivery that fails; 0 means two
	EndsByFailure bool     // the config is removed when a delivery has failed for good
	Alone         bool     // a task has one config, as up to A2A 0.1: this one replaces any other
}

// ReadWebhookURL returns the url member, which must be absolute.
func ReadWebhookURL(f Fields) string {
	s := f.Required("url")
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		f.Complain("url", "must be an absolute http or https URL")
	}
	return s
}

// Place returns where among others a config goes: the place of one with the same id or of the only one, or -1 for the
// end.
func (c *PushConfig) Place(among []PushConfig) int {
	return slices.IndexFunc(among, func(other PushConfig) bool { return c.Alone || other.ID == c.ID })
}

// Placed returns configs with one more, or with one replaced. It does not change them.
func Placed(configs []PushConfig, c PushConfig) []PushConfig {
	configs = slices.Clone(configs)
	if i := c.Place(configs); i >= 0 {
		configs[i] = c
		return configs
	}
	return append(configs, c)
}

// Names of events, in streams and in push notification configs.
const (
	LegacyStatus   = "status"
	LegacyArtifact = "artifact"
)

// LegacyName returns the name of an event.
func LegacyName(e Event) string {
	if e.Artifact != nil {
		return LegacyArtifact
	}
	return LegacyStatus
}

// Wants reports whether a webhook subscribes to an event; one that names no events gets all.
func (c *PushConfig) Wants(e Event) bool {
	return len(c.Events) == 0 || slices.Contains(c.Events, LegacyName(e))
}
