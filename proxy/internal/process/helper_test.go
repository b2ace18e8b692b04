package process

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// helperMode is set for the test binary when it is a process that is to be found.
const helperMode = "A2ATAP_TEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(helperMode) != "" {
		help(os.Stdin, os.Stdout)
		return
	}
	goleak.VerifyTestMain(m)
}

// help does what the lines of in say, and answers each with an address: listen; dial ADDRESS, with its own end; and both
// after child, in a child of its own. What it opens stays open until the input ends.
func help(in io.Reader, out io.Writer) {
	var childIn io.WriteCloser
	var childOut *bufio.Reader
	for lines := bufio.NewScanner(in); lines.Scan(); {
		command, rest, _ := strings.Cut(lines.Text(), " ")
		switch command {
		case "listen":
			l, err := net.Listen("tcp", "127.0.0.1:0")
			exitFor(err)
			defer l.Close()
			fmt.Fprintln(out, l.Addr())
		case "dial":
			conn, err := net.Dial("tcp", rest)
			exitFor(err)
			defer conn.Close()
			fmt.Fprintln(out, conn.LocalAddr())
		case "child":
			if childIn == nil {
				cmd := exec.Command(os.Args[0])
				cmd.Stderr = os.Stderr
				var err error
				childIn, err = cmd.StdinPipe()
				exitFor(err)
				stdout, err := cmd.StdoutPipe()
				exitFor(err)
				childOut = bufio.NewReader(stdout)
				exitFor(cmd.Start())
				defer cmd.Wait() //nolint:errcheck // it ends with its input
				defer childIn.Close()
			}
			fmt.Fprintln(childIn, rest)
			line, err := childOut.ReadString('\n')
			exitFor(err)
			fmt.Fprint(out, line)
		}
	}
}

func exitFor(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A helper is another process.
type helper struct {
	t   testing.TB
	pid int
	in  io.Writer
	out *bufio.Reader
}

func newHelper(t testing.TB) *helper {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperMode+"=1", "GORACE=atexit_sleep_ms=10")
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		expect.OK(t, cmd.Wait())
	})
	return &helper{t: t, pid: cmd.Process.Pid, in: in, out: bufio.NewReader(out)}
}

// do has the process do something and returns the address that comes of it.
func (h *helper) do(command string) netip.AddrPort {
	h.t.Helper()
	fmt.Fprintln(h.in, command)
	return netip.MustParseAddrPort(strings.TrimSpace(must.Get(h.out.ReadString('\n'))(h.t)))
}
