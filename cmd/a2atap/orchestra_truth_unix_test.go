//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/grpc"
	"a2atap/proxy/must"
)

// A performed is an exchange of a concert, as show prints it.
type performed struct {
	N         uint64
	Conn      uint64
	Client    struct{ Name, How string }
	Agent     struct{ Name string }
	Operation string
	Task      []string
	Request   struct {
		Line         string
		Headers      [][2]string
		Body         string // JSON of a gRPC message
		BodyEncoding string
	}

	by     string // the agent that says that it made it
	user   uint64 // the exchange of the user's request that caused it; 0 if unknown
	parent uint64 // the exchange that caused it, or else the nearest that did and is there; 0 for none
	card   bool
}

// performed returns all exchanges, by number, with what is the truth about them: orchestrators have told for which
// message they made each of their requests, and a task is its maker's.
func (c *concert) performed(t *testing.T) map[uint64]*performed {
	t.Helper()
	all := make(map[uint64]*performed)
	makers := make(map[string]*performed)
	brought := make(map[string]*performed) // by id of the message
	shown := json.NewDecoder(strings.NewReader(runForOutput(t, "show", c.path, "--format", "json")))
	var order []*performed
	for shown.More() {
		x := &performed{}
		must.Do(t, shown.Decode(x))
		x.readMessage(t)
		all[x.N], order = x, append(order, x)
		x.card = x.Operation == "GetAgentCard"
		if id := x.message(); id != "" && strings.HasPrefix(x.Operation, "Send") {
			brought[id] = x
		}
	}
	for _, x := range order {
		call := c.calls[x.header("X-Request-Id")]
		x.by = call.by
		for id := call.message; id != "" && x.user == 0; id = c.calls[id].message {
			if cause := brought[id]; cause != nil {
				x.user, x.parent = cause.user, cause.N
			} else if i := slices.Index(c.messages, id); i >= 0 { // that asked without a tap
				x.user = uint64(len(c.users)*1_000_000 + i)
			}
		}
		if slices.Contains(c.messages, x.message()) {
			x.user = x.N
		}
		if x.card && x.by == "" { // each user has a connection of its own, and a second one if that was not free again
			for _, o := range order {
				if slices.Contains(c.messages, o.message()) && o.Conn == x.Conn {
					x.user, x.parent = o.N, o.N
					break
				}
			}
		}
		for _, id := range x.Task {
			switch maker := makers[id]; {
			case maker == nil:
				makers[id] = x
			case x.user == 0 || x.user == maker.user:
				x.user, x.parent = maker.user, maker.N
			}
		}
	}
	return all
}

// readMessage puts the JSON of a message of gRPC in its place.
func (x *performed) readMessage(t *testing.T) {
	t.Helper()
	path, _, _ := strings.Cut(strings.TrimPrefix(x.Request.Line, "POST "), " ")
	method, ok := grpc.MethodOf(path)
	if !ok {
		return
	}
	body := []byte(x.Request.Body)
	if x.Request.BodyEncoding == "base64" {
		var err error
		if body, err = base64.StdEncoding.DecodeString(x.Request.Body); err != nil {
			t.Fatal(err)
		}
	}
	frame, _, _ := grpc.Cut(body)
	text, _, err := method.Request.ToJSON(frame.Message)
	must.Do(t, err)
	x.Request.Body = string(text)
}

// messageID is where a request has the id of its message, whatever the binding.
var messageID = regexp.MustCompile(`"messageId":\s*"([^"]+)"`)

// message returns the id of the message that an exchange brings.
func (x *performed) message() string {
	if m := messageID.FindStringSubmatch(x.Request.Body); m != nil {
		return m[1]
	}
	return ""
}

// String names an exchange.
func (x *performed) String() string {
	return fmt.Sprintf("%d %s → %s %s", x.N, x.Client.Name, x.Agent.Name, x.Operation)
}

// agentOf returns the agent of a link as machines read it.
func agentOf(link string) string { return link[strings.LastIndex(link, "->")+2:] }

func (x *performed) header(name string) string {
	for _, field := range x.Request.Headers {
		if strings.EqualFold(field[0], name) {
			return field[1]
		}
	}
	return ""
}

// runForOutput runs a command, which must succeed, and returns what it prints.
func runForOutput(t *testing.T, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	e := cli.Env{
		In: strings.NewReader(""), Out: &out, Err: &said, Now: time.Now,
		Getenv: unset,
	}
	if code := run(t.Context(), e, args); code != cli.ExitOK {
		t.Fatalf("%s ends with %d:\n%s", strings.Join(args, " "), code, said.String())
	}
	return out.String()
}
