package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// concierge is an agent that asks a model and another agent for each message. Its arguments are its ready file, and a file
// with lines "NAME URL": of the model "llm", and of the agent "booker". It reads that file with each message. The model
// gets the third argument, the agent the text of the message.
func concierge() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Timeout: time.Minute}
	ask := func(at string, body any) string {
		text, _ := json.Marshal(body)
		r, err := http.NewRequest(http.MethodPost, at, bytes.NewReader(text)) //nolint:noctx // the client has a timeout
		if err != nil {
			return err.Error()
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("A2A-Version", "1.0")
		res, err := client.Do(r)
		if err != nil {
			return "no answer"
		}
		defer res.Body.Close()
		io.Copy(io.Discard, res.Body)
		return res.Status
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			ID     json.RawMessage
			Params struct {
				Message struct{ Parts []struct{ Text string } }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Params.Message.Parts) == 0 {
			http.Error(w, "not a message", http.StatusBadRequest)
			return
		}
		urls := map[string]string{}
		file, _ := os.ReadFile(os.Args[2])
		for line := range bytes.Lines(file) {
			var name, at string
			fmt.Sscan(string(line), &name, &at)
			urls[name] = at
		}
		model := ask(urls["llm"]+"/v1/chat/completions", map[string]any{
			"model": "m", "messages": []any{map[string]string{"role": "user", "content": os.Args[3] + " It is " + time.Now().Format(time.RFC3339) + "."}},
		})
		message := map[string]any{
			"messageId": fmt.Sprint("m-", time.Now().UnixNano()), "role": "ROLE_USER", "parts": []any{map[string]string{"text": q.Params.Message.Parts[0].Text}},
		}
		agent := ask(urls["booker"], map[string]any{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": map[string]any{"message": message}})
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"model %s, agent %s"}]}}}`, q.ID, model, agent)
	}
	line := fmt.Sprintf("concierge http://%s\n", l.Addr())
	if err := os.WriteFile(os.Args[1]+".new", []byte(line), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(os.Args[1]+".new", os.Args[1]); err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(l, http.HandlerFunc(handler))) //nolint:gosec // it is killed
}
