package cards

import (
	"slices"
	"strconv"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// A Face is the form of a dialect's cards.
type Face struct {
	version  string   // of the dialect, as messages name it
	foreign  []string // members that cards of other dialects have
	wordy    bool     // descriptions, tags and modes are required
	modes    bool     // each skill declares its input and output media types
	statuses bool     // tasks can show which statuses they had
	Address  func(a *Subject, g *Given, base string) jsonvalue.Object
	places   func(c *cardCheck) // checks the card's interfaces
	security func(c *cardCheck) // checks the card's declaration of credentials
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
	Face10 = &Face{
		version: "A2A 1.0", foreign: slices.Concat(members03, urls, before02), wordy: true,
		Address: addressed10, places: checkInterfaces10, security: checkSecurity10,
	}
	Face03 = &Face{
		version: "A2A 0.3", foreign: slices.Concat(members10, before02), wordy: true,
		Address: addressed03, places: checkPlaces03, security: checkSecurity03,
	}
	Face02 = &Face{
		version: "A2A 0.2", foreign: Face03.foreign, wordy: true,
		Address: addressed03, places: checkPlaces03, security: checkSecurity03,
	}
	Face01 = &Face{
		version: "A2A 0.1", foreign: slices.Concat(members10, schemes, members03),
		Address: addressed01, places: checkURL, security: checkSecurity01,
	}
	FaceLegacy = &Face{
		version: "the dialect before A2A 0.1", foreign: Face01.foreign, modes: true, statuses: true,
		Address: addressed01, places: checkURL, security: checkSecurity01,
	}
)

func (c *cardCheck) check() {
	face := c.Face
	for _, name := range face.foreign {
		if c.Has(name) {
			c.Complain(name, "is not a member of a card of "+face.version+", which this agent speaks")
		}
	}
	if c.Value("signatures") != nil {
		c.Complain("signatures", "would not hold, since the agent writes its address into the card")
	}
	c.Required("name")
	c.Required("version")
	if face.wordy {
		c.Required("description")
	} else {
		c.Text("description")
	}
	c.Text("iconUrl")
	c.Text("documentationUrl")
	if p, ok := c.Nested("provider"); ok {
		p.Required("organization")
	}
	c.checkCapabilities()
	c.mediaTypes(c.Fields, "defaultInputModes", face.wordy, true)
	c.mediaTypes(c.Fields, "defaultOutputModes", face.wordy, false)
	c.checkSkills()
	face.places(c)
	face.security(c)
}

// checkCapabilities reads the card's capabilities: the agent must support them, and offers no others (A2A 1.0 §4.4.3,
// 0.3 §5.5.2).
func (c *cardCheck) checkCapabilities() {
	if c.Boolean("supportsAuthenticatedExtendedCard") {
		c.Complain("supportsAuthenticatedExtendedCard", "is true, and beside this card there is no other")
	}
	f, ok := c.Nested("capabilities")
	if !ok {
		if c.Value("capabilities") == nil {
			c.Complain("capabilities", "is required")
		}
		return
	}
	c.given.Streaming = f.Boolean("streaming")
	if c.given.Streaming && !c.Streaming {
		f.Complain("streaming", "is true, and agent "+c.Agent+" does not stream")
	}
	switch push := f.Boolean("pushNotifications"); {
	case push && !c.Push:
		f.Complain("pushNotifications", "is true, and the agent was not told to offer push notifications")
	case !push && c.Push:
		f.Complain("pushNotifications", "is not true, and the agent was told to offer push notifications")
	}
	if f.Boolean("extendedAgentCard") {
		f.Complain("extendedAgentCard", "is true, and beside this card there is no other")
	}
	c.given.Statuses = f.Boolean("stateTransitionHistory")
	if c.given.Statuses && !c.Face.statuses {
		f.Complain("stateTransitionHistory", "is true, and tasks of agent "+c.Agent+" do not show their statuses")
	}
	if extensions, _ := model.As[[]any](f, "extensions", "an array"); len(extensions) > 0 {
		f.Complain("extensions", "are promised, and the agent has none")
	}
}

func (c *cardCheck) checkSkills() {
	face, ids := c.Face, map[string]bool{}
	for s := range c.Each("skills") {
		id := s.Required("id")
		if id != "" && ids[id] {
			s.Complain("id", "is "+strconv.Quote(id)+", as that of another skill")
		}
		ids[id] = true
		s.Required("name")
		if face.wordy || face.modes {
			s.Required("description")
		}
		if tags := s.Texts("tags"); face.wordy && len(tags) == 0 {
			s.Complain("tags", "must hold at least one tag")
		}
		s.Texts("examples")
		c.mediaTypes(s, "inputModes", face.modes, true)
		c.mediaTypes(s, "outputModes", face.modes, false)
	}
	if len(ids) == 0 {
		c.Complain("skills", "must hold at least one skill")
	}
}
