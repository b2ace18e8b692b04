package peers

import (
	"fmt"
	"regexp"
	"strings"
)

// An Observation is one thing that a client saw: an answer, an event of a stream, an error, a line of the card. Values
// are as the SDK hands them to its user, ids included. Programs print one Observation per line as JSON.
type Observation struct {
	Step string `json:"step"` // the part of the script
	// Kind is card, interface, message, task, status, artifact, config, configs, list, notification, error or done.
	Kind      string   `json:"kind"`
	State     string   `json:"state,omitempty"`     // a task's state, in the SDK's spelling
	Text      string   `json:"text,omitempty"`      // of a message, of a status, of an artifact's chunk, of an error
	Artifacts []string `json:"artifacts,omitempty"` // the text of each artifact of a task
	History   int      `json:"history,omitempty"`   // the number of messages in a task's history
	Append    bool     `json:"append,omitempty"`    // of an artifact's chunk
	Last      bool     `json:"last,omitempty"`      // of an artifact's chunk
	Final     bool     `json:"final,omitempty"`     // of a status, A2A 0.3 section 7.2.2
	Code      string   `json:"code,omitempty"`      // of an error, as the SDK names it
	URL       string   `json:"url,omitempty"`       // of an interface or of a push configuration
	Note      string   `json:"note,omitempty"`      // what else there is to say: binding and version, a token
	Count     int      `json:"count,omitempty"`     // the length of a list

	Task     string `json:"task,omitempty"`     // ids, which [Lines] renames
	Context  string `json:"context,omitempty"`  //
	Artifact string `json:"artifact,omitempty"` //
	Config   string `json:"config,omitempty"`   //
}

// Lines renders what a client saw, one line each, so that two runs of the same script give the same lines. Ids are
// renamed by role and order of appearance (task-1, context-2), also inside texts; the two origins are written {agent}
// and {webhook}, the address of a gRPC interface {grpc}, and times inside texts {time}. Nothing else is changed:
// another origin in a card or in an answer stays visible.
func Lines(seen []Observation, agentURL, webhookURL string) []string {
	names := newRenamer(agentURL, webhookURL)
	lines := make([]string, 0, len(seen))
	for _, s := range seen {
		lines = append(lines, names.line(s))
	}
	return lines
}

// timestamp matches a time as RFC 3339 section 5.6 writes it; some agents put one into their errors.
var timestamp = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)

// A renamer gives the same short name to the same id.
type renamer struct {
	names    map[string]string // by id
	counts   map[string]int    // by role
	replacer *strings.Replacer // for ids inside texts
	pairs    []string          // old, new, …: what replacer was made of
}

func newRenamer(agentURL, webhookURL string) *renamer {
	pairs := []string{agentURL, "{agent}", webhookURL, "{webhook}"}
	return &renamer{
		names:    map[string]string{},
		counts:   map[string]int{},
		pairs:    pairs,
		replacer: strings.NewReplacer(pairs...),
	}
}

func (r *renamer) rename(role, id string) string {
	if id == "" {
		return ""
	}
	name, known := r.names[id]
	if !known {
		r.counts[role]++
		name = fmt.Sprintf("%s-%d", role, r.counts[role])
		r.names[id] = name
		r.pairs = append(r.pairs, id, name)
		r.replacer = strings.NewReplacer(r.pairs...)
	}
	return name
}

func (r *renamer) line(s Observation) string {
	words := []string{s.Step + ": " + s.Kind}
	add := func(key, value string) {
		if value != "" {
			words = append(words, key+value)
		}
	}
	flag := func(name string, set bool) {
		if set {
			words = append(words, name)
		}
	}
	number := func(key string, n int) {
		if n != 0 {
			words = append(words, fmt.Sprintf("%s%d", key, n))
		}
	}
	add("", r.rename("task", s.Task))
	add("", r.rename("context", s.Context))
	add("", r.rename("artifact", s.Artifact))
	add("", r.rename("config", s.Config))
	add("", s.State)
	add("code=", s.Code)
	flag("append", s.Append)
	flag("last", s.Last)
	flag("final", s.Final)
	number("count=", s.Count)
	number("history=", s.History)
	add("", r.replacer.Replace(s.Note))
	if s.Kind == "interface" && strings.HasPrefix(s.Note, GRPC) {
		s.URL = "{grpc}" // host and port, which are the tap's or the agent's own
	}
	add("", r.replacer.Replace(s.URL))
	if s.Text != "" {
		text := timestamp.ReplaceAllString(r.replacer.Replace(s.Text), "{time}")
		words = append(words, fmt.Sprintf("%q", text))
	}
	if len(s.Artifacts) > 0 {
		words = append(words, fmt.Sprintf("artifacts=%q", s.Artifacts))
	}
	return strings.Join(words, " ")
}
