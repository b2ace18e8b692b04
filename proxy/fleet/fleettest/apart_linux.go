package fleettest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// apart is set in the environment of a test that Apart runs.
const apart = "FLEETTEST_APART"

// Apart runs a test in a process with namespaces of its own for mounts and network, where it may mount what it likes
// and make hosts; for others than root also one for users, in which the test is root. The flags of its package are those of this process. Where it returns false the test
// was run, and returns. What the test has mounted ends with it, and so do its hosts.
func Apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(apart) == t.Name() {
		must(t, "mount", "--make-rprivate", "/")
		must(t, "ip", "link", "set", "lo", "up")
		return true
	}
	args := []string{"-test.run", "^" + t.Name() + "$", "-test.v", "-test.count", "1"}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") || f.Name == "test.timeout" {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), apart+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL,
	}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("in namespaces of its own: %v", err)
	}
	t.Logf("%s", out)
	return false
}

// Disk mounts a file system of so many bytes, and returns its folder. The test runs Apart.
func Disk(t testing.TB, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	must(t, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", bytes), "fleettest", dir)
	t.Cleanup(func() { must(t, "umount", "-l", dir) })
	return dir
}

// A Network joins hosts and the test itself, which has the address Address in it. The test runs Apart.
type Network struct {
	Address string

	t     testing.TB
	hosts int
}

// A Host is a network namespace, in which programs can be run.
type Host struct {
	Address string // in the network; programs also have 127.0.0.1, separate for each host

	t    testing.TB
	link string // the end of its cable in the namespace of the test
	pid  int    // of a process that is in the namespace
}

const bridge = "fleet0"

// NewNetwork makes a network without hosts.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	n := &Network{Address: "10.97.0.1", t: t}
	must(t, "ip", "link", "add", bridge, "type", "bridge")
	must(t, "ip", "addr", "add", n.Address+"/24", "dev", bridge)
	must(t, "ip", "link", "set", bridge, "up")
	return n
}

// Host adds a host to the network.
func (n *Network) Host() *Host {
	n.t.Helper()
	n.hosts++
	h := &Host{
		Address: fmt.Sprintf("10.97.0.%d", n.hosts+1), t: n.t, link: fmt.Sprintf("cable%d", n.hosts),
	}
	holder := exec.Command("cat")
	holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	open, err := holder.StdinPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		io.Closer(open).Close()
		holder.Wait()
	})
	h.pid = holder.Process.Pid
	must(n.t, "ip", "link", "add", h.link, "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(h.pid))
	must(n.t, "ip", "link", "set", h.link, "master", bridge, "up")
	for _, line := range []string{
		"ip link set lo up", "ip addr add " + h.Address + "/24 dev eth0", "ip link set eth0 up",
	} {
		must(n.t, h.Run(strings.Fields(line)...)...)
	}
	return h
}

// Run returns the command that runs a command on the host, in the same process: what it is sent gets to it.
func (h *Host) Run(argv ...string) []string {
	return append([]string{"nsenter", "--net=/proc/" + strconv.Itoa(h.pid) + "/ns/net", "--"}, argv...)
}

// Cut takes the host off the network; Join brings it back.
func (h *Host) Cut() { must(h.t, "ip", "link", "set", h.link, "down") }

// Join brings a host back that was Cut.
func (h *Host) Join() { must(h.t, "ip", "link", "set", h.link, "up") }

func must(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}
