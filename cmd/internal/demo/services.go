package demo

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy"
	"a2atap/proxy/outbound"
	"a2atap/replay/refagent"
)

// The demo's model asks for the weather, and its MCP server has a tool for that.
const (
	askModel = `{"model":"demo-1","messages":[{"role":"user","content":%q}],` +
		`"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]}`
	modelAsks = `{"object":"chat.completion","model":"demo-1","choices":[{"index":0,"message":{"role":"assistant","content":null,` +
		`"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Kyoto\"}"}}]},` +
		`"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":42,"completion_tokens":9}}`
	askTool = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather","arguments":{"city":"Kyoto"}}}`
	toolSay = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"18 degrees, no rain"}]}}`
)

// An Agent is a running reference agent, and the tap to open in front of it.
type Agent struct {
	Tap  proxy.TapSpec
	Stop func()
}

// Start starts the reference agent with a name.
func Start(name string, o refagent.Options) (*Agent, error) {
	o.StepTime = 20 * time.Millisecond
	a, err := refagent.New("spec", o)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		a.Close()
		return nil, fmt.Errorf("listen for agent %s: %w", name, outbound.Cause(err))
	}
	spec, err := proxy.ParseTap(name + "=http://" + l.Addr().String() + a.Path())
	if err != nil {
		a.Close()
		l.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cli.Serve(ctx, l, a) //nolint:errcheck // it ends with the context
	}()
	return &Agent{Tap: spec, Stop: func() { cancel(); <-ended; a.Close() }}, nil
}

// StartService starts a server that gives one answer to every request, instead of a model or an MCP server.
func StartService(name, answer string) (*Agent, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", name, outbound.Cause(err))
	}
	spec, err := proxy.ParseTap(name + "=http://" + l.Addr().String())
	if err != nil {
		l.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cli.Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:errcheck // it ends with the context
			io.Copy(io.Discard, r.Body) //nolint:errcheck // the answer is the same
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answer) //nolint:errcheck // a client may leave
		}))
	}()
	return &Agent{Tap: spec, Stop: func() { cancel(); <-ended }}, nil
}
