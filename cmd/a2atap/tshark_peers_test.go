//go:build peers && linux

package main

import (
	"bytes"
	stdgzip "compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"

	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// What tshark reads in the packets before and behind taps is what the capture says, and each frame that a client or an
// agent sends is the one that comes out of the tap.
func TestTshark(t *testing.T) {
	if !fleettest.Apart(t) {
		return
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	server, quiet := grpc.NewServer(), a2asrv.WithLogger(slog.New(slog.DiscardHandler))
	a2agrpc.NewHandler(a2asrv.NewHandler(sdkExecutor{}, quiet)).RegisterWith(server)
	go server.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(server.Stop)
	spec, _ := startAgent(t, "spec", "--binding", "grpc")
	t.Run("as it is", func(t *testing.T) { compareWithTshark(t, l.Addr().String(), spec) })
	t.Run("nothing held", func(t *testing.T) { compareWithTshark(t, l.Addr().String(), spec, "--no-webhooks") })
}

func compareWithTshark(t *testing.T, sdk, spec string, flags ...string) {
	packets := listenToLoopback(t)
	path := filepath.Join(t.TempDir(), "c.a2atap")
	r := startRecorder(t, 2, append([]string{
		"record", "--agent", "sdk=http://" + sdk, "--agent", "spec=" + spec, "-o", path, "--format", "json", "--keep-secrets",
	}, flags...)...)
	taps := map[string]string{sdk: hostIn(t, r.taps["sdk"]), hostIn(t, spec): hostIn(t, r.taps["spec"])}
	if out, err := exec.Command("grpctalk", taps[sdk]).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	talkOddly(t, taps[sdk])
	runForOutput(t, "send", r.taps["spec"], "task-lifecycle two seats", "--protocol", "1.0-grpc")
	leaveStream(t, taps[hostIn(t, spec)])
	r.stop(t)

	const calls = 3 + 3 + 1 + 2
	connections := readByTshark(t, packets(), taps)
	recorded := recordedCalls(t, path)
	seen := 0
	for agent, tap := range taps {
		before, behind := connections[tap], connections[agent]
		if len(before) != 2 || len(behind) != 2 {
			t.Fatalf("%d connections before the tap of %s, and %d behind it", len(before), agent, len(behind))
		}
		for i, c := range before {
			for side := range c.frames {
				a, b := untilLastOfStream(c.frames[side]), untilLastOfStream(behind[i].frames[side])
				if len(flags) == 0 {
					a, b = asWhenHeld(a), asWhenHeld(b)
				}
				differFirst(t, fmt.Sprintf("frames of side %d", side), a, b)
			}
			for stream, call := range c.calls {
				seen++
				text := call.text()
				if saved := recorded[c.client+" "+agent+" "+stream]; saved != text {
					t.Errorf("recorded is\n%s\nand tshark reads\n%s", saved, text)
				}
				if behind := behind[i].calls[stream].text(); behind != strings.Replace(text, "host: "+tap, "host: "+agent, 1) {
					t.Errorf("before the tap is\n%s\nand behind it\n%s", text, behind)
				}
			}
		}
	}
	if seen != calls || len(recorded) != calls {
		t.Errorf("tshark reads %d calls, and %d are recorded", seen, len(recorded))
	}
}

// untilLastOfStream omits frames about the connection at its end. The client closes the connection, and later frames of
// the agent no longer reach it; or the recorder ends before the client's GOAWAY arrives.
func untilLastOfStream(frames []string) []string {
	for len(frames) > 0 && strings.HasPrefix(frames[len(frames)-1], "stream 0 ") {
		frames = frames[:len(frames)-1]
	}
	return frames
}

// asWhenHeld returns what is the same although the tap holds requests: it gives credit for what it holds, and other
// frames of the connection overtake that.
func asWhenHeld(frames []string) []string {
	frames = slices.DeleteFunc(frames, func(f string) bool { return strings.Contains(f, " type 8 ") })
	slices.SortStableFunc(frames, func(a, b string) int {
		a, _, _ = strings.Cut(a, " type")
		b, _, _ = strings.Cut(b, " type")
		return strings.Compare(a, b)
	})
	return frames
}

// talkOddly calls in ways that show in the frames: messages that are compressed and that need many frames, fields that
// need CONTINUATION, that occur twice, and that are not text.
func talkOddly(t *testing.T, addr string) {
	t.Helper()
	with := func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		options ...grpc.CallOption,
	) error {
		ctx = metadata.AppendToOutgoingContext(ctx, "x-twice", "1", "x-twice", "2", "x-odd-bin", "\x00\xff\r\n",
			"x-long", strings.Repeat("long ", 5000))
		return invoke(ctx, method, req, reply, conn, append(options, grpc.UseCompressor(gzip.Name))...)
	}
	agent := dialAgent(t, addr, grpc.WithUnaryInterceptor(with))
	defer agent.Destroy() //nolint:errcheck // its connection is closed
	noise := make([]byte, 50_000)
	rand.Read(noise)
	for _, text := range []string{"small", strings.Repeat("0123456789abcdef", 10_000), hex.EncodeToString(noise)} {
		request := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
		must.Get(agent.SendMessage(t.Context(), a2aclient.ServiceParams{"a2a-version": {"1.0"}}, request))(t)
	}
}

// leaveStream leaves a stream after all that comes before the agent waits, since what crosses the reset is not
// recorded, and stays until the agent knows of it.
func leaveStream(t *testing.T, addr string) {
	t.Helper()
	agent := dialAgent(t, addr)
	defer agent.Destroy() //nolint:errcheck // its connection is closed
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	params := a2aclient.ServiceParams{"a2a-version": {"1.0"}}
	request := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("task-cancel"))}
	events := 0
	for _, err := range agent.SendStreamingMessage(ctx, params, request) {
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		if events++; events == 2 {
			leave()
		}
	}
	if _, err := agent.GetTask(t.Context(), params, &a2a.GetTaskRequest{ID: "none"}); err == nil {
		t.Error("there is a task that nobody made")
	}
}

func dialAgent(t *testing.T, addr string, options ...grpc.DialOption) a2aclient.Transport {
	t.Helper()
	conn := must.Get(grpc.NewClient("passthrough:///"+addr, append(options, inTheClear)...))(t)
	return a2agrpc.NewGRPCTransport(conn)
}

func hostIn(t *testing.T, address string) string {
	t.Helper()
	u := must.Get(url.Parse(address))(t)
	return u.Host
}

// differFirst reports the first line in which two lists differ.
func differFirst(t *testing.T, what string, a, b []string) {
	t.Helper()
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Errorf("%s: %d before the tap, and %d behind it; they differ from\n%.200q\n%.200q", what, len(a), len(b),
				a[min(i, len(a)):min(i+1, len(a))], b[min(i, len(b)):min(i+1, len(b))])
			return
		}
	}
}

// A wireCall is one stream of HTTP/2: what its client sent, and what its agent sent.
type wireCall [2]wireSide

// A wireSide is what one end sent in a stream.
type wireSide struct {
	head     string
	messages []string
	trailer  string
	ended    bool    // by END_STREAM
	reset    string  // with this code
	block    *string // which of them the fields belong to that come
}

func (c *wireCall) text() string {
	if c == nil {
		return "nothing"
	}
	var b strings.Builder
	for _, side := range c {
		fmt.Fprintf(&b, "%s%s\ntrailer %q, ended %t, reset %q\n\n", side.head, strings.Join(side.messages, "\n"),
			side.trailer, side.ended, side.reset)
	}
	return b.String()
}

// messageLine says of a message of gRPC what can be compared: its flag, its length as it was sent, and what it is when
// it is unpacked.
func messageLine(flag byte, length int, plain []byte) string {
	return fmt.Sprintf("message %d of %d bytes: %x", flag, length, sha256.Sum256(plain))
}

// cutMessages returns the messages at the beginning of what was recorded.
func cutMessages(t *testing.T, data []byte) (lines []string) {
	t.Helper()
	for len(data) >= 5 {
		end := min(5+int(binary.BigEndian.Uint32(data[1:])), len(data))
		plain := data[5:end]
		if data[0] == 1 && end > 5 {
			r, err := stdgzip.NewReader(bytes.NewReader(plain))
			if err == nil {
				plain, err = io.ReadAll(r)
			}
			must.Do(t, err)
		}
		lines = append(lines, messageLine(data[0], end-5, plain))
		data = data[end:]
	}
	return lines
}

// recordedCalls returns the calls over HTTP/2 of a capture, by the addresses of client and agent, and the stream.
func recordedCalls(t *testing.T, path string) map[string]string {
	t.Helper()
	source := must.Get(bolt.Read(path))(t)
	defer source.Close()
	calls := make(map[string]string)
	for x, err := range source.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		if x.Stream == 0 {
			continue
		}
		var c wireCall
		c[0].head, c[0].trailer, c[0].ended = withoutEnd(x.Request.Head), string(x.Request.Trailer), x.Request.Body.Complete
		c[0].messages = cutMessages(t, x.Request.Body.Data)
		if r := x.Response; r != nil {
			c[1].head, c[1].trailer, c[1].ended = withoutEnd(r.Head), string(r.Trailer), r.Body.Complete
			for _, e := range r.Events {
				c[1].messages = append(c[1].messages, cutMessages(t, e.Raw)...)
			}
		}
		if x.Fault != nil {
			side := 0
			if x.Fault.Side == "agent" {
				side = 1
			}
			_, c[side].reset, _ = strings.Cut(x.Fault.Detail, "RST_STREAM with ")
		}
		calls[fmt.Sprintf("%s %s %d", x.Client.Addr, x.Agent.Addr, x.Stream)] = c.text()
	}
	return calls
}

// withoutEnd returns a head without the line that ends it.
func withoutEnd(head []byte) string { return strings.TrimSuffix(string(head), "\r\n") }

// A wireConn is a connection of HTTP/2 as tshark reads it.
type wireConn struct {
	client string
	calls  map[string]*wireCall // by stream
	frames [2][]string          // what each side sent
}

// A pdml is an element of what tshark writes about packets: a layer, or a field.
type pdml struct {
	Name   string `xml:"name,attr"`
	Show   string `xml:"show,attr"`
	Value  string `xml:"value,attr"` // in hex
	Layers []pdml `xml:"proto"`
	Fields []pdml `xml:"field"`
}

// layer returns the first layer of that name.
func (p *pdml) layer(name string) *pdml {
	for i := range p.Layers {
		if p.Layers[i].Name == name {
			return &p.Layers[i]
		}
	}
	return new(pdml)
}

// each passes the fields of that name.
func (p *pdml) each(name string, f func(*pdml)) {
	for i := range p.Fields {
		if field := &p.Fields[i]; field.Name == name {
			f(field)
		} else {
			field.each(name, f)
		}
	}
}

func (p *pdml) show(name string) (s string) {
	p.each(name, func(f *pdml) { s = f.Show })
	return s
}

// bytes returns the bytes of a field.
func (p *pdml) bytes(name string) (b []byte) {
	p.each(name, func(f *pdml) { b, _ = hex.DecodeString(f.Value) })
	return b
}

// readByTshark returns the connections of HTTP/2 by the address that they lead to.
func readByTshark(t *testing.T, packets []byte, taps map[string]string) map[string][]*wireConn {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.pcap")
	must.Do(t, os.WriteFile(file, packets, 0o600))
	args := []string{"-r", file, "-n", "-Y", "http2", "-T", "pdml", "-J", "ip tcp http2 grpc"}
	for agent, tap := range taps {
		for _, addr := range []string{agent, tap} {
			_, port, _ := net.SplitHostPort(addr)
			args = append(args, "-d", "tcp.port=="+port+",http2")
		}
	}
	var said bytes.Buffer
	cmd := exec.Command("tshark", args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, said.String())
	}
	var read struct {
		Packets []pdml `xml:"packet"`
	}
	must.Do(t, xml.Unmarshal(out, &read))
	byNumber := make(map[string]*wireConn)
	to := make(map[string][]*wireConn)
	for _, packet := range read.Packets { // those of HTTP/1.1, too, are read as if they were of HTTP/2
		tcp := packet.layer("tcp")
		if http2 := packet.layer("http2"); http2.show("http2.magic") != "" {
			conn := &wireConn{client: "127.0.0.1:" + tcp.show("tcp.srcport"), calls: make(map[string]*wireCall)}
			dest := "127.0.0.1:" + tcp.show("tcp.dstport")
			byNumber[tcp.show("tcp.stream")], to[dest] = conn, append(to[dest], conn)
		}
	}
	for _, packet := range read.Packets {
		tcp := packet.layer("tcp")
		conn := byNumber[tcp.show("tcp.stream")]
		if conn == nil {
			continue
		}
		side := 1
		if "127.0.0.1:"+tcp.show("tcp.srcport") == conn.client {
			side = 0
		}
		stream := ""
		for _, layer := range packet.Layers {
			switch layer.Name {
			case "http2":
				layer.each("http2.stream", func(f *pdml) { conn.frame(side, f) })
				stream = layer.show("http2.streamid")
			case "grpc":
				flag, _ := strconv.ParseUint(layer.show("grpc.compressed_flag"), 10, 8)
				length, _ := strconv.Atoi(layer.show("grpc.message_length"))
				sent := &conn.calls[stream][side]
				sent.messages = append(sent.messages, messageLine(byte(flag), length, layer.bytes("grpc.message_data")))
			}
		}
	}
	return to
}

// frame takes a frame that a side sent.
func (c *wireConn) frame(side int, f *pdml) {
	kind, id := f.show("http2.type"), f.show("http2.streamid")
	if kind == "" {
		return // the preface
	}
	const headers, reset, continuation = "1", "3", "9"
	end := f.show("http2.flags.end_stream") == "1"
	line := fmt.Sprintf("stream %s type %s end %t", id, kind, end)
	for _, name := range []string{
		"http2.data.data", "http2.flags.ack.settings", "http2.flags.ack.ping", "http2.ping", "http2.settings",
		"http2.window_update.window_size_increment", "http2.rst_stream.error", "http2.goaway.last_stream_id",
		"http2.goaway.error", "http2.goaway.addata",
	} {
		f.each(name, func(f *pdml) { line += " " + f.Name + " " + f.Value })
	}
	if kind != continuation {
		c.frames[side] = append(c.frames[side], line)
	}
	if id == "0" {
		return
	}
	call := c.calls[id]
	if call == nil {
		call = new(wireCall)
		c.calls[id] = call
	}
	sent := &call[side]
	sent.ended = sent.ended || end
	if kind == reset && !call[1].ended && call[0].reset == "" && call[1].reset == "" { // else it breaks nothing
		code, _ := strconv.ParseUint(f.show("http2.rst_stream.error"), 10, 32)
		sent.reset = http2.ErrCode(code).String()
	}
	if kind == headers || kind == continuation {
		sent.take(f, kind == headers)
	}
}

// take adds fields of a head or of a trailer, in recorded form. Those of a CONTINUATION continue its HEADERS.
func (s *wireSide) take(f *pdml, begins bool) {
	pseudo := make(map[string]string)
	var fields string
	f.each("http2.header", func(h *pdml) {
		name, value := string(h.bytes("http2.header.name")), string(h.bytes("http2.header.value"))
		if strings.HasPrefix(name, ":") {
			pseudo[name] = value
			return
		}
		fields += name + ": " + value + "\r\n"
	})
	switch {
	case pseudo[":method"] != "":
		s.block = &s.head
		s.head = pseudo[":method"] + " " + pseudo[":path"] + " HTTP/2\r\nhost: " + pseudo[":authority"] + "\r\n"
	case pseudo[":status"] != "":
		s.block = &s.head
		s.head = "HTTP/2 " + pseudo[":status"] + "\r\n"
	case begins:
		s.block = &s.trailer
	}
	*s.block += fields
}

// listenToLoopback returns what returns, in the format of pcap, the packets that have come over the loopback interface
// since. The test runs Apart.
func listenToLoopback(t *testing.T) func() []byte {
	t.Helper()
	const (
		all            = 0x0300 // ETH_P_ALL in the order of the network
		ignoreOutgoing = 23     // PACKET_IGNORE_OUTGOING, without which each packet comes twice
	)
	lo := must.Get(net.InterfaceByName("lo"))(t)
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, all)
	must.Do(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	for _, err := range []error{
		syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUFFORCE, 64<<20),
		syscall.SetsockoptInt(fd, syscall.SOL_PACKET, ignoreOutgoing, 1),
		syscall.Bind(fd, &syscall.SockaddrLinklayer{Protocol: all, Ifindex: lo.Index}),
	} {
		if err != nil {
			t.Fatalf("listen to packets, which only root may: %v", err)
		}
	}
	return func() []byte {
		le := binary.LittleEndian
		file := le.AppendUint32(nil, 0xa1b2c3d4)
		file = le.AppendUint16(le.AppendUint16(file, 2), 4)
		file = le.AppendUint32(append(file, make([]byte, 8)...), 1<<18)
		file = le.AppendUint32(file, 1) // Ethernet
		packet := make([]byte, 1<<18)
		for i := uint32(0); ; i++ {
			n, _, err := syscall.Recvfrom(fd, packet, 0)
			if err == syscall.EAGAIN {
				return file
			}
			must.Do(t, err)
			file = le.AppendUint32(le.AppendUint32(file, i), 0) // their order is enough
			file = le.AppendUint32(le.AppendUint32(file, uint32(n)), uint32(n))
			file = append(file, packet[:n]...)
		}
	}
}
