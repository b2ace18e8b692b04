package player

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/stdio"
	"a2atap/replay/playback"
)

// tools plays tools on standard input and output.
type tools struct {
	listener *stdio.Listener
	player   *playback.Player
	plays    func(address string) bool
	recorder string // socket at which tools are recorded; may be empty
	notice   func(text string)
	served   sync.WaitGroup
	stop     context.CancelFunc
}

// playTools opens the socket at which a2atap stdio finds the player.
func playTools(ctx context.Context, player *playback.Player, plays func(string) bool, recorder string, notice func(string)) (*tools, error) {
	l, err := stdio.ListenToPlay()
	if err != nil {
		return nil, err
	}
	t := &tools{listener: l, player: player, plays: plays, recorder: recorder, notice: notice}
	ctx, t.stop = context.WithCancel(ctx)
	t.served.Go(func() { l.Serve(ctx, &t.served, func(conn net.Conn) { t.serve(ctx, conn) }) })
	return t, nil
}

func (t *tools) close() {
	t.listener.End()
	t.stop()
	t.served.Wait()
}

// serve answers one client of a tool.
func (t *tools) serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	context.AfterFunc(ctx, func() { conn.SetWriteDeadline(time.Now()) }) //nolint:errcheck // it is a socket
	h, lines, err := stdio.Greet(conn, func(h stdio.Hello) bool { return t.plays(h.Peer().URL) })
	if err != nil {
		return
	}
	if !t.plays(h.Peer().URL) {
		io.WriteString(conn, t.recorder) //nolint:errcheck // the tool has ended
		return
	}
	feed := t.feed(h)
	defer feed.Close(feedPatience)
	to := &client{conn: conn, feed: feed}
	ended := make(chan struct{})
	ctx = playback.WithEnd(context.WithValue(ctx, placeKey{}, h.Peer().URL), ended)
	asking.Go(func() { t.ask(ctx, to, h.Name, http.MethodGet, nil) })
	var all sync.WaitGroup
	for {
		line, err := readLine(lines)
		feed.Passed(stdio.Client, append(slices.Clone(line), '\n'))
		if len(bytes.TrimSpace(line)) > 0 { // of equal requests, the first one gets the first answer
			chosen := make(chan struct{})
			choose := sync.OnceFunc(func() { close(chosen) })
			all.Go(func() {
				defer choose()
				t.ask(playback.WithChosen(ctx, choose), to, h.Name, http.MethodPost, line)
			})
			<-chosen
		}
		if errors.Is(err, errLongLine) {
			t.player.Refuse("message to "+h.Peer().URL, err.Error())
		}
		if err != nil { // the client has closed the tool's input, and still reads
			close(ended)
			all.Wait()
			return
		}
	}
}

// feed records a played tool; nil if there is no recorder.
func (t *tools) feed(h stdio.Hello) *stdio.Feed {
	if t.recorder == "" {
		return nil
	}
	return stdio.NewFeed(h, func() (stdio.Conn, error) { return stdio.Dial(t.recorder) }, func(err error) {
		t.notice("the tool " + h.Name + " is not recorded: " + err.Error())
	})
}

// feedPatience bounds the time that the recording of a tool may take at its end.
const feedPatience = 2 * time.Second

// maxToolLine bounds a message of a client, in bytes.
const maxToolLine = 16 << 20

var errLongLine = errors.New("the message is longer than 16 MiB")

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > maxToolLine:
			return nil, errLongLine
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil || bytes.HasSuffix(line, []byte("\n")):
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

// ask sends one message, or opens the stream of the server's own messages, as a recorder describes them over HTTP.
func (t *tools) ask(ctx context.Context, to *client, name, method string, message []byte) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+name+"/", bytes.NewReader(message))
	if err != nil {
		return // the name is valid
	}
	r.RequestURI = "/"
	r.Header.Set("Accept", "text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
	}
	a := &toolAnswer{to: to, header: http.Header{}, listens: method == http.MethodGet}
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // it is that value
			panic(v)
		}
	}()
	t.player.ServeHTTP(a, r)
	a.end()
}

// A client is the client of a tool, which reads one message a line.
type client struct {
	mu   sync.Mutex
	conn io.Writer
	feed *stdio.Feed
}

func (c *client) send(message []byte) error {
	message = bytes.TrimSpace(message)
	if len(message) == 0 {
		return nil
	}
	line := append(bytes.ReplaceAll(message, []byte("\n"), []byte(" ")), '\n')
	c.mu.Lock()
	defer c.mu.Unlock()
	c.feed.Passed(stdio.Server, line)
	_, err := c.conn.Write(line)
	return err
}

// A toolAnswer writes an HTTP answer as messages to the client of a tool.
type toolAnswer struct {
	to      *client
	header  http.Header
	events  capture.Splitter
	body    []byte
	listens bool
	refused bool // an error that is no message
}

// Header implements http.ResponseWriter.
func (a *toolAnswer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *toolAnswer) WriteHeader(status int) {
	a.refused = status >= 400 && !strings.Contains(a.header.Get("Content-Type"), "json")
}

// Write implements http.ResponseWriter.
func (a *toolAnswer) Write(p []byte) (int, error) {
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		a.body = append(a.body, p...)
		return len(p), nil
	}
	for _, e := range a.events.Write(p) {
		if f := e.Fields(); f.HasData {
			if err := a.to.send(f.Data); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

func (a *toolAnswer) end() {
	if !a.refused && !a.listens {
		a.to.send(a.body) //nolint:errcheck // the client has left
	}
}
