package filter_test

import (
	"strconv"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestMayMatch(t *testing.T) {
	for expr, want := range map[string]bool{
		"":                                     true,
		"workflow:3":                           true,
		"workflow:4":                           false,
		"workflow:>3":                          false,
		"workflow:2..5 op:GetTask":             true,
		"workflow:4 op:GetTask":                false,
		"workflow:4 or op:GetTask":             true,
		"workflow:4 or workflow:5":             false,
		"not workflow:3":                       false,
		"not workflow:4":                       true,
		"not (workflow:3 or op:GetTask)":       false,
		"not (workflow:3 op:GetTask)":          true,
		"kyoto (not workflow:3 or workflow:9)": false,
		"n:4":                                  true,
	} {
		expect.Equal(t, expr+" with workflow 3", want, must.Get(filter.Parse(expr))(t).MayMatch("workflow", 3))
	}
}

// inWorkflow are the facts of an exchange in a workflow.
type inWorkflow int64

func (w inWorkflow) Values(key string) []string {
	if key == "workflow" {
		return []string{strconv.FormatInt(int64(w), 10)}
	}
	return nil
}

func (w inWorkflow) Normalize(_, word string) string { return word }

// What may not match does not match, whatever the expression.
func FuzzMayMatch(f *testing.F) {
	for _, expr := range []string{
		"workflow:3", "not (workflow:<3 or n:1) dur:>2s", "-workflow:1..2 or kyoto", "n:1 -workflow:9",
	} {
		f.Add(expr, int64(3))
	}
	x := &capture.Exchange{Seq: 1, Ended: 3e9, Request: capture.Request{Head: []byte("GET /kyoto HTTP/1.1\r\n\r\n")}}
	f.Fuzz(func(t *testing.T, expr string, workflow int64) {
		filter, err := filter.Parse(expr)
		if err != nil {
			return
		}
		if filter.Match(x, inWorkflow(workflow)) && !filter.MayMatch("workflow", workflow) {
			t.Errorf("%q matches in workflow %d, and is said not to", expr, workflow)
		}
	})
}
