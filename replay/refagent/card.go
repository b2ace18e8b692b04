package refagent

// The cards of A2A 1.0 (§4.4.1, §8), and the skills of all cards.

// A servedCard is what cards say of an agent.
type servedCard struct {
	agent     string // its name
	face      *cardFace
	push      bool
	streaming bool
	transport string   // the name of the one binding of an agent before 1.0
	tenants   []string // of an agent without any the one without a name
	auth      *Credentials
	behave    func(*skill) *skill // what a skill of a given card becomes; nil leaves it as it is
	misfit    func(*skill) *skill // what becomes of the help for messages that fit none; nil leaves it as it is
}

// A cardSkill is an entry of a card's skills.
type cardSkill struct {
	id, name, description string
	tags                  []string
	example               string
}

func (s cardSkill) json() any {
	o := object{{"id", s.id}, {"name", s.name}, {"description", s.description}, {"tags", texts(s.tags...)}}
	if s.example != "" {
		o = append(o, member{"examples", texts(s.example)})
	}
	return o
}

var echoCardSkills = []cardSkill{
	{"echo", "Echo", "Sends back the text that it was sent.", []string{"echo", "test"}, ""},
}

var specCardSkills = []cardSkill{
	{
		"message-only", "Message Only", "Answers with a message and makes no task.",
		[]string{"message", "stateless"},
		"message-only hello world",
	},
	{
		"task-lifecycle", "Task Lifecycle", "Takes a task from submitted to completed and delivers an artifact.",
		[]string{"task", "lifecycle", "artifact"},
		"task-lifecycle process this",
	},
	{
		"task-failure", "Task Failure", "Makes a task that fails.",
		[]string{"task", "failure", "error"},
		"task-failure trigger error",
	},
	{
		"task-cancel", "Task Cancel", "Makes a task that works until it is canceled.",
		[]string{"task", "cancel"},
		"task-cancel start",
	},
	{
		"multi-turn", "Multi-Turn", "Asks for more input until it is told that all is done.",
		[]string{"multi-turn", "input-required", "conversation"},
		"multi-turn start conversation",
	},
	{
		"streaming", "Streaming", "Delivers one artifact in four chunks.",
		[]string{"streaming", "sse", "chunks"},
		"streaming generate output",
	},
	{
		"long-running", "Long Running", "Works in five slow steps, each with an artifact.",
		[]string{"long-running", "periodic", "polling"},
		"long-running start process",
	},
	{
		"data-types", "Data Types", "Delivers artifacts of text, data and a file.",
		[]string{"data-types", "json", "file", "multi-part"},
		"data-types show all",
	},
}

var adminCardSkill = cardSkill{
	"admin-status", "Admin Status", "Reports on the agent to those who may see the extended card.",
	[]string{"admin", "diagnostics"},
	"admin-status",
}

var spec03CardSkills = []cardSkill{
	{
		"message-only", "Message Only", "Answers with a message and makes no task.",
		[]string{"message"},
		"message-only hello",
	},
	{
		"task-lifecycle", "Task Lifecycle", "Takes a task from submitted to completed and delivers an artifact.",
		[]string{"task"},
		"task-lifecycle process",
	},
	{"task-failure", "Task Failure", "Makes a task that fails.", []string{"task"}, "task-failure trigger"},
	{"streaming", "Streaming", "Delivers one artifact in four chunks.", []string{"streaming"}, "streaming generate"},
}

const cardVersion = "1.0.0"

// interfaces10 are those of a 1.0 card: the same URL for both bindings, and for each tenant.
func interfaces10(a *servedCard, base string) []any {
	var all []any
	for _, tenant := range a.tenants {
		for _, b := range []binding{jsonRPC, httpJSON} {
			all = append(all, object{{"url", base}, {"protocolBinding", string(b)}, {"protocolVersion", "1.0"}}.
				optional("tenant", tenant))
		}
	}
	return all
}

// v10Card is what all 1.0 cards have in common.
func v10Card(
	a *servedCard, base, name, description string, capabilities object, outputs []string, skills []cardSkill,
) object {
	return object{
		{"name", name},
		{"description", description},
		{"supportedInterfaces", interfaces10(a, base)},
		{"version", cardVersion},
		{"capabilities", capabilities},
		{"defaultInputModes", texts("text/plain")},
		{"defaultOutputModes", texts(outputs...)},
		{"skills", values(skills, cardSkill.json)},
	}
}

func echoCard(a *servedCard, base string) object {
	return v10Card(a, base, "Echo Agent", "Answers every message with the same text.",
		object{{"streaming", false}, {"pushNotifications", a.push}}, []string{"text/plain"}, echoCardSkills)
}

var specOutputs = []string{"text/plain", "application/json", "image/svg+xml"}

// specCard declares the bearer scheme but no requirement: only the extended card is guarded.
func specCard(a *servedCard, base string) object {
	return v10Card(a, base, "AgentBin Spec Agent", "Shows every way in which a task can go.",
		object{{"streaming", true}, {"pushNotifications", a.push}, {"extendedAgentCard", true}},
		specOutputs, specCardSkills).
		with("securitySchemes", object{{"bearer_token", object{{"httpAuthSecurityScheme", object{{"scheme", "bearer"}}}}}})
}

func specExtendedCard(a *servedCard, base string) object {
	skills := append(specCardSkills[:len(specCardSkills):len(specCardSkills)], adminCardSkill)
	return specCard(a, base).
		with("name", "AgentBin Spec Agent (Extended)").
		with("skills", values(skills, cardSkill.json)).
		without("securitySchemes")
}
