//go:build peers

package fleettest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy/fleet/fleettest"
)

// TestApart makes a disk that is full, and two hosts that reach each other, and no more once one is cut off.
func TestApart(t *testing.T) {
	if !fleettest.Apart(t) {
		return
	}
	file := filepath.Join(fleettest.Disk(t, 64<<10), "file")
	if err := os.WriteFile(file, make([]byte, 128<<10), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a disk of 64 KiB takes 128 KiB: %v", err)
	}
	n := fleettest.NewNetwork(t)
	a, b := n.Host(), n.Host()
	p := fleettest.StartProcess(t, fleettest.ProcessOptions{Host: b.Address, Under: b.Run()})
	greeted := func() bool {
		argv := a.Run("bash", "-c", "exec 3<>/dev/tcp/"+b.Address+"/4222; read -t 1 -n 4 x <&3; echo $x")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out, _ := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		return bytes.HasPrefix(out, []byte("INFO"))
	}
	if !greeted() {
		t.Error("one host does not reach the server on the other one")
	}
	b.Cut()
	if greeted() {
		t.Error("a host that was cut off is reached")
	}
	b.Join()
	p.Ready()
}
