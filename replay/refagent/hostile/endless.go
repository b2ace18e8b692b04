package hostile

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"a2atap/proxy/grpc"
	"a2atap/proxy/hostname"
	"a2atap/proxy/jsondoc"
)

const event = `data: {"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}` + "\n\n"

// chunk is the size of the pieces of an endless answer.
const chunk = 64 << 10

// silent waits until the client leaves.
func silent(a *Agent, _ http.ResponseWriter, r *http.Request) {
	ctx, done := a.until(r)
	defer done()
	<-ctx.Done()
}

func headOnly(a *Agent, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	http.NewResponseController(w).Flush() //nolint:errcheck // to a client that may have left
	silent(a, w, r)
}

func drip(a *Agent, w http.ResponseWriter, r *http.Request) {
	ctx, done := a.until(r)
	defer done()
	w.Header().Set("Content-Type", "application/json")
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for n := 0; ; n++ {
		if _, err := io.WriteString(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

func headCut(a *Agent, w http.ResponseWriter, _ *http.Request) {
	if conn, done := a.takeOver(w); conn != nil {
		defer done()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Ty") //nolint:errcheck // to a client that may have left
	}
}

// raw writes to the connection without end.
func raw(begin, again string) func(*Agent, http.ResponseWriter, *http.Request) {
	return func(a *Agent, w http.ResponseWriter, _ *http.Request) {
		if conn, done := a.takeOver(w); conn != nil {
			defer done()
			repeat(a.ctx, conn, begin, again)
		}
	}
}

// repeat writes a text, and then another one endlessly. If the other one is empty, it waits instead.
func repeat(ctx context.Context, w io.Writer, begin, again string) {
	_, err := io.WriteString(w, begin)
	if again == "" {
		<-ctx.Done()
		return
	}
	again = strings.Repeat(again, chunk/len(again))
	for err == nil && ctx.Err() == nil {
		_, err = io.WriteString(w, again)
	}
}

// endless answers with a text that never ends.
func endless(media, begin, again string) func(*Agent, http.ResponseWriter, *http.Request) {
	return func(a *Agent, w http.ResponseWriter, r *http.Request) {
		ctx, done := a.until(r)
		defer done()
		w.Header().Set("Content-Type", media)
		http.NewResponseController(w).Flush() //nolint:errcheck // to a client that may have left
		repeat(ctx, w, begin, again)
	}
}

// packedEndless is endless, compressed with gzip.
func packedEndless(media, again string) func(*Agent, http.ResponseWriter, *http.Request) {
	return func(a *Agent, w http.ResponseWriter, r *http.Request) {
		ctx, done := a.until(r)
		defer done()
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Encoding", "gzip")
		packer, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		repeat(ctx, packer, "", again)
	}
}

func whole(media string, text func() string) func(*Agent, http.ResponseWriter, *http.Request) {
	return func(_ *Agent, w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // it answers all the same
		w.Header().Set("Content-Type", media)
		io.WriteString(w, text()) //nolint:errcheck // to a client that may have left
	}
}

func cardHuge(a *Agent, w http.ResponseWriter, r *http.Request) {
	ctx, done := a.until(r)
	defer done()
	w.Header().Set("Content-Type", "application/json")
	_, err := io.WriteString(w, `{"name":"Hostile","description":"`)
	for text, n := bytes.Repeat([]byte("x"), chunk), 0; n < 1e9 && err == nil && ctx.Err() == nil; n += len(text) {
		_, err = w.Write(text)
	}
	io.WriteString(w, `"}`) //nolint:errcheck // to a client that may have left
}

func redirects(_ *Agent, w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/"+rand.Text()+".json", http.StatusTemporaryRedirect)
}

// pages answers any call with a page of a list.
func pages(_ *Agent, w http.ResponseWriter, r *http.Request) {
	answerCall(w, r, map[string]any{"tasks": []any{}, "nextPageToken": rand.Text(), "pageSize": 1, "totalSize": 1 << 30})
}

// answerCall answers a call over JSON-RPC or HTTP+JSON, and returns the request.
func answerCall(w http.ResponseWriter, r *http.Request, result any) (asked []byte) {
	var call struct{ ID, Method json.RawMessage }
	asked, _ = io.ReadAll(io.LimitReader(r.Body, 1<<20))
	json.Unmarshal(asked, &call) //nolint:errcheck // what cannot be read is no call of JSON-RPC
	if call.Method != nil {
		result = map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": result}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(result) //nolint:errcheck // to a client that may have left
	return asked
}

// flood answers with a working task, and floods the webhook in the call. It skips webhooks on other machines.
func flood(a *Agent, w http.ResponseWriter, r *http.Request) {
	task := map[string]any{"id": "t", "contextId": "c", "status": map[string]any{"state": "TASK_STATE_WORKING"}}
	asked := jsondoc.Parse(answerCall(w, r, map[string]any{"task": task, "id": "t", "contextId": "c", "status": task["status"]}))
	configs := []jsondoc.Value{asked.Root}
	for len(configs) > 0 {
		v := configs[0]
		configs = configs[1:]
		for _, member := range v.Members() {
			configs = append(configs, member)
		}
		at, err := url.Parse(v.Get("url").Text())
		if err != nil || at.Scheme != "http" || !hostname.IsLoopback(hostname.Normal(at.Hostname())) {
			continue
		}
		a.work.Go(func() { a.notify(at.String(), v.Get("token").Text()) })
	}
}

// notify sends notifications until the webhook or the agent is closed.
func (a *Agent) notify(at, token string) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	text := strings.TrimSuffix(strings.TrimPrefix(event, `data: {"jsonrpc":"2.0","id":1,"result":`), "}\n\n")
	for {
		r, err := http.NewRequestWithContext(a.ctx, http.MethodPost, at, strings.NewReader(text))
		if err != nil {
			return
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-A2A-Notification-Token", token)
		answer, err := transport.RoundTrip(r)
		if err != nil {
			return
		}
		io.Copy(io.Discard, answer.Body) //nolint:errcheck // it is not read
		answer.Body.Close()
	}
}

// messages answers with the given number of gRPC messages, without a trailer; -1 means without end.
func messages(n int) func(*Agent, http.ResponseWriter, *http.Request) {
	frame := grpc.AppendFrame(nil, Text(answer(), 1))
	return func(a *Agent, w http.ResponseWriter, r *http.Request) {
		if n < 0 {
			endless("application/grpc", "", string(frame))(a, w, r)
			return
		}
		endless("application/grpc", strings.Repeat(string(frame), n), "")(a, w, r)
	}
}

// preface is the rest of the HTTP/2 preface after net/http has read its start as a request.
const preface = "SM\r\n\r\n"

// noWindow grants the client no window to send in.
func noWindow(conn net.Conn) {
	serveFrames(conn, func(*http2.Framer, http2.Frame) {}, http2.Setting{ID: http2.SettingInitialWindowSize})
}

// headerBlock answers each request with a header block without end.
func headerBlock(conn net.Conn) {
	serveFrames(conn, func(f *http2.Framer, got http2.Frame) {
		if _, ok := got.(*http2.HeadersFrame); !ok {
			return
		}
		var block bytes.Buffer
		fields := hpack.NewEncoder(&block)
		fields.WriteField(hpack.HeaderField{Name: ":status", Value: "200"}) //nolint:errcheck // to a buffer
		err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: got.Header().StreamID, BlockFragment: block.Bytes()})
		for err == nil {
			block.Reset()
			fields.WriteField(hpack.HeaderField{Name: "x-field", Value: rand.Text(), Sensitive: true}) //nolint:errcheck // to a buffer
			err = f.WriteContinuation(got.Header().StreamID, false, block.Bytes())
		}
	})
}

// serveFrames speaks HTTP/2 with settings, and passes each frame to on until the connection ends.
func serveFrames(conn net.Conn, on func(*http2.Framer, http2.Frame), settings ...http2.Setting) {
	if _, err := io.ReadFull(conn, make([]byte, len(preface))); err != nil {
		return
	}
	f := http2.NewFramer(conn, conn)
	err := f.WriteSettings(settings...)
	for err == nil {
		var got http2.Frame
		if got, err = f.ReadFrame(); err != nil {
			return
		}
		switch got := got.(type) {
		case *http2.SettingsFrame:
			if !got.IsAck() {
				err = f.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !got.IsAck() {
				err = f.WritePing(true, got.Data)
			}
		default:
			on(f, got)
		}
	}
}
