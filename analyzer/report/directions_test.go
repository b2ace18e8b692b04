package report_test

import (
	"io"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

// between returns a result in which agents have these contacts: client, agent, and what was answered.
type contact struct {
	client, agent string
	cards, sends  int
	failed        int
	atOnce        int
}

func talking(contacts ...contact) *judgment.Result {
	r := &judgment.Result{Agents: []judgment.Agent{
		{Link: "planner", Contacts: map[string]judgment.Contact{}}, {Link: "booker", Contacts: map[string]judgment.Contact{}},
	}}
	for _, c := range contacts {
		for i := range r.Agents {
			if r.Agents[i].Link == c.agent && c.cards+c.sends > 0 {
				r.Agents[i].Contacts[c.client] = judgment.Contact{
					Operations: map[a2a.Operation]int{a2a.GetCard: c.cards, a2a.SendStreamingMessage: c.sends}, AtOnce: c.atOnce,
				}
			}
		}
		r.Calls = append(r.Calls, judgment.Calls{
			Link: analysis.Link{Client: c.client, Agent: c.agent}, Made: c.sends + c.failed, Succeeded: c.sends, Failed: c.failed,
			Failures: map[string]int{"unreachable": c.failed},
		})
	}
	return r
}

func TestDirectionsOfARecording(t *testing.T) {
	const observed, broken, not = report.DirectionObserved, report.DirectionBroken, report.DirectionNotObserved
	mixed := talking(contact{"planner", "booker", 1, 2, 0, 1})
	mixed.Findings = []analysis.Finding{{
		Rule: &analysis.Rule{ID: "id-get-echo", Family: "identity"}, Severity: analysis.Error, Side: a2a.Agent,
		Link: analysis.Link{Client: "planner", Agent: "booker"}, Seen: "another",
	}}
	alone := talking(contact{"planner", "booker", 1, 1, 0, 0}, contact{"booker", "planner", 0, 3, 0, 2})
	alone.Findings = mixed.Findings
	session := talking(contact{"planner", "booker", 1, 2, 0, 2}, contact{"booker", "planner", 0, 3, 0, 2})
	session.Findings = []analysis.Finding{{
		Rule: &analysis.Rule{ID: "id-session-echo-v01", Family: "identity"}, Severity: analysis.Note, Side: a2a.Agent,
		Link: analysis.Link{Client: "planner", Agent: "booker"}, Seen: "another session",
	}}
	for _, tt := range []struct {
		name   string
		result *judgment.Result
		want   []report.DirectionStatus
	}{
		{"nobody talks", talking(), nil},
		{"somebody else talks", talking(contact{"traveller", "booker", 1, 1, 0, 0}), nil},
		{"one way", talking(contact{"planner", "booker", 1, 2, 0, 0}), []report.DirectionStatus{observed, observed, not, not}},
		{"without a card", talking(contact{"planner", "booker", 0, 2, 0, 2}), []report.DirectionStatus{not, observed, not, not}},
		{
			"the other way", talking(contact{"booker", "planner", 1, 2, 0, 0}),
			[]report.DirectionStatus{observed, observed, not, not},
		},
		{
			"both ways, several at once",
			talking(contact{"planner", "booker", 1, 2, 0, 1}, contact{"booker", "planner", 0, 3, 0, 2}),
			[]report.DirectionStatus{observed, observed, observed, observed},
		},
		{
			"back, and refused",
			talking(contact{"planner", "booker", 1, 2, 0, 0}, contact{"booker", "planner", 0, 0, 3, 0}),
			[]report.DirectionStatus{observed, observed, broken, not},
		},
		{"mixed up", mixed, []report.DirectionStatus{observed, observed, not, broken}},
		{"another task, but only one was active", alone, []report.DirectionStatus{observed, observed, observed, not}},
		{"S0-5.5d: a mixed-up session", session, []report.DirectionStatus{observed, observed, observed, broken}},
	} {
		var got []report.DirectionStatus
		for _, d := range report.Directions(tt.result) {
			got = append(got, d.Status)
			if (d.How == "") != (d.Status == not) || d.How != "" && d.How != report.SeenBetween {
				t.Errorf("%s: %s is %s %q", tt.name, d.What, d.Status, d.How)
			}
		}
		expect.Same(t, tt.name, tt.want, got)
	}
}

// People see what was recorded between agents in a row for each two of them, under a heading, and why something is broken.
func TestDirectionsOfARecordingInWords(t *testing.T) {
	r := whole(talking(contact{"planner", "booker", 1, 2, 0, 0}, contact{"booker", "planner", 0, 0, 3, 0}), few...)
	r.Result.Counts.Exchanges = 6
	r.Directions = report.Directions(r.Result)
	for _, tt := range []struct {
		name  string
		write func(w io.Writer, r *report.Report) error
		want  []string
	}{
		{"text", report.Text, []string{
			"\nbetween agents\n", "\nclient → agent    reads its card  sends tasks  receives tasks  both at once\n",
			"\nplanner → booker  observed        observed     broken          not observed\n",
			"\nbroken: booker sends a task to planner: ",
		}},
		{"markdown", report.Markdown, []string{
			"\n## Between agents\n", "| planner → booker | observed | observed | broken | not observed |\n",
			"\nBroken: booker sends a task to planner: ",
		}},
	} {
		b := written(t, tt.write, r)
		for _, want := range tt.want {
			if !strings.Contains(b, want) {
				t.Errorf("%s: no %q in\n%s", tt.name, want, b)
			}
		}
	}
}

// A chain of agents that call in one direction only has no columns about the way back, unless tasks were mixed up.
func TestDirectionsOfAOneWayChain(t *testing.T) {
	r := whole(talking(contact{"planner", "booker", 1, 2, 0, 1}), few...)
	r.Result.Counts.Exchanges = 3
	for _, mixed := range []bool{false, true} {
		head, row := "\nclient → agent    reads its card  sends tasks\n", "\nplanner → booker  observed        observed\n"
		if mixed {
			head = "\nclient → agent    reads its card  sends tasks  receives tasks  both at once\n"
			row = "\nplanner → booker  observed        observed     not observed    broken\n"
			r.Result.Findings = []analysis.Finding{{
				Rule: &analysis.Rule{ID: "id-get-echo", Family: "identity"}, Severity: analysis.Error, Side: a2a.Agent,
				Link: analysis.Link{Client: "planner", Agent: "booker"}, Seen: "another",
			}}
		}
		r.Directions = report.Directions(r.Result)
		if got := written(t, report.Text, r); !strings.Contains(got, head) || !strings.Contains(got, row) {
			t.Errorf("mixed up %t: want %q and %q in\n%s", mixed, head, row, got)
		}
	}
}

// Each two agents that talk to each other have their directions, whichever was called first.
func TestDirectionsOfManyAgents(t *testing.T) {
	r := &judgment.Result{}
	for _, agent := range []string{"planner", "hotels", "flights", "cars"} {
		a := judgment.Agent{Link: agent, Contacts: map[string]judgment.Contact{}}
		if agent != "planner" {
			a.Contacts["planner"] = judgment.Contact{Operations: map[a2a.Operation]int{a2a.SendMessage: 1}}
			r.Calls = append(r.Calls, judgment.Calls{Link: analysis.Link{Client: "planner", Agent: agent}, Made: 1, Succeeded: 1})
		}
		r.Agents = append(r.Agents, a)
	}
	var got []string
	for _, d := range report.Directions(r) {
		if d.ID == report.Send {
			got = append(got, d.What+": "+string(d.Status))
		}
	}
	want := []string{
		"planner sends a task to hotels: observed", "planner sends a task to flights: observed",
		"planner sends a task to cars: observed",
	}
	expect.Same(t, "", want, got)
}
