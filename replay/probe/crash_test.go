package probe

import (
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// S0-4.7: of cases that ran in parallel, the one that most likely crashed the agent comes first.
func TestOrderOfSuspects(t *testing.T) {
	r := &runner{answered: map[string]bool{"get": true, "send": true}}
	order := []reach{ // the expected order
		{3, 5, "new"},
		{3, 4, "other"},
		{2, 8, "stream"},
		{3, 9, "get"},
		{3, 7, "send"},
		{2, 6, "send"},
		{1, 10, "new"},
		{},
	}
	got := slices.Clone(order)
	slices.Reverse(got)
	slices.SortStableFunc(got, r.suspicion)
	expect.Same(t, "the order", order, got)
}

// Requests are of one kind if they differ only in values.
func TestKindsOfRequests(t *testing.T) {
	kind := func(line, body string) string {
		head := line + " HTTP/1.1\r\nHost: agent.example\r\n\r\n"
		return kindOf(&capture.Exchange{Request: capture.Request{Head: []byte(head), Body: capture.Body{Data: []byte(body)}}})
	}
	get := func(id string) string {
		return kind("POST /", `{"jsonrpc":"2.0","id":"`+id+`","method":"tasks/get","params":{"id":"`+id+`"}}`)
	}
	expect.Equal(t, "another task", get("a"), get("b"))
	const one, two = "11111111-2222-3333-4444-555555555555", "aaaaaaaa-2222-3333-4444-555555555555"
	expect.Equal(t, "another path", kind("GET /tasks/"+one, ""), kind("GET /tasks/"+two, ""))
	kinds := []string{
		get("a"), kind("POST /", `{"jsonrpc":"2.0","id":"a","method":"tasks/cancel","params":{"id":"a"}}`),
		kind("POST /", `{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":{"id":"a","historyLength":1}}`),
		kind("POST /", `[]`), kind("POST /", `{"not":1}`), kind("GET /tasks/"+one, ""), kind("POST /tasks/"+one+":cancel", ""),
	}
	slices.Sort(kinds)
	if n := len(slices.Compact(kinds)); n != 7 {
		t.Errorf("%d kinds: %s", n, strings.Join(kinds, "; "))
	}
}
