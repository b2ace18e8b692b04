//go:build unix

package tool

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/stdio"
)

// run replaces this process by the tool, after it has started the relay. A tool that is not recorded needs none.
func run(_ cli.Env, o Options, path string, args []string, recorder *net.UnixConn, above []int) error {
	if recorder != nil || o.Output != "" {
		if err := startRelay(recorder, above); err != nil {
			return err
		}
	}
	if err := syscall.Exec(path, args, os.Environ()); err != nil {
		return os.NewSyscallError("exec", err)
	}
	return nil
}

// The descriptors of the relay in addition to the client's pipes.
const (
	toToolFD = iota + 3
	fromToolFD
	recorderFD // unless the relay records
)

// startRelay starts the relay, and makes its pipes the standard input and output of this process.
func startRelay(recorder *net.UnixConn, above []int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	toolIn, toTool, err := os.Pipe()
	if err != nil {
		return err
	}
	fromTool, toolOut, err := os.Pipe()
	if err != nil {
		return err
	}
	pids := make([]string, len(above))
	for i, pid := range above {
		pids[i] = strconv.Itoa(pid)
	}
	files := []*os.File{os.Stdin, os.Stdout, os.Stderr, toTool, fromTool}
	if recorder != nil {
		connection, err := recorder.File()
		if err != nil {
			return err
		}
		files = append(files, connection)
	}
	if _, err = os.StartProcess(self, os.Args, &os.ProcAttr{
		Env:   append(os.Environ(), relayVariable+"="+strings.Join(append(pids, "0"), ",")), // never empty
		Files: files,
	}); err != nil {
		return fmt.Errorf("start the relay: %w", err)
	}
	if err := unix.Dup2(int(toolIn.Fd()), 0); err != nil {
		return os.NewSyscallError("dup2", err)
	}
	return os.NewSyscallError("dup2", unix.Dup2(int(toolOut.Fd()), 1))
}

// runRelay relays between the client and the tool until their pipes are closed.
func runRelay(e cli.Env, o Options, ancestors string) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	var above []int
	for _, text := range strings.Split(ancestors, ",") {
		if pid, err := strconv.Atoi(text); err == nil && pid > 0 {
			above = append(above, pid)
		}
	}
	var joined *net.UnixConn
	if o.Output == "" {
		connection := os.NewFile(recorderFD, "the recorder")
		conn, err := net.FileConn(connection)
		connection.Close()
		if err != nil {
			return fmt.Errorf("stdio: the connection to the recorder: %w", err)
		}
		joined = conn.(*net.UnixConn)
	}
	feed, end := o.feed(e, joined, above)
	toTool, fromTool := os.NewFile(toToolFD, "the tool's input"), os.NewFile(fromToolFD, "the tool's output")
	var directions sync.WaitGroup
	directions.Go(func() { stdio.Pass(os.Stdin, toTool, stdio.Client, feed) })
	directions.Go(func() { stdio.Pass(fromTool, os.Stdout, stdio.Server, feed) })
	directions.Wait()
	end()
	return nil
}
