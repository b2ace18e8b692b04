package main

import (
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rogpeppe/go-internal/testscript"
)

// nats NAME runs a NATS server with JetStream until the script ends, and sets NAME to its URL
// and NAME_ADDR to host and port.
func scriptNATS(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nats NAME")
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: ts.MkAbs(args[0] + ".store"),
		NoLog: true, NoSigs: true,
	})
	ts.Check(err)
	ts.Defer(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	go s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		ts.Fatalf("nats: it does not listen")
	}
	ts.Setenv(args[0], s.ClientURL())
	ts.Setenv(args[0]+"_ADDR", s.Addr().String())
}
