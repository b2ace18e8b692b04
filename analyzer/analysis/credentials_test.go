package analysis

import (
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func TestPrincipal(t *testing.T) {
	of := func(target string, fields ...string) Principal {
		head := capture.Head{Target: target}
		for i := 0; i < len(fields); i += 2 {
			head.Fields = append(head.Fields, capture.Field{Name: fields[i], Value: fields[i+1]})
		}
		x := NewExchange(Brief{}, head)
		first := principalOf(&head)
		if x.Principal() != first || x.Keep().Principal() != first {
			t.Errorf("%s %q: not the same when asked again", target, fields)
		}
		if bare := first == 0; bare != x.Bare() {
			t.Errorf("%s %q: Bare() = %v", target, fields, !bare)
		}
		return first
	}
	one := of("/tasks?pageToken=p&api_key=k", "Host", "h", "X-API-Key", "s", "authorization", "Bearer b", "Accept", "*/*")
	same := map[string]Principal{
		"another order, case and page": of("/tasks?api_key=k&pageToken=q", "Authorization", "Bearer b", "x-api-key", "s"),
		"another path":                 of("/rpc?api_key=k", "X-API-Key", "s", "Authorization", "Bearer b"),
	}
	for name, p := range same {
		if p != one {
			t.Errorf("%s: it is another principal", name)
		}
	}
	others := map[string]Principal{
		"another key":         of("/tasks?api_key=l", "X-API-Key", "s", "authorization", "Bearer b"),
		"values that changed": of("/tasks?api_key=s", "X-API-Key", "k", "authorization", "Bearer b"),
		"one less":            of("/tasks?api_key=k", "X-API-Key", "s"),
		"one twice":           of("/tasks?api_key=k", "X-API-Key", "s", "X-API-Key", "s", "authorization", "Bearer b"),
		"an empty one":        of("/tasks", "Authorization", ""),
		"an escaped name":     of("/tasks?%61pi_key=l"),
		"a session":           of("/tasks", "X-Session", "1"),
	}
	for name, p := range others {
		if p == one || p == 0 {
			t.Errorf("%s: principal %d, that of the first is %d", name, p, one)
		}
	}
	expect.Equal(t, "nothing: principal", 0, of("/tasks?pageToken=p&page_token=q", "Host", "h"))
}

// Secrets that were hidden with different keys say nothing about whether they are the same.
func TestPrincipalsOfTwoKeys(t *testing.T) {
	of := func(values ...string) Principal {
		x := &Exchange{}
		for _, v := range values {
			x.Request.Fields = append(x.Request.Fields, capture.Field{Name: "Authorization", Value: v})
		}
		return principalOf(&x.Request)
	}
	const (
		mine   = "Bearer redacted.0123456789abcdef.11111111"
		other  = "Bearer redacted.fedcba9876543210.11111111"
		theirs = "Bearer redacted.aaaaaaaaaaaaaaaa.22222222"
		old    = "Bearer redacted.0123456789abcdef"
	)
	for _, test := range []struct {
		a, b   Principal
		unlike bool
	}{
		{of(mine), of(mine), false},
		{of(mine), of(other), true},
		{of(mine), of(theirs), false},
		{of(mine), of(old), false},
		{of(old), of("Bearer redacted.fedcba9876543210"), true},
		{of(mine), of("Bearer plain"), false},
		{of("Bearer plain"), of("Bearer other"), true},
		{of(mine, theirs), of(theirs, mine), false},
		{of(mine, theirs), of(theirs, other), true},
		{of(mine), 0, false},
	} {
		if test.a.Unlike(test.b) != test.unlike || test.b.Unlike(test.a) != test.unlike {
			t.Errorf("%x and %x: unlike is not %v", test.a, test.b, test.unlike)
		}
	}
}

// It is worked out for each exchange.
func TestPrincipalAllocatesNothing(t *testing.T) {
	head := capture.Head{Target: "/rpc?key=k", Fields: capture.Fields{{Name: "Authorization", Value: "Bearer b"}}}
	expect.Equal(t, "allocations", 0, testing.AllocsPerRun(100, func() { principalOf(&head) }))
}
