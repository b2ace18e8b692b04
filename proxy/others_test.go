package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// Agents that name one another lead to each other's taps.
func TestAgentsThatNameOneAnother(t *testing.T) {
	planner, booker := newRawAgent(t, ""), newRawAgent(t, "")
	card := fmt.Sprintf(`{"supportedInterfaces":[{"url":"http://%s/p"},{"url":"http://%s/b"}]}`, planner.addr,
		booker.addr)
	planner.answer, booker.answer = planner.sized(card), booker.sized(card)
	r := newRig(t, nil, "planner=http://"+planner.addr, "booker=http://"+booker.addr)
	want := fmt.Sprintf(`{"supportedInterfaces":[{"url":"http://%s/p"},{"url":"http://%s/b"}]}`, r.tap(0).Addr(),
		r.tap(1).Addr())
	for n := range 2 {
		expect.Equal(t, r.tap(n).Name(), want, bodyOf(askCard(t, r.tap(n).Addr())))
	}
}

// The same host with another port opens a further tap, once.
func TestFurtherTap(t *testing.T) {
	other := newRawAgent(t, "")
	other.answer = other.sized(`{"url":"http://ADDR/deep"}`)
	agent := newRawAgent(t, "")
	_, port, _ := strings.Cut(other.addr, ":")
	agent.answer = agent.sized(`{"url":"http://localhost:` + port + `/rpc"}`)
	r := newRig(t, nil, "booker=http://"+agent.addr)
	first := bodyOf(askCard(t, r.tap(0).Addr()))
	further := <-r.opened
	if further.Name() != "booker:"+port || further.Agent().String() != "http://localhost:"+port {
		t.Errorf("got %s in front of %s", further.Name(), further.Agent())
	}
	expect.Equal(t, "", `{"url":"http://`+further.Addr()+`/rpc"}`, first)
	if again := bodyOf(askCard(t, r.tap(0).Addr())); again != first || len(r.proxy.Taps()) != 2 {
		t.Errorf("got %s and %d taps", again, len(r.proxy.Taps()))
	}
	expect.Equal(t, "through the further tap",
		`{"url":"http://`+further.Addr()+`/deep"}`, bodyOf(askCard(t, further.Addr())))
	record := r.record()
	if len(record) != 3 || record[2].Agent.Name != "booker" || record[2].Agent.URL != "http://localhost:"+port || len(record[0].Notes) != 0 {
		t.Errorf("got %+v", record[len(record)-1])
	}
}

func TestFurtherTapsAreLimited(t *testing.T) {
	agent := newRawAgent(t, "")
	var entries []string
	for port := 1; port <= 100; port++ {
		entries = append(entries, fmt.Sprintf(`{"url":"http://localhost:%d"}`, port))
	}
	agent.answer = agent.sized(`{"supportedInterfaces":[` + strings.Join(entries, ",") + `]}`)
	r := newRig(t, nil, "http://"+agent.addr)
	askCard(t, r.tap(0).Addr())
	taps := r.proxy.Taps()
	expect.Equal(t, "taps are open", 1+32, len(taps))
	expect.Equal(t, "name", "localhost:1", taps[1].Name())
	notes := r.record()[0].Notes
	if len(notes) != 100-32 || !strings.Contains(notes[0], "which is not tapped: traffic there is not observed (32 "+
		"additional taps are already open") {
		t.Errorf("got %d notes, the first %q", len(notes), notes)
	}
}

// An address without a tap stays unmodified and is reported at once, once, and with each exchange.
func TestAddressesThatAreNotTapped(t *testing.T) {
	agent := newRawAgent(t, "")
	card := `{"url":"https://booker.example/a2a","preferredTransport":"JSONRPC","additionalInterfaces":[` +
		`{"url":"unix:/run/a","transport":"GRPC"},{"url":"booker.example:50051","transport":"grpc"},` +
		`{"url":"wss://ADDR/ws","transport":"https://ws.example"},{"url":"localhost","transport":"GRPC"}],` +
		`"supportedInterfaces":[{"url":"localhost:443","protocolBinding":"GRPC"}]}`
	agent.answer = agent.sized(card)
	r := newRig(t, nil, "booker=http://"+agent.addr)
	for range 2 {
		expect.Equal(t, "", agent.expand(card), bodyOf(askCard(t, r.tap(0).Addr())))
	}
	var want []string
	for _, url := range []string{
		"https://booker.example/a2a", "unix:/run/a (gRPC)", "booker.example:50051 (gRPC)",
		"wss://ADDR/ws", "localhost (gRPC)", "localhost:443 (gRPC)",
	} {
		want = append(want,
			agent.expand("booker advertises "+url+", which is not tapped: traffic there is not observed"))
	}
	for i, alias := range []string{
		"https://booker.example/a2a", "", "http://booker.example:50051", "", "", "http://localhost:443",
	} {
		notice := want[i]
		if alias != "" {
			notice += "; if it also leads to booker, add --alias booker=" + alias +
				"; if it is another agent, add --agent NAME=" + alias
		}
		expect.Equal(t, "notice", notice, r.notice())
	}
	record := r.record()
	for _, x := range record {
		expect.Same(t, "notes", want, x.Notes)
	}
	expect.Equal(t, r.notices, len(want), len(r.notices))
}

// Addresses of gRPC lead to taps as those of the other bindings do, in the form that they have: to the tap itself where
// the agent has one port, else to one that opens.
func TestAddressesOfGRPC(t *testing.T) {
	other := newRawAgent(t, "")
	_, port, _ := strings.Cut(other.addr, ":")
	agent := newRawAgent(t, "")
	card := `{"url":"ADDR","preferredTransport":"GRPC","additionalInterfaces":[` +
		`{"url":"http://ADDR/g","transport":"grpc"},{"url":"GRPCS://ADDR","transport":"GRPC"},` +
		`{"url":"grpc://localhost:` + port + `","transport":"GRPC"},{"url":"[::]:` + port + `","transport":"GRPC"}],` +
		`"supportedInterfaces":[{"url":"dns:///localhost:` + port + `","protocolBinding":"GRPC"},` +
		`{"url":"dns:0.0.0.0:` + port + `","protocolBinding":"GRPC"},{"protocolBinding":"GRPC","url":"passthrough:///ADDR"},` +
		`{"url":"https://ADDR/","protocolBinding":"GRPC"}]}`
	agent.answer = agent.sized(card)
	r := newRig(t, nil, "booker=http://"+agent.addr)
	got := bodyOf(askCard(t, r.tap(0).Addr()))
	further := <-r.opened
	if further.Name() != "booker:"+port || further.Agent().String() != "http://localhost:"+port {
		t.Errorf("got %s in front of %s", further.Name(), further.Agent())
	}
	want := strings.NewReplacer("https:", "http:", "GRPCS", "GRPC", "ADDR", r.tap(0).Addr(), "localhost:"+port, further.Addr(),
		"0.0.0.0:"+port, further.Addr(), "[::]:"+port, further.Addr()).Replace(card)
	expect.Equal(t, "", want, got)
	if x := r.record()[0]; len(x.Notes) > 0 || len(r.proxy.Taps()) != 2 {
		t.Errorf("got notes %q, %d taps", x.Notes, len(r.proxy.Taps()))
	}
}

// A gRPC client learns from its configuration, not from host:port, to use TLS. So a tap in the clear does not replace
// an agent on TLS then.
func TestAddressOfGRPCWithTLS(t *testing.T) {
	var card string
	agent := newHTTP2Agent(t, true, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, card)
	})
	address := agent.Listener.Addr().String()
	card = fmt.Sprintf(`{"supportedInterfaces":[{"url":%q,"protocolBinding":"GRPC"},{"url":"127.0.0.1:1",`+
		`"protocolBinding":"GRPC"},{"url":"grpcs://%s","protocolBinding":"GRPC"}]}`, address, address)
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.RootCAs = rootsOf(agent) }, "booker="+agent.URL)
	_, got := get(t, newHTTP2Client(t), r.tap(0).URL()+"/.well-known/agent-card.json")
	expect.Equal(t, "", strings.Replace(card, "grpcs://"+address, "grpc://"+r.tap(0).Addr(), 1), got)
	want := []string{
		"booker advertises " + address + " (gRPC)" + capture.NotTapped +
			" (the tap there does not use TLS, and clients may do so without a scheme)",
		"booker advertises 127.0.0.1:1 (gRPC)" + capture.NotTapped,
	}
	if diff := cmp.Diff(want, r.record()[0].Notes); diff != "" || len(r.proxy.Taps()) != 1 {
		t.Errorf("%d taps; notes (-want +got):\n%s", len(r.proxy.Taps()), diff)
	}
}

func TestAlias(t *testing.T) {
	agent, other := newRawAgent(t, ""), newRawAgent(t, "")
	agent.answer = agent.sized(`{"url":"https://Booker.example/a2a",` +
		`"additionalInterfaces":[{"url":"https://booker.example:443/b"},{"url":"http://planner.example:8080/"}]}`)
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) {
		for _, flag := range []string{"booker=https://booker.example", "planner=http://planner.example:8080/ignored"} {
			alias := must.Get(proxy.ParseAlias(flag))(t)
			o.Aliases = append(o.Aliases, alias)
		}
	}, "booker=http://"+agent.addr, "planner=http://"+other.addr)
	b, p := r.tap(0).Addr(), r.tap(1).Addr()
	want := fmt.Sprintf(`{"url":"http://%s/a2a","additionalInterfaces":[{"url":"http://%s/b"},{"url":"http://%s/"}]}`,
		b, b, p)
	expect.Equal(t, "", want, bodyOf(askCard(t, b)))
	if notes := r.record()[0].Notes; len(notes) != 0 {
		t.Errorf("got notes %q", notes)
	}
}

// A card that names the tap already, as that of an agent configured with its public address, needs no change.
func TestCardThatNamesTheTap(t *testing.T) {
	agent := newRawAgent(t, "")
	r := newRig(t, nil, "http://"+agent.addr)
	_, port, _ := strings.Cut(r.tap(0).Addr(), ":")
	card := `{"url":"http://localhost:` + port + `/"}`
	agent.answer = agent.sized(card)
	expect.Equal(t, "", card, bodyOf(askCard(t, r.tap(0).Addr())))
	if x := r.record()[0]; len(x.Notes) != 0 || len(r.proxy.Taps()) != 1 {
		t.Errorf("got notes %q, %d taps", x.Notes, len(r.proxy.Taps()))
	}
}

func TestSignedCard(t *testing.T) {
	agent := newRawAgent(t, "")
	r := newRig(t, nil, "booker=http://"+agent.addr)
	tap := r.tap(0).Addr()
	agent.answer = agent.sized(`{"signatures":[{"protected":"e30","signature":"x"}],"url":"/"}`)
	askCard(t, tap)
	agent.answer = agent.sized(`{"signatures":[{"protected":"e30","signature":"x"}],"url":"http://ADDR/"}`)
	expect.Contains(t, "", tap, bodyOf(askCard(t, tap)))
	if text := r.notice(); !strings.Contains(text, "booker is signed") || !strings.Contains(text, "forward mode") {
		t.Errorf("notice %q", text)
	}
	record := r.record()
	if len(record[0].Notes) != 0 || len(record[1].Notes) != 1 {
		t.Errorf("got notes %q and %q", record[0].Notes, record[1].Notes)
	}
	wantNow := map[string]string{
		"response.body#/url":              "http://" + tap + "/",
		"request.header[Accept-Encoding]": "identity",
	}
	expect.Same(t, "", wantNow, now(record[1]))
}
