package a2a

import "strings"

// A State is the state of a task, in any dialect. The zero State means that the state is missing or its spelling is
// unknown.
type State uint8

// The states (A2A 0.1 §6.3, 0.2 §6.3, 0.3 §6.3, 1.0 §4.1.3).
const (
	NoState State = iota
	Submitted
	Working
	Completed
	Failed
	Canceled
	Rejected      // since 0.2
	InputRequired //
	AuthRequired  // since 0.2
	Unspecified   // "unknown" before 1.0: it has no information, and never proves anything
)

// A stateRow is a state as the dialects spell it.
type stateRow struct {
	name  string   // in 0.x JSON-RPC, and ours
	proto string   // in 1.0
	in    Dialects // that have it
}

var states = [...]stateRow{
	NoState:       {},
	Submitted:     {"submitted", "TASK_STATE_SUBMITTED", allDialects},
	Working:       {"working", "TASK_STATE_WORKING", allDialects},
	Completed:     {"completed", "TASK_STATE_COMPLETED", allDialects},
	Failed:        {"failed", "TASK_STATE_FAILED", allDialects},
	Canceled:      {"canceled", "TASK_STATE_CANCELED", allDialects},
	Rejected:      {"rejected", "TASK_STATE_REJECTED", kindDialects | onlyV1_0},
	InputRequired: {"input-required", "TASK_STATE_INPUT_REQUIRED", allDialects},
	AuthRequired:  {"auth-required", "TASK_STATE_AUTH_REQUIRED", kindDialects | onlyV1_0},
	Unspecified:   {"unknown", "TASK_STATE_UNSPECIFIED", allDialects},
}

// cancelled is how the proto files before 1.0 spell TASK_STATE_CANCELED.
const cancelled = "TASK_STATE_CANCELLED"

// ParseState returns the state for a spelling in any dialect, and whether the spelling is known: "input-required",
// "TASK_STATE_INPUT_REQUIRED", and "TASK_STATE_CANCELLED" of the proto files before 1.0.
func ParseState(spelling string) (state State, known bool) {
	state, known = stateSpellings[spelling]
	return state, known
}

// stateSpellings has all spellings of ParseState.
var stateSpellings = func() map[string]State {
	all := map[string]State{cancelled: Canceled}
	for s := Submitted; int(s) < len(states); s++ {
		all[states[s].name], all[states[s].proto] = s, s
	}
	return all
}()

// SpellingDialects returns the dialects that spell a state or a role this way, over JSON-RPC; the empty set if no
// dialect does.
func SpellingDialects(v Value) Dialects {
	text := v.Word(words)
	_, state := ParseState(text)
	_, role := ParseRole(text)
	switch {
	case !state && !role:
		return 0
	case strings.HasPrefix(text, "TASK_STATE_"), strings.HasPrefix(text, "ROLE_"):
		return onlyV1_0
	}
	return before1
}

// words are texts that occur in most messages, each under itself: see Value.Word.
var words = func() map[string]string {
	all := map[string]string{"user": "user", "agent": "agent", "ROLE_USER": "ROLE_USER", "ROLE_AGENT": "ROLE_AGENT"}
	for spelling := range stateSpellings {
		all[spelling] = spelling
	}
	for method := range methods {
		all[method] = method
	}
	return all
}()

// separators are written "-" in the names of states.
var separators = strings.NewReplacer("_", "-", " ", "-")

// StateOf returns the state for a text that a user typed: any spelling of ParseState, in any case, with "_", "-" or " "
// between words, and "cancelled". It returns NoState for anything else.
func StateOf(text string) State {
	if state, known := ParseState(text); known {
		return state
	}
	text = strings.TrimPrefix(separators.Replace(strings.ToLower(strings.TrimSpace(text))), "task-state-")
	switch text {
	case "cancelled":
		return Canceled
	case "unspecified":
		return Unspecified
	}
	state, _ := ParseState(text)
	return state
}

// String returns the name of the state as 0.x spells it, such as "input-required"; "unknown" for Unspecified, "" for
// NoState.
func (s State) String() string {
	if int(s) < len(states) {
		return states[s].name
	}
	return ""
}

// Spelling returns how a dialect writes the state, over JSON-RPC; "" if it has no such state.
func (s State) Spelling(d Dialect) string {
	switch {
	case int(s) >= len(states) || !states[s].in.Has(d):
		return ""
	case d == V1_0:
		return states[s].proto
	}
	return states[s].name
}

// Known reports whether the state is neither NoState nor Unspecified.
func (s State) Known() bool { return s != NoState && s != Unspecified }

// Terminal reports whether the task has ended: completed, failed, canceled or rejected.
func (s State) Terminal() bool {
	return s == Completed || s == Failed || s == Canceled || s == Rejected
}

// Interrupted reports whether the task waits for input or for authorization.
func (s State) Interrupted() bool { return s == InputRequired || s == AuthRequired }

// Active reports whether the task is submitted or working.
func (s State) Active() bool { return s == Submitted || s == Working }

// A Role is the author of a message. The zero Role means that the role is missing or its spelling is unknown.
type Role uint8

// The roles.
const (
	NoRole Role = iota
	UserRole
	AgentRole
)

// ParseRole returns the role for a spelling in any dialect, and whether the spelling is known: "user", "agent",
// "ROLE_USER", "ROLE_AGENT". "ROLE_UNSPECIFIED" is a spelling of NoRole.
func ParseRole(spelling string) (role Role, known bool) {
	switch spelling {
	case "user", "ROLE_USER":
		return UserRole, true
	case "agent", "ROLE_AGENT":
		return AgentRole, true
	case "ROLE_UNSPECIFIED":
		return NoRole, true
	}
	return NoRole, false
}

// RoleOf returns the role for a text that a user typed: any spelling of ParseRole, in any case.
func RoleOf(text string) Role {
	role, _ := ParseRole(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "role_"))
	return role
}

// String returns "user", "agent", or "" for NoRole.
func (r Role) String() string {
	switch r {
	case UserRole:
		return "user"
	case AgentRole:
		return "agent"
	}
	return ""
}

// Spelling returns how a dialect writes the role, over JSON-RPC; "" for NoRole.
func (r Role) Spelling(d Dialect) string {
	if d == V1_0 && r != NoRole {
		return "ROLE_" + strings.ToUpper(r.String())
	}
	return r.String()
}
