package stdio_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/proxy/stdio"
)

// A talk is what two sides send, as frames of a feed.
type talk struct{ bytes.Buffer }

func newTalk() *talk {
	t := &talk{}
	t.frame(0, `{"name":"weather"}`)
	return t
}

func (t *talk) frame(kind byte, content string) {
	t.WriteByte(kind)
	t.Write(binary.BigEndian.AppendUint32(nil, uint32(len(content))))
	t.WriteString(content)
}

// side adds a frame of a side.
func (t *talk) side(kind byte, side stdio.Side, content string) *talk {
	t.frame(kind, string(rune(side))+strings.Repeat("\x00", 8)+content)
	return t
}

func (t *talk) client(lines ...string) *talk {
	return t.side(1, stdio.Client, strings.Join(lines, "\n")+"\n")
}

func (t *talk) server(lines ...string) *talk {
	return t.side(1, stdio.Server, strings.Join(lines, "\n")+"\n")
}

func (t *talk) lost(side stdio.Side, n uint64) *talk {
	return t.side(2, side, string(binary.BigEndian.AppendUint64(nil, n)))
}

func (t *talk) ended(side stdio.Side) *talk { return t.side(3, side, "") }

// record returns what a recorder has recorded of a feed, and what it lost.
func record(t testing.TB, feed io.Reader) ([]*capture.Exchange, recording.Stats, error) {
	t.Helper()
	memory := capture.NewMemory(capture.Info{})
	r := recording.New(recording.Options{Sink: memory})
	err := stdio.Record(feed, func(h stdio.Hello) *recording.Conn { return r.Conn(h.Peer(), "") })
	must.Do(t, r.Close(t.Context()))
	var all []*capture.Exchange
	for seq := range r.Stats().Exchanges {
		all = append(all, must.Get(memory.Exchange(context.Background(), seq+1))(t))
	}
	return all, r.Stats(), err
}

// summary returns one line for each exchange: method, path, request, status, answer, and the kind of its fault.
func summary(all []*capture.Exchange) string {
	var b strings.Builder
	for _, x := range all {
		head := capture.ParseRequestHead(x.Request.Head)
		fmt.Fprintf(&b, "%s %s %s %s", x.Client.Name, head.Method, head.Target, x.Request.Body.Data)
		if a := x.Response; a != nil {
			fmt.Fprintf(&b, " = %d %s", capture.ParseResponseHead(a.Head).Status, a.Body.Data)
			for _, e := range a.Events {
				fmt.Fprintf(&b, "[%s]", e.Fields().Data)
			}
		}
		if x.Fault != nil {
			fmt.Fprintf(&b, " ! %s %s", x.Fault.Side, x.Fault.Kind)
		}
		fmt.Fprintf(&b, "\n")
	}
	return b.String()
}

func TestMessagesAreExchanges(t *testing.T) {
	t.Parallel()
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"my planner","version":"1"}}}`
	const call = `{"jsonrpc":"2.0","id":"a","method":"tools/call"}`
	for name, c := range map[string]struct {
		talk *talk
		want string
	}{
		"the client is named by its first request": {
			newTalk().client(hello).server(`{"result":{},"jsonrpc":"2.0","id":0}`),
			"my-planner POST / " + hello + ` = 200 {"result":{},"jsonrpc":"2.0","id":0}`,
		},
		"answers in another order": {
			newTalk().client(`{"jsonrpc":"2.0","id":1,"method":"a"}`, `{"jsonrpc":"2.0","id":"1","method":"b"}`).
				server(`{"jsonrpc":"2.0","id":"1","error":{}}`, `{"jsonrpc":"2.0","id":1,"result":1}`),
			`client POST / {"jsonrpc":"2.0","id":1,"method":"a"} = 200 {"jsonrpc":"2.0","id":1,"result":1}` + "\n" +
				`client POST / {"jsonrpc":"2.0","id":"1","method":"b"} = 200 {"jsonrpc":"2.0","id":"1","error":{}}`,
		},
		"notifications and answers of the client": {
			newTalk().client(`{"jsonrpc":"2.0","method":"n"}`, `{"jsonrpc":"2.0","id":5,"result":{}}`),
			`client POST / {"jsonrpc":"2.0","method":"n"} = 202 ` + "\n" + `client POST / {"jsonrpc":"2.0","id":5,"result":{}} = 202 `,
		},
		"messages of the server": {
			newTalk().server(`{"jsonrpc":"2.0","id":1,"method":"ask"}`, `{"jsonrpc":"2.0","method":"n"}`, `{"jsonrpc":"2.0","id":null,"error":{}}`),
			`client GET /  = 200 [{"jsonrpc":"2.0","id":1,"method":"ask"}][{"jsonrpc":"2.0","method":"n"}][{"jsonrpc":"2.0","id":null,"error":{}}]`,
		},
		"a batch": {
			newTalk().client(`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]`).
				server(`[{"jsonrpc":"2.0","id":2,"result":1},{"jsonrpc":"2.0","id":1,"result":1}]`),
			`client POST / [{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]` +
				` = 200 [{"jsonrpc":"2.0","id":2,"result":1},{"jsonrpc":"2.0","id":1,"result":1}]`,
		},
		"lines that are not messages": {
			newTalk().server("Starting …", `{"level":"info","msg":"ready"}`, "", `{"jsonrpc":"2.0","method":"n"}`, `{"jsonrpc":"2.0"`).client("hello"),
			"client GET /stdout  = 200 Starting …\n{\"level\":\"info\",\"msg\":\"ready\"}\n ! agent not-json-rpc\n" +
				`client GET /  = 200 [{"jsonrpc":"2.0","method":"n"}]` + "\n" +
				"client GET /stdout  = 200 {\"jsonrpc\":\"2.0\"\n ! agent not-json-rpc\n" +
				"client POST / hello\n ! client not-json-rpc",
		},
		"line ends and carriage returns": {
			newTalk().client(`{"jsonrpc":"2.0","method":"n"}` + "\r").server("{\"jsonrpc\":\"2.0\",\r\"method\":\"n\"}\r"),
			`client POST / {"jsonrpc":"2.0","method":"n"} = 202 ` + "\n" + "client GET /  = 200 [{\"jsonrpc\":\"2.0\",\n\"method\":\"n\"}]",
		},
		"a last line without its end": {
			newTalk().client(call).side(1, stdio.Server, `{"jsonrpc":"2.0","id":"a","result":1}`),
			"client POST / " + call + ` = 200 {"jsonrpc":"2.0","id":"a","result":1}`,
		},
		"the server ends":   {newTalk().client(call).ended(stdio.Server).ended(stdio.Client), "client POST / " + call + " ! agent truncated"},
		"the client leaves": {newTalk().client(call).ended(stdio.Client).ended(stdio.Server), "client POST / " + call + " ! client client-left"},
		"no side ends":      {newTalk().client(call), "client POST / " + call + " ! proxy lost"},
		"an id is used again": {
			newTalk().client(call, call).server(`{"jsonrpc":"2.0","id":"a","result":1}`),
			"client POST / " + call + " ! client id-reused\nclient POST / " + call + ` = 200 {"jsonrpc":"2.0","id":"a","result":1}`,
		},
		"an answer is missed": {newTalk().client(call).lost(stdio.Server, 10).ended(stdio.Server), "client POST / " + call + " ! proxy lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, _, err := record(t, c.talk)
			must.Do(t, err)
			expect.Equal(t, "recorded", strings.TrimSuffix(c.want, "\n"), strings.TrimSuffix(summary(all), "\n"))
			for _, x := range all {
				expect.Equal(t, "state", capture.StateClosed, x.State)
				expect.Equal(t, "URL", "stdio://weather", x.Agent.URL)
			}
		})
	}
}

// Where the pieces of a feed are cut makes no difference.
func TestCutsDoNotMatter(t *testing.T) {
	t.Parallel()
	lines := []string{`{"jsonrpc":"2.0","id":1,"method":"a"}`, "print", `{"jsonrpc":"2.0","method":"n"}`}
	want, _, err := record(t, newTalk().client(lines...).server(`{"jsonrpc":"2.0","id":1,"result":1}`))
	must.Do(t, err)
	for size := range 9 {
		cut := newTalk()
		for rest := strings.Join(lines, "\n") + "\n"; rest != ""; {
			n := min(size+1, len(rest))
			cut.side(1, stdio.Client, rest[:n])
			rest = rest[n:]
		}
		got, _, err := record(t, cut.server(`{"jsonrpc":"2.0","id":1,"result":1}`))
		must.Do(t, err)
		expect.Equal(t, fmt.Sprintf("pieces of %d", size+1), summary(want), summary(got))
	}
}

// A line above the limit of bodies is recorded in part, with the id from its end.
func TestLongLines(t *testing.T) {
	t.Parallel()
	long := newTalk().client(`{"jsonrpc":"2.0","id":7,"method":"a"}`).side(1, stdio.Server, `{"result":"`)
	for range recording.DefaultMaxBody>>19 + 1 {
		long.side(1, stdio.Server, strings.Repeat("x", 1<<19))
	}
	all, _, err := record(t, long.server(`","jsonrpc":"2.0","id":7}`))
	must.Do(t, err)
	expect.Equal(t, "exchanges", 1, len(all))
	body := all[0].Response.Body
	expect.Equal(t, "recorded", recording.DefaultMaxBody, len(body.Data))
	expect.Equal(t, "size", int64(len(body.Data))+body.Dropped, body.Size)
	expect.Equal(t, "size", int64(recording.DefaultMaxBody+1<<19+len(`{"result":"","jsonrpc":"2.0","id":7}`)), body.Size)
}

// Missing bytes are counted, with the line around them, and what follows is recorded.
func TestGaps(t *testing.T) {
	t.Parallel()
	all, stats, err := record(t, newTalk().side(1, stdio.Client, `{"json`).lost(stdio.Client, 100).side(1, stdio.Client, "rest\n").
		client(`{"jsonrpc":"2.0","method":"n"}`))
	must.Do(t, err)
	expect.Equal(t, "recorded", `client POST / {"jsonrpc":"2.0","method":"n"} = 202 `+"\n", summary(all))
	expect.Equal(t, "lost bytes", int64(6+100+4), stats.LostBytes)
	expect.Equal(t, "lost exchanges", int64(1), stats.LostExchanges)
}

func TestFeedsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ feed, want string }{
		"no hello":      {"GET / HTTP/1.1\r\n", "more than"},
		"another frame": {"\x01\x00\x00\x00\x01\x00", "does not begin with facts about the tool"},
		"no side":       {newTalk().String() + "\x01\x00\x00\x00\x01\x07", "no side and time"},
		"cut":           {newTalk().String() + "\x01\x00", "unexpected EOF"},
	} {
		_, _, err := record(t, strings.NewReader(c.feed))
		t.Run(name, func(t *testing.T) { expect.ErrorHas(t, "the feed", c.want, err) })
	}
}

func newPipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	must.Do(t, err)
	return r, w
}

// A tool's bytes reach the recorder's socket, and the recorder the feed.
func TestFeed(t *testing.T) {
	t.Parallel()
	l := must.Get(stdio.Listen())(t)
	defer l.Close()
	expect.Equal(t, "named by the variable", l.Path(), stdio.Find(l.Path(), nil))
	if other := stdio.Find("", []int{1, os.Getpid()}); other == "" {
		t.Error("the socket of an ancestor is not found")
	}
	in, client := newPipe(t)
	server, out := newPipe(t)
	feed := stdio.NewFeed(stdio.Hello{Name: "weather"}, func() (stdio.Conn, error) { return stdio.Dial(l.Path()) }, func(err error) { t.Error(err) })
	go stdio.Pass(in, out, stdio.Client, feed)
	const text = `{"jsonrpc":"2.0","method":"n"}` + "\n"
	_, err := client.WriteString(text)
	must.Do(t, err)
	client.Close()
	expect.Equal(t, "passed", text, string(must.Get(io.ReadAll(server))(t)))
	conn := must.Get(l.Accept())(t)
	recorded := make(chan string, 1)
	go func() {
		defer conn.Close()
		all, _, _ := record(t, conn)
		recorded <- summary(all)
	}()
	if !feed.Close(must.Patience) {
		t.Error("the feed has not ended")
	}
	expect.Equal(t, "recorded", "client POST / "+strings.TrimSpace(text)+" = 202 \n", <-recorded)
}

// Without a recorder that reads, bytes pass, and memory is bounded. What did not fit is reported where it is missing.
func TestRecordersThatDoNotRead(t *testing.T) {
	t.Parallel()
	const pieces, size = 64, 1 << 20 // four times what may wait
	reading, connected := net.Pipe()
	in, client := newPipe(t)
	server, out := newPipe(t)
	feed := stdio.NewFeed(stdio.Hello{Name: "weather"}, func() (stdio.Conn, error) { return pipe{connected}, nil }, func(error) {})
	go stdio.Pass(in, out, stdio.Client, feed)
	go func() {
		defer client.Close()
		for range pieces {
			client.Write(append(bytes.Repeat([]byte{'x'}, size-1), '\n')) //nolint:errcheck // the reader counts
		}
	}()
	expect.Equal(t, "passed", pieces*size, len(must.Get(io.ReadAll(server))(t)))
	finished := make(chan recording.Stats, 1)
	go func() {
		_, stats, _ := record(t, reading)
		reading.Close()
		finished <- stats
	}()
	feed.Close(must.Patience)
	if stats := <-finished; stats.LostBytes < (pieces-24)*size || stats.LostBytes > pieces*size {
		t.Errorf("%d bytes are reported as lost", stats.LostBytes)
	}
}

type pipe struct{ net.Conn }

func (p pipe) CloseWrite() error { return p.Close() }

// A direction ends at once if no one reads it, although its source is silent.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	in, client := newPipe(t)
	server, out := newPipe(t)
	defer client.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		stdio.Pass(in, out, stdio.Client, nil)
	}()
	server.Close()
	select {
	case <-done:
	case <-time.After(must.Patience):
		t.Fatal("the relay waits for a client that cannot know that the server is gone")
	}
	if _, err := client.WriteString("x"); err == nil {
		t.Error("the client can write to a server that is gone")
	}
}

// BenchmarkPass measures how long a message and its echo take: through pipes alone, through a relay, and through a relay
// with a feed.
func BenchmarkPass(b *testing.B) {
	l := must.Get(stdio.Listen())(b)
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go io.Copy(io.Discard, conn) //nolint:errcheck // until the feed ends
		}
	}()
	for name, c := range map[string]struct{ relayed, fed bool }{"pipe": {}, "relay": {relayed: true}, "feed": {true, true}} {
		b.Run(name, func(b *testing.B) {
			var feed *stdio.Feed
			if c.fed {
				feed = stdio.NewFeed(stdio.Hello{Name: "echo"}, func() (stdio.Conn, error) { return stdio.Dial(l.Path()) }, func(err error) { b.Error(err) })
			}
			way := func(side stdio.Side) (r, w *os.File) {
				r, w = newPipe(b)
				if c.relayed {
					from, to := newPipe(b)
					go stdio.Pass(r, to, side, feed)
					r = from
				}
				return r, w
			}
			in, client := way(stdio.Client)
			answers, out := way(stdio.Server)
			go func() {
				io.Copy(struct{ io.Writer }{out}, struct{ io.Reader }{in}) //nolint:errcheck // until the client ends
				out.Close()
			}()
			message := []byte(`{"jsonrpc":"2.0","method":"n","params":{}}` + "\n")
			answer := make([]byte, len(message))
			for b.Loop() {
				_, err := client.Write(message)
				must.Do(b, err)
				must.Get(io.ReadFull(answers, answer))(b)
			}
			client.Close()
			io.Copy(io.Discard, answers) //nolint:errcheck // to its end
		})
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(newTalk().client(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"x"}}}`, "x").
		server(`[{"jsonrpc":"2.0","id":1,"result":{}}]`, "y", `{"id":3,"method":"m"}`).lost(stdio.Server, 3).ended(stdio.Server).Bytes())
	f.Fuzz(func(t *testing.T, feed []byte) {
		all, stats, err := record(t, bytes.NewReader(feed))
		for _, x := range all {
			if x.State == capture.StateOpen || err == nil && x.State != capture.StateClosed {
				t.Errorf("exchange %d is %v", x.Seq, x.State)
			}
		}
		if stats.LostBytes < 0 {
			t.Errorf("%d bytes lost", stats.LostBytes)
		}
	})
}
