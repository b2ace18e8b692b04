package proxy_test

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/recording"
	"a2atap/proxy/unreachable"
	"a2atap/proxy/webhook"
)

const notification = `{"statusUpdate":{"taskId":"t1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`

// A notification goes to the webhook as the agent has sent it, and is recorded from the agent to who configured it.
func TestDelivery(t *testing.T) {
	hook := newTaker(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Receiver", "yes")
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, "taken")
	})
	agent := newTaker(t, nil)
	r := newRig(t, withWebhooks, "booker="+agent.URL)
	address := configure(t, r.tap(0), agent, hook.URL+"/h?x=1")
	answer, text := post(t, newClient(t), address+"?validationToken=v", notification, "X-A2A-Notification-Token", "s")
	if answer.StatusCode != 202 || text != "taken" || answer.Header.Get("X-Receiver") != "yes" {
		t.Errorf("the agent got %s, %q", answer.Status, text)
	}
	expect.Equal(t, "the webhook", "POST /h?x=1&validationToken=v "+notification, hook.last(t))
	host := strings.TrimPrefix(hook.URL, "http://")
	if hook.hosts[0] != host || hook.heads[0].Get("X-A2A-Notification-Token") != "s" {
		t.Errorf("the webhook got Host %s, %v", hook.hosts[0], hook.heads[0])
	}
	x := r.record()[1]
	expect.Same(t, "", capture.Peer{Name: "booker", How: "webhook"}, withoutAddr(x.Client))
	expect.Same(t, "", capture.Peer{Name: "planner", Addr: host, URL: hook.URL}, x.Agent)
	head := string(x.Request.Head)
	if !strings.HasPrefix(head, "POST /h?x=1&validationToken=v HTTP/1.1\r\nHost: "+host+"\r\n") ||
		strings.Contains(head, "a2atap") || string(x.Request.Body.Data) != notification {
		t.Errorf("recorded is %s%s", head, x.Request.Body.Data)
	}
	if x.Fault != nil || string(x.Response.Body.Data) != "taken" {
		t.Errorf("recorded is %v, %s", x.Fault, x.Response.Body.Data)
	}
}

func withoutAddr(p capture.Peer) capture.Peer {
	p.Addr, p.URL = "", ""
	return p
}

// Calls and notifications may share a connection: each goes where it belongs.
func TestDeliveriesAmongCalls(t *testing.T) {
	say := func(who string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, who) }
	}
	first, second := newTaker(t, say("first")), newTaker(t, say("second"))
	agent := newTaker(t, say("agent"))
	r := newRig(t, withWebhooks, "booker="+agent.URL)
	one, two := configure(t, r.tap(0), agent, first.URL), configure(t, r.tap(0), agent, second.URL)
	client := newClient(t)
	for _, step := range []struct{ to, want string }{
		{r.tap(0).URL(), "agent"},
		{one, "first"},
		{one, "first"},
		{r.tap(0).URL(), "agent"},
		{two, "second"},
		{one, "first"},
		{r.tap(0).URL() + "/more", "agent"},
	} {
		if _, got := post(t, client, step.to, "{}"); got != step.want {
			t.Errorf("%s is answered by %q, want %q", step.to, got, step.want)
		}
	}
	conns := make(map[uint64]int)
	for _, x := range r.record() {
		conns[x.Conn]++
	}
	expect.Equal(t, fmt.Sprintf("exchanges of connections: %v", conns), 3, len(conns))
}

// Addresses that were made with another key, or altered, lead nowhere.
func TestForeignAddresses(t *testing.T) {
	hook, agent := newTaker(t, nil), newTaker(t, nil)
	r := newRig(t, withWebhooks, "booker="+agent.URL)
	good := configure(t, r.tap(0), agent, hook.URL)
	other := newRig(t, func(o *proxy.Options, _ *recording.Options) {
		o.Webhooks = &webhook.Spec{Key: []byte("another key, of thirty-two bytes")}
	}, "booker="+agent.URL)
	foreign := strings.Replace(good, r.tap(0).Addr(), other.tap(0).Addr(), 1)
	for _, to := range []string{foreign, foreign + "x", foreign + "/more", other.tap(0).URL() + "/.a2atap/webhook/"} {
		answer, text := post(t, newClient(t), to, notification)
		if answer.StatusCode != 403 || answer.Header.Get("X-A2atap") != "refused" ||
			!strings.Contains(text, "--redaction-key") {
			t.Errorf("%s: %s %s", to, answer.Status, text)
		}
	}
	expect.Contains(t, "notice", "tap booker refused a notification", other.notice())
	all := other.record()
	if len(all) != 4 || all[0].Fault == nil || all[0].Fault.Kind != "refused" || all[0].Agent.Name != "webhook" {
		t.Errorf("recorded are %d exchanges, the first with %v", len(all), all[0].Fault)
	}
	if len(hook.got) > 0 || len(agent.got) != 1 {
		t.Errorf("passed on are %q and %q", hook.got, agent.got)
	}
}

// A recorder that has the key of an earlier one forwards what was configured then.
func TestDeliveryAfterRestart(t *testing.T) {
	hook, agent := newTaker(t, nil), newTaker(t, nil)
	first := newRig(t, withWebhooks, "booker="+agent.URL)
	address := configure(t, first.tap(0), agent, hook.URL+"/h")
	addr := first.tap(0).Addr()
	first.stop()
	second := newRig(t, withWebhooks, "booker="+agent.URL+"@"+addr)
	if answer, _ := post(t, newClient(t), address, notification); answer.StatusCode != 200 {
		t.Errorf("answered with %s", answer.Status)
	}
	expect.Equal(t, "the webhook", "POST /h "+notification, hook.last(t))
	if x := second.record()[0]; x.Client.Name != "booker" || x.Agent.Name != "planner" {
		t.Errorf("recorded from %s to %s", x.Client.Name, x.Agent.Name)
	}
}

// If a webhook is down, the webhook is at fault, and the agent gets an error that names it.
func TestDeliveryToNobody(t *testing.T) {
	agent := newTaker(t, nil)
	r := newRig(t, withWebhooks, "booker="+agent.URL)
	address := configure(t, r.tap(0), agent, "http://"+unreachable.Address(t))
	answer, text := post(t, newClient(t), address, notification)
	if answer.StatusCode != 502 || answer.Header.Get("X-A2atap") != "unreachable" ||
		!strings.Contains(text, "connect to the webhook at 127.0.0.1") || strings.Contains(text, "the agent runs") {
		t.Errorf("%s %s", answer.Status, text)
	}
	if f := r.record()[1].Fault; f == nil || f.Kind != "unreachable" || f.Side != "agent" {
		t.Errorf("fault %v", f)
	}
}

// A webhook on https is called over TLS, and its certificate is verified.
func TestDeliveryOverTLS(t *testing.T) {
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }))
	hook.Config.ErrorLog = discardLog
	t.Cleanup(hook.Close)
	agent := newTaker(t, nil)
	for _, trusted := range []bool{true, false} {
		r := newRig(t, func(o *proxy.Options, _ *recording.Options) {
			o.RootCAs = x509.NewCertPool()
			if trusted {
				o.RootCAs.AddCert(hook.Certificate())
			}
			o.Webhooks = &webhook.Spec{Key: hookKey, URL: parseURL(t, "http://hooks.example:80")}
		}, "booker="+agent.URL)
		address := configure(t, r.tap(0), agent, hook.URL)
		here := strings.Replace(address, "hooks.example:80", r.tap(0).Addr(), 1)
		answer, text := post(t, newClient(t), here, notification, "Host", "hooks.example")
		if trusted && (answer.StatusCode != 200 || text != "ok") ||
			!trusted && (answer.StatusCode != 502 || answer.Header.Get("X-A2atap") != "tls") {
			t.Errorf("trusted %v: %s %s", trusted, answer.Status, text)
		}
	}
}

// A page whose name leads to a tap does not get to a webhook either, though it has the address of one. The host that a
// tunnel is known by opens the way to webhooks, and none to the agent.
func TestHostsOfWebhooks(t *testing.T) {
	hook, agent := newTaker(t, nil), newTaker(t, nil)
	r := newRig(t, func(o *proxy.Options, c *recording.Options) {
		allowHosts(t, "told.example")(o, c)
		o.Webhooks = &webhook.Spec{Key: hookKey, URL: parseURL(t, "https://tunnel.example")}
	}, "booker="+agent.URL)
	address := strings.Replace(configure(t, r.tap(0), agent, hook.URL), "https://tunnel.example", r.tap(0).URL(), 1)
	for host, want := range map[string]int{
		r.tap(0).Addr(): 200, "localhost": 200, "told.example": 200, "Tunnel.example:443": 200,
		"evil.example": 421, "tunnel.example.evil.example": 421,
	} {
		answer, text := post(t, newClient(t), address, notification, "Host", host)
		if answer.StatusCode != want {
			t.Errorf("%s: %s %s", host, answer.Status, text)
		}
	}
	expect.Equal(t, fmt.Sprintf("the webhook got %q", hook.got), 4, len(hook.got))
	answer, _ := post(t, newClient(t), r.tap(0).URL(), "{}", "Host", "tunnel.example")
	expect.Equal(t, "the agent is reached through the tunnel: "+answer.Status,
		http.StatusMisdirectedRequest, answer.StatusCode)
	for _, x := range r.record() {
		if f := x.Fault; f != nil && (f.Kind != "refused" || f.Side != "client") {
			t.Errorf("recorded is %v", f)
		}
	}
}

// Two clients and two taps share a webhook: each notification is known by the agent that sends it.
func TestSharedWebhook(t *testing.T) {
	hook := newTaker(t, nil)
	one, two := newTaker(t, nil), newTaker(t, nil)
	r := newRig(t, withWebhooks, "booker="+one.URL, "hotel="+two.URL)
	client := newClient(t)
	post(t, client, r.tap(0).URL(), setConfig(hook.URL))
	post(t, client, r.tap(1).URL(), setConfig(hook.URL))
	post(t, client, r.tap(1).URL(), setConfig(hook.URL), "User-Agent", "another/2")
	addresses := []string{
		given(one.last(t))[0], given(two.got[0])[0], given(two.got[1])[0],
	}
	for _, a := range addresses {
		post(t, client, a, notification)
	}
	var links []string
	for _, x := range r.record()[3:] {
		links = append(links, x.Client.Name+" → "+x.Agent.Name)
	}
	expect.Same(t, "links", []string{"booker → planner", "hotel → planner", "hotel → another"}, links)
}

// The webhook of an agent that is tapped itself is that agent, and one at a tap needs no other.
func TestWebhookOfAnAgent(t *testing.T) {
	planner, booker := newTaker(t, nil), newTaker(t, nil)
	hotel := newTaker(t, nil)
	r := newRig(t, withWebhooks, "planner="+planner.URL, "booker="+booker.URL, "hotel="+hotel.URL)
	address := configure(t, r.tap(1), booker, planner.URL+"/hook")
	post(t, newClient(t), address, notification)
	body := setConfig(r.tap(0).URL() + "/hook")
	post(t, newClient(t), r.tap(1).URL(), body)
	expect.Equal(t, "the address of a tap became", "POST / "+body, booker.last(t))
	// What a client passes on that is ours already is led through the tap of the agent it is passed to.
	passedOn := configure(t, r.tap(2), hotel, address)
	expect.Contains(t, "passed on", r.tap(2).Addr(), passedOn)
	post(t, newClient(t), passedOn, notification)
	all := r.record()
	if x := all[1]; x.Agent.Name != "planner" || x.Agent.URL != planner.URL || x.Client.Name != "booker" {
		t.Errorf("recorded from %s to %+v", x.Client.Name, x.Agent)
	}
	if x := all[4]; x.Client.Name != "hotel" || x.Agent.Name != "planner" {
		t.Errorf("recorded from %s to %s", x.Client.Name, x.Agent.Name)
	}
	if x := all[3]; strings.Contains(string(x.Request.Body.Data), "a2atap") {
		t.Errorf("recorded is %s", x.Request.Body.Data)
	}
}

// Wherever an answer contains one of the tap's addresses, the client gets its own URL, and so does the record.
func TestAnswersNameTheClientsWebhook(t *testing.T) {
	const own = "http://127.0.0.1:9/h?x=1"
	text := func(url string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"url":%q}}`, url) }
	event := func(url string) string { return "data: " + text(url) + "\n\n" }
	ways := []struct {
		name   string
		answer func(w http.ResponseWriter, url string)
		want   string
	}{
		{"length", func(w http.ResponseWriter, url string) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", fmt.Sprint(len(text(url))))
			io.WriteString(w, text(url))
		}, text(own)},
		{"chunks", func(w http.ResponseWriter, url string) {
			w.Header().Set("Content-Type", "application/json")
			for _, part := range []string{text(url)[:60], text(url)[60:70], text(url)[70:]} {
				io.WriteString(w, part)
				w.(http.Flusher).Flush()
			}
		}, text(own)},
		{"events", func(w http.ResponseWriter, url string) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 3 {
				io.WriteString(w, event(url))
				w.(http.Flusher).Flush()
			}
		}, event(own) + event(own) + event(own)},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			var address string
			agent := newTaker(t, nil)
			agent.answer = func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if found := given(string(body)); len(found) > 0 {
					address = found[0]
				}
				way.answer(w, address)
			}
			r := newRig(t, withWebhooks, "booker="+agent.URL)
			for _, body := range []string{setConfig(own), `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"}}`} {
				if _, got := post(t, newClient(t), r.tap(0).URL(), body); got != way.want {
					t.Errorf("the client got %q, want %q", got, way.want)
				}
			}
			for _, x := range r.record() {
				expect.Equal(t, "recorded", way.want, recordedAnswer(x))
				expect.Equal(t, fmt.Sprintf("rewrites are %+v", x.Rewrites), own, now(x)["response.body"])
			}
		})
	}
}

// A list that was asked for after a restart, compressed as the client would take it, names the client's URL too.
func TestAnswerOfAnEarlierConfig(t *testing.T) {
	const own = "http://127.0.0.1:9/h"
	agent := newTaker(t, nil)
	first := newRig(t, withWebhooks, "booker="+agent.URL)
	address := configure(t, first.tap(0), agent, own)
	agent.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"configs":[{"url":"`+address+`"}],"coding":"`+r.Header.Get("Accept-Encoding")+`"}`)
	}
	second := newRig(t, withWebhooks, "booker="+agent.URL)
	_, got := get(t, newClient(t), second.tap(0).URL()+"/tasks/t1/pushNotificationConfigs", "Accept-Encoding", "gzip")
	expect.Equal(t, "the client", `{"configs":[{"url":"`+own+`"}],"coding":"identity"}`, got)
}
