package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rogpeppe/go-internal/testscript"

	"a2atap/proxy/fleet/fleettest"
)

// natsserver NAME [KIND] runs a NATS server with JetStream until the script ends, and sets NAME to its URL, to which
// /STREAM is to be added, and NAME_AT to host and port. KIND is user for one that wants me:s3cret-pass, token for one
// that wants s3cret-token, tls for one with a certificate of the private authority, whose files are written, mutual for
// one that wants a certificate, too, or small for one that takes messages of 8 KiB.
//
// natsserver NAME stop ends it, natsserver NAME start runs it again at the same address, with what it has stored.
func scriptNATSServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: natsserver NAME [user|token|tls|mutual|small|stop|start]")
	}
	key, kind := ts.MkAbs(args[0]), ""
	if len(args) > 1 {
		kind = args[1]
	}
	if known, ok := natsServers.Load(key); ok {
		switch s := known.(*fleettest.Server); kind {
		case "stop":
			s.Hold()
		case "start":
			s.Resume()
		default:
			ts.Fatalf("natsserver: %s runs already", args[0])
		}
		return
	}
	s := fleettest.Start(&scriptTB{ts: ts}, func(o *server.Options) {
		switch kind {
		case "":
		case "user":
			o.Username, o.Password = "me", "s3cret-pass"
		case "token":
			o.Authorization = "s3cret-token"
		case "small":
			o.MaxPayload = 8 << 10
		case "tls", "mutual":
			a := authorityOf(ts)
			pair, err := tls.X509KeyPair(a.issue(ts, time.Now().Add(time.Hour), "127.0.0.1"))
			ts.Check(err)
			o.TLS, o.TLSConfig = true, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
			if o.TLSTimeout = 10; kind == "mutual" {
				o.TLSVerify = true
				o.TLSConfig.ClientAuth, o.TLSConfig.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
				o.TLSConfig.ClientCAs.AddCert(a.cert)
			}
		default:
			ts.Fatalf("natsserver: no kind %s", kind)
		}
	})
	natsServers.Store(key, s)
	_, at, _ := strings.Cut(s.ClientURL(), "://")
	ts.Setenv(args[0], "nats://"+at)
	ts.Setenv(args[0]+"_AT", at)
}

var natsServers sync.Map // by the folder of a script, and the name

// A scriptTB lets what wants a test run in a script.
type scriptTB struct {
	testing.TB // nil: only what is below is there
	ts         *testscript.TestScript
}

func (s *scriptTB) Helper()                      {}
func (s *scriptTB) Cleanup(f func())             { s.ts.Defer(f) }
func (s *scriptTB) Fatal(args ...any)            { s.ts.Fatalf("%s", fmt.Sprint(args...)) }
func (s *scriptTB) Fatalf(f string, args ...any) { s.ts.Fatalf(f, args...) }
func (s *scriptTB) TempDir() string {
	dir, err := os.MkdirTemp(s.ts.MkAbs("."), "nats-")
	s.ts.Check(err)
	return dir
}
