package recorder

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/shipment"
	"a2atap/proxy"
	"a2atap/proxy/fleet"
	"a2atap/proxy/must"
)

// While a NATS server accepts connections but sends nothing, traffic passes and is stored and checked as usual. The end
// takes no longer than allowed.
func TestTrafficPassesASilentNATSServer(t *testing.T) {
	t.Parallel()
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	var conns sync.WaitGroup
	taken := make(chan struct{}, 100)
	conns.Go(func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			taken <- struct{}{}
			conns.Go(func() {
				defer c.Close()
				io.Copy(io.Discard, c) //nolint:errcheck // it ends when the shipper goes
			})
		}
	})
	defer conns.Wait()
	defer silent.Close()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "{}") //nolint:errcheck // the client would say so
	}))
	defer agent.Close()
	at := must.Get(url.Parse(agent.URL))(t)
	address := must.Get(fleet.ParseAddress("nats://" + silent.Addr().String() + "/traffic"))(t)
	var mu sync.Mutex
	var events []shipment.Event
	r, err := Start(Options{
		Output: filepath.Join(t.TempDir(), "c.a2atap"),
		Proxy:  proxy.Options{Taps: []proxy.TapSpec{{Name: "a", Agent: at, Listen: "127.0.0.1:0"}}},
		Ship: &shipment.To{Address: address, End: 1500 * time.Millisecond, Options: fleet.ShipOptions{
			Host: "here", Connect: fleet.Options{Patience: 4 * must.Patience}, // it is stuck in its first attempt
		}},
		Listener: hears{ship: func(v shipment.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, v)
		}},
	})
	must.Do(t, err)
	<-taken
	const requests = 200
	client := &http.Client{Transport: &http.Transport{}, Timeout: must.Patience}
	for range requests {
		answer := must.Get(client.Get(r.Taps()[0].URL() + "/tasks/t1"))(t)
		io.Copy(io.Discard, answer.Body) //nolint:errcheck // the record has it
		answer.Body.Close()
	}
	client.CloseIdleConnections()
	must.Do(t, r.store.Wait(t.Context(), requests))
	if s := r.shipment.Shipper.Status(); s.Asked {
		t.Errorf("the shipper is not stuck: %+v", s)
	}
	result := cmdtest.Stop(t, r) // long before the attempt ends
	if result.Counts.Exchanges != requests || result.Counts.Lost != 0 {
		t.Errorf("%d exchanges were judged, %d were lost", result.Counts.Exchanges, result.Counts.Lost)
	}
	mu.Lock()
	defer mu.Unlock()
	if last := events[len(events)-1]; last.State != "left" || !strings.Contains(last.Text, "sends the rest") {
		t.Errorf("at the end it says %+v", last)
	}
}
