package shipper

import (
	"bytes"
	"context"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/shipment"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/fleet"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// A brokenSpool is a capture whose reading is our mistake.
type brokenSpool struct{ fleet.Spool }

func (brokenSpool) Blocks(context.Context, uint64) iter.Seq2[bolt.Block, error] { panic("a mistake") }

// If a bug of a2atap ends shipping, that is reported at once, not only at the end of the recording.
func TestShippingThatBrokeIsSaidAtOnce(t *testing.T) {
	server := fleettest.Start(t)
	address := must.Get(fleet.ParseAddress(server.URL("traffic")))(t)
	file := cmdtest.OneExchange(t, filepath.Join(t.TempDir(), "c.a2atap"), 1)
	src := must.Get(bolt.Read(file))(t)
	defer src.Close()
	to := &shipment.To{Address: address, Options: fleet.ShipOptions{Host: "here"}}
	events := make(chan shipment.Event, 10)
	s := shipment.Start(to, file, brokenSpool{src}, nil, func(v shipment.Event) { events <- v })
	defer s.Stop()
	for _, want := range []string{"shipping to", "nothing is lost: shipping has ended"} {
		select {
		case v := <-events:
			expect.Contains(t, "it says", want, v.Text)
		case <-time.After(must.Patience):
			t.Fatalf("nobody is told: %s", want)
		}
	}
	var out bytes.Buffer
	printer := &present.Recorded{Env: cli.Env{Err: &out, Out: io.Discard}}
	if err := (&Options{Follow: true}).ship(t.Context(), printer, to, file, brokenSpool{src}); err == nil {
		t.Error("shipping broke, and it is no error")
	}
	if said := out.String(); !strings.Contains(said, "please report it") || strings.Contains(said, "trying on") {
		t.Errorf("ship says %q", said)
	}
}
