package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.etcd.io/bbolt"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
	"a2atap/proxy/paralleltest"
	"a2atap/replay/client"
	"a2atap/replay/peers"
)

// The program is run as the test binary under its own name, so that the race detector and coverage see it.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name == "a2atap" {
		os.Args[0] = name
		main()
	}
	testscript.Main(tests{m}, map[string]func(){
		"resident": resident, "benchway": benchWay, "traveller": traveller, "patient": patient, "sender": sends,
		"grpctalk":  grpctalk,
		"clientgo2": once(sendGo2), "clientgo03": once(sendGo03),
		"peer-go2": peers.Go2Main, "office": office, "collector": collect, "planner": fleetPlanner,
		"growth": growthTraffic, "services": officeHours, "asker": asker, "concierge": concierge,
	})
}

// tests are the tests of this package, where the binary is not run as one of the programs.
type tests struct{ m *testing.M }

func (t tests) Run() int {
	// Main has put its programs in front of PATH, each for exec alone. Scripts call a2atap without it, too.
	programs := filepath.SplitList(os.Getenv("PATH"))[0]
	if err := os.Link(filepath.Join(programs, "resident"), filepath.Join(programs, "a2atap")); err != nil {
		log.Fatal(err)
	}
	config := filepath.Join(programs, "config") // one user for all programs of a test, and never the person who runs it
	os.Setenv("XDG_CONFIG_HOME", config)        //nolint:errcheck // else keys are made in the person's own folder
	for name, password := range fleetPasswords {
		os.Setenv(name, password) //nolint:errcheck // else the server does not know it
	}
	paralleltest.AtOnce(6)
	if flag.Lookup("test.bench").Value.String() == "" { // which measures what collecting costs, too
		debug.SetGCPercent(moreGarbage)
	}
	return t.m.Run()
}

// moreGarbage is GOGC for tests and scripts: most of them are over before anything has to be collected.
const moreGarbage = 400

// unset returns an environment with only that variable, so that a command does not limit the memory of other tests.
func unset(name string) string {
	if name == "GOGC" {
		return strconv.Itoa(moreGarbage)
	}
	return ""
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=10") // a program with the race detector else ends a second late
			env.Setenv("GOGC", strconv.Itoa(moreGarbage))
			kept, err := filepath.Abs(filepath.Join("..", "..", "proxy", "capture", "bolt", "testdata"))
			if err != nil {
				return err
			}
			env.Setenv("KEPT", kept) // a capture of each format
			talks, err := filepath.Abs(filepath.Join("testdata", "talks"))
			if err != nil {
				return err
			}
			env.Setenv("TALKS", talks)                          // transcripts, which scripts cannot contain
			if err := writeCIScripts(env.WorkDir); err != nil { // those of docs/ci.md
				return err
			}
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("A2ATAP_CA_DIR", filepath.Join(env.WorkDir, "ca"))
			host(env)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"a2atap":       scriptA2atap,
			"end":          scriptEnd,
			"await":        scriptAwait,
			"statuses":     scriptStatuses,
			"without":      scriptWithout,
			"ready":        scriptReady,
			"talk":         scriptTalk,
			"occupy":       scriptOccupy,
			"future":       scriptFuture,
			"damage":       scriptDamage,
			"scribble":     scriptScribble,
			"truncate":     scriptTruncate,
			"until":        scriptUntil,
			"stopwatch":    scriptStopwatch,
			"raw":          scriptRaw,
			"crowd":        scriptCrowd,
			"connect":      scriptConnect,
			"rawagent":     scriptRawAgent,
			"tlsagent":     scriptTLSAgent,
			"grpcagent":    scriptGRPCAgent,
			"h2agent":      scriptH2Agent,
			"guardedagent": scriptGuardedAgent,
			"privateagent": scriptPrivateAgent,
			"upstream":     scriptUpstream,
			"noisyagent":   scriptNoisyAgent,
			"journey":      scriptJourney,
			"natsserver":   scriptNATSServer,
		},
	})
}

// ready FILE waits for a ready file and sets NAME_URL, and NAME_ADDR with host and port, for each of its lines. A
// hyphen of the name becomes an underscore.
func scriptReady(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ready FILE")
	}
	var text []byte
	for deadline := time.Now().Add(must.Patience); ; {
		var err error
		if text, err = os.ReadFile(ts.MkAbs(args[0])); err == nil {
			break
		}
		if time.Now().After(deadline) {
			ts.Fatalf("ready: %s does not come", args[0])
		}
		<-time.After(2 * time.Millisecond) // another process writes it; there is nothing to wait on
	}
	for line := range strings.Lines(string(text)) {
		name, url, _ := strings.Cut(strings.TrimSpace(line), " ")
		name = strings.ReplaceAll(name, "-", "_")
		ts.Setenv(name+"_URL", url)
		addr := strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://")
		addr, _, _ = strings.Cut(addr, "/")
		ts.Setenv(name+"_ADDR", addr)
	}
}

// until PATTERN CMD ARGS... runs a command again and again until its standard output matches: what another process does
// is stored a few milliseconds later. The resident runs a2atap.
func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN CMD ARGS...")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	ask := func() (out, said string, ok bool) {
		if args[1] == "a2atap" {
			o := ts.Value(lives{}).(*residence).send(ts, errand{Args: args[2:]})
			return string(o.Out), string(o.Err), o.Status == 0
		}
		err := ts.Exec(args[1], args[2:]...)
		return ts.ReadFile("stdout"), ts.ReadFile("stderr"), err == nil
	}
	for deadline := time.Now().Add(must.Patience); ; {
		out, said, ok := ask()
		if ok && pattern.MatchString(out) {
			io.WriteString(ts.Stdout(), out)
			io.WriteString(ts.Stderr(), said)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("until: %s does not come in:\n%s%s", args[0], out, said)
		}
	}
}

// stopwatch records the time; stopwatch D fails if more than D has passed since. Work that takes a second on an idle
// machine takes longer on a busy one, so scripts allow for that.
func scriptStopwatch(ts *testscript.TestScript, neg bool, args []string) {
	const noted = "STOPWATCH"
	if neg || len(args) > 1 {
		ts.Fatalf("usage: stopwatch [D]")
	}
	if len(args) == 0 {
		ts.Setenv(noted, time.Now().Format(time.RFC3339Nano))
		return
	}
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	since, err := time.Parse(time.RFC3339Nano, ts.Getenv(noted))
	ts.Check(err)
	if took := time.Since(since); took > limit {
		ts.Fatalf("it took %v", took)
	}
}

// without PATTERN takes the lines that match out of the standard output.
func scriptWithout(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: without PATTERN")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	said := ts.ReadFile("stderr")
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if !pattern.MatchString(line) {
			io.WriteString(ts.Stdout(), line)
		}
	}
	io.WriteString(ts.Stderr(), said)
}

// talk URL PROTOCOL WORDS... sends one message for each word and prints how each came out. A word that begins with + is
// streamed. PROTOCOL is jsonrpc, rest or 0.3.
func scriptTalk(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: talk URL jsonrpc|rest|0.3 WORD...")
	}
	protocol := map[string]client.Protocol{
		"jsonrpc": client.JSONRPC10, "rest": client.REST10,
		"0.3": client.JSONRPC03,
	}[args[1]]
	ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
	defer cancel()
	c, err := client.Connect(ctx, args[0], client.Options{
		UserAgent: "traveller/2.0", Token: "a-very-secret-token",
		Prefer: []client.Protocol{protocol},
	})
	if err != nil {
		if !neg {
			ts.Fatalf("talk: %v", err)
		}
		return
	}
	defer c.Close()
	for _, word := range args[2:] {
		if err := say(ctx, c, word); (err != nil) != neg {
			ts.Fatalf("talk: %s: %v", word, err)
		}
	}
}

func say(ctx context.Context, c *client.Client, word string) error {
	streamed, ok := strings.CutPrefix(word, "+")
	if !ok {
		_, err := c.Send(ctx, client.Text(word), client.SendOptions{})
		return err
	}
	for _, err := range c.Stream(ctx, client.Text(streamed), client.SendOptions{}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// occupy NAME listens on a free port of 127.0.0.1 until the script ends, accepts nothing, and sets NAME to the port.
func scriptOccupy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: occupy NAME")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}

// future FILE turns a capture into one of a later format.
func scriptFuture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: future FILE")
	}
	ts.Check(updated(ts, args[0], func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("format"), binary.AppendUvarint(nil, 999))
	}))
}

// damage FILE takes the row of exchange 1 out of a capture.
func scriptDamage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage FILE")
	}
	ts.Check(updated(ts, args[0], func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("exchanges")).Delete(binary.BigEndian.AppendUint64(nil, 1))
	}))
}

// updated changes a database, which no command holds that has ended.
func updated(ts *testscript.TestScript, file string, change func(*bbolt.Tx) error) error {
	db, err := bbolt.Open(ts.MkAbs(file), 0o600, &bbolt.Options{Timeout: time.Minute})
	if err != nil {
		return err
	}
	return errors.Join(db.Update(change), db.Close())
}

// scribble FILE BUCKET changes a byte in the middle of the longest value of a bucket.
func scriptScribble(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: scribble FILE BUCKET")
	}
	ts.Check(updated(ts, args[0], func(tx *bbolt.Tx) error {
		var key, value []byte
		b := tx.Bucket([]byte(args[1]))
		err := b.ForEach(func(k, v []byte) error {
			if len(v) > len(value) {
				key, value = bytes.Clone(k), bytes.Clone(v)
			}
			return nil
		})
		if err != nil {
			return err
		}
		value[len(value)/2] ^= 0xff
		return b.Put(key, value)
	}))
}

// truncate FILE N cuts a file to N bytes.
func scriptTruncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate FILE N")
	}
	n, err := cli.ParseSize("N", args[1])
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// raw ADDR REQUEST ANSWER sends the bytes of a file, LF made CRLF in its head, closes its side, and writes what comes
// back into another file.
func scriptRaw(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: raw ADDR REQUEST ANSWER")
	}
	conn, err := net.Dial("tcp", args[0])
	ts.Check(err)
	defer conn.Close()
	ts.Check(conn.SetDeadline(time.Now().Add(10 * time.Second)))
	_, err = conn.Write(wire(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(conn.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(conn)
	if err != nil && len(answer) == 0 {
		ts.Fatalf("raw: %v", err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), answer, 0o600))
}

// crowd ADDR N ANSWERS opens N connections at once, sends a request on each and keeps it open until it has an answer.
func scriptCrowd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: crowd ADDR N ANSWERS")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	conns := make([]net.Conn, n)
	for i := range conns {
		conns[i], err = net.Dial("tcp", args[0])
		ts.Check(err)
		defer conns[i].Close()
		ts.Check(conns[i].SetDeadline(time.Now().Add(must.Patience)))
	}
	for _, conn := range conns {
		_, err := io.WriteString(conn, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
		ts.Check(err)
	}
	var answers bytes.Buffer
	for _, conn := range conns {
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		ts.Check(err)
		ts.Check(answer.Write(&answers))
		answers.WriteByte('\n') // so that the next one begins a line
		conn.Close()
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), answers.Bytes(), 0o600))
}

// connect ADDR TARGET asks a forward proxy for CONNECT, says nothing, and waits for the end.
func scriptConnect(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: connect ADDR TARGET")
	}
	conn, err := net.Dial("tcp", args[0])
	ts.Check(err)
	defer conn.Close()
	ts.Check(conn.SetDeadline(time.Now().Add(must.Patience)))
	_, err = io.WriteString(conn, "CONNECT "+args[1]+" HTTP/1.1\r\nHost: "+args[1]+"\r\n\r\n")
	ts.Check(err)
	if answer, _ := io.ReadAll(conn); !bytes.HasPrefix(answer, []byte("HTTP/1.1 200 ")) { // it ends with a reset
		ts.Fatalf("connect: got %q", answer)
	}
}

// rawagent NAME FILE listens on a free port, sets NAME to its URL, and answers each connection with the bytes of a
// file, LF made CRLF in its head and $PORT its port, once it has read a request's head.
func scriptRawAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rawagent NAME FILE")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	answer := wire(strings.ReplaceAll(ts.ReadFile(args[1]), "$PORT", port))
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], "http://"+l.Addr().String())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					conn.Write(answer)
				}
			}()
		}
	}()
}

// wire converts the text of a message to its bytes: lines of the head end with CRLF, and \xNN is a byte.
func wire(text string) []byte {
	head, body, _ := strings.Cut(text, "\n\n")
	body = escapes.ReplaceAllStringFunc(body, func(e string) string {
		b, _ := strconv.ParseUint(e[2:], 16, 8)
		return string([]byte{byte(b)})
	})
	return []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body)
}

var escapes = regexp.MustCompile(`\\x[0-9a-f]{2}`)
