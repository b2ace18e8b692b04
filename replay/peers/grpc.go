package peers

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2agrpc"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/push"
	a2a2 "github.com/a2aproject/a2a-go/v2/a2a"
	a2aclient2 "github.com/a2aproject/a2a-go/v2/a2aclient"
	agentcard2 "github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc2 "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	a2asrv2 "github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Go2GRPCAgent is [Go2Agent] over gRPC alone, on the port of its card.
var Go2GRPCAgent = Agent{Name: "go2", Start: func(t testing.TB) Running {
	return startGo2(t, func(url string, handler a2asrv2.RequestHandler, card *a2a2.AgentCard, mux *http.ServeMux) {
		server := grpc.NewServer()
		a2agrpc2.NewHandler(handler).RegisterWith(server)
		card.SupportedInterfaces = []*a2a2.AgentInterface{
			a2a2.NewAgentInterface(strings.TrimPrefix(url, "http://"), a2a2.TransportProtocolGRPC),
		}
		mux.Handle(a2asrv2.WellKnownAgentCardPath, a2asrv2.NewStaticAgentCardHandler(card))
		mux.Handle("/lf.a2a.v1.A2AService/", server)
	})
}}

// Go03GRPCAgent is [Go03Agent] over gRPC alone, on the port of its card.
var Go03GRPCAgent = Agent{Name: "go03", Start: func(t testing.TB) Running {
	return serve(t, func(url string) http.Handler {
		server := grpc.NewServer()
		a2agrpc.NewHandler(a2asrv.NewHandler(
			&go03Executor{gates: gates{ended: t.Context().Done()}},
			a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)),
			a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
		)).RegisterWith(server)
		mux := http.NewServeMux()
		mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
			ProtocolVersion:    go03Version,
			Name:               "peer go03",
			Description:        "an agent of the Go SDK, 0.3 line, over gRPC",
			Version:            "1.0.0",
			URL:                strings.TrimPrefix(url, "http://"),
			PreferredTransport: a2a.TransportProtocolGRPC,
			Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
			DefaultInputModes:  []string{"text/plain"},
			DefaultOutputModes: []string{"text/plain"},
			Skills: []a2a.AgentSkill{{
				ID: "moves", Name: "moves", Description: "does what the first word says", Tags: []string{"test"},
			}},
		}))
		mux.Handle("/a2a.v1.A2AService/", server)
		return mux
	})
}}

// Go2GRPCClient is [Go2Client] over gRPC alone.
var Go2GRPCClient = driven("go2", func(h *http.Client) driver {
	make := go2DriverOf(func(*http.Client) (agentcard2.Parser, []a2aclient2.FactoryOption) {
		return agentcard2.DefaultCardParser, []a2aclient2.FactoryOption{a2agrpc2.WithGRPCTransport(plaintext)}
	})
	return go2GRPCDriver{make(h).(*go2Driver)}
})

// Go03GRPCClient is [Go03Client] over gRPC alone.
var Go03GRPCClient = driven("go03", func(h *http.Client) driver {
	return go03GRPCDriver{&go03Driver{http: h, transport: a2aclient.WithGRPCTransport(plaintext)}}
})

var plaintext = grpc.WithTransportCredentials(insecure.NewCredentials())

// The connections of these are the clients' own.
type (
	go2GRPCDriver  struct{ *go2Driver }
	go03GRPCDriver struct{ *go03Driver }
)

// Close implements io.Closer.
func (d go2GRPCDriver) Close() error { return d.client.Destroy() }

// Close implements io.Closer.
func (d go03GRPCDriver) Close() error { return d.client.Destroy() }
