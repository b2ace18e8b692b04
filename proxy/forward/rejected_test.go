package forward

import (
	"fmt"
	"testing"
)

// What is remembered of clients that reject us is bounded, the oldest is forgotten first.
func TestRejectionsAreBounded(t *testing.T) {
	var r rejections
	one := func(i int) rejection { return rejection{agent: fmt.Sprint(i), client: "c"} }
	for i := range maxRejections + 10 {
		r.add(one(i))
		r.add(one(i))
	}
	if len(r.known) != maxRejections || len(r.order) != maxRejections || r.has(one(9)) || !r.has(one(10)) {
		t.Errorf("%d and %d are remembered", len(r.known), len(r.order))
	}
}
