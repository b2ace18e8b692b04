package peers

import (
	"net/http"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// Go2HybridAgent is the same agent with the SDK's compatibility layer: it speaks A2A 0.3 too, over both bindings, at
// addresses of their own, and its card carries the fields of both versions.
var Go2HybridAgent = Agent{Name: "go2hybrid", Start: func(t testing.TB) Running { return startGo2(t, speak03) }}

// speak03 lets an agent speak 0.3 in addition to 1.0.
func speak03(url string, handler a2asrv.RequestHandler, card *a2a.AgentCard, mux *http.ServeMux) {
	card.SupportedInterfaces = append(card.SupportedInterfaces,
		&a2a.AgentInterface{
			URL: url + "/v0/rpc", ProtocolBinding: a2a.TransportProtocolJSONRPC,
			ProtocolVersion: a2av0.Version,
		},
		&a2a.AgentInterface{
			URL: url + "/v0/rest", ProtocolBinding: a2a.TransportProtocolHTTPJSON,
			ProtocolVersion: a2av0.Version,
		},
	)
	mux.Handle("/v0/rpc", a2av0.NewJSONRPCHandler(handler))
	mux.Handle("/v0/rest/", http.StripPrefix("/v0/rest", a2av0.NewRESTHandler(handler)))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card)))
}

// Go2LegacyClient is the same client with the SDK's compatibility layer alone: it speaks A2A 0.3 over both bindings.
var Go2LegacyClient = driven("go2legacy",
	go2DriverOf(func(h *http.Client) (agentcard.Parser, []a2aclient.FactoryOption) {
		return a2av0.NewAgentCardParser(), []a2aclient.FactoryOption{
			a2aclient.WithCompatTransport(a2av0.Version, a2a.TransportProtocolJSONRPC,
				a2av0.NewJSONRPCTransportFactory(a2av0.JSONRPCTransportConfig{Client: h})),
			a2aclient.WithCompatTransport(a2av0.Version, a2a.TransportProtocolHTTPJSON,
				a2av0.NewRESTTransportFactory(a2av0.RESTTransportConfig{Client: h})),
		}
	}))
