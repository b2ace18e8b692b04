package peers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"

	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// acceptanceClient lists the tests of the acceptance suite that its own Go client fails with the reference agents,
// and why. TestWhyTheAcceptanceClientFails shows the statements about the SDK.
var acceptanceClient = []struct{ tests, why string }{
	{
		"`jsonrpc/error-subscribe-not-found`",
		"the SDK: the agent refuses with a JSON-RPC error labeled `application/json`. The SDK looks for events in it, finds " +
			"none, and reports neither event nor error",
	},
	{
		"`rest/spec-cancel-with-metadata`",
		"the SDK: it posts `null` to cancel a task over HTTP+JSON, and never sends the metadata",
	},
	{
		"`v03/spec03-agent-card`, `v03/spec03-send-message`, `v03/spec03-task-lifecycle`, `v03/spec03-streaming`",
		"the client: it reads each card as one of 1.0, and the SDK has no interface for a card of 0.3 unless its client is set " +
			"up for 0.3",
	},
}

func writeAcceptance(b *strings.Builder) {
	fmt.Fprintf(b, "\n## The client of the acceptance suite\n\nThe suite that [probe](probe.md#the-acceptance-suite) has as "+
		"`agentbin` comes with a client in Go, on the SDK Go 2. Against\n`a2atap agent echo spec spec03` it passes 54 of its 60 "+
		"tests. The agents are not at fault in the other six:\n\n| test | at fault |\n|---|---|\n")
	for _, a := range acceptanceClient {
		fmt.Fprintf(b, "| %s | %s |\n", a.tests, a.why)
	}
}

// S3-12, S3-21, S3-28: the page's statements about the SDK of the acceptance suite's client. When the SDK is fixed,
// this test fails, and the page must change.
func TestWhyTheAcceptanceClientFails(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards bodies
	bodies := map[string]string{}
	agents := []*refagent.Agent{
		must.Get(refagent.New("spec", refagent.Options{}))(t), must.Get(refagent.New("spec03", refagent.Options{}))(t),
	}
	handler := refagent.Mux(agents...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) //nolint:errcheck // what came, came
		mu.Lock()
		bodies[r.URL.Path] = string(body)
		mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		for _, a := range agents {
			a.Close()
		}
	})
	card := must.Get(agentcard.DefaultResolver.Resolve(t.Context(), server.URL+"/spec"))(t)
	connect := func(binding a2a.TransportProtocol) *a2aclient.Client {
		return must.Get(a2aclient.NewFromCard(t.Context(), card,
			a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{binding}})))(t)
	}

	const nobodys = a2a.TaskID("00000000-0000-0000-0000-000000000000")
	for event, err := range connect(a2a.TransportProtocolJSONRPC).SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: nobodys}) {
		t.Errorf("the subscription to a task that does not exist gives %v, %v", event, err)
	}

	rest := connect(a2a.TransportProtocolHTTPJSON)
	_, err := rest.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: nobodys, Metadata: map[string]any{"reason": "enough"}})
	if !errors.Is(err, a2a.ErrTaskNotFound) {
		t.Errorf("got %v for a task that does not exist", err)
	}
	mu.Lock()
	if body := bodies["/spec/tasks/"+string(nobodys)+":cancel"]; body != "null" {
		t.Errorf("the cancellation has %q", body)
	}
	mu.Unlock()

	older := must.Get(agentcard.DefaultResolver.Resolve(t.Context(), server.URL+"/spec03"))(t)
	if _, err := a2aclient.NewFromCard(t.Context(), older); err == nil {
		t.Error("a card of 0.3 is understood")
	}
}
