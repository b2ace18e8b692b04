//go:build peers

package fleettest

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestProcesses kills a server, and the leader of a cluster: what they have confirmed is still there.
func TestProcesses(t *testing.T) {
	p := StartProcess(t, ProcessOptions{})
	publish(t, p, 1, 10)
	p.Restart()
	publish(t, p, 1, 20)

	c := StartCluster(t, 3)
	publish(t, c.Nodes[0], 3, 10)
	leader := c.Leader("s")
	leader.Kill()
	for _, other := range c.Nodes {
		if other != leader {
			publish(t, other, 3, 20)
			break
		}
	}
	leader.Start()
	c.Leader("s")
}

func publish(t *testing.T, p *Process, replicas, want int) {
	t.Helper()
	p.await("it takes nothing", func(ctx context.Context, js jetstream.JetStream) bool {
		_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: "s", Subjects: []string{"s.>"}, Replicas: replicas,
		})
		return err == nil
	})
	c, err := nats.Connect("nats://" + p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var last uint64
	for range 10 {
		ack, err := js.Publish(t.Context(), "s.a", []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		last = ack.Sequence
	}
	if last != uint64(want) {
		t.Errorf("%d messages are there, want %d", last, want)
	}
}
