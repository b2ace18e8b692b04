package refagent

import (
	"net/url"
	"slices"
	"strconv"
)

// A cardFace is what the cards of a dialect look like.
type cardFace struct {
	version  string   // of the dialect, as messages name it
	foreign  []string // members that cards of other dialects have
	wordy    bool     // descriptions, tags and modes are required
	modes    bool     // each skill says which media types it takes and gives
	statuses bool     // tasks can show which statuses they had
	address  func(a *Agent, g *givenCard, base string) object
	places   func(c *cardCheck) // checks where the card says the agent is
	security func(c *cardCheck) // checks what the card says about credentials
}

// Members of cards that some dialects have and others do not.
var (
	members10 = []string{"supportedInterfaces", "securityRequirements"}
	members03 = []string{"protocolVersion", "preferredTransport", "additionalInterfaces", "security"}
	urls      = []string{"url"}
	schemes   = []string{"securitySchemes"}
	before02  = []string{"authentication"}
)

var (
	face10 = &cardFace{
		version: "A2A 1.0", foreign: slices.Concat(members03, urls, before02), wordy: true,
		address: addressed10, places: checkInterfaces10, security: checkSecurity10,
	}
	face03 = &cardFace{
		version: "A2A 0.3", foreign: slices.Concat(members10, before02), wordy: true,
		address: addressed03, places: checkPlaces03, security: checkSecurity03,
	}
	face02 = &cardFace{
		version: "A2A 0.2", foreign: face03.foreign, wordy: true,
		address: addressed03, places: checkPlaces03, security: checkSecurity03,
	}
	face01 = &cardFace{
		version: "A2A 0.1", foreign: slices.Concat(members10, schemes, members03),
		address: addressed01, places: checkURL, security: checkSecurity01,
	}
	faceLegacy = &cardFace{
		version: "the dialect before A2A 0.1", foreign: face01.foreign, modes: true, statuses: true,
		address: addressed01, places: checkURL, security: checkSecurity01,
	}
)

// A cardCheck holds a card against the agent that is to serve it. What is wrong is noted in the fields.
type cardCheck struct {
	fields
	profile *profile
	options Options
	given   *givenCard
}

func (c *cardCheck) check() {
	face := c.profile.face
	for _, name := range face.foreign {
		if c.has(name) {
			c.complain(name, "is not a member of a card of "+face.version+", which this agent speaks")
		}
	}
	if c.value("signatures") != nil {
		c.complain("signatures", "would not hold, since the agent writes its address into the card")
	}
	c.required("name")
	c.required("version")
	if face.wordy {
		c.required("description")
	} else {
		c.text("description")
	}
	c.text("iconUrl")
	c.text("documentationUrl")
	if p, ok := c.nested("provider"); ok {
		p.required("organization")
	}
	c.checkCapabilities()
	c.mediaTypes(c.fields, "defaultInputModes", face.wordy, true)
	c.mediaTypes(c.fields, "defaultOutputModes", face.wordy, false)
	c.checkSkills()
	face.places(c)
	face.security(c)
}

// mediaTypes reads a list of media types; the agent takes those that are inputs.
func (c *cardCheck) mediaTypes(f fields, name string, needed, inputs bool) {
	listed := f.texts(name)
	if needed && len(listed) == 0 {
		f.complain(name, "must name at least one media type")
	}
	if inputs {
		for _, t := range listed {
			if !slices.Contains(c.given.inputs, t) {
				c.given.inputs = append(c.given.inputs, t)
			}
		}
	}
}

// checkCapabilities reads what the card promises: the agent offers no more, and keeps it (A2A 1.0 §4.4.3,
// 0.3 §5.5.2).
func (c *cardCheck) checkCapabilities() {
	if c.boolean("supportsAuthenticatedExtendedCard") {
		c.complain("supportsAuthenticatedExtendedCard", "is true, and beside this card there is no other")
	}
	f, ok := c.nested("capabilities")
	if !ok {
		if c.value("capabilities") == nil {
			c.complain("capabilities", "is required")
		}
		return
	}
	c.given.streaming = f.boolean("streaming")
	if c.given.streaming && !c.profile.streaming {
		f.complain("streaming", "is true, and agent "+c.profile.name+" does not stream")
	}
	switch push := f.boolean("pushNotifications"); {
	case push && !c.options.Push:
		f.complain("pushNotifications", "is true, and the agent was not told to offer push notifications")
	case !push && c.options.Push:
		f.complain("pushNotifications", "is not true, and the agent was told to offer push notifications")
	}
	if f.boolean("extendedAgentCard") {
		f.complain("extendedAgentCard", "is true, and beside this card there is no other")
	}
	c.given.statuses = f.boolean("stateTransitionHistory")
	if c.given.statuses && !c.profile.face.statuses {
		f.complain("stateTransitionHistory", "is true, and tasks of agent "+c.profile.name+" do not show their statuses")
	}
	if extensions, _ := as[[]any](f, "extensions", "an array"); len(extensions) > 0 {
		f.complain("extensions", "are promised, and the agent has none")
	}
}

func (c *cardCheck) checkSkills() {
	face, ids := c.profile.face, map[string]bool{}
	for s := range c.each("skills") {
		id := s.required("id")
		if id != "" && ids[id] {
			s.complain("id", "is "+strconv.Quote(id)+", as that of another skill")
		}
		ids[id] = true
		s.required("name")
		if face.wordy || face.modes {
			s.required("description")
		}
		if tags := s.texts("tags"); face.wordy && len(tags) == 0 {
			s.complain("tags", "must hold at least one tag")
		}
		s.texts("examples")
		c.mediaTypes(s, "inputModes", face.modes, true)
		c.mediaTypes(s, "outputModes", face.modes, false)
	}
	if len(ids) == 0 {
		c.complain("skills", "must hold at least one skill")
	}
}

// readURL checks an address, in place of which the agent's own is served.
func (c *cardCheck) readURL(f fields, name string) {
	s := f.text(name)
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		f.complain(name, "must be an absolute http or https URL; leave it out, and the agent writes its own")
	}
}
