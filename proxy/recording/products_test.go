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

func TestProductsAreBounded(t *testing.T) {
	t.Parallel()
	p, c := make(products), &Caller{Done: make(chan struct{})}
	close(c.Done)
	for i := range 2 * maxProducts {
		p.note(string(rune('a'+i)), c)
	}
	if len(p) != maxProducts {
		t.Errorf("%d products, want %d", len(p), maxProducts)
	}
}
