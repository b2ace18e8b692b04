package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	grpc03 "github.com/a2aproject/a2a-go/a2agrpc"
	srv03 "github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"a2atap/proxy/must"
)

// grpcagent NAME [CARD] starts an agent of the official Go SDKs that speaks gRPC in the clear, in both generations, and
// sets NAME to its URL; and CARD to where its card is, which offers gRPC before all else.
func scriptGRPCAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: grpcagent NAME [CARD]")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	server := grpc.NewServer()
	log := slog.New(slog.DiscardHandler)
	a2agrpc.NewHandler(a2asrv.NewHandler(sdkExecutor{}, a2asrv.WithLogger(log))).RegisterWith(server)
	grpc03.NewHandler(srv03.NewHandler(sdk03Executor{}, srv03.WithLogger(log))).RegisterWith(server)
	go server.Serve(l) //nolint:errcheck // it ends with the script
	ts.Defer(server.Stop)
	ts.Setenv(args[0], "http://"+l.Addr().String())
	if len(args) == 1 {
		return
	}
	card := fmt.Sprintf(`{"name":"agent","description":"completes what it is asked","version":"1.0.0",`+
		`"protocolVersion":"0.3.0","url":%[1]q,"preferredTransport":"GRPC","supportedInterfaces":[{"url":%[1]q,`+
		`"protocolBinding":"GRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},`+
		`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"do","name":"do",`+
		`"description":"does it","tags":["test"]}]}`, l.Addr())
	cards := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("ETag", `"1"`)
		io.WriteString(w, card)
	}))
	ts.Defer(cards.Close)
	ts.Setenv(args[1], cards.URL)
}

// An sdk03Executor completes what it is asked.
type sdk03Executor struct{}

// Execute implements a2asrv.AgentExecutor of 0.3.
func (e sdk03Executor) Execute(ctx context.Context, req *srv03.RequestContext, queue eventqueue.Queue) error {
	if err := queue.Write(ctx, a2a03.NewSubmittedTask(req, req.Message)); err != nil {
		return err
	}
	return e.end(ctx, req, queue, a2a03.TaskStateCompleted)
}

// Cancel implements a2asrv.AgentExecutor of 0.3.
func (e sdk03Executor) Cancel(ctx context.Context, req *srv03.RequestContext, queue eventqueue.Queue) error {
	return e.end(ctx, req, queue, a2a03.TaskStateCanceled)
}

func (sdk03Executor) end(ctx context.Context, req *srv03.RequestContext, queue eventqueue.Queue, state a2a03.TaskState,
) error {
	last := a2a03.NewStatusUpdateEvent(req, state, nil)
	last.Final = true
	return queue.Write(ctx, last)
}

// grpctalk is a program that scripts run: a client of the official Go SDK that speaks gRPC. grpctalk HOST:PORT sends a
// message, and another one that is answered by a stream, and asks for a task that is not there.
func grpctalk() {
	ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
	defer cancel()
	conn, err := grpc.NewClient("passthrough:///"+os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fatal("connect: ", err)
	}
	defer conn.Close()
	agent := a2agrpc.NewGRPCTransport(conn)
	params := a2aclient.ServiceParams{"a2a-version": []string{"1.0"}}
	hello := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hello"))}
	result, err := agent.SendMessage(ctx, params, hello)
	if err != nil {
		fatal("send: ", err)
	}
	fmt.Println(result.(*a2a.Task).Status.State)
	again := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("again"))}
	n := 0
	for _, err := range agent.SendStreamingMessage(ctx, params, again) {
		if err != nil {
			fatal("stream: ", err)
		}
		n++
	}
	fmt.Println(n, "events")
	_, err = agent.GetTask(ctx, params, &a2a.GetTaskRequest{ID: "none"})
	fmt.Println(err != nil)
}
