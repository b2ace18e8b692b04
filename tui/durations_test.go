package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
)

// TestDurationOfClientThatLeft shows an exchange whose client left after 1.0 s, and whose agent answered after 3.0 s. Each
// panel has the client's duration.
func TestDurationOfClientThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := streamed(strings.NewReplacer())
		x.Seq = 1
		x.Ended, x.Response.Body.At = 3*time.Second, 3*time.Second
		x.Fault = &capture.TransportFault{Kind: "client-left", Side: "client", Detail: "client left after 1.0 s"}
		x.Ends = []capture.SideEnd{{Side: "client", How: capture.EndClose, At: time.Second}}
		u := newUI(t, recorded(t, "left.txtar", []*capture.Exchange{x}), 200, 80, Options{})
		u.sees(" 1.000s ", "ended after 1.000s")
		u.press("enter")
		u.sees("ended after 1.000s")
		u.press("q", "l", "tab")
		u.sees("ended after 1.000s")
	})
}
