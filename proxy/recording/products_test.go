package recording

import "testing"

// The product of a User-Agent does not name a client whose process was not seen if an agent has sent it.
func TestProductsOfUnseenClients(t *testing.T) {
	t.Parallel()
	found := func(name string, unseen bool) *Caller {
		c := &Caller{Done: make(chan struct{}), Name: name, Unseen: unseen}
		close(c.Done)
		return c
	}
	for _, tt := range []struct {
		name    string
		callers []*Caller // that have sent the product
		want    bool
	}{
		{"unknown product", nil, false},
		{"process not seen", []*Caller{found("", true)}, false},
		{"search not over", []*Caller{{Done: make(chan struct{})}}, false},
		{"client that is not searched for", []*Caller{nil}, false},
		{"other program", []*Caller{found("", false)}, false},
		{"agent", []*Caller{found("planner", false)}, true},
		{"other program, then agent", []*Caller{found("", false), found("planner", false)}, true},
		{"agent, then other program", []*Caller{found("planner", false), found("", false)}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := make(products)
			for _, c := range tt.callers {
				p.note("curl", c)
			}
			if got := p["curl"]; got != tt.want {
				t.Errorf("sent by an agent: %t, want %t", got, tt.want)
			}
		})
	}
}

// A process that reads cards with one library and calls over gRPC with another is one client; one that sends other products
// plays several.
func TestNamesOfPrograms(t *testing.T) {
	t.Parallel()
	caller := func(process int) *Caller {
		c := &Caller{Done: make(chan struct{}), Process: process}
		close(c.Done)
		return c
	}
	type sent struct {
		by            *Caller
		product, name string
	}
	for _, tt := range []struct {
		name string
		sent []sent
	}{
		{"card, then gRPC", []sent{{caller(1), "Go-http-client", "Go-http-client"}, {caller(1), "grpc-go", "Go-http-client"}}},
		{"gRPC, then card", []sent{{caller(1), "grpc-node-js", "grpc-node-js"}, {caller(1), "node", "grpc-node-js"}}},
		{"two programs", []sent{{caller(1), "python-httpx", "python-httpx"}, {caller(2), "grpc-python-asyncio", "grpc-python-asyncio"}}},
		{"two clients in one program", []sent{{caller(1), "planner", "planner"}, {caller(1), "booker", "booker"}, {caller(1), "grpc-go", "grpc-go"}}},
		{"process not found", []sent{{caller(0), "node", "node"}, {caller(0), "grpc-node-js", "grpc-node-js"}}},
		{"search not over", []sent{{caller(1), "node", "node"}, {&Caller{Done: make(chan struct{}), Process: 1}, "grpc-node-js", "grpc-node-js"}}},
		{"client that is not searched for", []sent{{nil, "node", "node"}, {nil, "grpc-node-js", "grpc-node-js"}}},
	} {
		p := make(programs)
		for _, s := range tt.sent {
			if got := p.name(s.product, s.by); got != s.name {
				t.Errorf("%s: %s is named %q, want %q", tt.name, s.product, got, s.name)
			}
		}
	}
}

func TestProductsAreBounded(t *testing.T) {
	t.Parallel()
	p, of, c := make(products), make(programs), &Caller{Done: make(chan struct{})}
	close(c.Done)
	for i := range 2 * maxProducts {
		p.note(string(rune('a'+i)), c)
		of.name("curl", &Caller{Done: c.Done, Process: i + 1})
	}
	if len(p) != maxProducts || len(of) != maxPrograms {
		t.Errorf("%d products and %d programs, want %d and %d", len(p), len(of), maxProducts, maxPrograms)
	}
}
