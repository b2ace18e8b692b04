package importer

import (
	"strings"
	"testing"
)

// What a host is called after the address of a stream has no credentials in it.
func TestHostsOfStreams(t *testing.T) {
	names := []string{"nats://me:secret@a.example/t", "nats://me:secret@b.example/t"}
	hosts, err := hostsOf(names, nil)
	if err != nil || hosts[0] != "nats://a.example:4222/t" || hosts[1] != "nats://b.example:4222/t" {
		t.Errorf("%q, %v", hosts, err)
	}
	if _, err := hostsOf([]string{names[0], names[0]}, nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("given twice: %v", err)
	}
	if _, err := hostsOf(names, []string{"nats://me:secret@c.example/t=x"}); err == nil ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("none of them: %v", err)
	}
}
