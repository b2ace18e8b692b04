package capture

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// HAR 1.2, as far as this package reads and writes it. Pointers tell what is absent from what is zero. Names that begin
// with an underscore are extensions: _eventStream and _a2atap are ours, the others Chrome's.
//
// Source: "HTTP Archive (HAR) format", version 1.2.
type (
	harEntry struct {
		Started     string         `json:"startedDateTime"`
		Time        *float64       `json:"time"`
		Request     harRequest     `json:"request"`
		Response    harResponse    `json:"response"`
		Cache       jsontext.Value `json:"cache"`
		Timings     harTimings     `json:"timings"`
		ServerIP    string         `json:"serverIPAddress,omitzero"`
		Connection  any            `json:"connection,omitzero"` // a string, but for some writers
		Error       string         `json:"_error,omitzero"`
		EventStream []eventJSON    `json:"_eventStream,omitzero"`
		Messages    []harSSE       `json:"_eventSourceMessages,omitzero"`
		Extra       *extra         `json:"_a2atap,omitzero"`
	}

	harRequest struct {
		Method      string         `json:"method"`
		URL         string         `json:"url"`
		HTTPVersion string         `json:"httpVersion"`
		Cookies     jsontext.Value `json:"cookies"`
		Headers     []harPair      `json:"headers"`
		Query       []harPair      `json:"queryString"`
		PostData    *harPost       `json:"postData,omitzero"`
		HeadersSize float64        `json:"headersSize"`
		BodySize    *float64       `json:"bodySize"`
	}

	harResponse struct {
		Status      float64        `json:"status"`
		StatusText  string         `json:"statusText"`
		HTTPVersion string         `json:"httpVersion"`
		Cookies     jsontext.Value `json:"cookies"`
		Headers     []harPair      `json:"headers"`
		Content     harContent     `json:"content"`
		RedirectURL string         `json:"redirectURL"`
		HeadersSize float64        `json:"headersSize"`
		BodySize    *float64       `json:"bodySize"`
		Error       string         `json:"_error,omitzero"`
	}

	harPair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}

	harPost struct {
		MIMEType string  `json:"mimeType"`
		Text     *string `json:"text,omitzero"`
		Encoding string  `json:"encoding,omitzero"`
	}

	harContent struct {
		Size        *float64 `json:"size"`
		Compression *float64 `json:"compression,omitzero"`
		MIMEType    string   `json:"mimeType"`
		Text        *string  `json:"text,omitzero"`
		Encoding    string   `json:"encoding,omitzero"`
	}

	harTimings struct {
		Blocked *float64 `json:"blocked,omitzero"`
		DNS     *float64 `json:"dns,omitzero"`
		Connect *float64 `json:"connect,omitzero"`
		SSL     *float64 `json:"ssl,omitzero"`
		Send    *float64 `json:"send"`
		Wait    *float64 `json:"wait"`
		Receive *float64 `json:"receive"`
	}

	// harSSE is how Chrome keeps a server-sent event: time is in seconds since 1970.
	harSSE struct {
		Time  float64 `json:"time"`
		Event string  `json:"eventName"`
		ID    string  `json:"eventId"`
		Data  string  `json:"data"`
	}
)

// harHead makes a raw head of a first line and a list of fields. Pseudo-fields of HTTP/2 are left out; a value of several
// lines, as browsers join fields of one name, becomes several fields.
func harHead(line string, fields []harPair) []byte {
	head := append([]byte(oneLineOf(line)), "\r\n"...)
	for _, f := range fields {
		if strings.HasPrefix(f.Name, ":") {
			continue
		}
		for value := range strings.SplitSeq(f.Value, "\n") {
			head = fmt.Appendf(head, "%s: %s\r\n", oneLineOf(f.Name), oneLineOf(value))
		}
	}
	return append(head, "\r\n"...)
}

var noLineEnds = strings.NewReplacer("\r", " ", "\n", " ")

func oneLineOf(s string) string { return noLineEnds.Replace(strings.Trim(s, "\r\n")) }

// requestHead makes the raw head of a request.
func (r *harRequest) requestHead() []byte {
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
		fields = append([]harPair{{"Host", authority}}, fields...)
	}
	return harHead(r.Method+" "+target+" "+harVersion(r.HTTPVersion), fields)
}

// responseHead makes the raw head of a response.
func (r *harResponse) responseHead() []byte {
	return harHead(harVersion(r.HTTPVersion)+" "+strconv.Itoa(int(r.Status))+" "+r.StatusText, r.Headers)
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

// harVersion returns a version as a head has it: writers say h2, HTTP/2.0, http/1.1 or nothing at all.
func harVersion(version string) string {
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
func requestURL(x *Exchange, h *Head) string {
	if strings.Contains(h.Target, "://") {
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
func clientName(h *Head) Peer {
	product, _, _ := strings.Cut(h.Fields.Get("User-Agent"), " ")
	product, _, _ = strings.Cut(product, "/")
	if !IsToken(product) {
		return Peer{Name: "client"}
	}
	return Peer{Name: product, How: "user-agent"}
}

// harTime is a time as HAR has it.
func harTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// parseHARTime reads a time; some writers leave the zone out, and mean UTC.
func parseHARTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time such as 2026-01-01T00:00:00.000Z", s)
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
