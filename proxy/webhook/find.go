package webhook

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/internal/card"
	"a2atap/proxy/internal/rawhead"
)

// pushWords are in the names of all methods, routes and members that are about push notification configs, in all
// dialects: pushNotificationConfig, CreateTaskPushNotificationConfig, push_notification.
var pushWords = [][]byte{[]byte("ushNotification"), []byte("ush_notification")}

// mentionsPush reports whether a request may be about push notification configs, given its body or its head.
func mentionsPush(b []byte) bool {
	for _, word := range pushWords {
		if bytes.Contains(b, word) {
			return true
		}
	}
	return false
}

// targetMentionsPush is mentionsPush for the target in a head.
func targetMentionsPush(head []byte) bool {
	return mentionsPush(rawhead.StartLine(head))
}

// maxOperation is how many bytes of a body are searched for the operation.
const maxOperation = 4 << 10

// mayConfigure reports whether a request may be about configs, given its first line and the beginning of its body. It
// is not if the body shows another operation, or is not JSON.
func mayConfigure(start, body []byte) bool {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	if len(body) == 0 || bytes.HasPrefix(byteOrderMark, body) {
		body = nil
	} else if body[0] != '{' {
		return body[0] == '['
	}
	verb, rest, _ := bytes.Cut(start, []byte(" "))
	target, _, _ := bytes.Cut(rest, []byte(" "))
	request := a2a.Request{Method: string(verb), Target: string(target)}
	binding := a2a.HTTPJSON
	if method := methodIn(body); method != nil {
		binding = a2a.JSONRPC
		request.Body = slices.Concat([]byte(`{"jsonrpc":"2.0","id":1,"method":`), method, []byte("}"))
		request.HasBody, request.BodyKept = true, true
	}
	call := a2a.DecodeRequest(request, a2a.Known{Bindings: a2a.BindingsOf(binding)})
	return call.Operation == a2a.NoOperation || call.Operation.Sends() || call.Operation.Push()
}

var byteOrderMark = []byte("\ufeff")

// methodIn returns the value of the member method, as written, of an object that may be incomplete; nil if it is
// missing.
func methodIn(object []byte) jsontext.Value {
	d := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return nil
		}
		wanted := name.String() == "method"
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		if wanted {
			return value.Clone()
		}
	}
}

// maxConfigDepth is how deeply a config may be nested in configs that only wrap it.
const maxConfigDepth = 4

// configURLs finds the URLs of the push notification configs in a request, inside a send or separate, in their order in
// the body. It finds none in a body that is not JSON.
func configURLs(head *capture.Head, body []byte) []card.URL {
	doc := a2a.Parse(body)
	if doc.Err != nil {
		return nil
	}
	request := a2a.Request{
		Method: head.Method, Target: head.Target, Header: head.Fields.Get, Body: body, HasBody: true, BodyKept: true,
		Doc: &doc,
	}
	binding := a2a.HTTPJSON
	if doc.Root.Kind() == a2a.Array || doc.Root.Get("method").Exists() {
		binding = a2a.JSONRPC
	}
	call := a2a.DecodeRequest(request, a2a.Known{Bindings: a2a.BindingsOf(binding)})
	if call.Batch == nil {
		return callConfigURLs(nil, &call)
	}
	var urls []card.URL
	for i := range call.Batch {
		urls = callConfigURLs(urls, &call.Batch[i])
	}
	return urls
}

func callConfigURLs(urls []card.URL, call *a2a.Call) []card.URL {
	if call.Operation == a2a.CreatePushConfig {
		return appendConfigURLs(urls, call.Params, maxConfigDepth)
	}
	if !call.Operation.Sends() && call.Operation != a2a.NoOperation { // an unknown method may still send
		return urls
	}
	for name, v := range call.Params.Members() {
		switch {
		case name == "configuration":
			for name, v := range v.Members() {
				if mentionsPush([]byte(name)) {
					urls = appendConfigURLs(urls, v, maxConfigDepth)
				}
			}
		case mentionsPush([]byte(name)):
			urls = appendConfigURLs(urls, v, maxConfigDepth)
		}
	}
	return urls
}

// appendConfigURLs adds the URL of a config and of the configs that it wraps. Members with duplicate names all count,
// since readers differ in which of them they use.
func appendConfigURLs(urls []card.URL, config a2a.Value, depth int) []card.URL {
	if depth == 0 {
		return urls
	}
	for name, v := range config.Members() {
		switch {
		case name == "url":
			urls = card.AppendURL(urls, v.Pointer(), v, "")
		case name == "config", mentionsPush([]byte(name)):
			urls = appendConfigURLs(urls, v, depth-1)
		}
	}
	return urls
}
