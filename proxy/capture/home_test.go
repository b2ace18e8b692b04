package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHome(t *testing.T) {
	for _, h := range []Home{{Machine: "m"}, {Machine: "m", Ports: []uint16{9001}}, {Machine: "m", Ports: []uint16{1, 65535}}} {
		p := Peer{URL: h.String()}
		if got, ok := p.Home(); !ok || cmp.Diff(h, got) != "" {
			t.Errorf("%s is %+v, %v", p.URL, got, ok)
		}
	}
	if s := (Home{Ports: []uint16{1}}).String(); s != "" {
		t.Errorf("of no machine: %q", s)
	}
	for _, url := range []string{"", "process:", "process:/1", "process:m", "http://m/1"} {
		p := Peer{URL: url}
		if got, ok := p.Home(); ok {
			t.Errorf("%q is %+v", url, got)
		}
	}
	p := Peer{URL: "process:m/1,x,70000,1,2"}
	if got, _ := p.Home(); cmp.Diff([]uint16{1, 2}, got.Ports) != "" {
		t.Errorf("ports %v", got.Ports)
	}
}
