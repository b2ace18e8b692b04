// Package hostile has agents that cost their clients as much time and memory as possible. Each has a name and one
// behavior, regardless of the request. Behaviors lists them; the tests try each one on all commands that they name.
package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Name is the name of the hostile agent among the reference agents.
const Name = "hostile"

// A Behavior is the behavior of a hostile agent.
type Behavior struct {
	Name        string // such as "grpc-parts-packed"
	Description string // one sentence
	GRPC        bool   // its card offers gRPC; otherwise JSON-RPC and HTTP+JSON
	Card        bool   // it also answers requests for its card in that way; otherwise its card is valid
	Ends        bool   // its answers end

	answer func(*Agent, http.ResponseWriter, *http.Request)
	frames func(net.Conn) // speaks HTTP/2 instead of answer; nil for HTTP/1.1
}

// An Agent is a hostile agent, whose calls are all at the root of its address. It is safe for concurrent use.
type Agent struct {
	Behavior
	Attacked chan struct{} // receives a value when an attack begins, if there is room

	ctx  context.Context // ends when the agent is closed
	end  context.CancelFunc
	work sync.WaitGroup // floods
}

// New returns an agent. The caller closes it.
func New(b Behavior) *Agent {
	a := &Agent{Behavior: b, Attacked: make(chan struct{}, 1)}
	a.ctx, a.end = context.WithCancel(context.Background())
	return a
}

// Close ends all work of the agent.
func (a *Agent) Close() {
	a.end()
	a.work.Wait()
}

// Protocols are the protocols that the agent's server must support: only HTTP/1.1 if HTTP/2 must arrive as the request
// PRI, which the agent takes over.
func (a *Agent) Protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(a.frames == nil)
	return p
}

// ServeHTTP implements http.Handler.
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !a.Card && strings.HasSuffix(r.URL.Path, ".json") {
		a.serveCard(w, r, 1)
		return
	}
	select {
	case a.Attacked <- struct{}{}:
	default:
	}
	switch {
	case a.frames == nil:
		a.answer(a, w, r)
	case r.Method == "PRI":
		if conn, done := a.takeOver(w); conn != nil {
			defer done()
			a.frames(conn)
		}
	default:
		http.NotFound(w, r)
	}
}

// serveCard answers with a card that has the given number of skills.
func (a *Agent) serveCard(w http.ResponseWriter, r *http.Request, skills int) {
	type object = map[string]any
	at := object{"url": "http://" + r.Host, "protocolVersion": "1.0", "protocolBinding": "JSONRPC"}
	rest := object{"url": "http://" + r.Host, "protocolVersion": "1.0", "protocolBinding": "HTTP+JSON"}
	interfaces := []object{at, rest}
	if a.GRPC {
		at["url"], at["protocolBinding"] = r.Host, "GRPC"
		interfaces = interfaces[:1]
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(object{ //nolint:errcheck // to a client that may have left
		"name": "Hostile", "description": a.Description, "version": "1", "supportedInterfaces": interfaces,
		"capabilities":      object{"streaming": true, "pushNotifications": true},
		"defaultInputModes": []string{"text/plain"}, "defaultOutputModes": []string{"text/plain"},
		"skills": slices.Repeat([]object{{"id": "s", "description": "Attacks."}}, skills),
	})
}

// takeOver returns the connection of a request, and a context for its end; nil over HTTP/2.
func (a *Agent) takeOver(w http.ResponseWriter) (conn net.Conn, done func()) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		fmt.Fprintln(w, err)
		return nil, nil
	}
	stop := context.AfterFunc(a.ctx, func() { conn.Close() })
	return conn, func() { stop(); conn.Close() }
}

// until returns a context that ends when the client leaves, or the agent is closed.
func (a *Agent) until(r *http.Request) (context.Context, context.CancelFunc) {
	io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20)) //nolint:errcheck // it answers all the same, and sees who leaves
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(a.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}
