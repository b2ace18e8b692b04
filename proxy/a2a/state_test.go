package a2a_test

import (
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

func TestStates(t *testing.T) {
	tests := []struct {
		state      a2a.State
		old, now   string
		in0_1      bool
		isTerminal bool
		waits      bool
		active     bool
	}{
		{a2a.Submitted, "submitted", "TASK_STATE_SUBMITTED", true, false, false, true},
		{a2a.Working, "working", "TASK_STATE_WORKING", true, false, false, true},
		{a2a.Completed, "completed", "TASK_STATE_COMPLETED", true, true, false, false},
		{a2a.Failed, "failed", "TASK_STATE_FAILED", true, true, false, false},
		{a2a.Canceled, "canceled", "TASK_STATE_CANCELED", true, true, false, false},
		{a2a.Rejected, "rejected", "TASK_STATE_REJECTED", false, true, false, false},
		{a2a.InputRequired, "input-required", "TASK_STATE_INPUT_REQUIRED", true, false, true, false},
		{a2a.AuthRequired, "auth-required", "TASK_STATE_AUTH_REQUIRED", false, false, true, false},
		{a2a.Unspecified, "unknown", "TASK_STATE_UNSPECIFIED", true, false, false, false},
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
		if s.Spelling(a2a.V0_1) != old || s.Spelling(a2a.V0_3) != test.old || s.Spelling(a2a.V1_0) != test.now ||
			s.String() != test.old {
			t.Errorf("%v is spelt %q, %q, %q", s, s.Spelling(a2a.V0_1), s.Spelling(a2a.V0_3), s.Spelling(a2a.V1_0))
		}
		for _, spelling := range []string{test.old, test.now} {
			if got, ok := a2a.ParseState(spelling); got != s || !ok {
				t.Errorf("ParseState(%q) = %v, %v", spelling, got, ok)
			}
			expect.Equal(t, "StateOf("+spelling+")", s, a2a.StateOf(" "+spelling))
		}
		if s.Known() != (s != a2a.Unspecified) {
			t.Errorf("%v: Known = %v", s, s.Known())
		}
	}
	if got, ok := a2a.ParseState("TASK_STATE_CANCELLED"); got != a2a.Canceled || !ok {
		t.Errorf("two Ls: %v, %v", got, ok)
	}
	for _, wrong := range []string{"", "done", "Completed", "cancelled", "input_required"} {
		if got, ok := a2a.ParseState(wrong); got != a2a.NoState || ok {
			t.Errorf("ParseState(%q) = %v, %v", wrong, got, ok)
		}
	}
	for text, want := range map[string]a2a.State{
		"Cancelled": a2a.Canceled, "INPUT_REQUIRED": a2a.InputRequired,
		"input required": a2a.InputRequired, "unspecified": a2a.Unspecified, "done": a2a.NoState,
	} {
		expect.Equal(t, "StateOf("+text+")", want, a2a.StateOf(text))
	}
	if a2a.NoState.Known() || a2a.NoState.Terminal() || a2a.NoState.String() != "" || a2a.State(77).String() != "" {
		t.Error("no state says something")
	}
}

func TestRoles(t *testing.T) {
	for spelling, want := range map[string]a2a.Role{
		"user": a2a.UserRole, "agent": a2a.AgentRole, "ROLE_USER": a2a.UserRole,
		"ROLE_AGENT": a2a.AgentRole, "ROLE_UNSPECIFIED": a2a.NoRole,
	} {
		if got, ok := a2a.ParseRole(spelling); got != want || !ok {
			t.Errorf("ParseRole(%q) = %v, %v", spelling, got, ok)
		}
	}
	for _, wrong := range []string{"", "User", "assistant", "ROLE_user"} {
		if _, ok := a2a.ParseRole(wrong); ok {
			t.Errorf("ParseRole(%q) knows it", wrong)
		}
	}
	if a2a.RoleOf("Role_Agent") != a2a.AgentRole || a2a.RoleOf("USER") != a2a.UserRole || a2a.RoleOf("system") != a2a.NoRole {
		t.Error("RoleOf does not take every spelling")
	}
	if a2a.UserRole.Spelling(a2a.V1_0) != "ROLE_USER" || a2a.AgentRole.Spelling(a2a.V0_2) != "agent" || a2a.NoRole.Spelling(a2a.V1_0) != "" {
		t.Error("roles are spelt wrongly")
	}
}
