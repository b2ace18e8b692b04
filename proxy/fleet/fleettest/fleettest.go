// Package fleettest has NATS servers for tests, in the process of the test.
package fleettest

import (
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startPatience is how long a server may take to listen.
const startPatience = 30 * time.Second

// A Server is a NATS server with JetStream, on a free port of 127.0.0.1.
type Server struct {
	*server.Server
	t       testing.TB
	options server.Options
}

// Start runs a server until the test ends. The options may be changed before it starts.
func Start(t testing.TB, change ...func(*server.Options)) *Server {
	t.Helper()
	s := &Server{t: t, options: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(),
		NoLog: true, NoSigs: true,
	}}
	for _, f := range change {
		f(&s.options)
	}
	s.run()
	t.Cleanup(s.Stop)
	return s
}

func (s *Server) run() {
	s.t.Helper()
	options := s.options
	running, err := server.NewServer(&options)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Server = running
	go running.Start()
	if !running.ReadyForConnections(startPatience) {
		running.Shutdown()
		s.t.Fatalf("the NATS server does not listen after %v", startPatience)
	}
}

// Stop ends the server, and returns when it has ended. It may be called again.
func (s *Server) Stop() {
	s.Shutdown()
	s.WaitForShutdown()
}

// Restart ends the server and runs it again at the same address, with what it has stored.
func (s *Server) Restart() {
	s.t.Helper()
	s.Hold()
	s.run()
}

// Hold ends the server so that Resume can run it again at the same address.
func (s *Server) Hold() {
	if s.options.Port == server.RANDOM_PORT {
		s.options.Port = s.port()
	}
	s.Stop()
}

// Resume runs a server again that Hold has ended.
func (s *Server) Resume() {
	s.t.Helper()
	s.run()
}

func (s *Server) port() int {
	return s.Addr().(*net.TCPAddr).Port
}

// StoreDir returns the folder of the server's streams.
func (s *Server) StoreDir() string { return s.options.StoreDir }

// URL returns the address of a stream on the server, as a2atap takes it.
func (s *Server) URL(stream string) string { return s.ClientURL() + "/" + stream }
