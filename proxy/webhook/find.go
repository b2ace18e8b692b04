package webhook

import (
	"bytes"

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

// targetMentionsPush reports it of the target in a head.
func targetMentionsPush(head []byte) bool {
	return mentionsPush(rawhead.StartLine(head))
}

// maxConfigDepth is how deep a config may lie in those that only wrap it.
const maxConfigDepth = 4

// configURLs finds the URLs of the push notification configs that a request carries, in a send or on their own, in the
// order in which they stand. It finds none in what is not JSON.
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
	if !call.Operation.Sends() && call.Operation != a2a.NoOperation { // a method that nobody knows may still send
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

// appendConfigURLs adds the URL of a config and of those that it wraps. Members whose name stands twice count twice,
// since readers differ in which they take.
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
