package a2a

import "testing"

func TestStates(t *testing.T) {
	tests := []struct {
		state      State
		old, now   string
		in0_1      bool
		isTerminal bool
		waits      bool
		active     bool
	}{
		{Submitted, "submitted", "TASK_STATE_SUBMITTED", true, false, false, true},
		{Working, "working", "TASK_STATE_WORKING", true, false, false, true},
		{Completed, "completed", "TASK_STATE_COMPLETED", true, true, false, false},
		{Failed, "failed", "TASK_STATE_FAILED", true, true, false, false},
		{Canceled, "canceled", "TASK_STATE_CANCELED", true, true, false, false},
		{Rejected, "rejected", "TASK_STATE_REJECTED", false, true, false, false},
		{InputRequired, "input-required", "TASK_STATE_INPUT_REQUIRED", true, false, true, false},
		{AuthRequired, "auth-required", "TASK_STATE_AUTH_REQUIRED", false, false, true, false},
		{Unspecified, "unknown", "TASK_STATE_UNSPECIFIED", true, false, false, false},
	}
	for _, test := range tests {
		s := test.state
		if s.Terminal() != test.isTerminal || s.Interrupted() != test.waits || s.Active() != test.active {
			t.Errorf("%v is in the wrong class", s)
		}
		old := test.old
		if !test.in0_1 {
			old = ""
		}
		if s.Spelling(V0_1) != old || s.Spelling(V0_3) != test.old || s.Spelling(V1_0) != test.now ||
			s.String() != test.old {
			t.Errorf("%v is spelt %q, %q, %q", s, s.Spelling(V0_1), s.Spelling(V0_3), s.Spelling(V1_0))
		}
		for _, spelling := range []string{test.old, test.now} {
			if got, ok := ParseState(spelling); got != s || !ok {
				t.Errorf("ParseState(%q) = %v, %v", spelling, got, ok)
			}
			if got := StateOf(" " + spelling); got != s {
				t.Errorf("StateOf(%q) = %v", spelling, got)
			}
		}
		if s.Known() != (s != Unspecified) {
			t.Errorf("%v: Known = %v", s, s.Known())
		}
	}
	if got, ok := ParseState("TASK_STATE_CANCELLED"); got != Canceled || !ok {
		t.Errorf("two Ls: %v, %v", got, ok)
	}
	for _, wrong := range []string{"", "done", "Completed", "cancelled", "input_required"} {
		if got, ok := ParseState(wrong); got != NoState || ok {
			t.Errorf("ParseState(%q) = %v, %v", wrong, got, ok)
		}
	}
	for text, want := range map[string]State{
		"Cancelled": Canceled, "INPUT_REQUIRED": InputRequired,
		"input required": InputRequired, "unspecified": Unspecified, "done": NoState,
	} {
		if got := StateOf(text); got != want {
			t.Errorf("StateOf(%q) = %v, want %v", text, got, want)
		}
	}
	if NoState.Known() || NoState.Terminal() || NoState.String() != "" || State(77).String() != "" {
		t.Error("no state says something")
	}
}

func TestRoles(t *testing.T) {
	for spelling, want := range map[string]Role{
		"user": UserRole, "agent": AgentRole, "ROLE_USER": UserRole,
		"ROLE_AGENT": AgentRole, "ROLE_UNSPECIFIED": NoRole,
	} {
		if got, ok := ParseRole(spelling); got != want || !ok {
			t.Errorf("ParseRole(%q) = %v, %v", spelling, got, ok)
		}
	}
	for _, wrong := range []string{"", "User", "assistant", "ROLE_user"} {
		if _, ok := ParseRole(wrong); ok {
			t.Errorf("ParseRole(%q) knows it", wrong)
		}
	}
	if RoleOf("Role_Agent") != AgentRole || RoleOf("USER") != UserRole || RoleOf("system") != NoRole {
		t.Error("RoleOf does not take every spelling")
	}
	if UserRole.Spelling(V1_0) != "ROLE_USER" || AgentRole.Spelling(V0_2) != "agent" || NoRole.Spelling(V1_0) != "" {
		t.Error("roles are spelt wrongly")
	}
}
