// Package har reads and writes exchanges as HAR 1.2, the form in which browsers and other proxies keep them.
//
// [Scan] and [Writer] go entry by entry, so that a file of any size takes the memory of one entry. What HAR has no
// room for is in the member "_a2atap" of each entry, and the events of a stream in "_eventStream": what [Writer]
// wrote is read back with everything but the content coding of bodies, which HAR takes off.
//
// A HAR of another program is read as far as it goes: a text that is absent was not kept, which is not the same as
// empty.
package har

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/internal/exchangejson"
)

// HAR 1.2, as far as this package reads and writes it. Pointers distinguish what is absent from what is zero. Names
// that begin with an underscore are extensions: _eventStream and _a2atap are ours, the others Chrome's.
//
// Source: "HTTP Archive (HAR) format", version 1.2.
type (
	entry struct {
		Started     string              `json:"startedDateTime"`
		Time        *float64            `json:"time"`
		Request     request             `json:"request"`
		Response    response            `json:"response"`
		Cache       jsontext.Value      `json:"cache"`
		Timings     timings             `json:"timings"`
		ServerIP    string              `json:"serverIPAddress,omitzero"`
		Connection  any                 `json:"connection,omitzero"` // a string, but for some writers
		Error       string              `json:"_error,omitzero"`
		EventStream exchangejson.Events `json:"_eventStream,omitzero"`
		Messages    chromeEvents        `json:"_eventSourceMessages,omitzero"`
		Extra       *exchangejson.Extra `json:"_a2atap,omitzero"`
	}

	// extension is what an a2atap log holds in addition to HAR.
	extension struct {
		Gaps *exchangejson.Gaps `json:"gaps,omitzero"`
	}

	request struct {
		Method      string         `json:"method"`
		URL         string         `json:"url"`
		HTTPVersion string         `json:"httpVersion"`
		Cookies     jsontext.Value `json:"cookies"`
		Headers     []pair         `json:"headers"`
		Query       []pair         `json:"queryString"`
		PostData    *postData      `json:"postData,omitzero"`
		HeadersSize float64        `json:"headersSize"`
		BodySize    *float64       `json:"bodySize"`
	}

	response struct {
		Status      float64        `json:"status"`
		StatusText  string         `json:"statusText"`
		HTTPVersion string         `json:"httpVersion"`
		Cookies     jsontext.Value `json:"cookies"`
		Headers     []pair         `json:"headers"`
		Content     content        `json:"content"`
		RedirectURL string         `json:"redirectURL"`
		HeadersSize float64        `json:"headersSize"`
		BodySize    *float64       `json:"bodySize"`
		Error       string         `json:"_error,omitzero"`
	}

	pair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}

	postData struct {
		MIMEType string  `json:"mimeType"`
		Text     *string `json:"text,omitzero"`
		Encoding string  `json:"encoding,omitzero"`
	}

	content struct {
		Size        *float64 `json:"size"`
		Compression *float64 `json:"compression,omitzero"`
		MIMEType    string   `json:"mimeType"`
		Text        *string  `json:"text,omitzero"`
		Encoding    string   `json:"encoding,omitzero"`
	}

	timings struct {
		Blocked *float64 `json:"blocked,omitzero"`
		DNS     *float64 `json:"dns,omitzero"`
		Connect *float64 `json:"connect,omitzero"`
		SSL     *float64 `json:"ssl,omitzero"`
		Send    *float64 `json:"send"`
		Wait    *float64 `json:"wait"`
		Receive *float64 `json:"receive"`
	}

	// chromeEvent is how Chrome keeps a server-sent event: time is in seconds since 1970.
	chromeEvent struct {
		Time  float64 `json:"time"`
		Event string  `json:"eventName"`
		ID    string  `json:"eventId"`
		Data  string  `json:"data"`
	}
)

// head makes a raw head of a first line and the fields of a HAR.
func head(line string, pairs []pair) []byte {
	fields := make(capture.Fields, len(pairs))
	for i, p := range pairs {
		fields[i] = capture.Field(p)
	}
	return exchangejson.Head(line, fields)
}

// requestHead makes the raw head of a request.
func (r *request) requestHead() []byte {
	_, authority, target := cutURL(r.URL)
	fields := r.Headers
	for _, f := range r.Headers {
		if strings.EqualFold(f.Name, "Host") {
			authority = ""
		} else if f.Name == ":authority" && authority != "" {
			authority = f.Value
		}
	}
	if authority != "" {
		fields = append([]pair{{"Host", authority}}, fields...)
	}
	return head(r.Method+" "+target+" "+httpVersion(r.HTTPVersion), fields)
}

// responseHead makes the raw head of a response.
func (r *response) responseHead() []byte {
	return head(httpVersion(r.HTTPVersion)+" "+strconv.Itoa(int(r.Status))+" "+r.StatusText, r.Headers)
}

// cutURL cuts a URL into its scheme, its authority without user information, and the target in origin form.
func cutURL(raw string) (scheme, authority, target string) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return "", "", raw
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, target = rest[:end], rest[end:]
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	target, _, _ = strings.Cut(target, "#")
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return scheme, authority, target
}

// httpVersion returns a version as a head has it: writers say h2, HTTP/2.0, http/1.1 or nothing at all.
func httpVersion(version string) string {
	switch v := strings.ToUpper(version); {
	case v == "H2" || v == "HTTP/2.0":
		return "HTTP/2"
	case v == "H3" || v == "HTTP/3.0":
		return "HTTP/3"
	case strings.HasPrefix(v, "HTTP/"):
		return v
	}
	return "HTTP/1.1"
}

// requestURL returns where a request went: to its agent, or where its head says.
func requestURL(x *capture.Exchange, h *capture.Head) string {
	if origin, _, _ := capture.SplitTarget(h.Target); origin != "" {
		return h.Target
	}
	base := "http://" + h.Fields.Get("Host")
	if scheme, authority, _ := cutURL(x.Agent.URL); authority != "" {
		base = scheme + "://" + authority
	}
	if !strings.HasPrefix(h.Target, "/") {
		return base + "/" + h.Target
	}
	return base + h.Target
}

// hostPort returns the authority of a URL with its port, the scheme's own if it has none.
func hostPort(scheme, authority string) string {
	u := url.URL{Host: authority}
	if u.Port() != "" || authority == "" {
		return authority
	}
	switch strings.ToLower(scheme) {
	case "https", "wss":
		return authority + ":443"
	case "http", "ws":
		return authority + ":80"
	}
	return authority
}

// clientName returns the first product of a User-Agent without its version, or "client".
//
// Source: RFC 9110 section 10.1.5.
func clientName(h *capture.Head) capture.Peer {
	product, _, _ := strings.Cut(h.Fields.Get("User-Agent"), " ")
	product, _, _ = strings.Cut(product, "/")
	if !capture.IsToken(product) {
		return capture.Peer{Name: "client"}
	}
	return capture.Peer{Name: product, How: "user-agent"}
}

// connectionNumber reads a connection that has a number for a name; 0 if it has none.
func connectionNumber(v any) uint64 {
	switch v := v.(type) {
	case string:
		n, err := strconv.ParseUint(v, 10, 53)
		if err == nil {
			return n
		}
	case float64:
		if v >= 0 && v < 1<<53 {
			return uint64(v)
		}
	}
	return 0
}
