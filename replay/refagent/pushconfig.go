package refagent

import (
	"net/url"
	"slices"
)

// A pushConfig says where a client wants to hear of a task (A2A 1.0 §4.3.1, 0.3 §6.8).
type pushConfig struct {
	id, taskID  string
	tenant      string
	url, token  string
	schemes     []string // HTTP authentication schemes; 1.0 has one
	credentials string
	dialect     dialect // that of the request which made it, and so of the notifications

	events        []string // that it is to hear of, by their names before A2A 0.1; all if empty
	retries       int      // of a delivery that fails; 0 means two
	endsByFailure bool     // the config is removed when a delivery has failed for good
	alone         bool     // a task has one config, as up to A2A 0.1: this one takes the place of any other
}

// readWebhookURL returns the url member, which must be absolute.
func readWebhookURL(f fields) string {
	s := f.required("url")
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		f.complain("url", "must be an absolute http or https URL")
	}
	return s
}

// place returns where among others a config goes: the place of one with the same id or of the only one, or -1 for the
// end.
func (c *pushConfig) place(among []pushConfig) int {
	return slices.IndexFunc(among, func(other pushConfig) bool { return c.alone || other.id == c.id })
}

// placed returns configs with one more, or with one replaced. It does not change them.
func placed(configs []pushConfig, c pushConfig) []pushConfig {
	configs = slices.Clone(configs)
	if i := c.place(configs); i >= 0 {
		configs[i] = c
		return configs
	}
	return append(configs, c)
}

// Names of events, in streams and in push notification configs.
const (
	legacyStatus   = "status"
	legacyArtifact = "artifact"
)

// legacyName returns the name of an event.
func legacyName(e event) string {
	if e.artifact != nil {
		return legacyArtifact
	}
	return legacyStatus
}

// wants reports whether a webhook is to hear of an event; one that names none hears of all.
func (c *pushConfig) wants(e event) bool {
	return len(c.events) == 0 || slices.Contains(c.events, legacyName(e))
}
