package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// grpcagent NAME starts an agent of the official Go SDK that speaks gRPC in the clear, and sets NAME to its URL.
func scriptGRPCAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: grpcagent NAME")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	server := grpc.NewServer()
	a2agrpc.NewHandler(a2asrv.NewHandler(sdkExecutor{}, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))).
		RegisterWith(server)
	go server.Serve(l) //nolint:errcheck // it ends with the script
	ts.Defer(server.Stop)
	ts.Setenv(args[0], "http://"+l.Addr().String())
}

// grpctalk is a program that scripts run: a client of the official Go SDK that speaks gRPC. grpctalk HOST:PORT sends a
// message, and another one that is answered by a stream, and asks for a task that is not there.
func grpctalk() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
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
