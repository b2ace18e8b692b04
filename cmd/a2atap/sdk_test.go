package main

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"iter"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/rogpeppe/go-internal/testscript"

	"a2atap/proxy/must"
)

// tlsagent NAME FILE starts an agent of the official Go SDK on TLS, sets NAME to its URL, and writes the certificate
// that it is to be trusted by into a file.
func scriptTLSAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tlsagent NAME FILE")
	}
	server := sdkAgent("https")
	server.StartTLS()
	ts.Defer(server.Close)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), cert, 0o600))
	ts.Setenv(args[0], server.URL)
}

// h2agent NAME starts the same agent in the clear, where it speaks HTTP/2 with prior knowledge alone, and sets NAME to
// its URL.
func scriptH2Agent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: h2agent NAME")
	}
	server := sdkAgent("http")
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// sdkAgent returns an agent of the official Go SDK that is not started.
func sdkAgent(scheme string) *httptest.Server {
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	origin := scheme + "://" + server.Listener.Addr().String()
	handler := a2asrv.NewHandler(sdkExecutor{}, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
		Name: "sdk agent", Description: "completes what it is asked", Version: "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(origin+"/rpc", a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(origin+"/rest", a2a.TransportProtocolHTTPJSON),
		},
		Capabilities:      a2a.AgentCapabilities{Streaming: true},
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []a2a.AgentSkill{{ID: "do", Name: "do", Description: "does it", Tags: []string{"test"}}},
	}))
	return server
}

// An sdkExecutor works, says what it was told, in two pieces, and completes.
type sdkExecutor struct{}

// Execute implements a2asrv.AgentExecutor.
func (sdkExecutor) Execute(_ context.Context, req *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		first := a2a.NewArtifactEvent(req, a2a.NewTextPart("you said "))
		second := a2a.NewArtifactUpdateEvent(req, first.Artifact.ID, a2a.NewTextPart(req.Message.Parts[0].Text()))
		second.LastChunk = true
		for _, event := range []a2a.Event{
			a2a.NewSubmittedTask(req, req.Message), a2a.NewStatusUpdateEvent(req, a2a.TaskStateWorking, nil),
			first, second, a2a.NewStatusUpdateEvent(req, a2a.TaskStateCompleted, nil),
		} {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// Cancel implements a2asrv.AgentExecutor.
func (sdkExecutor) Cancel(_ context.Context, req *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(req, a2a.TaskStateCanceled, nil), nil)
	}
}

// traveller is a program that scripts run: a client of the official Go SDK. traveller URL talks to the agent there over
// both bindings and prints what it gets, ids left out. Unlike other programs in Go it uses the proxy of its environment
// for this machine too.
func traveller() {
	ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
	defer cancel()
	transport := &http.Transport{Proxy: func(r *http.Request) (*url.URL, error) {
		address := os.Getenv(strings.ToUpper(r.URL.Scheme) + "_PROXY")
		if address == "" {
			return nil, nil
		}
		return url.Parse(address)
	}}
	if os.Getenv("TRAVEL") == "HTTP/2" {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	client := &http.Client{Transport: transport}
	card, err := agentcard.NewResolver(client).Resolve(ctx, os.Args[1])
	if err != nil {
		fatal("resolve the card: ", err)
	}
	fmt.Println(card.Name, card.SupportedInterfaces[0].URL)
	for _, binding := range []a2a.TransportProtocol{a2a.TransportProtocolJSONRPC, a2a.TransportProtocolHTTPJSON} {
		if err := travel(ctx, client, card, binding); err != nil {
			fatal(string(binding)+": ", err)
		}
	}
}

func fatal(what string, err error) {
	fmt.Fprintln(os.Stderr, what, err)
	os.Exit(9)
}

// travel sends a message, and another one that is answered by a stream.
func travel(ctx context.Context, client *http.Client, card *a2a.AgentCard, binding a2a.TransportProtocol) error {
	agent, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithDefaultsDisabled(),
		a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{binding}}),
		a2aclient.WithJSONRPCTransport(client), a2aclient.WithRESTTransport(client))
	if err != nil {
		return err
	}
	hello := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hello"))
	result, err := agent.SendMessage(ctx, &a2a.SendMessageRequest{Message: hello})
	if err != nil {
		return err
	}
	if task, ok := result.(*a2a.Task); ok {
		fmt.Println(binding, task.Status.State, len(task.Artifacts), task.Artifacts[0].Parts[0].Text())
	}
	again := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("again"))
	for event, err := range agent.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: again}) {
		if err != nil {
			return err
		}
		switch event := event.(type) {
		case *a2a.TaskArtifactUpdateEvent:
			fmt.Println(binding, "artifact", event.Artifact.Parts[0].Text(), event.Append, event.LastChunk)
		case *a2a.TaskStatusUpdateEvent:
			fmt.Println(binding, "status", event.Status.State)
		default:
			fmt.Printf("%s %T\n", binding, event)
		}
	}
	return nil
}

// patient is a program that scripts run: it says that it is there by writing a file, waits for a signal, says which,
// and leaves with status 5.
func patient() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := os.WriteFile(os.Args[1], []byte("here http://here\n"), 0o600); err != nil {
		fatal("say that I am here: ", err)
	}
	select {
	case s := <-signals:
		fmt.Println("got", s)
	case <-time.After(must.Patience):
		fmt.Println("got nothing")
	}
	os.Exit(5)
}
