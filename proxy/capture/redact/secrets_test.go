package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/must"
)

// A planter makes exchanges that carry one secret in every place where secrets occur.
type planter struct {
	t      *testing.T
	rnd    *rand.Rand
	secret string
}

// newSecret returns a secret of letters, digits and other characters that a header may contain and that have to be
// escaped elsewhere.
func newSecret(rnd *rand.Rand) string {
	const first, chars = "abcdefghijk", `abcXYZ0189-_.~+/%&#=:@!*'é`
	letters := []rune(chars)
	var b strings.Builder
	b.WriteByte(first[rnd.IntN(len(first))])
	for range 12 + rnd.IntN(30) {
		b.WriteRune(letters[rnd.IntN(len(letters))])
	}
	return b.String()
}

// json returns the secret as a JSON string, some of its characters escaped though they need not be.
func (p *planter) json(prefix string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range prefix + p.secret {
		switch {
		case p.rnd.IntN(8) == 0:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r == '/' && p.rnd.IntN(2) == 0:
			b.WriteString(`\/`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (p *planter) query() string { return url.QueryEscape(p.secret) }

func (p *planter) requestHead(coding string) []byte {
	lines := []string{
		"POST /rpc?pageToken=next-page&apiKey=" + p.query() + "&x=1 HTTP/1.1",
		"Host: agent", "Authorization: Bearer " + p.secret, "Proxy-Authorization: Basic " +
			base64.StdEncoding.EncodeToString([]byte(p.secret)),
		"X-Api-Key: " + p.secret, "x-a2a-notification-token:" + p.secret, "X-Card-Named: " + p.secret,
		"X-Mine: " + p.secret,
		"Cookie: session=" + p.secret + "; other=\"" + p.secret + "\"", "Referer: https://u:" +
			url.PathEscape(p.secret) + "@h/?token=" + p.query(),
		"X-Folded-Token:", " " + p.secret, "Content-Type: application/json", coding,
	}
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n")
}

func (p *planter) answerHead(coding string) []byte {
	lines := []string{
		"HTTP/1.1 200 OK", "Set-Cookie: session=" + p.secret + "; Path=/", "Location: https://h/cb?code=" +
			p.query() + "#access_token=" + p.query(),
		"X-Auth-Token: " + p.secret, "WWW-Authenticate: Negotiate abc, Bearer realm=\"r\"",
		"Content-Type: application/json", coding,
	}
	return []byte(strings.Join(lines, "\n") + "\n\n")
}

// body is JSON with the secret in a described place, twice under one name, in one that the user names, in an answer of
// OAuth, and in a URL.
func (p *planter) body() string {
	return fmt.Sprintf(`{"jsonrpc":"2.0", "params":{ "token":%s,"token":%s,"auth":{"credentials":%s},`+
		`"page_token":"next-page"},
		"list":[{"pin":%s}], "access_token" :%s,"hook":"https:\/\/u:%s@h\/?token=%s&x=1"}`,
		p.json(""), p.json(""), p.json("Bearer "), p.json(""), p.json(""), url.PathEscape(p.secret), p.query())
}

// pieces cuts data at random.
func (p *planter) pieces(data []byte, piece func([]byte) capture.What) (steps []capture.What) {
	for len(data) > 0 {
		n := 1 + p.rnd.IntN(len(data))
		steps = append(steps, piece(append([]byte(nil), data[:n]...)))
		data = data[n:]
	}
	return steps
}

func (p *planter) coded(text string) (header string, data []byte) {
	coding := []string{"", "gzip", "br", "zstd", "deflate"}[p.rnd.IntN(5)]
	if coding == "" {
		return "X-Plain: 1", []byte(text)
	}
	return "Content-Encoding: " + coding, capturetest.Encode(p.t, []byte(text), coding)
}

// exchange returns the steps of an exchange, its answer whole, cut off or a stream.
func (p *planter) exchange() []capture.What {
	coding, data := p.coded(p.body())
	if p.rnd.IntN(4) == 0 {
		whole := p.body()
		data, coding = []byte(whole)[:20+p.rnd.IntN(len(whole)-20)], "X-Plain: 1" // broken JSON
	}
	steps := []capture.What{capture.Opened{
		Head:  p.requestHead(coding),
		Agent: capture.Peer{Name: "agent", URL: "http://agent/?key=" + p.query()},
	}}
	steps = append(steps, p.pieces(data, func(d []byte) capture.What { return capture.RequestBody{Data: d} })...)
	steps = append(steps, capture.RequestEnd{Trailer: []byte("X-Sum-Token: " + p.secret + "\r\n")})
	steps = append(steps,
		capture.Informational{Head: []byte("HTTP/1.1 103 Early\r\nSet-Cookie: a=" + p.secret + "\r\n\r\n")})
	steps = append(steps,
		capture.Fact{
			Note:     "see http://h/?token=" + p.query(),
			Rewrites: []capture.Rewrite{{Was: "http://h/?token=" + p.query(), Now: "http://x/?token=" + p.query()}},
		})
	if p.rnd.IntN(2) == 0 {
		steps = append(steps, capture.ResponseHead{Head: p.answerHead("X-Plain: 1"), Stream: true})
		for k := range 1 + p.rnd.IntN(3) {
			raw := "event: x\ndata: " + strings.ReplaceAll(p.body(), "\n", "\r\ndata:") + "\r\n\r\n"
			steps = append(steps, capture.ResponseEvent{Event: capture.Event{K: k + 1, Raw: []byte(raw)}})
		}
		return append(steps,
			capture.Closed{Fault: &capture.TransportFault{Detail: "dial http://" + url.PathEscape(p.secret) + "@h/"}})
	}
	coding, data = p.coded(p.body())
	steps = append(steps, capture.ResponseHead{Head: p.answerHead(coding)})
	steps = append(steps, p.pieces(data, func(d []byte) capture.What { return capture.ResponseBody{Data: d} })...)
	if p.rnd.IntN(4) > 0 {
		steps = append(steps, capture.ResponseEnd{Trailer: []byte("Set-Cookie: b=" + p.secret + "\r\n")})
	}
	return append(steps, capture.Closed{})
}

// spellings are the forms in which the secret could be recognised.
func (p *planter) spellings() []string {
	quoted, _ := jsontext.AppendQuote(nil, p.secret)
	return []string{
		p.secret, p.query(), url.PathEscape(p.secret), strings.Trim(string(quoted), `"`),
		base64.StdEncoding.EncodeToString([]byte(p.secret)),
		p.secret[len(p.secret)-8:], p.secret[:8],
	}
}

// The secret is nowhere in what is stored, whatever its places and however its bytes arrive, equal secrets have equal
// placeholders, and JSON is still JSON.
func TestLeavesNoSecret(t *testing.T) {
	pin := must.Get(ParsePlace("/list/*/pin"))(t)
	mine := must.Get(ParsePlace("header:X-Mine"))(t)
	known := capture.Description{
		Secrets: []string{"/params/token", "/params/auth/credentials"}, Headers: []string{"X-Card-Named"},
		Keys: []capture.Key{{Kind: "task", Value: "t-1"}},
	}
	describer := fakeDescriber{
		request:  func(*capture.Exchange) capture.Description { return known },
		response: func(*capture.Exchange) capture.Description { return known },
		event:    func(*capture.Exchange, *capture.Event) capture.Description { return known },
	}
	for seed := range uint64(150) {
		p := &planter{t: t, rnd: rand.New(rand.NewPCG(seed, 1))}
		p.secret = newSecret(p.rnd)
		sink := &recordingSink{}
		r := New(sink, Options{Key: testMask.key, Describer: describer, Extra: []Place{pin, mine}})
		// The first exchange is where the card is read.
		steps := [][]capture.What{{
			capture.Opened{Agent: capture.Peer{Name: "agent"}},
			capture.RequestEnd{},
			capture.Closed{},
		}, p.exchange(), p.exchange()}
		shuffleIn(t, p.rnd, r, steps)
		placeholder := (&mask{key: testMask.key}).placeholder(p.secret)
		found := 0
		for _, s := range sink.steps {
			texts(reflect.ValueOf(s), func(text string) {
				found += strings.Count(text, placeholder)
				for _, form := range p.spellings() {
					if strings.Contains(text, form) {
						t.Fatalf("seed %d: secret %q shows as %q in %T: %q", seed, p.secret, form, s.What, text)
					}
				}
			})
		}
		if found < 40 {
			t.Errorf("seed %d: %d placeholders of the secret", seed, found)
		}
		checkJSON(t, seed, sink, steps)
	}
}

// shuffleIn appends the steps of exchanges to a Sink: the first exchange before the others, the others in turns.
func shuffleIn(t *testing.T, rnd *rand.Rand, sink capture.Sink, exchanges [][]capture.What) {
	t.Helper()
	next := make([]int, len(exchanges))
	for i := 0; i < len(exchanges[0]); i++ {
		appendStep(t, sink, 1, i, exchanges[0][i])
	}
	for next[1] < len(exchanges[1]) || next[2] < len(exchanges[2]) {
		x := 1 + rnd.IntN(2)
		if i := next[x]; i < len(exchanges[x]) {
			appendStep(t, sink, x+1, i, exchanges[x][i])
			next[x]++
		}
	}
	must.Do(t, sink.Close())
}

func appendStep(t *testing.T, sink capture.Sink, seq, i int, what capture.What) {
	t.Helper()
	must.Do(t, sink.Append(capture.Step{
		Seq: uint64(seq), Offset: time.Duration(i) * time.Millisecond,
		What: what,
	}))
}

// checkJSON holds the bodies and events that are stored against those that came.
func checkJSON(t *testing.T, seed uint64, sink *recordingSink, came [][]capture.What) {
	t.Helper()
	for i := range came {
		var was, is *capture.Exchange
		for _, what := range came[i] {
			was = capture.Assemble(was, capture.Step{What: what})
		}
		for _, s := range sink.steps {
			if s.Seq == uint64(i+1) {
				is = capture.Assemble(is, s)
			}
		}
		before, after := jsonTexts(was), jsonTexts(is)
		if len(before) != len(after) {
			t.Errorf("seed %d: %d texts became %d", seed, len(before), len(after))
			continue
		}
		for j := range before {
			if validJSON(before[j]) && !validJSON(after[j]) {
				t.Errorf("seed %d: no JSON any more: %s", seed, after[j])
			}
		}
	}
}

func validJSON(text []byte) bool {
	return jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func jsonTexts(x *capture.Exchange) (out [][]byte) {
	text, _ := x.Request.Content()
	out = append(out, text)
	if x.Response == nil {
		return out
	}
	for i := range x.Response.Events {
		out = append(out, x.Response.Events[i].Fields().Data)
	}
	if !x.Response.Stream {
		text, _ = x.Response.Content()
		out = append(out, text)
	}
	return out
}
