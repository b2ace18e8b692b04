package proxy

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/a2a"
)

// A cardURL is a string token of an agent card that says where an agent can be reached.
type cardURL struct {
	pointer   string // RFC 6901, from the root of the document
	start     int    // where the token stands in the document, quotes included
	end       int
	url       string
	transport string // as the card names it; "" if it does not
}

// cardURLs finds the URLs of a card that is a whole document, or the result of a JSON-RPC answer. It returns false if
// the document is not JSON or holds no card, and in signed whether the card carries signatures.
//
// The URLs are those of A2A 0.1 to 0.3 §5.5 (url, additionalInterfaces) and of 1.0 §4.4.1 (supportedInterfaces);
// a hybrid card has both. Members whose name stands twice count twice, since readers differ in which they take.
func cardURLs(doc []byte, rpc bool) (urls []cardURL, signed, ok bool) {
	parsed := a2a.Parse(doc)
	card, base := parsed.Root, ""
	if rpc {
		card, base = card.Get("result"), "/result"
	}
	if parsed.Err != nil || card.Kind() != a2a.Object {
		return nil, false, false
	}
	for name, v := range card.Members() {
		switch name {
		case "url":
			urls = appendURL(urls, base+"/url", v, card.Get("preferredTransport").Text())
		case "additionalInterfaces":
			urls = appendInterfaces(urls, base, name, v, "transport")
		case "supportedInterfaces":
			urls = appendInterfaces(urls, base, name, v, "protocolBinding")
		case "signatures":
			signed = signed || v.Len() > 0
		}
	}
	return urls, signed, true
}

func appendInterfaces(urls []cardURL, base, list string, v a2a.Value, transport string) []cardURL {
	for i, entry := range v.Elems() {
		for name, member := range entry.Members() {
			if name == "url" {
				urls = appendURL(urls, a2a.Ptr(base+"/"+list, i, "url"), member, entry.Get(transport).Text())
			}
		}
	}
	return urls
}

// appendURL adds a token. One that is no UTF-8 cannot be written again as it was and is left out.
func appendURL(urls []cardURL, pointer string, v a2a.Value, transport string) []cardURL {
	text, ok := v.Str()
	raw := v.Raw()
	if !ok || text == "" || !utf8.Valid(raw) {
		return urls
	}
	return append(urls, cardURL{
		pointer: pointer, start: v.Offset(), end: v.Offset() + len(raw), url: text, transport: transport,
	})
}

// isGRPC reports whether the address is spoken to in gRPC, which taps do not carry.
func (u cardURL) isGRPC() bool { return strings.EqualFold(u.transport, a2a.GRPC.String()) }

// A replacement puts another string in the place of a token.
type replacement struct {
	cardURL
	text string
}

// applyReplacements returns the document with the tokens replaced, which are in order, and every other byte as it was.
func applyReplacements(doc []byte, splices []replacement) []byte {
	var out bytes.Buffer
	last := 0
	for _, s := range splices {
		out.Write(doc[last:s.start])
		token, err := jsontext.AppendQuote(nil, s.text)
		if err != nil { // no UTF-8, which appendURL has left out
			token = doc[s.start:s.end]
		}
		out.Write(token)
		last = s.end
	}
	out.Write(doc[last:])
	return out.Bytes()
}
