package cards

import (
	"net/url"
	"slices"

	"a2atap/replay/refagent/internal/model"
)

// A cardCheck compares a card with the agent that should serve it. Problems are noted in the fields.
type cardCheck struct {
	model.Fields
	*Subject
	given *Given
}

// mediaTypes reads a list of media types; the agent accepts those that are inputs.
func (c *cardCheck) mediaTypes(f model.Fields, name string, needed, inputs bool) {
	listed := f.Texts(name)
	if needed && len(listed) == 0 {
		f.Complain(name, "must name at least one media type")
	}
	if inputs {
		for _, t := range listed {
			if !slices.Contains(c.given.Inputs, t) {
				c.given.Inputs = append(c.given.Inputs, t)
			}
		}
	}
}

// readURL checks an address. The agent serves its own address instead.
func (c *cardCheck) readURL(f model.Fields, name string) {
	s := f.Text(name)
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		f.Complain(name, "must be an absolute http or https URL; leave it out, and the agent writes its own")
	}
}
