package card

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/a2a"
)

// A URL is a string token of a document with an address.
type URL struct {
	Pointer    string // RFC 6901, from the root of the document
	Start, End int    // position of the token in the document, including quotes
	Text       string
	Transport  string // as a card names it; "" if it does not
}

// URLs finds the URLs of a card that is a whole document, or the result of a JSON-RPC answer. It returns false if the
// document is not JSON or has no card, and in signed whether the card has signatures.
//
// The URLs are those of A2A 0.1 to 0.3 §5.5 (url, additionalInterfaces) and of 1.0 §4.4.1 (supportedInterfaces); a
// hybrid card has both. Duplicate members count twice, since readers differ in which one they use.
func URLs(doc []byte, rpc bool) (urls []URL, signed, ok bool) {
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
			urls = AppendURL(urls, base+"/url", v, card.Get("preferredTransport").Text())
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

func appendInterfaces(urls []URL, base, list string, v a2a.Value, transport string) []URL {
	for i, entry := range v.Elems() {
		for name, member := range entry.Members() {
			if name == "url" {
				urls = AppendURL(urls, a2a.Ptr(base+"/"+list, i, "url"), member, entry.Get(transport).Text())
			}
		}
	}
	return urls
}

// AppendURL adds a token. A token that is not UTF-8 cannot be written back unchanged and is omitted.
func AppendURL(urls []URL, pointer string, v a2a.Value, transport string) []URL {
	text, ok := v.Str()
	raw := v.Raw()
	if !ok || text == "" || !utf8.Valid(raw) {
		return urls
	}
	return append(urls, URL{
		Pointer: pointer, Start: v.Offset(), End: v.Offset() + len(raw), Text: text, Transport: transport,
	})
}

// A Replacement puts another text in the place of a token.
type Replacement struct {
	URL
	By string
}

// Apply returns the document with the given tokens, which are in order, replaced, and every other byte unchanged.
func Apply(doc []byte, splices []Replacement) []byte {
	var out bytes.Buffer
	last := 0
	for _, s := range splices {
		out.Write(doc[last:s.Start])
		token, err := jsontext.AppendQuote(nil, s.By)
		if err != nil { // no UTF-8, which AppendURL has left out
			token = doc[s.Start:s.End]
		}
		out.Write(token)
		last = s.End
	}
	out.Write(doc[last:])
	return out.Bytes()
}
