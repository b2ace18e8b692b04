package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// officeHours runs a model and an MCP server until it is killed, and writes the line "services URL" to a file.
func officeHours() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	line := fmt.Sprintf("services http://%s\n", l.Addr())
	if err := os.WriteFile(os.Args[1]+".new", []byte(line), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(os.Args[1]+".new", os.Args[1]); err != nil {
		log.Fatal(err)
	}
	var calls atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, word := range []string{"It ", "is ", "fine."} {
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", word)
				http.NewResponseController(w).Flush()
			}
			io.WriteString(w, "data: [DONE]\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"answer %d"},"finish_reason":"stop"}]}`, calls.Add(1))
	})
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ ID json.RawMessage }
		json.NewDecoder(r.Body).Decode(&q)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "a-session-of-one-run")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"18 degrees"}]}}`, q.ID)
	})
	log.Fatal(http.Serve(l, mux)) //nolint:gosec // it is killed
}

// asker is a program that asks a model (OPENAI_BASE_URL), an MCP server, a tool on standard input and output, and an
// agent. Its arguments are the URL of the services, that of the agent or "-", and a question for the model.
func asker() {
	proxyURL, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil {
		log.Fatal(err)
	}
	through := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxyURL)}, Timeout: time.Minute}
	ask := func(client *http.Client, at, body string) string {
		r, err := http.NewRequest(http.MethodPost, at, strings.NewReader(body)) //nolint:noctx // the client has a timeout
		if err != nil {
			log.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("A2A-Version", "1.0")
		res, err := client.Do(r)
		if err != nil {
			log.Fatal(err)
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			log.Fatal(err)
		}
		if res.StatusCode >= 300 {
			log.Fatalf("%s: %s", res.Status, answer)
		}
		return string(answer)
	}
	model, now := os.Getenv("OPENAI_BASE_URL")+"/chat/completions", time.Now().UTC().Format(time.RFC3339Nano)
	chat := func(text, more string) string {
		return fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":"It is %s."},{"role":"user","content":%q}]%s}`, now, text, more)
	}
	for _, client := range []*http.Client{http.DefaultClient, through} { // some programs ask for a tap through the proxy
		fmt.Println(ask(client, model, chat(os.Args[3], "")))
	}
	fmt.Println(ask(http.DefaultClient, model, chat("and then?", `,"stream":true`)))
	answer := ask(through, os.Args[1]+"/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"weather","arguments":{"city":"Oslo"}}}`, os.Getpid()))
	fmt.Println(strings.Contains(answer, "18 degrees"), strings.Contains(answer, fmt.Sprintf(`"id":%d,`, os.Getpid())))
	if agent := os.Args[2]; agent != "-" {
		answer = ask(through, agent, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m-%d","role":"ROLE_USER","parts":[{"text":"two seats"}]}}}`, os.Getpid()))
		fmt.Println(strings.Contains(answer, `"result"`))
	}
	tool := exec.Command("a2atap", "stdio", "--name", "files", "--", "sh", "-c", `while read -r line; do echo '{"jsonrpc":"2.0","id":7,"result":{}}'; done`)
	tool.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	tool.Stderr = os.Stderr
	in, err := tool.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	out, err := tool.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := tool.Start(); err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(in, "%s\n", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list"}}`)
	lines := bufio.NewScanner(out)
	lines.Scan()
	fmt.Println(lines.Text())
	in.Close()
	io.Copy(io.Discard, out)
	if err := tool.Wait(); err != nil {
		log.Fatal(err)
	}
}
