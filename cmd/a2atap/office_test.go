package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
)

// office is a program that scripts run: an agent of 1.0, and its client.
//
//	office NAME FILE          an agent that begins a stream for each call and ends all of them on command
//	office NAME FILE TARGETS  one that passes each call on to booker in the ready file TARGETS
//	office post URL           sends a message and prints the answer
//	office end URL            tells an agent to end its streams
//
// Agents write the ready file FILE with NAME.
func office() {
	switch name := os.Args[1]; name {
	case "post":
		officeCall("POST", os.Args[2], `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":`+
			`{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"two seats"}]}}}`)
	case "end":
		officeCall("END", os.Args[2], "")
	default:
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			fatal("listen:", err)
		}
		ready := fmt.Sprintf("%s http://%s\n", name, l.Addr())
		if err := os.WriteFile(os.Args[2]+".new", []byte(ready), 0o600); err != nil {
			fatal("say that I am here:", err)
		}
		if err := os.Rename(os.Args[2]+".new", os.Args[2]); err != nil {
			fatal("say that I am here:", err)
		}
		handler := officeStreams()
		if len(os.Args) > 3 {
			handler = passOn
		}
		fatal("serve:", http.Serve(l, handler)) //nolint:gosec // it is for a script, which ends it
	}
}

// officeCall makes one request and prints the answer.
func officeCall(method, url, body string) {
	r, err := officeRequest(method, url, strings.NewReader(body))
	if err != nil {
		fatal("ask:", err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		fatal("ask:", err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		fatal("read the answer:", err)
	}
}

func officeRequest(method, url string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequest(method, url, body)
	if err == nil {
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "A2a-Version": {"1.0"},
			"User-Agent": {"office/1.0"},
		}
	}
	return r, err
}

// officeStreams answers each call with a stream, which sends its message on command.
func officeStreams() http.HandlerFunc {
	end, once := make(chan struct{}), sync.Once{}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "END" {
			once.Do(func() { close(end) })
			return
		}
		io.Copy(io.Discard, r.Body) //nolint:errcheck // the answer is the same
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-end
		fmt.Fprint(w, `data: {"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m-2","role":"ROLE_AGENT",`+
			`"parts":[{"text":"booked"}]}}}`+"\n\n")
	}
}

// passOn has booker answer a call.
func passOn(w http.ResponseWriter, r *http.Request) {
	err := func() error {
		targets, err := os.ReadFile(os.Args[3])
		if err != nil {
			return err
		}
		_, url, _ := bytes.Cut(targets, []byte("booker "))
		url, _, _ = bytes.Cut(url, []byte("\n"))
		q, err := officeRequest("POST", string(url), r.Body)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.(http.Flusher).Flush()
		_, err = io.Copy(w, res.Body)
		return err
	}()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}
