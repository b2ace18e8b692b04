package fleettest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// A Cluster is some nats-servers that keep streams together.
type Cluster struct {
	Nodes []*Process

	t testing.TB
}

// StartCluster runs a cluster of n servers on 127.0.0.1 until the test ends.
func StartCluster(t testing.TB, n int) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	routes := make([]string, n)
	for i := range n {
		c.Nodes = append(c.Nodes, newProcess(t, fmt.Sprintf("node%d", i+1), ProcessOptions{}))
		routes[i] = freeAddress(t, "127.0.0.1")
	}
	for i, p := range c.Nodes {
		p.configure(fmt.Sprintf("cluster { name: fleet, listen: %q, routes: [%s] }", routes[i],
			`"nats://`+strings.Join(routes, `", "nats://`)+`"`))
		p.Start()
	}
	for _, p := range c.Nodes {
		p.Ready()
	}
	return c
}

// URL returns the address of a stream on one of the servers; a client hears of the others from it.
func (c *Cluster) URL(stream string) string { return c.Nodes[0].URL(stream) }

// Leader waits until a stream has a leader and all its replicas are current, and returns the leader.
func (c *Cluster) Leader(stream string) *Process {
	c.t.Helper()
	return c.leader(stream, func(r *jetstream.ClusterInfo) bool {
		return !slices.ContainsFunc(r.Replicas, func(peer *jetstream.PeerInfo) bool { return !peer.Current || peer.Offline })
	})
}

func (c *Cluster) leader(stream string, fit func(*jetstream.ClusterInfo) bool) (leader *Process) {
	c.t.Helper()
	var asked *Process
	for _, p := range c.Nodes {
		if p.cmd != nil {
			asked = p
		}
	}
	asked.await("the stream "+stream+" has no leader", func(ctx context.Context, js jetstream.JetStream) bool {
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return false
		}
		info := s.CachedInfo()
		if info.Cluster == nil || info.Cluster.Leader == "" || !fit(info.Cluster) {
			return false
		}
		for _, p := range c.Nodes {
			if p.Name == info.Cluster.Leader {
				leader = p
			}
		}
		return leader != nil
	})
	return leader
}
